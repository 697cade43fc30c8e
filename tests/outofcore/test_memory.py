"""What memory is to be used for."""

import numpy as np
import pytest

from lrisk.outofcore.memory import held_now, parsed, planned


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2GB", 2e9), ("500 MB", 5e8), ("1.5GiB", 1.5 * 2**30), ("3g", 3e9),
        (10**9, 1e9), (2.5e8, 2.5e8), ("800000000", 8e8), ("4KiB", 4096),
        (np.int64(10**9), 1e9), (np.float32(1e9), 1e9),
    ],
)  # fmt: skip
def test_sizes(given, expected):
    assert parsed(given) == int(expected)


@pytest.mark.parametrize(
    "given", ["", "much", "GB", "-1GB", "1.2.3MB", 0, -5, True, None]
)
def test_what_is_no_size(given):
    with pytest.raises(ValueError, match="memory must be a number of bytes"):
        parsed(given)


def test_what_fits_stays_in_memory():
    before = held_now()
    assert 10**7 < before < 10**11
    much = before + 10**10
    assert not planned(much, 10**6, 50, 2).lean
    kinds = []
    for n in (10**6, 2 * 10**8, 3 * 10**8, 10**10):
        plan = planned(much, n, 8, 2)
        kinds.append((plan.lean, plan.spilled, plan.weights))
    assert kinds == sorted(kinds, key=lambda kind: (kind[0], kind[1], not kind[2]))
    assert kinds[0] == (False, False, True) and kinds[-1] == (True, True, False)


def test_too_little_is_refused_with_what_would_do():
    with pytest.raises(ValueError, match=r"at least \d+ MB .* 50 features") as error:
        planned(held_now() + 10**7, 10**8, 50, 2)
    words = str(error.value).split()
    enough = int(words[words.index("least") + 1]) * 10**6
    planned(enough + 10**8, 10**8, 50, 2)

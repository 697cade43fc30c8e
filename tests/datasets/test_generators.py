import numpy as np
import pytest

from lrisk.datasets import make_hidden_group


def test_the_group_follows_its_own_line():
    X, y, group = make_hidden_group(5000, 3, fraction=0.2, random_state=0)
    assert group.sum() == 1000
    lines = [np.linalg.lstsq(X[m], y[m], rcond=None)[0] for m in (group, ~group)]
    assert np.linalg.norm(lines[0] - lines[1]) > 0.5
    assert np.std(y[group] - X[group] @ lines[0]) == pytest.approx(0.5, rel=0.1)


def test_reproducible_and_checked():
    a, b = (make_hidden_group(50, random_state=3) for _ in range(2))
    assert all(np.array_equal(x, z) for x, z in zip(a, b))
    with pytest.raises(ValueError, match="fraction must be"):
        make_hidden_group(fraction=2)

"""An earlier audit is checked before anything is done with it."""

import numpy as np
import pytest

from lrisk import audit
from lrisk.analysis.audit.comparing import (
    check_comparable,
    check_same_target,
    comparison,
)

GOOD = {
    "flags": [True, False, False],
    "n_rows": 3,
    "interval": [0.0, 0.1],
    "contamination": 0.05,
    "source": "t.csv",
    "losses": [{"name": "ordinary", "mean": 1.0, "median": 1.0, "q95": None,
                "superquantile": 2.0}],
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"losses": [{"x": 1}]},
        {"losses": 5},
        {"losses": [{"name": "ordinary"}]},
        {"interval": [0]},
        {"interval": None},
        {"interval": ["a", "b"]},
        {"flags": "abc"},
        {"flags": {}},
        {"flags": [1.5, "x", None]},
        {"n_rows": None},
        {"n_rows": 4},
        {"source": 3},
        {"contamination": "much"},
    ],
)
def test_malformed_audits_are_refused(change):
    with pytest.raises(ValueError, match=r"compare must be .*audit\.json"):
        check_comparable({**GOOD, **change})


@pytest.mark.parametrize("other", [[], None, "flags", list(GOOD), {}])
def test_other_things_are_refused(other):
    with pytest.raises(ValueError, match="compare must be"):
        check_comparable(other)


def test_audit_refuses_before_the_work():
    with pytest.raises(ValueError, match="compare must be"):
        audit({"x": [1.0], "y": [1.0]}, "no such column", compare={"flags": 1})


def test_good_ones_are_compared():
    check_comparable(GOOD)
    changed = comparison(GOOD, 0.5, (0.4, 0.6), [True, True, False], [])
    assert changed["newly_flagged"] == [2] and changed["no_longer_flagged"] == []
    assert changed["text"] == (
        "More rows flagged than before (1 then, 2 now); the estimated shares clearly "
        "differ."
    )


@pytest.mark.parametrize("change", [{"target": "z"}, {"task": "classification"}])
def test_audits_of_other_things_are_refused(change):
    x = np.random.default_rng(0).normal(size=60)
    before = {**GOOD, "target": "y", "task": "regression"}
    check_same_target(before, "y", "regression")
    check_same_target(GOOD, "y", "regression")  # it does not say of what
    with pytest.raises(ValueError, match=r"compare must be .*; give") as told:
        audit({"x": x, "y": x**2}, "y", compare={**before, **change})
    assert "\n" not in str(told.value)

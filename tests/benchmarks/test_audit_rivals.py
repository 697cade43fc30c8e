"""Rivals of the audit are given the table, and name rows of it."""

import sys
from pathlib import Path

import numpy as np

# The folder is beside the package, not in it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks._audit_errors import OF_CLASSES, OF_NUMBERS, Clean
from benchmarks._audit_rivals import rivals
from benchmarks._audit_tables import simulated


def test_a_target_times_a_thousand_is_beyond_three_deviations():
    clean = Clean(simulated("mixed", seed=0), 2.0)
    made = OF_NUMBERS["target ×1000"](clean, np.random.default_rng(0))
    found = rivals(made, classes=False, seed=0)
    assert {"3 sigma", "IsolationForest"} <= set(found)
    assert np.all(made.wrong[found["3 sigma"]])
    assert found["IsolationForest"][made.wrong].mean() > 0.9
    assert {rows.shape for rows in found.values()} == {made.wrong.shape}


def test_classes_have_no_residuals():
    clean = Clean(simulated("classes", seed=0))
    made = OF_CLASSES["copied rows"](clean, np.random.default_rng(0))
    found = rivals(made, classes=True, seed=0)
    assert "3 sigma" not in found
    assert found["IsolationForest"].shape == made.wrong.shape

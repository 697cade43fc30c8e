"""Nothing is left in the scratch folder, however a fit ends."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import lrisk
from lrisk.outofcore import fit
from lrisk.outofcore.scratch import Growing, Scratch

CRASHING = """
import os, signal, sys
import numpy as np
import lrisk, lrisk.outofcore

def batches():
    rng = np.random.default_rng(0)
    for _ in range(30):
        X = rng.normal(size=(1000, 3))
        yield X, X.sum(axis=1) + rng.normal(size=1000)

def end(record):
    os.kill(os.getpid(), getattr(signal, sys.argv[2]))

model = lrisk.RiskRegressor("esrm:2", tol=1e-12)
lrisk.outofcore.fit(model, batches(), scratch=sys.argv[1], callback=end)
"""


@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT"])
def test_a_crash_leaves_nothing(tmp_path, how):
    if how.startswith("SIG") and not hasattr(signal, how):
        pytest.skip(f"{how} is not known here")
    command = [sys.executable, "-c", CRASHING, str(tmp_path), how]
    ended = subprocess.run(command, capture_output=True, timeout=300)
    assert ended.returncode != 0
    for _ in range(20):  # the system may take a moment
        if not os.listdir(tmp_path):
            break
        time.sleep(0.1)
    assert os.listdir(tmp_path) == []


def test_a_fit_and_a_refusal_leave_nothing(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    fit(lrisk.RiskRegressor("mean"), [(X, X.sum(axis=1))], scratch=tmp_path)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3"):
        fit(lrisk.RiskRegressor("mean"), [(X, np.zeros(500))], scratch=tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match="an existing folder"):
        Scratch(tmp_path / "none")


def test_numbers_that_grow(tmp_path):
    with Scratch(tmp_path) as scratch:
        grown = Growing(scratch, np.float64)
        for k in range(5):
            grown.add(np.arange(k))
        expected = np.concatenate([np.arange(k) for k in range(5)])
        np.testing.assert_array_equal(grown.vector(in_memory=True), expected)
        np.testing.assert_array_equal(grown.vector(in_memory=False)[:], expected)
        assert np.array_equal(scratch.vector(7)[:], np.zeros(7))
        assert len(scratch.vector(0)) == 0

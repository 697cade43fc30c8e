"""The final fit of judged rows: what it leaves out moves it nowhere."""

import numpy as np
import pytest

from lrisk.procedures.outliers.detection import Detection, nothing_detected
from lrisk.procedures.outliers.regression import Model, fit_judged
from lrisk.spaces import Kernel

SLOPE = np.array([1.0, -2.0])
LINE = Model(Kernel("linear"), None, False)


def judged(y, expected, chance):
    """A detection by a reference with noise of one, whose core is that noise."""
    found = nothing_detected(y, "robust", (0.0, 0.5))
    return found._replace(
        chance=chance,
        misfit=chance,
        expected=expected,
        scale=np.ones(len(y)),
        u=y - expected,
        low=-2.5,
        high=2.5,
    )


def rows(seed, n=4000):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X @ SLOPE, rng.normal(size=n)


@pytest.mark.parametrize("seed", range(3))
def test_the_errors_of_a_reference_do_not_pull_the_line(seed):
    """Rows cut close about a reference that errs in x are let in again by the line."""
    X, f, noise = rows(seed)
    y, reference = f + noise, f + np.where(X[:, 0] > 0.0, 0.5, -0.5)
    cut = (np.abs(y - reference) > 2.5).astype(float)
    found = fit_judged(LINE, X, y, np.ones(len(y)), judged(y, reference, cut),
                       np.random.default_rng(0))  # fmt: skip
    kept = cut == 0.0
    pulled = np.linalg.lstsq(X[kept], y[kept], rcond=None)[0]
    clean = np.linalg.lstsq(X, y, rcond=None)[0]
    assert np.abs(pulled - clean).max() > 2.0 / np.sqrt(len(y))
    assert np.abs(found.fit.coef - clean).max() < 1.0 / np.sqrt(len(y))


@pytest.mark.parametrize("seed", range(3))
def test_both_tails_are_cut_where_one_is(seed):
    """Wrong rows hide the upper tail of heavy noise; the mean must not fall for it."""
    rng = np.random.default_rng(seed)
    X, f, _ = rows(seed, 20_000)
    noise = rng.standard_t(3, size=len(f))
    y = f + noise
    gone = noise > 2.8
    detection: Detection = judged(y, f, gone.astype(float))
    mean = {}
    for name, tails in (("one", gone & False), ("both", noise < -2.8)):
        found = fit_judged(LINE, X, y, np.ones(len(y)),
                           detection._replace(mirrored=tails),
                           np.random.default_rng(0))  # fmt: skip
        mean[name] = float(np.mean(found.fit.predict(X) - f))
        assert not found.leverage_rows[tails & (noise > -5.0)].any()
    assert abs(mean["both"]) < 4.0 / np.sqrt(len(y)) < -mean["one"]

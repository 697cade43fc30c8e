"""The mean of the lowest losses, against a sort."""

import numpy as np
import pytest

import lrisk
from lrisk.kept import Kept, quantile

LOSSES = {
    "apart": np.random.default_rng(0).exponential(size=101),
    "ties": np.random.default_rng(1).integers(0, 4, 100).astype(float),
    "alike": np.full(7, 3.0),
    "zeros": np.zeros(5),
    "one": np.array([2.0]),
    "two": np.array([2.0, 1.0]),
    "huge": np.array([1e300, 1.0, 1e-300, 2.0]),
}


@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.75, 0.999, 1.0])
@pytest.mark.parametrize("losses", LOSSES.values(), ids=LOSSES)
def test_risk_and_weights_are_those_of_the_spectrum(losses, share):
    kept, n = Kept.of(losses, share), len(losses)
    weights = kept.weights(losses)
    expected = lrisk.risk(losses, f"subquantile:{share}" if share < 1.0 else "mean")
    assert kept.risk == pytest.approx(expected, rel=1e-12)
    assert weights @ losses == pytest.approx(expected, rel=1e-12)
    assert weights.sum() == pytest.approx(1.0)
    assert np.all(weights <= (1.0 + 1e-12) / (share * n)) and np.all(weights >= 0.0)
    for value in np.unique(losses):  # ties share
        assert np.ptp(weights[losses == value]) == 0.0


@pytest.mark.parametrize("losses", LOSSES.values(), ids=LOSSES)
def test_the_start_holds_back_what_lies_beyond_the_cut(losses):
    kept, n = Kept.of(losses, 0.5), len(losses)
    start = kept.weights(losses, 1.0)
    away = np.maximum(losses, kept.cut)
    share = np.divide(kept.cut, away, out=np.ones(n), where=away > 0.0)
    np.testing.assert_allclose(start, share / n)
    mixed = 0.75 * start + 0.25 * kept.weights(losses)
    np.testing.assert_allclose(kept.weights(losses, 0.75), mixed)
    over = losses.copy()
    assert kept.weights(over, 0.75, out=over) is over
    np.testing.assert_array_equal(over, kept.weights(losses, 0.75))


def test_a_quantile_of_weights_is_that_of_copies():
    rng = np.random.default_rng(2)
    losses, copies = rng.normal(size=50), rng.integers(1, 4, 50)
    repeated = np.repeat(losses, copies)
    for level in (0.0, 0.3, 0.5, 0.9, 1.0):
        weighted = quantile(losses, level, copies.astype(float))
        assert weighted == quantile(repeated, level)

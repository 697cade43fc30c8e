"""Curves over levels: quantiles, spectra, thresholds."""

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss

from lrisk.analysis import (
    quantile_curve,
    score_histogram,
    spectrum_curve,
    threshold_curve,
)
from lrisk.analysis.curves import estimator_losses
from lrisk.spectra import ESRM, FAMILIES, Extremile


def test_quantiles_are_numpys():
    # No level k/11 of 79 rows falls on a row, where rounding would decide.
    losses = np.random.default_rng(0).exponential(size=79)
    curve = quantile_curve(losses, n_levels=12)
    expected = np.quantile(losses, curve.levels, method="inverted_cdf")
    np.testing.assert_array_equal(curve.values, expected)
    copies = np.random.default_rng(1).integers(0, 4, 79)
    weighted = quantile_curve(losses, sample_weight=copies, n_levels=12)
    repeated = quantile_curve(np.repeat(losses, copies), n_levels=12)
    np.testing.assert_array_equal(weighted.values, repeated.values)


def test_losses_of_estimators():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    labels = np.where(y > 0, "b", "a")
    plain, judge = Ridge().fit(X, y), LogisticRegression().fit(X, labels)
    errors = estimator_losses(plain, X, y, None)
    np.testing.assert_allclose(errors, np.abs(y - plain.predict(X)))
    entropy = estimator_losses(judge, X, labels, None).mean()
    assert entropy == pytest.approx(log_loss(labels, judge.predict_proba(X)))


@pytest.mark.parametrize("name", FAMILIES)
def test_densities_average_one(name):
    curve = spectrum_curve(name, n_levels=50)
    assert np.mean(curve.density) == pytest.approx(1.0)
    assert np.all(curve.density >= 0) and curve.cumulative[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(np.cumsum(curve.density) / 50, curve.cumulative,
                               atol=1e-12)  # fmt: skip


@pytest.mark.parametrize(
    "spectrum, density",
    [
        (Extremile(3.0), lambda u: 3 * u**2),
        (ESRM(2.0), lambda u: 2 * np.exp(2 * u) / np.expm1(2)),
    ],
)
def test_densities_are_means_of_the_formula(spectrum, density):
    curve = spectrum_curve(spectrum, n_levels=7)
    parts = [7 * quad(density, k / 7, (k + 1) / 7)[0] for k in range(7)]
    np.testing.assert_allclose(curve.density, parts, rtol=1e-10)


@pytest.mark.parametrize("threshold", [0.7, 0.683, 0.0, 1.0, np.nan])
def test_thresholds_are_counted_one_by_one(threshold):
    rng = np.random.default_rng(0)
    scores = np.r_[rng.random(300), 0.7, 0.5, 0.0, 1.0, np.nan]
    curve = threshold_curve(scores, threshold)
    for level, flagged, false in zip(
        curve.levels, curve.flagged, curve.expected_false, strict=True
    ):
        above = scores[scores > level]
        assert flagged == len(above)
        assert false == pytest.approx(np.sum(1 - above), abs=1e-9)
    expected = 1.0 if np.isnan(threshold) else threshold
    assert curve.levels[curve.chosen] == expected


def test_histogram_counts_every_known_score():
    scores = np.r_[np.random.default_rng(0).random(99), 0.0, 1.0, 1.2, np.nan]
    edges, counts = score_histogram(scores, n_bins=10)
    assert counts.sum() == 102 and len(edges) == 11
    assert counts[0] == np.sum(scores < 0.1)

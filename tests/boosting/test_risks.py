"""Gradients, curvatures and risks, without either library."""

import copy
import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import lrisk
from lrisk.boosting import (
    lightgbm_metric,
    objective,
    probabilities,
    risks,
    xgboost_metric,
)
from lrisk.losses import Multinomial, parse_loss
from lrisk.spectra import FAMILIES, CustomSpectrum, parse_spectrum

NUMBERS = ("squared", "huber:0.7", "absolute", "pinball:0.8")
INCREASING = [name for name, kind in FAMILIES.items() if not kind().trims]
TRIMMING = [name for name, kind in FAMILIES.items() if kind().trims]


def _numbers(seed=0, n=60):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(size=n), rng.exponential(size=n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["squared", "huber:0.7", "logistic", "multinomial"])
@pytest.mark.parametrize("spectrum", INCREASING)
def test_the_gradient_is_that_of_the_risk(spectrum, loss, weighted):
    """Differences of `lrisk.risk`, which ranks exactly, times the total weight."""
    rng = np.random.default_rng(0)
    own = Multinomial() if loss == "multinomial" else parse_loss(loss)
    y, z, w = _numbers()
    if loss == "logistic":
        y = (y > 0).astype(float)
    if loss == "multinomial":
        y, z = rng.integers(0, 3, 60).astype(float), rng.normal(size=(60, 3))
    weight = w if weighted else None

    def total(flat):
        losses = own.value(y, flat.reshape(z.shape))
        return (w.sum() if weighted else 60) * lrisk.risk(losses, spectrum, weight)

    got, curvature = objective(spectrum, loss)(y, z, weight)
    expected = approx_fprime(z.ravel(), total, 1e-7).reshape(z.shape)
    if loss.startswith("huber"):  # its kink in the slope is none in the loss
        residual, width = np.abs(z - y), 0.3 * np.abs(z - y).mean()
        assert width < 1.0  # so that the loss is the one asked for
        assert residual.max() > 0.7
    np.testing.assert_allclose(got, expected, atol=2e-5)
    assert np.all(curvature >= 0.0) and curvature.shape == got.shape


@pytest.mark.parametrize("loss", [*NUMBERS, "logistic", "multinomial"])
@pytest.mark.parametrize("n", [risks.BLOCK, risks.BLOCK + 1, 70_001])
def test_blocks_of_rows_change_nothing(monkeypatch, n, loss):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3 if loss == "multinomial" else 2, n).astype(float)
    z = rng.normal(size=(n, 3) if loss == "multinomial" else n)
    found = objective("superquantile:0.9", loss)(y, z)
    monkeypatch.setattr(risks, "BLOCK", n)
    whole = objective("superquantile:0.9", loss)(y, z)
    for own, expected in zip(found, whole, strict=True):
        np.testing.assert_array_equal(own, expected)


@pytest.mark.parametrize("spectrum", [*INCREASING, *TRIMMING])
def test_an_ordinary_row_counts_one(spectrum):
    y, z, w = _numbers()
    for weight in (None, w):
        curvature = objective(spectrum)(y, z, weight)[1]
        total = 60 if weight is None else w.sum()
        if parse_spectrum(spectrum).trims:
            assert 0.5 * total < curvature.sum() <= total * (1 + 1e-12)
        else:
            assert curvature.sum() == pytest.approx(total)


@pytest.mark.parametrize("spectrum", [*INCREASING, *TRIMMING])
@pytest.mark.parametrize("loss", NUMBERS)
def test_weights_are_copies_scale_nothing_and_zero_is_no_row(spectrum, loss):
    y, z, _ = _numbers(1)
    counts = np.random.default_rng(2).integers(0, 4, 60)
    call = objective(spectrum, loss)
    got = np.array(call(y, z, counts.astype(float)))
    assert np.all(got[:, counts == 0] == 0.0)
    copies = np.array(call(np.repeat(y, counts), np.repeat(z, counts)))
    first = np.r_[0, np.cumsum(counts)[:-1]][counts > 0]
    summed = np.add.reduceat(copies, first, axis=1)
    # Which copy comes first under a cut is not known: only their sum is.
    np.testing.assert_allclose(summed, got[:, counts > 0], atol=1e-9)
    equal = np.array(call(y, z, np.full(60, 3.0)))
    np.testing.assert_allclose(equal, 3.0 * np.array(call(y, z)), rtol=1e-6)


@pytest.mark.parametrize("loss", ["absolute", "pinball:0.8", "huber:0.1"])
def test_newton_steps_on_the_parabola_lower_a_flat_loss(loss):
    """A constant, by steps of Σg/Σh, reaches the one that minimises the loss."""
    rng = np.random.default_rng(0)
    y, own = rng.gamma(2.0, 100.0, size=2000), parse_loss(loss)
    z = np.zeros(2000)
    call, before = objective("mean", loss), np.inf
    for _ in range(60):
        slopes, curvature = call(y, z)
        z = z - slopes.sum() / curvature.sum()
        assert own.value(y, z).mean() <= before * (1 + 1e-3)
        before = own.value(y, z).mean()
    best = own.constant_scores(y, np.full(2000, 1 / 2000), 1)
    assert own.value(y, z).mean() <= 1.02 * own.value(y, np.full(2000, best)).mean()


def test_exact_rows_have_a_curvature():
    y = np.zeros(5)
    for loss in NUMBERS:
        slopes, curvature = objective("mean", loss)(y, y)
        assert np.all(slopes == 0.0) and np.all(curvature > 0.0)


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_any_scale(size):
    y, z, _ = _numbers()
    for loss in NUMBERS:
        for spectrum in ("mean", "superquantile:0.9", "subquantile:0.8"):
            got = objective(spectrum, loss)(size * y, size * z)
            assert np.all(np.isfinite(got))


def test_a_trimmed_spectrum_begins_by_holding_back_and_ends_by_leaving_out():
    rng = np.random.default_rng(0)
    y = rng.normal(size=500)
    y[:50] = 100.0
    call = objective("subquantile:0.8")
    start = call(y, np.zeros(500))[1]
    assert np.all(start[50:] > 0.0)  # nobody is left out
    assert start[:50].max() < 0.01  # and who is far out pulls little
    end = call(y, np.where(y < 50, y + 1e-4 * rng.normal(size=500), 0.0))[1]
    assert np.all(end[:50] < 1e-5)
    assert np.sum(end > 1.2) == pytest.approx(400, abs=1)


def test_nothing_is_remembered():
    """One object for two fits of different sizes, in any order."""
    call = objective("extremile:2")
    y, z, w = _numbers(n=500)
    first = call(y, z)
    call(y[:30], z[:30], w[:30])
    np.testing.assert_array_equal(call(y, z), first)
    np.testing.assert_array_equal(objective("extremile:2")(y, z), first)


def test_what_was_passed_may_change_in_place():
    """Arrays that a caller fills anew, and a spectrum that is set to something else."""
    y, z, w = _numbers()
    spectrum = parse_spectrum("subquantile:0.8")
    call = objective(spectrum)
    for weight in (None, w):
        call(y, z, weight)
        y *= 10.0
        w += 1.0
        spectrum.set_params(p=0.5)
        expected = objective("subquantile:0.8")(y, z, weight)
        np.testing.assert_array_equal(call(y, z, weight), expected)


@pytest.mark.parametrize("loss", NUMBERS)
@pytest.mark.parametrize("spectrum", [*INCREASING, *TRIMMING])
def test_scores_of_minus_zero_are_zero(spectrum, loss):
    y = np.maximum(np.arange(2000.0) - 1000.0, 0.0)
    for weight in (None, 1.0 + y % 3):
        got = [objective(spectrum, loss)(y, z, weight) for z in (0.0 * y, -0.0 * y)]
        np.testing.assert_array_equal(*got)


def test_metrics_are_named_apart():
    """LightGBM and XGBoost record what they are told under this name."""
    names = [
        make(spectrum, loss).__name__
        for make in (objective, lightgbm_metric, xgboost_metric)
        for spectrum in ("superquantile:0.9", "superquantile:0.95", "mean")
        for loss in ("squared", "huber:0.7", "huber:1.35", "logistic")
    ]
    assert len(set(names)) == 12
    assert "huber_0.7_superquantile_0.95" in names
    custom = CustomSpectrum(weights=[1, 2])
    assert objective(custom, "squared").__name__ == "squared_custom"


def test_copies_equality_and_words():
    call = objective("superquantile:0.9", "logistic")
    for other in (copy.deepcopy(call), pickle.loads(pickle.dumps(call))):
        assert other == call and repr(other) == repr(call)
    assert call != objective("superquantile:0.8", "logistic")
    assert call != lightgbm_metric("superquantile:0.9", "logistic")
    assert repr(call) == "SpectralObjective(Superquantile(q=0.9), Logistic())"
    assert call.__name__ == "logistic_superquantile_0.9"


def test_probabilities_sum_to_one():
    z = np.random.default_rng(0).normal(size=(5, 3))
    for scores in (z, 50 * z[:, 0]):
        np.testing.assert_allclose(probabilities(scores).sum(axis=1), 1.0)
    np.testing.assert_array_equal(probabilities(z[:, :1]), probabilities(z[:, 0]))

"""Huber, pinball and absolute loss against their textbook formulas."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import huber as scipy_huber
from sklearn.metrics import mean_absolute_error, mean_pinball_loss

from lrisk.losses import LOSSES, Absolute, Huber, Pinball, Softened, Squared

rng = np.random.default_rng(0)
Y, Z = rng.normal(size=(2, 200))


@pytest.mark.parametrize("delta", [0.1, 1.0, 7.0])
def test_huber_is_scipys(delta):
    np.testing.assert_allclose(Huber(delta).value(Y, Z), scipy_huber(delta, Y - Z))


@pytest.mark.parametrize("tau", [0.05, 0.5, 0.9])
def test_pinball_is_scikit_learns(tau):
    expected = mean_pinball_loss(Y, Z, alpha=tau)
    assert Pinball(tau).value(Y, Z).mean() == pytest.approx(expected, rel=1e-12)


def test_absolute_is_scikit_learns():
    expected = mean_absolute_error(Y, Z)
    assert Absolute().value(Y, Z).mean() == pytest.approx(expected, rel=1e-12)


def test_huber_without_limit_is_squared():
    np.testing.assert_allclose(Huber(1e6).value(Y, Z), Squared().value(Y, Z))


@pytest.mark.parametrize("loss", [Absolute(), Pinball(0.8), Huber(0.5)], ids=repr)
def test_softened_forms_lie_below_and_come_near(loss):
    before = np.full_like(Y, -np.inf)
    for width in (100.0, 10.0, 1.5):
        soft = loss.softened(width)
        value = soft.value(Y, Z)
        assert np.all(value >= before) and np.all(value <= loss.value(Y, Z) + 1e-15)
        away = 0.5 * (width - loss.width) * loss.lipschitz**2
        assert np.all(loss.value(Y, Z) - value <= away + 1e-15)
        assert soft.bounds == loss.bounds
        before = value
    assert loss.softened(loss.width) is loss


@pytest.mark.parametrize("loss", [Pinball(0.8), Softened(-0.2, 0.9, 0.4)], ids=repr)
def test_secant_has_the_slope(loss):
    np.testing.assert_allclose(
        loss.secant(Y, Z) * (Z - Y), loss.derivative(Y, Z), rtol=1e-12
    )
    assert loss.secant(Y, Y).max() == 0.0


@pytest.mark.parametrize("loss", [Absolute(), Huber(0.5)], ids=repr)
def test_secant_of_an_even_loss_gives_a_parabola_above_it(loss):
    c = loss.secant(Y, Z)
    assert np.all(c >= 0.0)
    for other in (Z + 0.1, Z - 2.0, 2 * Y - Z, Y):
        rise = 0.5 * c * ((other - Y) ** 2 - (Z - Y) ** 2)
        assert np.all(loss.value(Y, other) <= loss.value(Y, Z) + rise + 1e-12)


@pytest.mark.parametrize("name", [n for n in LOSSES if not LOSSES[n].classifies])
def test_constant_scores_minimise_the_weighted_mean(name):
    loss = LOSSES[name]()
    mass = rng.dirichlet(np.ones(len(Y)))

    def mean(c):
        return float(mass @ loss.value(Y, np.full_like(Y, c)))

    best = minimize_scalar(mean, bounds=(Y.min(), Y.max()), options={"xatol": 1e-10})
    found = float(loss.constant_scores(Y, mass, 1))
    assert mean(found) <= best.fun * (1 + 1e-9)


def test_constant_scores_of_equal_targets():
    for loss in (Absolute(), Huber(), Pinball(0.1)):
        y, mass = np.full(5, 3.0), np.full(5, 0.2)
        assert loss.constant_scores(y, mass, 1) == 3.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Huber(0.0), "delta must be a finite number > 0"),
        (lambda: Huber(np.inf), "delta must be a finite number > 0"),
        (lambda: Pinball(1.0), r"tau must be a number in \(0, 1\)"),
        (lambda: Pinball(0.0), r"tau must be a number in \(0, 1\)"),
        (lambda: Huber().set_params(delta=-1.0), "delta"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_kinks_have_no_compiled_form():
    with pytest.raises(NotImplementedError):
        Absolute().compiled()

"""Laws every registered loss obeys; a new one is tested by being registered."""

import numpy as np
import pytest

from lrisk._jit import jit
from lrisk.losses import LOSSES, Softened, scalar_derivative, scalar_value

ALL = {**LOSSES, "softened": lambda: Softened(-0.3, 0.7, 0.2)}
every_loss = pytest.mark.parametrize("name", ALL)
scalar_losses = pytest.mark.parametrize(
    "name", [n for n in ALL if ALL[n]().smooth and not ALL[n]().per_class]
)


def sample(loss, n=60, seed=0, spread=3.0):
    """Random targets and scores that fit the loss."""
    rng = np.random.default_rng(seed)
    if loss.per_class:
        return rng.integers(0, 4, n).astype(float), spread * rng.normal(size=(n, 4))
    z = spread * rng.normal(size=n)
    if not loss.classifies:
        return rng.normal(size=n), z
    return rng.integers(0, 2, n).astype(float), z


@every_loss
def test_derivative_and_curvature_by_finite_differences(name):
    loss = ALL[name]()
    y, z = sample(loss)
    rng = np.random.default_rng(1)
    v = rng.normal(size=z.shape)
    h = 1e-6
    slope = (loss.value(y, z + h * v) - loss.value(y, z - h * v)) / (2 * h)
    product = loss.derivative(y, z) * v
    product = product if z.ndim == 1 else product.sum(axis=1)
    np.testing.assert_allclose(slope, product, rtol=1e-6, atol=1e-7)
    bend = (loss.derivative(y, z + h * v) - loss.derivative(y, z - h * v)) / (2 * h)
    np.testing.assert_allclose(
        bend, loss.curvature_times(y, z, v), rtol=1e-6, atol=1e-7
    )


@every_loss
def test_curvature_is_symmetric_positive_and_bounded_by_the_smoothness(name):
    loss = ALL[name]()
    y, z = sample(loss)
    c = loss.curvature(y, z)
    if z.ndim == 1:
        assert np.all(c >= 0) and np.all(c <= loss.smoothness)
        return
    np.testing.assert_allclose(c, c.transpose(0, 2, 1), atol=1e-15)
    values = np.linalg.eigvalsh(c)
    assert values.min() >= -1e-14 and values.max() <= loss.smoothness + 1e-14


@every_loss
@pytest.mark.parametrize("spread", [3.0, 300.0])
def test_what_is_found_at_once_is_what_is_found_alone(name, spread):
    loss = ALL[name]()
    y, z = sample(loss, spread=spread)
    slopes, bends = loss.slope_and_curvature(y, z)
    np.testing.assert_allclose(slopes, loss.derivative(y, z), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(bends, loss.curvature(y, z), rtol=1e-13, atol=1e-14)
    value, slopes = loss.value_and_derivative(y, z)
    np.testing.assert_allclose(value, loss.value(y, z), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(slopes, loss.derivative(y, z), rtol=1e-13, atol=1e-14)


@every_loss
def test_slopes_are_bounded_by_the_lipschitz_constant(name):
    loss = ALL[name]()
    y, z = sample(loss, spread=30.0)
    slopes = loss.derivative(y, z)
    size = np.abs(slopes) if z.ndim == 1 else np.linalg.norm(slopes, axis=1)
    assert np.all(size <= loss.lipschitz + 1e-12)


@every_loss
def test_fenchel_young(name):
    """ℓ(z) + ℓ*(a) ≥ a·z, with equality exactly at a = ℓ′(z)."""
    loss = ALL[name]()
    y, z = sample(loss)
    at = loss.derivative(y, z)
    np.testing.assert_allclose(loss.fenchel_young(y, z, at), 0.0, atol=1e-12)
    _, other = sample(loss, seed=5)
    a = loss.derivative(y, other)
    inner = a * z if z.ndim == 1 else (a * z).sum(axis=1)
    plain = loss.value(y, z) + loss.conjugate(y, a) - inner
    assert np.all(plain >= -1e-12)
    np.testing.assert_allclose(loss.fenchel_young(y, z, a), plain, atol=1e-10)


@every_loss
def test_conjugate_is_the_supremum(name):
    """ℓ*(a) = max_z a·z − ℓ(z), by a numerical search."""
    from scipy.optimize import minimize

    loss = ALL[name]()
    y, z = sample(loss, n=6)
    a = loss.derivative(y, z)
    for i in range(6):
        row = slice(i, i + 1)

        def negative(v, row=row):
            v = v.reshape(z[row].shape)
            return float(loss.value(y[row], v)[0] - np.sum(a[row] * v))

        found = -minimize(negative, np.zeros(z[row].size), tol=1e-12).fun
        assert found == pytest.approx(loss.conjugate(y[row], a[row])[0], abs=1e-6)


@every_loss
def test_dual_points_are_feasible_and_balanced(name):
    loss = ALL[name]()
    y, z = sample(loss)
    rng = np.random.default_rng(2)
    weights = rng.dirichlet(np.ones(len(y)))
    weights[:5] = 0.0
    weights /= weights.sum()
    wild = loss.derivative(y, z) + rng.normal(size=z.shape)
    if z.ndim == 2:
        wild -= wild.mean(axis=1, keepdims=True)
    inside = loss.to_dual_domain(y, wild)
    np.testing.assert_allclose(loss.to_dual_domain(y, inside), inside, atol=1e-14)
    balanced = loss.to_balanced_dual(y, inside, weights)
    np.testing.assert_allclose(weights @ balanced, 0.0, atol=1e-14)
    np.testing.assert_allclose(loss.to_dual_domain(y, balanced), balanced, atol=1e-13)
    fine = loss.derivative(y, z)
    np.testing.assert_allclose(loss.to_dual_domain(y, fine), fine, atol=1e-14)


@every_loss
def test_extreme_scores_stay_finite(name):
    loss = ALL[name]()
    y, z = sample(loss)
    for size in (1e2, 1e4, 1e150 if "squared" in name else 1e300):
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            assert np.all(np.isfinite(loss.value(y, size * np.sign(z))))
            slopes = loss.derivative(y, size * np.sign(z))
        assert np.all(np.isfinite(slopes))


@jit
def _both(loss, y, z, values, slopes):
    for i in range(z.shape[0]):
        values[i] = scalar_value(loss, y[i], z[i])
        slopes[i] = scalar_derivative(loss, y[i], z[i])


@scalar_losses
def test_scalar_form_is_the_array_form(name):
    loss = ALL[name]()
    y, z = sample(loss, n=400, spread=20.0)
    z[:3] = 0.0
    values, slopes = np.empty_like(z), np.empty_like(z)
    _both(loss.compiled(), y, z, values, slopes)
    np.testing.assert_allclose(values, loss.value(y, z), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(slopes, loss.derivative(y, z), rtol=1e-13, atol=1e-300)

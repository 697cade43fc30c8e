"""Losses of tensors are those of arrays."""

import numpy as np
import pytest

from lrisk.losses import Absolute, Huber, Logistic, Multinomial, Squared, SquaredHinge

torch = pytest.importorskip("torch", reason="torch is not installed")

from lrisk.torch.losses import on_tensors  # noqa: E402

LOSSES = [Squared(), Logistic(), Huber(0.7), Huber(3.0), SquaredHinge()]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_the_formulas_are_those_of_arrays(loss, seed):
    rng = np.random.default_rng(seed)
    z = rng.standard_cauchy(400) * 10.0 ** rng.integers(-8, 9, 400)
    y = rng.normal(size=400)
    if loss.classifies:
        y = (y > 0.0).astype(float)
    z[:20], z[20:40] = y[:20], 0.0  # no residual; on the plane
    a = loss.to_dual_domain(y, rng.normal(size=400))
    form = on_tensors(loss)
    given = torch.tensor(y), torch.tensor(z)
    value, slope = form.value_and_derivative(*given)
    exact = {"rtol": 1e-13, "atol": 1e-300}  # below, numbers have fewer digits
    np.testing.assert_allclose(value.numpy(), loss.value(y, z), **exact)
    np.testing.assert_allclose(slope.numpy(), loss.derivative(y, z), **exact)
    curvature = form.curvature(*given).numpy()
    np.testing.assert_allclose(curvature, loss.curvature(y, z), **exact)
    raw = rng.normal(size=400) * 3.0
    inside = form.to_dual_domain(given[0], torch.tensor(raw)).numpy()
    np.testing.assert_array_equal(inside, loss.to_dual_domain(y, raw))
    missed = form.fenchel_young(*given, torch.tensor(a)).numpy()
    size = np.abs(value.numpy()) + np.abs(a * z) + 1.0
    assert np.all(np.abs(missed - loss.fenchel_young(y, z, a)) <= 1e-14 * size)
    for tensor, array in zip(given, (y, z), strict=True):  # nothing given is changed
        np.testing.assert_array_equal(tensor.numpy(), array)


@pytest.mark.parametrize("loss", [Absolute(), Multinomial()], ids=repr)
def test_other_losses_have_no_form(loss):
    with pytest.raises(NotImplementedError, match="no form for tensors"):
        on_tensors(loss)

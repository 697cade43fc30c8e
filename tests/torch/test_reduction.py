"""`SpectralRisk` as a loss: gradients, compilation, and minima that are proven."""

import copy
import pickle
import shutil

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

pytest.importorskip("torch", reason="torch is not installed")
import torch

import lrisk
from lrisk import RiskRegressor, risk_weights
from lrisk.spectra import FAMILIES, SMOOTHINGS, CustomSpectrum, parse_spectrum
from lrisk.torch import SpectralRisk
from lrisk.torch.reduction import named

RISING = ["mean", "superquantile:0.6", "extremile:2.5", "esrm:2", "worst_case"]
compiler = pytest.mark.skipif(
    shutil.which("cc") is None and shutil.which("g++") is None,
    reason="torch.compile needs a C++ compiler",
)


def losses_of(n, seed=0):
    generator = torch.Generator().manual_seed(seed)
    losses = torch.randn(n, dtype=torch.float64, generator=generator)
    return losses.requires_grad_()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_value_and_gradient_are_the_risk_and_its_weights(name, dtype):
    losses = losses_of(50).detach().to(dtype).requires_grad_()
    value = SpectralRisk(name)(losses)
    value.backward()
    assert value.dtype == dtype and value.shape == ()
    own = losses.detach().numpy()
    close = 1e-6 if dtype == torch.float32 else 1e-13
    assert value.item() == pytest.approx(lrisk.risk(own, name), rel=close, abs=close)
    np.testing.assert_allclose(losses.grad, risk_weights(own, name), atol=close)


@pytest.mark.parametrize("smoothing", [None, *SMOOTHINGS])
@pytest.mark.parametrize("spectrum", RISING)
@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives_are_those_of_the_values(spectrum, smoothing, weighted):
    weight = torch.linspace(0.0, 2.0, 12) if weighted else None
    nu = {None: 0.0, "l2": 4.0, "entropy": 0.8}[smoothing]
    risk = SpectralRisk(spectrum, smoothing, nu)
    losses = losses_of(12, seed=3)
    assert torch.autograd.gradcheck(lambda x: risk(x, weight), losses, atol=1e-6)
    assert torch.autograd.gradgradcheck(lambda x: risk(x, weight), losses, atol=1e-6)


def test_smoothing_errs_by_no_more_than_its_bound():
    losses = losses_of(30)
    for spectrum in map(parse_spectrum, RISING):
        exact = SpectralRisk(spectrum)(losses).item()
        for smoothing in SMOOTHINGS:
            bound = spectrum.smoothing_bound(smoothing, 0.5, 30)
            error = exact - SpectralRisk(spectrum, smoothing, 0.5)(losses).item()
            assert -1e-12 <= error <= bound + 1e-12


def test_second_derivatives_reach_the_parameters():
    """Of the exact risk Σλ∇²ℓ, λ being constant."""
    theta = torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True)
    X = torch.randn(9, 2, dtype=torch.float64, generator=torch.Generator())
    risk = SpectralRisk("esrm:2")
    weights = risk.weights((X @ theta) ** 2)
    found = torch.autograd.functional.hessian(lambda t: risk((X @ t) ** 2), theta)
    torch.testing.assert_close(found, 2.0 * X.T @ (weights[:, None] * X))


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_third_derivatives_of_smoothed_risks_are_refused(smoothing):
    losses = losses_of(5)
    value = SpectralRisk("esrm:2", smoothing, 1.0)(losses**2)
    (first,) = torch.autograd.grad(value, losses, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), losses, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        second.sum().backward()


def test_one_row_and_one_huge_loss():
    one = torch.tensor([2.0], requires_grad=True)
    huge = torch.tensor([1.0, 1e30, 2.0], requires_grad=True)
    for spectrum in FAMILIES:
        assert SpectralRisk(spectrum)(one).item() == 2.0
        assert SpectralRisk(spectrum)(huge).isfinite()
    assert SpectralRisk("subquantile:0.6")(huge).item() == pytest.approx(13.0 / 9.0)


def test_modules_are_shown_copied_and_pickled():
    risk = SpectralRisk("cvar:0.9", "l2", 2.0)
    assert repr(risk) == "SpectralRisk(Superquantile(q=0.9), smoothing='l2', nu=2.0)"
    losses = losses_of(9)
    for other in (copy.deepcopy(risk), pickle.loads(pickle.dumps(risk))):
        assert other(losses).item() == risk(losses).item()


def test_autocast_does_not_round_the_weights():
    losses = losses_of(5000).detach().float().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        value = SpectralRisk("esrm:2")(losses)
    value.backward()
    assert value.dtype == torch.float32
    wanted = risk_weights(losses.detach().numpy(), "esrm:2")
    np.testing.assert_allclose(losses.grad, wanted, rtol=1e-6)


def test_functional_gradients():
    losses, risk = losses_of(9).detach(), SpectralRisk("esrm:2")
    torch.testing.assert_close(torch.func.grad(risk)(losses), risk.weights(losses))


def test_a_spectrum_that_is_changed_later_changes_nothing():
    spectrum = parse_spectrum("superquantile:0.5")
    risk, losses = SpectralRisk(spectrum), losses_of(9)
    before = risk(losses).item()
    spectrum.set_params(q=0.9)
    risk.spectrum.set_params(q=0.1)
    assert risk(losses).item() == before


@pytest.mark.parametrize("name", FAMILIES)
def test_names_say_all_of_a_spectrum(name):
    spectrum = FAMILIES[name]()
    for parameter, value in spectrum.get_params().items():
        spectrum.set_params(**{parameter: value * 0.9 if value < 1 else value / 0.7})
    assert parse_spectrum(named(spectrum)) == spectrum


def test_custom_spectra_have_no_name():
    assert named(CustomSpectrum(weights=[1, 2])) is None


EXACT, CUSTOM = ("superquantile:0.7",), (CustomSpectrum(weights=[1, 2]),)


@pytest.mark.filterwarnings("ignore")  # of torch's own compiler
@pytest.mark.parametrize(
    ("given", "backend"),
    [
        pytest.param(EXACT, "inductor", marks=compiler, id="exact"),
        pytest.param(EXACT, "aot_eager", id="exact graph"),
        pytest.param(("esrm:2", "l2", 1.0), "aot_eager", id="smoothed"),
        pytest.param(CUSTOM, "aot_eager", id="custom"),
    ],
)
def test_compiled_models_have_the_same_gradients(given, backend):
    risk, model = SpectralRisk(*given), torch.nn.Linear(3, 1)

    def loss(X, weight):
        return risk(model(X)[:, 0] ** 2, weight)

    torch.compiler.reset()
    whole = named(risk.spectrum) is not None
    compiled = torch.compile(loss, fullgraph=whole, backend=backend)
    generator = torch.Generator().manual_seed(0)
    rows = [torch.rand(n, generator=generator) for n in (8, 5)]
    inputs = [(len(w), given) for w in rows for given in (None, w)]
    if backend == "inductor":  # which compiles each form of input for seconds
        inputs = inputs[1:2]
    for n, weight in inputs:
        X = torch.randn(n, 3, generator=generator)
        told = []
        for function in (loss, compiled):
            model.zero_grad()
            value = function(X, weight)
            value.backward()
            told.append((value.detach(), model.weight.grad.clone()))
        torch.testing.assert_close(told[0], told[1])


# -- against minima that RiskRegressor proves ------------------------------------------


def minimised(spectrum, alpha, X, y, levels=((None, 0.0),)):
    """Least risk of a linear layer by L-BFGS on all rows, smoothed less and less."""
    layer = torch.nn.Linear(X.shape[1], 1, dtype=torch.float64)
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    penalty = alpha / (2.0 * len(y))

    def value(risk):
        losses = 0.5 * (layer(X)[:, 0] - y) ** 2
        return risk(losses) + penalty * (layer.weight**2).sum()

    for level in levels:
        risk = SpectralRisk(spectrum, *level)
        steps = torch.optim.LBFGS(
            layer.parameters(),
            max_iter=300,
            tolerance_grad=1e-9,
            tolerance_change=1e-14,
            history_size=20,
            line_search_fn="strong_wolfe",
        )

        def closure(steps=steps, risk=risk):
            steps.zero_grad()
            now = value(risk)
            now.backward()
            return now

        steps.step(closure)
    with torch.no_grad():
        return float(value(SpectralRisk(spectrum)))


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, (y - y.mean()) / y.std()


@pytest.mark.numerics
@pytest.mark.parametrize("spectrum", ["mean", "extremile:2", "esrm:1", "esrm:5"])
def test_smooth_spectra_reach_the_certified_minimum(spectrum, diabetes):
    proven = RiskRegressor(spectrum, alpha=1.0, tol=1e-9).fit(*diabetes)
    found = minimised(spectrum, 1.0, *map(torch.from_numpy, diabetes))
    least = proven.objective_ - proven.dual_gap_
    assert least - 1e-12 <= found <= proven.objective_ * (1.0 + 1e-6)


@pytest.mark.numerics
@pytest.mark.parametrize("spectrum", ["superquantile:0.5", "superquantile:0.9"])
def test_superquantiles_reach_it_by_smoothing_less_and_less(spectrum, diabetes):
    proven = RiskRegressor(spectrum, alpha=1.0, tol=1e-9).fit(*diabetes)
    n = len(diabetes[1])
    levels = [("l2", n * 10.0**-k) for k in (0, 1, 2, 3)]
    found = minimised(spectrum, 1.0, *map(torch.from_numpy, diabetes), levels)
    least = proven.objective_ - proven.dual_gap_
    assert least - 1e-12 <= found <= proven.objective_ * (1.0 + 1e-4)

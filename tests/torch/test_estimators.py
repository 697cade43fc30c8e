"""Fits of tensors are those of arrays, with a certificate that others prove anew."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import lrisk

torch = pytest.importorskip("torch", reason="torch is not installed")

from lrisk.torch import RiskClassifier, RiskRegressor  # noqa: E402
from lrisk.torch.part import TorchPart  # noqa: E402

pytestmark = [
    pytest.mark.numerics,
    # A tail of classes that overlap: `test_a_collapse_warns`.
    pytest.mark.filterwarnings("ignore::lrisk.CollapsedFitWarning"),
]
N, D = 12_000, 4  # of 10,000 and fewer all are fetched
SPECTRA = ["mean", "extremile:2", "esrm:1", "superquantile:0.5", "superquantile:0.9"]
LOSSES = ["squared", "huber:0.7", "logistic", "squared_hinge"]
KINDS = {"RiskRegressor": RiskRegressor, "RiskClassifier": RiskClassifier}
every_spectrum = pytest.mark.parametrize("spectrum", SPECTRA)


def drawn(loss, n=N, seed=0, d=D):
    rng = np.random.default_rng(seed)
    scale, middle = 10.0 ** rng.integers(-1, 2, d), rng.normal(size=d)
    X = rng.normal(size=(n, d)) * scale + middle
    score = (X - middle) @ (rng.normal(size=d) / scale)
    y = score + 2.0 + rng.standard_t(4, size=n)
    if loss in ("logistic", "squared_hinge"):
        y = score + 0.3 * rng.logistic(size=n) > 0.0
    return X, y, rng.integers(0, 4, n).astype(float)


def fitted(loss, spectrum, X, y, weight, device="cpu", dtype=torch.float64, **options):
    """The fit of tensors, and one of arrays that is not fitted yet."""
    kind = "RiskClassifier" if y.dtype == bool else "RiskRegressor"
    rows = torch.tensor(X, dtype=dtype, device=device)
    own = None if weight is None else torch.tensor(weight, device=device)
    model = KINDS[kind](spectrum, loss=loss, **options)
    model.fit(rows, torch.tensor(y, device=device), own)
    return model, getattr(lrisk, kind)(spectrum, loss=loss, **options), rows


def check_same(model, plain, X, y, weight=None):
    """The minimum to within what is proven, and the proof anew by other code."""
    plain.fit(X, y, weight)
    assert model.dual_gap_ <= model.tol
    lowest = plain.objective_ * (1.0 - plain.dual_gap_)
    assert model.objective_ >= lowest * (1.0 - 1e-12)
    highest = plain.objective_ * (1.0 + model.dual_gap_ * (1.0 + 1e-9))
    assert model.objective_ <= highest * (1.0 + 1e-12)
    whole = model.to_memory()
    whole.risk_weights_ = model.risk_weights_.cpu().numpy()
    proof = lrisk.certify(whole, X, y, weight)
    assert proof.primal <= model.objective_ * (1 + 1e-12)
    assert proof.relative_gap <= model.tol * (1 + 1e-6)
    lam = whole.risk_weights_
    assert lam.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.abs(lam - plain.risk_weights_).sum() < 0.05
    assert whole.weight_sum_ == pytest.approx(plain.weight_sum_)
    if weight is not None:
        assert not np.any(lam[weight == 0.0])


@every_spectrum
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_fits_are_those_of_arrays(device, loss, spectrum, weighted):
    X, y, weight = drawn(loss)
    own = weight if weighted else None
    model, plain, _ = fitted(loss, spectrum, X, y, own, device)
    check_same(model, plain, X, y, own)


@pytest.mark.parametrize("spectrum", ["extremile:2", "superquantile:0.9"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_features_of_32_bits_lose_nothing(device, loss, spectrum, seed):
    """Their fit is that of the same numbers in 64 bits, gaps below 1e-6 included."""
    X, y, weight = drawn(loss, seed=seed)
    X = X.astype(np.float32)
    tol = 1e-8 if loss in ("squared", "logistic") else 1e-6
    model, plain, rows = fitted(
        loss, spectrum, X, y, weight, device, torch.float32, tol=tol
    )
    check_same(model, plain, X.astype(np.float64), y, weight)
    assert rows.dtype == torch.float32
    assert model.coef_.dtype == model.risk_weights_.dtype == torch.float64


@every_spectrum
@pytest.mark.parametrize("loss", ["squared", "huber:0.7"])
@pytest.mark.parametrize(
    "case", ["exact", "constant", "tied", "huge", "copies", "columns"]
)
@pytest.mark.parametrize("n", [1, 2, 500, N])
def test_numbers_of_all_kinds(device, loss, spectrum, case, n):
    X, y, _ = drawn(loss, n)
    if case == "exact":
        y = X @ np.arange(1.0, D + 1) + 3.0
    elif case == "constant":
        y = np.full(n, 7.0)
    elif case == "tied":
        X, y = X.round(), y.round()
    elif case == "huge":
        y[n // 2] = 1e12
    elif case == "copies":
        X, y = np.repeat(X[:1], n, axis=0), np.repeat(y[:1], n)
    else:
        X[:, 1], X[:, 2] = X[:, 0], 0.0
    plain = lrisk.RiskRegressor(spectrum, loss=loss)
    model = RiskRegressor(spectrum, loss=loss)
    with warnings.catch_warnings():  # of what is not proven, in memory as well
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain.fit(X, y)
        model.fit(*(torch.tensor(values, device=device) for values in (X, y)))
    room = plain.dual_gap_ + model.dual_gap_
    if np.isfinite(room):
        apart = abs(model.objective_ - plain.objective_)
        assert apart <= (room + 1e-12) * max(plain.objective_, model.objective_) + 1e-18
    # Of rows that tie on flat pieces parts of arrays prove no more.
    hard = loss != "squared" and case == "tied" and n == N
    assert hard or model.dual_gap_ <= 1e-6


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@every_spectrum
@pytest.mark.parametrize("n", [2, 300, N])
def test_classes(device, loss, spectrum, n):
    X, y, weight = drawn(loss, n)
    y[0], y[1] = True, False
    model, plain, rows = fitted(loss, spectrum, X, y, None, device)
    plain.fit(X, y)
    assert model.classes_.tolist() == [False, True]
    assert model.classes_.dtype == torch.bool
    scores = model.decision_function(rows).cpu().numpy()
    whole = model.to_memory()
    np.testing.assert_allclose(scores, whole.decision_function(X), atol=1e-9)
    found = model.predict(rows).cpu().numpy()
    np.testing.assert_array_equal(found, scores > 0.0)
    w = torch.tensor(weight + 1.0, device=device)
    for own in (None, w):
        array = None if own is None else own.cpu().numpy()
        expected = whole.score(X, y, array)
        assert model.score(rows, torch.tensor(y, device=device), own) == pytest.approx(
            expected, abs=1e-12
        )
    assert hasattr(model, "predict_proba") == (loss == "logistic")
    if loss == "logistic":
        proba = model.predict_proba(rows)
        np.testing.assert_allclose(proba.cpu(), whole.predict_proba(X), atol=1e-12)
        log = model.predict_log_proba(rows)
        np.testing.assert_allclose(log.cpu(), whole.predict_log_proba(X), atol=1e-9)


@pytest.mark.parametrize("class_weight", ["balanced", {1: 3.0}, {2: 0.0}])
@pytest.mark.parametrize("n", [300, N])
def test_weights_of_classes(device, class_weight, n):
    X, y, weight = drawn("logistic", n)
    labels = np.where(y, 3, 1)
    if class_weight == {2: 0.0}:
        labels[::50] = 2
    model = RiskClassifier("extremile:2", class_weight=class_weight)
    plain = lrisk.RiskClassifier("extremile:2", class_weight=class_weight)
    own = (torch.tensor(values, device=device) for values in (X, labels, weight))
    model.fit(*own)
    assert model.classes_.tolist() == [1, 3]
    kept = labels != 2
    if kept.all():
        check_same(model, plain, X, labels, weight)
        return
    assert not model.risk_weights_.cpu().numpy()[~kept].any()
    plain.set_params(class_weight=None).fit(X[kept], labels[kept], weight[kept])
    assert model.objective_ == pytest.approx(plain.objective_, rel=1.1e-6)


def test_what_a_fit_gives_back(device):
    X, y, weight = drawn("squared")
    model, plain, rows = fitted("squared", "extremile:2", X, y, weight, device)
    plain.fit(X, y, weight)
    for value, shape in (
        (model.coef_, (D,)),
        (model.intercept_, ()),
        (model.risk_weights_, (N,)),
        (model.predict(rows), (N,)),
    ):
        assert torch.is_tensor(value) and tuple(value.shape) == shape
        assert value.device == rows.device and value.dtype == torch.float64
        assert not value.requires_grad
    np.testing.assert_allclose(model.coef_.cpu(), plain.coef_, rtol=1e-2, atol=1e-3)
    whole = model.to_memory()
    assert isinstance(whole.intercept_, float)
    np.testing.assert_allclose(model.predict(rows).cpu(), whole.predict(X), atol=1e-12)
    target = torch.tensor(y, device=device)
    assert model.score(rows, target) == pytest.approx(whole.score(X, y), rel=1e-12)
    own = torch.tensor(weight, device=device)
    expected = whole.score(X, y, weight)
    assert model.score(rows, target, own) == pytest.approx(expected, rel=1e-12)
    again = pickle.loads(pickle.dumps(model))
    assert torch.equal(again.predict(rows), model.predict(rows))
    assert not hasattr(clone(model), "coef_")
    assert model.n_features_in_ == D and model.solver_ == "lbfgs"
    assert len(model.history_) == model.n_iter_


def test_the_score_of_a_constant_is_that_of_scikit_learn(device):
    X = torch.ones(5, 1, device=device)
    model = RiskRegressor("mean").fit(X, torch.full((5,), 3.0, device=device))
    assert model.score(X, torch.full((5,), 3.0, device=device)) == 1.0
    assert model.score(X, torch.full((5,), 4.0, device=device)) == 0.0


@pytest.mark.parametrize("spectrum", ["extremile:2", "superquantile:0.9"])
def test_fits_on_the_processor_are_the_same_to_the_last_bit(spectrum):
    X, y, _ = drawn("squared")
    first, _, _ = fitted("squared", spectrum, X, y, None)
    again, _, _ = fitted("squared", spectrum, X, y, None)
    assert torch.equal(first.coef_, again.coef_)
    assert first.objective_ == again.objective_


def test_rows_may_lie_in_any_order(device):
    X, y, _ = drawn("squared")
    model, _, rows = fitted("squared", "extremile:2", X, y, None, device)
    turned = rows.T.contiguous().T  # columns one after another
    target = torch.tensor(y, device=device, requires_grad=True)
    other = RiskRegressor("extremile:2").fit(turned, target)
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-9)
    wide = torch.randn(N, 2 * D, device=device, dtype=torch.float64)
    wide[:, ::2] = rows
    other = RiskRegressor("extremile:2").fit(wide[:, ::2], target)
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-9)


def test_a_warm_start_begins_at_the_last_fit(device):
    X, y, _ = drawn("squared")
    model, _, rows = fitted("squared", "esrm:1", X, y, None, device, warm_start=True)
    target = torch.tensor(y, device=device)
    first = model.history_[0]["objective"]
    model.fit(rows, target)
    assert model.history_[0]["objective"] <= first
    assert model.n_iter_ <= 2
    model.fit(rows[:, :2], target)  # other features: nothing to begin from
    assert model.coef_.shape == (2,)


def test_without_an_intercept_and_without_a_penalty(device):
    X, y, weight = drawn("squared")
    for options in ({"fit_intercept": False, "alpha": 10.0}, {"alpha": 0.0}):
        model, plain, _ = fitted(
            "squared", "extremile:2", X, y, weight, device, **options
        )
        check_same(model, plain, X, y, weight)
        assert options.get("fit_intercept", True) or float(model.intercept_) == 0.0


def test_a_collapse_warns(device):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, 2)), rng.random(N) < 0.5
    own = [torch.tensor(values, device=device) for values in (X, y)]
    with pytest.warns(lrisk.CollapsedFitWarning):
        model = RiskClassifier("superquantile:0.9").fit(*own)
    assert not model.coef_.any() and model.dual_gap_ <= 1e-6


def test_a_limit_on_iterations_warns(device):
    X, y, _ = drawn("squared")
    with pytest.warns(ConvergenceWarning, match="RiskRegressor"):
        fitted("squared", "esrm:3", X, y, None, device, max_iter=1, tol=1e-12)


@pytest.mark.parametrize("calls", [1, 2])
def test_an_interrupted_fit_keeps_the_best_point(monkeypatch, calls):
    X, y, _ = drawn("squared")
    asked, at = [], TorchPart.at

    def interrupted(part, theta, grid):
        asked.extend([theta] * (part.n == N))
        if part.n == N and len(asked) == calls:
            raise KeyboardInterrupt
        return at(part, theta, grid)

    monkeypatch.setattr(TorchPart, "at", interrupted)
    model = RiskRegressor("extremile:2", tol=1e-12)
    with pytest.raises(KeyboardInterrupt):
        model.fit(torch.tensor(X), torch.tensor(y))
    assert hasattr(model, "coef_") == (calls > 1)
    if calls > 1:
        assert float(model.risk_weights_.sum()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"spectrum": "subquantile:0.8"}, r"spectrum.*in memory"),
        ({"spectrum": "worst_case"}, r"spectrum.*in memory"),
        ({"loss": "absolute"}, r"loss.*in memory"),
        ({"loss": "logistic"}, "loss"),
        ({"alpha": -1.0}, "alpha"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_parameters_are_refused_with_the_remedy(options, words):
    with pytest.raises(ValueError, match=words):
        RiskRegressor(**options).fit(torch.ones(5, 2), torch.arange(5.0))

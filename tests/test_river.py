"""The river adapters, in river's own hands."""

import copy

import numpy as np
import pytest

pytest.importorskip("river")
from river import checks, evaluate, metrics, preprocessing, stream

from lrisk import NoiseCorrectedKernelRegressor, NoiseCorrectedRegressor
from lrisk.noise import Exact, GaussianNoise, KnownCovariance
from lrisk.river import KernelRegressor, LinearRegressor

MODELS = {
    "linear": LinearRegressor(Exact()),
    "kernel": KernelRegressor(
        NoiseCorrectedKernelRegressor(Exact(), gamma=0.1, budget=9)
    ),
}


def cases():
    for name, model in MODELS.items():
        for check in checks.yield_checks(model):
            yield pytest.param(model, check, id=f"{name}-{check.__name__}")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("model", "check"), list(cases()))
def test_rivers_own_checks(model, check):
    if isinstance(model, KernelRegressor) and "emerging" in check.__name__:
        with pytest.raises(ValueError, match="first row's features"):
            check(copy.deepcopy(model))
        return
    check(copy.deepcopy(model))


def problem(n=1500, sigma=0.6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, -0.5, 0.2] + 1.0 + 0.1 * rng.normal(size=n)
    return X, y, [X + sigma * rng.normal(size=X.shape) for _ in range(2)]


def rows(X):
    return [dict(zip("abc", row.tolist())) for row in X]


@pytest.mark.parametrize("pairs", [True, False])
def test_row_by_row_is_partial_fit(pairs):
    _, y, (P, Q) = problem()
    noise = None if pairs else KnownCovariance(0.36)
    ours = LinearRegressor(noise)
    for x, x2, target in zip(rows(P), rows(Q), y):
        ours.learn_one(x, target, x2=x2 if pairs else None)
    model = NoiseCorrectedRegressor(noise).partial_fit(P, y, X2=Q if pairs else None)
    assert list(ours.weights.values()) == pytest.approx(model.coef_, rel=1e-12)
    new = rows(P[:1])[0]
    assert ours.predict_one(new) == pytest.approx(model.predict(P[:1])[0], rel=1e-12)


def test_scaled_noise_and_missing_features():
    _, y, (P, _) = problem(n=300)
    some, zero = LinearRegressor(KnownCovariance(0.36)), LinearRegressor(Exact())
    whole = NoiseCorrectedRegressor(KnownCovariance(0.36))
    scale = np.full((300, 3), 0.36)
    hidden = P.copy()
    hidden[::2, 1], scale[::2, 1] = 0.0, 0.0
    for i, (x, target) in enumerate(zip(rows(P), y)):
        zero.learn_one(x, target)
        if i % 2 == 0:
            del x["b"]
        some.learn_one(x, target)
    # The first row has no "b": it enters with the second.
    whole.partial_fit(hidden[:, [0, 2, 1]], y, noise_scale=scale[:, [0, 2, 1]])
    assert list(some.weights) == ["a", "c", "b"]
    assert list(some.weights.values()) == pytest.approx(whole.coef_, rel=0.02)
    scaled = LinearRegressor(KnownCovariance(0.36))
    for x, target in zip(rows(P), y):
        scaled.learn_one(x, target, noise_scale=0.0)
    assert scaled.weights == pytest.approx(zero.weights)


def test_in_a_pipeline_with_progressive_validation():
    X, y, _ = problem()
    model = preprocessing.StandardScaler() | LinearRegressor(Exact())
    score = evaluate.progressive_val_score(
        stream.iter_array(X, y), model, metrics.RMSE()
    )
    assert score.get() < 0.3


def test_kernel_rows():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(1500, 1))
    y = np.sin(2 * X[:, 0])
    P, Q = (X + 0.3 * rng.normal(size=X.shape) for _ in range(2))
    estimator = NoiseCorrectedKernelRegressor(GaussianNoise(0.09), gamma=1.0, budget=40)
    model = KernelRegressor(estimator)
    for p, q, target in zip(P[:, 0], Q[:, 0], y):
        model.learn_one({"x": p}, target, x2={"x": q})
    error = np.mean([(model.predict_one({"x": v}) - np.sin(2 * v)) ** 2
                     for v in np.linspace(-1.8, 1.8, 40)])  # fmt: skip
    assert error < 0.05
    assert not hasattr(estimator, "dual_coef_")


def test_refusals():
    with pytest.raises(ValueError, match="x2"):
        LinearRegressor().learn_one({"a": 1.0}, 1.0)
    model = LinearRegressor(KnownCovariance([1.0, 2.0]))
    with pytest.raises(ValueError, match="features"):
        model.learn_one({"a": 1.0, "b": 1.0, "c": 1.0}, 1.0)
    for correction in (7, -0.1, np.nan):
        with pytest.raises(ValueError, match="correction"):
            LinearRegressor(Exact(), correction=correction)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"x": {"a": np.nan, "b": 1.0}}, "'a' must be finite"),
        ({"y": np.inf}, "'y' must be finite"),
        ({"x2": {"a": 1.0, "b": np.nan}}, "finite"),
        ({"x": {"a": -1e200, "b": 1.0}}, "'a' must be at most"),
        ({"y": 1e200}, "'y' must be at most"),
        ({"x2": {"a": 1.0}}, "features of x"),
        ({"noise_scale": -3.0}, "noise_scale"),
        ({"noise_scale": np.nan}, "noise_scale"),
    ],
)
@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_a_bad_row_leaves_the_stream_where_it_was(kind, arguments, match):
    """One NaN in the state would be there for ever."""
    if kind == "linear":
        model = LinearRegressor(GaussianNoise(0.1))
    else:
        model = KernelRegressor(
            NoiseCorrectedKernelRegressor(
                GaussianNoise(0.1),
                gamma=0.5,
                n_components=20,
                random_features=True,
                random_state=0,
            )
        )
    fine = {"x": {"a": 1.0, "b": 2.0}, "y": 1.0, "x2": {"a": 1.1, "b": 2.1}}
    model.learn_one(**fine)
    before = model.predict_one(fine["x"])
    with pytest.raises(ValueError, match=match):
        model.learn_one(**{**fine, **arguments})
    assert model.predict_one(fine["x"]) == before
    model.learn_one(**fine)
    assert np.isfinite(model.predict_one(fine["x"]))


@pytest.mark.parametrize("full", [True, False])
def test_noise_stated_for_features_yet_to_appear(full):
    _, y, (P, _) = problem(n=400)
    cov = np.array([0.3, 0.2, 0.4])
    cov = np.diag(cov) + 0.1 if full else cov
    late = P.copy()
    late[:50, 1], late[:100, 2] = 0.0, 0.0
    own = np.broadcast_to(cov if full else np.diag(cov), (400, 3, 3)).copy()
    own[:50, 1], own[:50, :, 1], own[:100, 2], own[:100, :, 2] = 0.0, 0.0, 0.0, 0.0
    options = {"learning_rate": 0.01, "radius": 100.0}
    whole = NoiseCorrectedRegressor(KnownCovariance(cov), **options)
    ours = LinearRegressor(KnownCovariance(cov), **options)
    for i, (x, target) in enumerate(zip(rows(P), y)):
        names = "a" if i < 50 else "ab" if i < 100 else "abc"
        ours.learn_one({name: x[name] for name in names}, target)
    whole.partial_fit(late, y, noise_scale=own)
    assert list(ours.weights.values()) == pytest.approx(whole.coef_, rel=1e-9)

"""Corrected-risk scorers and metadata routing of the second copy."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from lrisk import NoiseCorrectedKernelRegressor, NoiseCorrectedRegressor
from lrisk.metrics import corrected_risk, make_corrected_scorer
from lrisk.noise import GaussianNoise, KnownCovariance, Replicates


def problem(n=4000, sigma=0.6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = X @ [1.0, -0.5] + 0.2 * rng.normal(size=n)
    P, Q = (X + sigma * rng.normal(size=X.shape) for _ in range(2))
    return X, y, P, Q


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_unbiased_for_the_error_on_clean_rows():
    X, y, P, Q = problem(n=200_000)
    model = Ridge(alpha=100.0).fit(P[:500], y[:500])
    clean = np.mean((model.predict(X) - y) ** 2)
    noise = KnownCovariance(0.36)
    for estimate in (
        corrected_risk(model, P, y, noise=noise),
        corrected_risk(model, P, y, Q, noise=noise),
        corrected_risk(model, P, y, Q, noise=Replicates()),
        corrected_risk(model, P, y, noise=noise, noise_scale=np.ones(len(y))),
    ):
        assert estimate == pytest.approx(clean, abs=0.01)
    naive = np.mean((model.predict(P) - y) ** 2)
    assert naive > clean + 0.1


def test_kernel_risk_from_two_copies():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(40_000, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=len(X))
    P, Q = (X + 0.4 * rng.normal(size=X.shape) for _ in range(2))
    model = NoiseCorrectedKernelRegressor(GaussianNoise(0.16), gamma=0.5, alpha=1.0)
    model.set_params(random_state=0).fit(P[:1000], y[:1000], X2=Q[:1000])
    clean = np.mean((model.predict(X) - y) ** 2)
    assert corrected_risk(model, P, y, Q) == pytest.approx(clean, abs=0.02)


def test_floor():
    _, y, P, _ = problem(n=50)
    model = LinearRegression().fit(P, y)
    model.coef_ = np.array([5.0, 5.0])
    wild = KnownCovariance(9.0)
    assert corrected_risk(model, P, y, noise=wild) == 0.0
    assert corrected_risk(model, P, y, noise=wild, floor=0.1) == pytest.approx(
        0.1 * y.var()
    )
    with pytest.raises(ValueError, match="floor"):
        make_corrected_scorer(floor=-1.0)
    with pytest.raises(ValueError, match="noise"):
        corrected_risk(model, P, y)


def test_chooses_what_clean_rows_would_choose():
    """Plain cross-validation on noisy rows picks no correction; this picks it."""
    _, y, P, _ = problem()
    grid = {"correction": [0.0, 0.5, 1.0]}
    model = NoiseCorrectedRegressor(KnownCovariance(0.36), alpha=0.0)
    ours = GridSearchCV(model, grid, scoring=make_corrected_scorer()).fit(P, y)
    naive = GridSearchCV(model, grid).fit(P, y)
    assert ours.best_params_["correction"] == 1.0
    assert naive.best_params_["correction"] == 0.0


def test_noise_parameters_are_searchable():
    """With the noise of the judge fixed, the true one is chosen from any place."""
    _, y, P, _ = problem()
    model = NoiseCorrectedRegressor(KnownCovariance(0.1), alpha=0.0)
    judge = make_corrected_scorer(KnownCovariance(0.36))
    for values in ([0.0, 0.1, 0.36, 0.8], [0.8, 0.36, 0.1, 0.0]):
        search = GridSearchCV(model, {"noise__cov": values}, scoring=judge).fit(P, y)
        assert search.best_params_["noise__cov"] == 0.36
        assert search.best_estimator_.noise.cov == 0.36
    assert model.noise.cov == 0.1
    # Plain scores prefer the uncorrected model: the choice above is the judge's.
    search = GridSearchCV(model, {"noise__cov": [0.36, 0.0]}, scoring="r2").fit(P, y)
    assert search.best_params_["noise__cov"] == 0.0


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"y": np.zeros((60, 1))}, ValueError, r"y must be .* \(60,\)"),
        ({"y": np.zeros(59)}, ValueError, "y must be"),
        ({"y": np.full(60, np.nan)}, ValueError, "y must be"),
        ({"X": np.full((60, 2), np.nan)}, ValueError, "X must be"),
        ({"X": np.zeros((60, 3))}, ValueError, "2 features"),
        ({"X": np.zeros((60, 2, 1))}, ValueError, "X must be"),
        ({"X2": np.zeros((59, 2))}, ValueError, "X2 must be"),
        ({"X2": np.zeros((60, 0, 2))}, ValueError, "X2 must be"),
        ({"X2": np.full((60, 2), np.inf)}, ValueError, "X2 must be"),
        ({"noise_scale": -np.ones(60)}, ValueError, "noise_scale must be"),
        ({"noise_scale": np.ones(59)}, ValueError, "noise_scale must be"),
        ({"noise_scale": np.ones((60, 1))}, ValueError, "noise_scale must be"),
        ({"noise": "gaussian"}, TypeError, "noise must be"),
        ({"noise": KnownCovariance([1.0, 1.0, 1.0])}, ValueError, "2 features"),
        ({"floor": -1.0}, ValueError, "floor"),
    ],
)
def test_what_the_risk_refuses(change, error, match):
    _, y, P, _ = problem(n=60)
    model = NoiseCorrectedRegressor(KnownCovariance(0.36)).fit(P, y)
    arguments = {"X": P, "y": y, **change}
    with pytest.raises(error, match=match):
        corrected_risk(model, **arguments)


def test_kernel_risk_refuses_noise_of_each_row():
    _, y, P, Q = problem(n=60)
    model = NoiseCorrectedKernelRegressor(GaussianNoise(0.36)).fit(P, y, X2=Q)
    with pytest.raises(ValueError, match="unless the regressor is linear"):
        corrected_risk(model, P, y, Q, noise_scale=np.full(60, 2.0))


def test_many_copies():
    X, y, P, Q = problem(n=100_000)
    third = X + 0.6 * np.random.default_rng(5).normal(size=X.shape)
    linear = Ridge(alpha=100.0).fit(P[:500], y[:500])
    kernel = NoiseCorrectedKernelRegressor(
        GaussianNoise(0.36), gamma=1 / 6.0, alpha=30.0
    )
    kernel.set_params(random_state=0).fit(P[:1000], y[:1000], X2=Q[:1000])
    for model in (linear, kernel):
        clean = np.mean((model.predict(X) - y) ** 2)
        risk = corrected_risk(model, P, y, np.stack([Q, third], axis=1))
        assert risk == pytest.approx(clean, abs=0.02)


def test_frames_and_passthrough_steps():
    pd = pytest.importorskip("pandas")
    _, y, P, Q = problem(n=300)
    A, B = (pd.DataFrame(c, columns=["a", "b"]) for c in (P, Q))
    linear = NoiseCorrectedRegressor(alpha=0.0).fit(A, y, X2=B)
    kernel = NoiseCorrectedKernelRegressor(GaussianNoise(0.36), random_state=0)
    kernel.fit(A, y, X2=B)
    scaled = make_pipeline(StandardScaler(), "passthrough", LinearRegression())
    for model in (linear, kernel, scaled.fit(A, y)):
        plain = corrected_risk(model, A, y, Q)
        assert corrected_risk(model, A, y, B) == pytest.approx(plain, rel=1e-12)
        assert corrected_risk(model, A, y, Q[:, None]) == pytest.approx(plain)
        with pytest.raises(ValueError, match="columns"):
            corrected_risk(model, A, y, B[["b", "a"]])


def test_second_copy_through_grid_search(routing):
    _, y, P, Q = problem()
    model = NoiseCorrectedRegressor(alpha=0.0).set_fit_request(X2=True)
    scorer = make_corrected_scorer().set_score_request(X2=True)
    search = GridSearchCV(model, {"correction": [0.0, 0.5, 1.0]}, scoring=scorer)
    search.fit(P, y, X2=Q)
    assert search.best_params_["correction"] == 1.0
    scores = cross_val_score(model, P, y, scoring=scorer, params={"X2": Q})
    assert np.all(np.abs(scores + 0.04) < 0.05)


def test_second_copy_through_a_pipeline(routing):
    """transform_input scales X2 as X was scaled."""
    _, y, P, Q = problem()
    P, Q = 100.0 * P + 7.0, 100.0 * Q + 7.0
    model = NoiseCorrectedRegressor(alpha=0.0).set_fit_request(X2=True)
    pipeline = Pipeline(
        [("scale", StandardScaler()), ("model", model)], transform_input=["X2"]
    ).fit(P, y, X2=Q)
    inside = NoiseCorrectedRegressor(alpha=0.0, standardize=True).fit(P, y, X2=Q)
    np.testing.assert_allclose(pipeline.predict(P), inside.predict(P), rtol=1e-9)
    assert corrected_risk(pipeline, P, y, Q) == pytest.approx(0.04, abs=0.02)
    search = GridSearchCV(
        pipeline, {"model__correction": [0.0, 1.0]},
        scoring=make_corrected_scorer().set_score_request(X2=True),
    ).fit(P, y, X2=Q)  # fmt: skip
    assert search.best_params_["model__correction"] == 1.0


def test_pipelines_without_routing():
    _, y, P, _ = problem(n=400)
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(P, y)
    scale = model[0].scale_
    noise = KnownCovariance(0.36 / scale**2)
    direct = LinearRegression().fit(P, y)
    assert corrected_risk(model, P, y, noise=noise) == pytest.approx(
        corrected_risk(direct, P, y, noise=KnownCovariance(0.36))
    )

"""Each method is what its formula says, checked against something else."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
)
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

import lrisk
from lrisk.baselines import (
    ConsistentRobustRegressor,
    Sever,
    StirRegressor,
    TiltedClassifier,
    TiltedRegressor,
    TorrentRegressor,
)
from lrisk.datasets import corrupt_classes, corrupt_labels, make_awkward


@pytest.fixture
def clean():
    X, y = make_awkward("gaussian", 300, noise=0.3, random_state=0)
    return X, (y - y.mean()) / y.std()


@pytest.fixture
def dirty(clean):
    return corrupt_labels(*clean, fraction=0.2, random_state=0)


@pytest.fixture
def exact():
    """A line without noise, a fifth of the labels wrong."""
    X, y = make_awkward("gaussian", 300, noise=0.0, random_state=1)
    return X, y, corrupt_labels(X, y, fraction=0.2, random_state=1)


# -- TERM ------------------------------------------------------------------------------


def test_without_tilt_it_is_the_ordinary_regression(dirty):
    X, y = dirty.X, dirty.y
    ours = TiltedRegressor(t=0.0, alpha=2.0).fit(X, y)
    theirs = Ridge(alpha=2.0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9)
    ours = TiltedRegressor("rbf", t=0.0, alpha=0.5, gamma=0.1).fit(X, y)
    theirs = KernelRidge(kernel="rbf", alpha=0.5, gamma=0.1).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8)


@pytest.mark.parametrize("data", ["binary", "iris"])
def test_without_tilt_it_is_the_ordinary_classification(data, clean):
    X, y = load_iris(return_X_y=True)
    if data == "binary":
        X, y = clean[0], clean[1] > 0
    ours = TiltedClassifier(t=0.0, alpha=2.0).fit(X, y)
    theirs = LogisticRegression(C=0.5, solver="newton-cholesky", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5
    )


def tilted_squares(theta, X, y, t, alpha):
    losses = (y - X @ theta[:-1] - theta[-1]) ** 2
    tilted = np.log(np.mean(np.exp(t * losses))) / t
    return tilted + alpha / len(y) * theta[:-1] @ theta[:-1]


def test_no_descent_from_the_tilted_line(dirty):
    model = TiltedRegressor(t=-2.0, alpha=1.0, tol=1e-14, max_iter=5000)
    model.fit(dirty.X, dirty.y)
    theta = np.append(model.coef_, model.intercept_)
    rest = (dirty.X, dirty.y, -2.0, 1.0)
    assert model.objective_ == pytest.approx(tilted_squares(theta, *rest))
    found = minimize(tilted_squares, theta, args=rest, tol=1e-12)
    assert found.fun > model.objective_ - 1e-9
    np.testing.assert_allclose(found.x, theta, atol=1e-4)


def test_no_descent_from_the_tilted_classes(clean):
    X, y = clean[0], (clean[1] > 0).astype(int)
    bad = corrupt_classes(X, y, fraction=0.2, random_state=0)

    def value(theta):
        margins = (2 * bad.y - 1) * (X @ theta[:-1] + theta[-1])
        losses = np.logaddexp(0, -margins)
        tilted = np.log(np.mean(np.exp(-2 * losses))) / -2
        return tilted + 0.5 / len(y) * theta[:-1] @ theta[:-1]

    model = TiltedClassifier(tol=1e-13, max_iter=3000).fit(X, bad.y)
    theta = np.append(model.coef_, model.intercept_)
    assert model.objective_ == pytest.approx(value(theta))
    assert minimize(value, theta, tol=1e-12).fun > model.objective_ - 1e-8
    weights = expit((2 * bad.y - 1) * model.decision_function(X)) ** 2
    np.testing.assert_allclose(model.weights_, weights / weights.mean(), rtol=1e-3)


@pytest.mark.parametrize("model", [TiltedRegressor(), TiltedRegressor("rbf")])
def test_reweighting_never_raises_the_objective(model, dirty):
    values = []
    for rounds in range(1, 8):
        with pytest.warns(match="max_iter"):
            model.set_params(max_iter=rounds, tol=0.0).fit(dirty.X, dirty.y)
        values.append(model.objective_)
    assert np.all(np.diff(values) <= 1e-12)


def test_kernels_of_the_tilted_fits_agree(dirty):
    named = TiltedRegressor("rbf", gamma=0.2).fit(dirty.X, dirty.y)
    K = rbf_kernel(dirty.X, gamma=0.2)
    given = TiltedRegressor("precomputed").fit(K, dirty.y)
    np.testing.assert_allclose(named.predict(dirty.X), given.predict(K), atol=1e-8)
    with pytest.raises(ValueError, match="square"):
        TiltedRegressor("precomputed").fit(K[:, :5], dirty.y)


# -- TORRENT ---------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["fc", "gd", "hyb"])
@pytest.mark.parametrize("start", ["all", "zero"])
def test_torrent_recovers_a_line_exactly(variant, start, exact):
    X, y, bad = exact
    model = TorrentRegressor(variant, contamination=0.25, start=start, tol=1e-12)
    model.fit(bad.X, bad.y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)
    assert not model.inlier_mask_[bad.mask & (abs(bad.y - y) > 1e-3)].any()


@pytest.mark.parametrize("variant", ["fc", "gd", "hyb"])
def test_torrent_ends_at_a_fit_of_the_rows_it_keeps(variant, dirty):
    model = TorrentRegressor(variant, tol=1e-10).fit(dirty.X, dirty.y)
    kept = model.inlier_mask_
    line = LinearRegression().fit(dirty.X[kept], dirty.y[kept])
    np.testing.assert_allclose(model.coef_, line.coef_, atol=1e-5)
    residuals = abs(dirty.y - model.predict(dirty.X))
    assert kept.sum() == 240
    assert residuals[kept].max() <= residuals[~kept].min()


@pytest.mark.parametrize("method", [TorrentRegressor, ConsistentRobustRegressor])
def test_a_share_of_whole_rows_is_not_rounded_down(method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), rng.normal(size=100)
    assert int(0.29 * 100) == 28
    model = method(contamination=0.29).fit(X, y)
    assert np.sum(~model.inlier_mask_) == 29


# -- CRR -------------------------------------------------------------------------------


def test_crr_recovers_a_line_exactly(exact):
    X, y, bad = exact
    model = ConsistentRobustRegressor(contamination=0.25, tol=1e-9).fit(bad.X, bad.y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)
    np.testing.assert_allclose(model.corruption_, bad.y - y, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 10.0])
def test_crr_is_a_fixed_point_of_its_update(alpha, dirty):
    X, y = dirty.X, dirty.y
    model = ConsistentRobustRegressor(alpha=alpha, tol=1e-10).fit(X, y)
    b = model.corruption_
    fitted = Ridge(alpha=alpha).fit(X, y - b).predict(X)
    target = y - fitted
    target[np.argsort(abs(target))[:240]] = 0.0
    np.testing.assert_allclose(target, b, atol=1e-7)
    np.testing.assert_allclose(model.predict(X), fitted, atol=1e-8)


# -- STIR ------------------------------------------------------------------------------


def test_stir_ends_at_least_absolute_deviations(dirty):
    model = StirRegressor(growth=1.5, max_iter=400, tol=1e-12)
    model.fit(dirty.X, dirty.y)
    theirs = QuantileRegressor(quantile=0.5, alpha=0.0).fit(dirty.X, dirty.y)
    ours, best = (np.abs(dirty.y - m.predict(dirty.X)).mean() for m in (model, theirs))
    assert ours <= best * (1 + 1e-5)


def test_stir_truncates_its_weights(dirty):
    model = StirRegressor(truncation=4.0, growth=1.0001).fit(dirty.X, dirty.y)
    residuals = abs(dirty.y - model.predict(dirty.X))
    expected = 1 / np.maximum(residuals, 1 / 4.0)
    np.testing.assert_allclose(model.weights_, expected, rtol=0.02)


# -- SEVER -----------------------------------------------------------------------------


def scores_by_svd(gradients):
    centred = gradients - gradients.mean(axis=0)
    direction = np.linalg.svd(centred, full_matrices=False)[2][0]
    return (centred @ direction) ** 2


def first_round(model, X, y):
    model = Sever(model, contamination=0.2, rounds=1).fit(X, y)
    assert model.n_iter_ == 1 and model.inlier_mask_.sum() == round(0.9 * len(y))
    return model


@pytest.mark.parametrize("columns", [6, 400])
def test_sever_scores_a_line_by_its_gradients(columns, clean):
    X = np.random.default_rng(0).normal(size=(300, columns))
    X[:, :6] = clean[0]
    y = corrupt_labels(X, clean[1], fraction=0.2, random_state=0).y
    model = first_round(Ridge(), X, y)
    residuals = Ridge().fit(X, y).predict(X) - y
    tau = scores_by_svd(residuals[:, None] * np.column_stack([X, np.ones(300)]))
    np.testing.assert_allclose(model.scores_, tau / tau.max(), atol=1e-8)
    assert tau[~model.inlier_mask_].min() >= tau[model.inlier_mask_].max()


def test_sever_scores_classes_by_their_gradients():
    X, y = load_iris(return_X_y=True)
    y = corrupt_classes(X, y, fraction=0.2, random_state=0).y
    names = np.array(["a", "b", "c"])[y]
    inner = LogisticRegression(max_iter=2000)
    model = first_round(inner, X, names)
    slopes = inner.fit(X, names).predict_proba(X) - np.eye(3)[y]
    design = np.column_stack([X, np.ones(len(X))])
    gradients = np.einsum("ik,ij->ikj", slopes, design).reshape(len(X), -1)
    tau = scores_by_svd(gradients)
    np.testing.assert_allclose(model.scores_, tau / tau.max(), atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_sever_in_a_kernel_space_is_sever_on_its_features(kernel, dirty):
    X, y = dirty.X, dirty.y
    inner = KernelRidge(kernel=kernel, degree=2, gamma=1.0, coef0=0.0, alpha=1.0)
    model = first_round(inner, X, y)
    features = X
    if kernel == "poly":
        features = np.einsum("ij,ik->ijk", X, X).reshape(len(X), -1)
    tau = scores_by_svd((inner.fit(X, y).predict(X) - y)[:, None] * features)
    np.testing.assert_allclose(model.scores_, tau / tau.max(), atol=1e-7)


def test_sever_takes_kernel_classifiers(clean):
    X, y = clean[0], np.where(clean[1] > 0, "up", "down")
    bad = corrupt_classes(X, y, fraction=0.2, random_state=0)
    inner = lrisk.KernelRiskClassifier("mean", gamma=0.1)
    model = Sever(inner).fit(X, bad.y)
    assert model.score(X, y) > 0.8
    assert bad.mask[~model.inlier_mask_].mean() > 0.5


def test_sever_refuses_models_without_gradients(clean):
    X, y = clean
    with pytest.raises(ValueError, match="predict_proba"):
        Sever(SVC()).fit(X, y > 0)
    with pytest.raises(ValueError, match="precomputed"):
        Sever(KernelRidge(kernel="precomputed")).fit(X @ X.T, y)


# -- all of them -----------------------------------------------------------------------

REGRESSORS = [
    TiltedRegressor(),
    TiltedRegressor("rbf", gamma=0.02, alpha=0.1),
    Sever(),
    Sever(KernelRidge(kernel="rbf", gamma=0.02, alpha=0.1)),
    TorrentRegressor("fc"),
    TorrentRegressor("gd"),
    TorrentRegressor("hyb"),
    ConsistentRobustRegressor(),
    StirRegressor(),
]


@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
def test_wrong_labels_harm_little(model, clean, dirty):
    X, y = clean
    error = np.sqrt(np.mean((model.fit(dirty.X, dirty.y).predict(X) - y) ** 2))
    ordinary = np.sqrt(np.mean((Ridge().fit(dirty.X, dirty.y).predict(X) - y) ** 2))
    assert error < 0.5 * ordinary


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
@pytest.mark.parametrize(
    "case", ["ten rows", "more columns than rows", "constant", "identical", "integers"]
)
def test_degenerate_rows_give_finite_predictions(model, case):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 30 if case == "more columns than rows" else 2))
    y = rng.normal(size=10)
    if case == "constant":
        X[:, 0] = 3.0
    if case == "identical":
        X[:], y[:] = X[0], y[0]
    if case == "integers":
        y = rng.integers(0, 3, 10)
    if "contamination" in model.get_params():
        model.set_params(contamination=0.49)
    try:
        assert np.isfinite(model.fit(X, y).predict(X)).all()
    finally:
        if "contamination" in model.get_params():
            model.set_params(contamination=0.2)


@pytest.mark.parametrize("inner", [None, "rbf"])
@pytest.mark.parametrize("case", ["identical", "constant", "more columns than rows"])
def test_degenerate_rows_give_finite_probabilities(inner, case):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 30 if case == "more columns than rows" else 2))
    y = np.arange(10) % 2
    if case == "constant":
        X[:, 0] = 3.0
    if case == "identical":
        X[:] = X[0]
    tilted = TiltedClassifier(inner or "linear")
    sever = Sever(LogisticRegression(), contamination=0.49)
    for model in (tilted, sever):
        assert np.isfinite(model.fit(X, y).predict_proba(X)).all()
        assert set(model.classes_) == {0, 1}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TiltedRegressor(t=1.0), "superquantile"),
        (TiltedRegressor("rbf", alpha=0.0), "kernel fit needs a penalty"),
        (TiltedRegressor("rfb"), "did you mean 'rbf'"),
        (TiltedRegressor(max_iter=0), "max_iter"),
        (TiltedClassifier(alpha=0.0), "separable"),
        (Sever(contamination=0.5), "majority"),
        (Sever(rounds=0), "rounds"),
        (TorrentRegressor("full"), "variant"),
        (TorrentRegressor(contamination=-0.1), "contamination"),
        (ConsistentRobustRegressor(tol=-1.0), "tol"),
        (StirRegressor(growth=1.0), "growth"),
        (StirRegressor(truncation=0.0), "truncation"),
    ],
)
def test_bad_parameters_are_refused_and_change_nothing(model, message, clean):
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(clean[0], (clean[1] > 0).astype(int))
    assert vars(model) == before


def test_baselines_are_imported_when_asked_for():
    assert lrisk.baselines.Sever is Sever
    with pytest.raises(AttributeError, match="no attribute 'bases'"):
        lrisk.bases  # noqa: B018

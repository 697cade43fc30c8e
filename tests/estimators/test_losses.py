"""Fits under every loss: other solvers find the same minimum, and the gap is proven."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor, QuantileRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

import lrisk
from lrisk.losses import Absolute, Huber, Pinball, SquaredHinge

DIABETES = load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def numbers():
    """Diabetes in units in which residuals are about one."""
    X, y = DIABETES
    return X[:200] / X.std(axis=0), (y[:200] - y.mean()) / 50


@pytest.fixture(scope="module")
def classes():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[:200, :12], y[:200]


def spectral(losses, spectrum, n):
    """Σσℓ_(i) as a sum of sums of largest losses, for cvxpy."""
    import cvxpy as cp

    sigma = lrisk.spectra.parse_spectrum(spectrum).weights(n)
    steps = np.diff(sigma, prepend=0.0)
    return sum(
        step * cp.sum_largest(losses, n - i)
        for i, step in enumerate(steps)
        if step > 1e-15
    )


def clarabel(X, losses_of, spectrum, alpha, intercept=True):
    """Minimum of the spectral risk by an interior-point method."""
    import cvxpy as cp

    w, b = cp.Variable(X.shape[1]), cp.Variable()
    losses = losses_of(X @ w + (b if intercept else 0.0))
    risk = spectral(losses, spectrum, len(X))
    risk += alpha * cp.sum_squares(w) / (2 * len(X))
    cp.Problem(cp.Minimize(risk)).solve(solver="CLARABEL")  # to 1e-8
    return float(risk.value)


def losses_of(loss, y):
    """Losses of scores in cvxpy's words."""
    import cvxpy as cp

    if isinstance(loss, Huber):
        return lambda z: 0.5 * cp.huber(z - y, loss.delta)
    if isinstance(loss, Absolute):
        return lambda z: cp.abs(z - y)
    if isinstance(loss, Pinball):
        return lambda z: cp.maximum(loss.tau * (y - z), (loss.tau - 1) * (y - z))
    return lambda z: cp.square(cp.pos(1 - cp.multiply(2 * y - 1, z)))


PROBLEMS = [
    (Absolute(), "superquantile:0.9"),
    (Absolute(), "superquantile:0.5"),
    (Absolute(), "worst_case"),
    (Absolute(), "mean"),
    (Pinball(0.9), "superquantile:0.8"),
    (Pinball(0.1), "mean"),
    (Huber(0.5), "superquantile:0.7"),
    (Huber(0.05), "superquantile:0.7"),
    (SquaredHinge(), "superquantile:0.8"),
    (SquaredHinge(), "superquantile:0.7"),
    (SquaredHinge(), "mean"),
]


def fitted(loss, spectrum, X, y, **options):
    kind = lrisk.RiskClassifier if loss.classifies else lrisk.RiskRegressor
    return kind(spectrum, loss=loss, **options).fit(X, y)


@pytest.mark.parametrize("alpha", [1.0, 1e-2])
@pytest.mark.parametrize(("loss", "spectrum"), PROBLEMS, ids=repr)
def test_clarabel_finds_the_same_minimum(loss, spectrum, alpha, numbers, classes):
    X, y = classes if loss.classifies else numbers
    expected = clarabel(X, losses_of(loss, y), spectrum, alpha)
    model = fitted(loss, spectrum, X, y, alpha=alpha, tol=1e-9)
    assert 0 <= model.dual_gap_ <= 1e-9
    assert model.objective_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("loss", [Huber(0.5), Absolute(), SquaredHinge()], ids=repr)
def test_clarabel_finds_the_same_extremile(loss, numbers, classes):
    X, y = classes if loss.classifies else numbers
    X, y = X[:60, :5], y[:60]
    expected = clarabel(X, losses_of(loss, y), "extremile:2", 0.5)
    model = fitted(loss, "extremile:2", X, y, alpha=0.5, tol=1e-9)
    assert model.objective_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("tau", [0.2, 0.5, 0.9])
def test_quantile_regressor(tau, numbers):
    """Nearly without penalty the mean pinball loss is that of the linear program."""
    X, y = numbers
    peer = QuantileRegressor(quantile=tau, alpha=0.0).fit(X, y)
    model = fitted(Pinball(tau), "mean", X, y, alpha=1e-6, tol=1e-9)

    def mean(regressor):
        return Pinball(tau).value(y, regressor.predict(X)).mean()

    least = mean(peer)
    assert least * (1 - 1e-9) <= mean(model) <= least * (1 + 1e-6)
    assert np.mean(y <= model.predict(X)) == pytest.approx(tau, abs=12 / len(y))


def test_linear_svc(classes):
    X, y = classes
    peer = LinearSVC(
        C=0.5, dual=False, fit_intercept=False, tol=1e-10, max_iter=100_000
    ).fit(X, y)
    model = fitted(
        SquaredHinge(), "mean", X, y, alpha=2.0, fit_intercept=False, tol=1e-13
    )
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


def test_huber_regressor(numbers):
    """At its own scale σ, scikit-learn's Huber fit is ours with δ = εσ."""
    X, y = numbers
    peer = HuberRegressor(epsilon=1.35, alpha=0.3, tol=1e-10, max_iter=10_000)
    peer.fit(X, y)
    # It minimises Σ σ + H(r/σ)σ + alpha‖w‖², H twice our loss at δ = ε.
    loss = Huber(1.35 * peer.scale_)
    model = fitted(loss, "mean", X, y, alpha=0.3 * peer.scale_, tol=1e-13)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)

    def objective(w, b):
        return loss.value(y, X @ w + b).mean() + 0.15 * peer.scale_ * w @ w / len(y)

    least = objective(model.coef_, model.intercept_)
    assert least == pytest.approx(model.objective_, rel=1e-12)
    assert least <= objective(peer.coef_, peer.intercept_) <= least * (1 + 1e-8)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "band"])
@pytest.mark.parametrize(
    "loss", [Huber(0.3), Absolute(), Pinball(0.8), SquaredHinge()], ids=repr
)
def test_certified_solvers_agree(loss, solver, numbers, classes):
    X, y = classes if loss.classifies else numbers
    best = fitted(loss, "superquantile:0.6", X, y, tol=1e-9)
    model = fitted(loss, "superquantile:0.6", X, y, tol=1e-5, solver=solver)
    assert model.dual_gap_ <= 1e-5
    assert best.objective_ * (1 - 1e-9) <= model.objective_
    assert model.objective_ <= best.objective_ * (1 + 1e-5)


@pytest.mark.parametrize("loss", [Huber(0.3), Absolute(), Pinball(0.8)], ids=repr)
def test_the_proof_holds_when_recomputed(loss, numbers):
    X, y = numbers
    model = fitted(loss, "esrm:1", X, y, tol=1e-7)
    proof = lrisk.certify(model, X, y)
    risk = lrisk.risk(loss.value(y, model.predict(X)), "esrm:1")
    penalty = np.sum(model.coef_**2) / (2 * len(y))
    assert proof.primal == pytest.approx(risk + penalty, rel=1e-12)
    assert proof.relative_gap <= 1e-7
    assert model.risk_weights_.sum() == pytest.approx(1.0)


@pytest.mark.numerics
@pytest.mark.parametrize("loss", [Huber(0.3), Absolute(), SquaredHinge()], ids=repr)
def test_weights_are_copies_and_sparse_is_dense(loss, numbers, classes):
    X, y = classes if loss.classifies else numbers
    X, y = X[:60], y[:60]
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    kind = lrisk.RiskClassifier if loss.classifies else lrisk.RiskRegressor
    model = kind("superquantile:0.5", loss=loss, tol=1e-10)
    first = clone(model).fit(X, y, sample_weight=weight)
    copies = np.repeat(np.arange(len(y)), weight)
    second = clone(model).fit(X[copies], y[copies])
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-4)
    assert first.objective_ == pytest.approx(second.objective_, rel=1e-9)
    third = clone(model).fit(sp.csr_array(X), y, sample_weight=weight)
    assert first.objective_ == pytest.approx(third.objective_, rel=1e-9)


@pytest.mark.parametrize("loss", [Huber(1.0), Absolute(), Pinball(0.5)], ids=repr)
def test_an_outlier_moves_little(loss, numbers):
    X, y = numbers
    plain = fitted(loss, "mean", X, y)
    y = y.copy()
    y[0] = 1e12  # nearly all of the objective, to which the gap is relative
    assert 0 <= fitted(loss, "mean", X, y).dual_gap_ <= 1e-6
    y[0] = 1e3
    model = fitted(loss, "mean", X, y, tol=1e-9)
    others = np.r_[1 : len(y)]
    moved = model.predict(X[others]) - plain.predict(X[others])
    assert np.abs(moved).max() < 0.5


@pytest.mark.numerics
@pytest.mark.parametrize("loss", [Huber(1e-3), Absolute(), Pinball(0.9)], ids=repr)
def test_more_columns_than_rows_and_exact_fits(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 50))
    y = X[:, 0]
    model = fitted(loss, "superquantile:0.5", X, y, alpha=1e-3)
    assert 0 <= model.dual_gap_ <= 1e-6
    constant = fitted(loss, "mean", X, np.full(20, 7.0))
    np.testing.assert_allclose(constant.predict(X), 7.0)
    assert 0 <= constant.dual_gap_ <= 1e-6


@pytest.mark.numerics
@pytest.mark.parametrize("loss", ["huber:0.3", "absolute", "pinball:0.8"])
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_of_the_targets_do_not_matter(loss, scale, numbers):
    """Scores in other units, with δ and the penalty to match, change nothing else."""
    X, y = numbers
    plain = lrisk.RiskRegressor("superquantile:0.5", loss=loss, tol=1e-8).fit(X, y)
    # |r| grows with the scale, ‖w‖² with its square; half of Huber's loss is squared.
    huber = loss.startswith("huber")
    other = Huber(0.3 * scale) if huber else loss
    alpha = 1.0 if huber else 1.0 / scale
    model = lrisk.RiskRegressor("superquantile:0.5", loss=other, alpha=alpha, tol=1e-8)
    model.fit(X, scale * y)
    power = 2 if huber else 1
    assert model.objective_ == pytest.approx(plain.objective_ * scale**power, rel=1e-7)


def test_parameters_are_searched(numbers):
    X, y = numbers
    model = lrisk.RiskRegressor("mean", loss="pinball")
    search = GridSearchCV(
        model,
        {"loss__tau": [0.1, 0.5, 0.9]},
        scoring="neg_mean_absolute_error",
        cv=3,
    ).fit(X, y)
    assert search.best_params_ == {"loss__tau": 0.5}
    assert model.loss == "pinball"  # the search worked on clones
    assert len(set(search.cv_results_["mean_test_score"])) == 3


def test_nested_parameters():
    model = lrisk.RiskRegressor(loss="huber").set_params(
        loss__delta=2.0, spectrum__q=0.7
    )
    assert model.loss == Huber(2.0)
    assert model.get_params()["loss__delta"] == 2.0
    assert clone(model).loss == Huber(2.0)
    with pytest.raises(ValueError, match="delta"):
        model.set_params(loss__delta=-1.0)
    assert model.loss == Huber(2.0)


def test_probabilities_only_where_scores_are_log_odds(classes):
    X, y = classes
    for kind in (lrisk.RiskClassifier, lrisk.KernelRiskClassifier):
        model = kind("mean", loss="squared_hinge").fit(X, y)
        for name in ("predict_proba", "predict_log_proba"):
            assert not hasattr(model, name)
            assert hasattr(kind(), name)
        assert model.score(X, y) > 0.9
    search = lrisk.RiskClassifierCV("mean", loss=SquaredHinge(), alphas=[1.0])
    assert not hasattr(search.fit(X, y), "predict_proba")


def test_more_than_two_classes_are_refused_by_the_hinge():
    X, y = load_iris(return_X_y=True)
    model = lrisk.RiskClassifier(loss="squared_hinge")
    with pytest.raises(ValueError, match=r"two classes with loss='squared_hinge'.*3"):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "logistic"}, "one of squared, huber"),
        ({"loss": SquaredHinge()}, "one of squared, huber"),
        ({"loss": "absolute", "spectrum": "subquantile:0.8"}, "loss must be smooth"),
        ({"loss": "pinball", "solver": "lsvrg"}, "loss must be smooth for solver="),
        ({"loss": "huber:-1"}, "delta must be"),
    ],
)
def test_refusals(options, message, numbers):
    model = lrisk.RiskRegressor(**options)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(*numbers)
    assert vars(model) == before


def test_a_stream_needs_a_smooth_loss(numbers):
    X, y = numbers
    model = lrisk.RiskRegressor("mean", loss="absolute", solver="sgd")
    with pytest.raises(ValueError, match="loss must be smooth"):
        model.partial_fit(X, y)
    smooth = lrisk.RiskRegressor("mean", loss="huber", solver="sgd")
    assert np.all(np.isfinite(smooth.partial_fit(X, y).coef_))


@pytest.mark.parametrize("loss", [Huber(0.5), Absolute(), Pinball(0.7)], ids=repr)
def test_kernel_fits_are_certified(loss, numbers):
    X, y = numbers
    X, y = X[:80], y[:80]
    model = lrisk.KernelRiskRegressor("superquantile:0.5", loss=loss, gamma=0.1)
    model.fit(X, y)
    assert 0 <= model.dual_gap_ <= 1e-6
    losses = loss.value(y, model.predict(X))
    K = np.exp(-0.1 * np.sum((X[:, None] - X) ** 2, axis=2))
    norm = model.dual_coef_ @ K @ model.dual_coef_
    value = lrisk.risk(losses, "superquantile:0.5") + norm / (2 * 80)
    assert value == pytest.approx(model.objective_, rel=1e-6)
    # in a linear kernel without intercept it is the linear model
    flat = lrisk.KernelRiskRegressor("superquantile:0.5", loss=loss, kernel="linear")
    straight = fitted(loss, "superquantile:0.5", X, y, fit_intercept=False)
    assert flat.fit(X, y).objective_ == pytest.approx(straight.objective_, rel=2e-6)


def test_trimmed_huber_keeps_the_clean_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=100)
    y[:15] += 50.0
    model = lrisk.RiskRegressor("subquantile:0.85", loss="huber", alpha=1e-3)
    model.fit(X, y)
    assert not model.inlier_mask_[:15].any() and model.inlier_mask_[15:].all()
    np.testing.assert_allclose(model.coef_, [1, 2, 3], atol=0.1)


def test_without_penalty_there_is_no_proof_but_the_same_fit(numbers):
    X, y = numbers
    peer = QuantileRegressor(quantile=0.5, alpha=0.0).fit(X, y)
    model = fitted(Absolute(), "mean", X, y, alpha=0.0)
    assert model.dual_gap_ == np.inf
    least = np.abs(y - peer.predict(X)).mean()
    assert np.abs(y - model.predict(X)).mean() <= least * (1 + 1e-5)


def test_limits_are_kept(numbers):
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        model = fitted(Absolute(), "superquantile:0.9", *numbers, max_iter=12, tol=1e-9)
    assert model.n_iter_ <= 12
    assert np.isfinite(model.dual_gap_)


def test_warm_starts_save_steps(numbers):
    X, y = numbers
    model = lrisk.RiskRegressor("superquantile:0.8", loss="absolute", warm_start=True)
    first = model.fit(X, y).n_iter_
    again = model.fit(X, y).n_iter_
    assert again < first and model.dual_gap_ <= 1e-6


@pytest.mark.filterwarnings("ignore::lrisk.CollapsedFitWarning")
@pytest.mark.parametrize(
    "loss", [Huber(0.2), Absolute(), Pinball(0.95), SquaredHinge()], ids=repr
)
@pytest.mark.parametrize("spectrum", ["superquantile:0.95", "extremile:3", "mean"])
@pytest.mark.parametrize("awkward", ["columns", "weights"])
def test_awkward_data_are_certified(loss, spectrum, awkward):
    """Columns from 1 to 100, or weights from 1e-6 to 1e6; heavy tails, tiny alpha."""
    rng = np.random.default_rng(4)
    size = np.logspace(0, 2, 8) if awkward == "columns" else np.ones(8)
    X = rng.normal(size=(200, 8)) * size
    scores = X @ (rng.normal(size=8) / size)
    y = scores + rng.standard_t(2, 200)
    y = scores + rng.logistic(size=200) > 0 if loss.classifies else y
    weight = 10 ** rng.uniform(-6, 6, 200) if awkward == "weights" else None
    kind = lrisk.RiskClassifier if loss.classifies else lrisk.RiskRegressor
    for alpha in (10.0, 1e-4):
        model = kind(spectrum, loss=loss, alpha=alpha)
        assert 0 <= model.fit(X, y, sample_weight=weight).dual_gap_ <= 1e-6


def test_widths_fall_until_the_gap_closes(numbers):
    model = fitted(Absolute(), "mean", *numbers, tol=1e-8)
    widths = [record["width"] for record in model.history_]
    gaps = [record["gap"] for record in model.history_]
    assert np.all(np.diff(widths) < 0) and gaps[-1] <= 1e-8 < gaps[-2]


@pytest.mark.numerics
@pytest.mark.parametrize(
    ("loss", "weighted", "alpha"),
    [("absolute", False, 1e-12), ("absolute", True, 1e-3), ("pinball:0.9", True, 1e-3)],
)
@pytest.mark.parametrize("seed", [4, 10, 11])
def test_targets_without_noise(loss, weighted, alpha, seed):
    """While every lower bound is below zero the gap is one, and yet there is progress.

    Almost without penalty the minimum is next to nothing: a fit that stops at the first
    widths leaves far more. With weights a gap of 1e-6 would be less than the rounding
    of one residual: the steps end where that is all there is.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(304, 3))
    y = X @ rng.normal(size=3)
    weight = 10.0 ** rng.uniform(-6, 6, 304) if weighted else None
    total = 304.0 if weight is None else float(weight.sum())
    model = lrisk.RiskRegressor("superquantile:0.5", loss=loss, alpha=alpha)
    model.set_params(fit_intercept=not weighted).fit(X, y, sample_weight=weight)
    assert model.dual_gap_ <= 1e-6
    assert model.n_iter_ < 200
    exact = np.linalg.lstsq(X, y, rcond=None)[0]
    assert model.objective_ <= 0.5 * alpha / total * exact @ exact + 1e-14


@pytest.mark.numerics
@pytest.mark.parametrize("loss", ["huber", "absolute"])
def test_columns_that_are_all_but_constant(loss):
    """Without an intercept, 1e6 + noise in every column: conditioning of 1e12."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) + 1e6
    y = X @ rng.normal(size=3) + rng.normal(size=300)
    model = lrisk.RiskRegressor("superquantile:0.5", loss=loss, alpha=0.1)
    model.set_params(fit_intercept=False).fit(X, y)
    assert model.dual_gap_ <= 1e-6

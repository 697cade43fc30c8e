"""The duality gap is a proof: checked against bounds that share nothing with it."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)

import lrisk
from lrisk.certificate import (
    Bound,
    _feasible_slack,
    bound,
    dual_bound,
    local_slack,
    proven_slack,
    relative_gap,
)
from lrisk.losses import LOSSES, Squared
from lrisk.objective import Objective
from lrisk.permutahedron import project
from lrisk.ranking import Ranking
from lrisk.solvers import LBFGS, Newton
from lrisk.solvers._linalg import solve_positive
from lrisk.spaces import LinearSpace
from lrisk.spectra import parse_spectrum

SPECTRA = ["superquantile:0.5", "extremile:2", "esrm:1"]


def majorised(weights, p, spectrum):
    """λ ∈ P: every set of rows has at least its share, worst sets first."""
    order = np.argsort(weights / p, kind="stable")
    least = spectrum.cumulative(np.minimum(np.cumsum(p[order]), 1.0))
    return np.all(np.cumsum(weights[order]) >= least - 1e-12) and (
        abs(weights.sum() - 1.0) <= 1e-12
    )


def weighted_logistic_minimum(X, codes, weights, mu, intercept, start):
    """Lower bound on min_θ Σλℓ + (μ/2)‖w‖², by plain L-BFGS and strong convexity.

    Solved over (w, b), then b alone to high accuracy, so that the gradient in b
    vanishes; what is left of the gradient in w costs ‖g‖²/(2μ).
    """
    k = int(codes.max()) + 1
    onehot = np.eye(k)[codes]
    rows = np.column_stack([X, np.ones(len(X))]) if intercept else X
    penalised = np.ones((rows.shape[1], k))
    if intercept:
        penalised[-1] = 0.0

    def value_and_gradient(flat):
        table = flat.reshape(rows.shape[1], k)
        z = rows @ table
        top = z.max(axis=1, keepdims=True)
        log_sum = top[:, 0] + np.log(np.exp(z - top).sum(axis=1))
        losses = log_sum - z[np.arange(len(z)), codes]
        p = np.exp(z - log_sum[:, None])
        gradient = rows.T @ (weights[:, None] * (p - onehot))
        gradient += mu * penalised * table
        value = weights @ losses + 0.5 * mu * np.sum((penalised * table) ** 2)
        return value, gradient.ravel()

    options = {"maxiter": 3000, "maxfun": 6000, "maxcor": 30, "ftol": 0, "gtol": 1e-9}
    flat = minimize(
        value_and_gradient, start.ravel(), jac=True, method="L-BFGS-B", options=options
    ).x
    for _ in range(5 if intercept else 0):  # Newton for b alone
        z = rows @ flat.reshape(rows.shape[1], k)
        p = np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True))
        hessian = np.diag(weights @ p) - p.T @ (weights[:, None] * p) + 1.0 / k
        flat[-k:] -= np.linalg.solve(hessian, weights @ (p - onehot))
    value, gradient = value_and_gradient(flat)
    gradient = gradient.reshape(rows.shape[1], k)
    if intercept:
        assert np.abs(gradient[-1]).max() <= 1e-13
        gradient = gradient[:-1]
    return value - np.sum(gradient**2) / (2 * mu)


def check_classifier(X, y, spectrum, intercept, weight, tol=1e-8):
    model = lrisk.RiskClassifier(spectrum, fit_intercept=intercept, tol=tol)
    model.fit(X, y, sample_weight=weight)
    w = np.ones(len(y)) if weight is None else weight
    assert 0 <= model.dual_gap_ <= tol
    family = parse_spectrum(spectrum)
    assert majorised(model.risk_weights_, w / w.sum(), family)
    mu = 1.0 / w.sum()
    codes = np.searchsorted(model.classes_, y)
    # binary logistic as two classes with scores ±z/2: the penalty doubles
    binary = len(model.classes_) == 2
    coef = np.vstack([-model.coef_, model.coef_]) / 2 if binary else model.coef_
    bias = np.r_[-model.intercept_, model.intercept_] / 2 if binary else None
    bias = model.intercept_ if bias is None else bias
    start = np.vstack([coef.T, bias]) if intercept else coef.T
    lower = weighted_logistic_minimum(
        X, codes, model.risk_weights_, 2 * mu if binary else mu, intercept, start
    )
    losses = lrisk.metrics.row_losses(y, model.predict_proba(X), "log")
    penalty = 0.5 * mu * np.sum(model.coef_**2)
    primal = lrisk.risk(losses, spectrum, weight) + penalty
    assert primal == pytest.approx(model.objective_, rel=1e-10)
    # the independent bound proves the same gap
    assert primal - lower <= 1.05 * tol * primal + 1e-12
    assert lower <= model.objective_ + 1e-12


def small(loss, spectrum="esrm:1", *, weighted=True, intercept=True, alpha=1.0, n=60):
    """An objective and a point in some way off its minimum."""
    rng = np.random.default_rng(0)
    kind = LOSSES[loss]()
    X = rng.normal(size=(n, 3)) * [2.0, 1.0, 0.3]
    y = X @ [1.0, -1.0, 2.0] + rng.standard_t(4, n)
    y = (y > 0).astype(float) if kind.classifies else y
    ranking = Ranking(
        parse_spectrum(spectrum), n, rng.uniform(0.5, 2.0, n) if weighted else None
    )
    space = LinearSpace(X, intercept=intercept, n_scores=2 if kind.per_class else 1)
    objective = Objective(ranking, kind, space, y, alpha)
    return objective, objective.at(0.2 * rng.normal(size=space.size))


def minimum_at(objective, weights, theta):
    """min Φ(·, λ) by plain Newton steps."""
    for _ in range(50):
        point = objective.at(theta)
        gradient = objective.gradient(point, weights)
        theta = theta - np.linalg.solve(objective.hessian(point, weights), gradient)
    point = objective.at(theta)
    return float(weights @ point.losses) + point.penalty


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_a_newton_step_proves_nearly_the_fall_itself(loss, intercept):
    objective, point = small(loss, intercept=intercept)
    weights = objective.ranking.weights(point.losses)
    least = minimum_at(objective, weights, point.theta)
    best = Newton(tol=1e-12).solve(objective)
    value = float(weights @ point.losses) + point.penalty
    step = np.linalg.solve(
        objective.hessian(point, weights), -objective.gradient(point, weights)
    )
    slack, a = proven_slack(objective, point, weights, step)
    assert value - least <= slack + 1e-12
    if loss == "squared":
        assert slack == pytest.approx(value - least, rel=1e-9)
    balance = (weights @ a) if intercept else 0.0
    np.testing.assert_allclose(balance, 0.0, atol=1e-12)
    near = objective.at(best.theta + 1e-3)
    weights = best.weights
    value = float(weights @ near.losses) + near.penalty
    step = np.linalg.solve(
        objective.hessian(near, weights), -objective.gradient(near, weights)
    )
    slack, _ = proven_slack(objective, near, weights, step)
    least = minimum_at(objective, weights, best.theta)
    assert slack == pytest.approx(value - least, rel=1e-4)


@pytest.mark.parametrize("loss", ["squared", "logistic", "absolute"])
def test_the_bound_is_its_three_terms(loss):
    objective, point = small(loss, intercept=False)
    weights = objective.ranking.mass
    a = objective.loss.to_dual_domain(
        objective.y, 0.9 * objective.loss.derivative(objective.y, point.scores)
    )
    found, fitted = dual_bound(objective, point, weights, a)
    risk = objective.ranking.risk(point.losses)
    rows = point.losses + objective.loss.conjugate(objective.y, a) - a * point.scores
    residual = objective.mu * point.theta + objective.space.X.T @ (weights * a)
    assert fitted == pytest.approx(weights @ rows, rel=1e-9)
    assert found.excess == pytest.approx(risk - weights @ point.losses, rel=1e-9)
    left = residual @ residual / (2 * objective.mu)
    assert found.slack == pytest.approx(fitted + left, rel=1e-9)
    assert found.primal == pytest.approx(objective.value(point), rel=1e-12)
    np.testing.assert_allclose(found.slopes, a)


def test_without_penalty_a_dual_point_only_estimates():
    objective, point = small("absolute", alpha=0.0)
    found, fitted = dual_bound(objective, point, objective.ranking.mass, 0.0 * point[1])
    assert found.slack == np.inf and found.dual == -np.inf
    assert fitted == pytest.approx(objective.ranking.mass @ point.losses)


def test_an_unbalanced_dual_point_costs_what_its_intercept_multiplies():
    objective, point = small("squared")
    weights = objective.ranking.mass
    a = objective.loss.derivative(objective.y, point.scores)
    lean = float(weights @ a)
    assert abs(lean) > 1e-3
    moved = point._replace(theta=point.theta + np.array([0, 0, 0, 7.0]))
    rise = _feasible_slack(objective, moved, weights, a)
    rise -= _feasible_slack(objective, point, weights, a)
    expected = abs(lean * moved.theta[3]) - abs(lean * point.theta[3])
    assert rise == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("alpha", "times", "moved"), [(30.0, 2, True), (1.0, 1, False)]
)
def test_where_linearising_leaves_the_domain_the_better_slopes_are_taken(
    alpha, times, moved
):
    objective, point = small("logistic", "mean", alpha=alpha)
    weights = objective.ranking.mass
    gradient = objective.gradient(point, weights)
    step = -times * np.linalg.solve(objective.hessian(point, weights), gradient)
    dz = objective.space.scores(step)
    loss, y, z = objective.loss, objective.y, point.scores
    costs = []
    for a in (
        loss.derivative(y, z) + loss.curvature_times(y, z, dz),
        loss.derivative(y, z + dz),
    ):
        inside = loss.to_balanced_dual(y, loss.to_dual_domain(y, a), weights)
        costs.append(_feasible_slack(objective, point, weights, inside))
    slack, a = proven_slack(objective, point, weights, step)
    assert (costs[1] < costs[0]) is moved
    assert slack == pytest.approx(min(costs), rel=1e-12)
    assert _feasible_slack(objective, point, weights, a) == slack


@pytest.mark.parametrize("intercept", [False, True])
def test_without_penalty_only_a_solved_system_proves(intercept):
    objective, point = small("squared", alpha=0.0, intercept=intercept)
    weights = objective.ranking.weights(point.losses)
    gradient = objective.gradient(point, weights)
    step = np.linalg.solve(objective.hessian(point, weights), -gradient)
    slack, a = proven_slack(objective, point, weights, step)
    value = float(weights @ point.losses)
    least = minimum_at(objective, weights, point.theta)
    assert slack == pytest.approx(value - least, rel=1e-9) and a is None
    for wrong in (0.999 * step, step + 0.01, -step, 0.0 * step):
        assert proven_slack(objective, point, weights, wrong)[0] == np.inf
    other, point = small("logistic", alpha=0.0)
    assert proven_slack(other, point, other.ranking.mass, 0 * point[0])[0] == np.inf


@pytest.mark.parametrize("part", [slice(None), slice(None, None, 2)])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_local_slack_is_its_formula(loss, intercept, part):
    objective, _ = small(loss, intercept=intercept)
    best, rows = Newton(tol=1e-12).solve(objective), np.arange(60)[part]
    for away in (1e-7, 1e-3, 0.02):
        point = objective.at(best.theta + away)
        weights = objective.ranking.weights(point.losses)
        gradient = objective.gradient(point, weights)
        sample = objective.sampled(rows)
        slack = local_slack(sample, point.scores[rows], weights[rows], gradient)
        X = np.column_stack([objective.space.X, np.ones(60)][: 1 + intercept])[rows]
        bent = objective.loss.curvature(objective.y, point.scores)[rows] * weights[rows]
        A = X.T @ (bent[:, None] * X)
        A[range(3), range(3)] += objective.mu
        square = gradient @ np.linalg.solve(A, gradient)
        if loss == "squared":
            assert slack == pytest.approx(0.5 * square, rel=1e-9)
            continue
        longest = np.max(np.einsum("ij,ji->i", X, np.linalg.solve(A, X.T)))
        c = (
            0.5 * square / slack
        )  # the share of the curvature that is left at R = 2‖g‖/c
        s = np.sqrt(longest) * 2 * np.sqrt(square) / c
        left = 2 * (np.exp(-s) + s - 1) / s**2 if s > 1e-3 else 1 - s / 3
        assert c <= left <= 1.0
        assert c >= 0.9 * left or away == 1e-7


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_slack_from_some_rows_bounds_the_fall(loss):
    """Any point, any λ, any subset: never less than what a full solve gains."""
    rng = np.random.default_rng(0)
    for spectrum in ("mean", "extremile:3"):
        objective, _ = small(loss, spectrum, n=300)
        best, finite = Newton(tol=1e-12).solve(objective), 0
        for size in (0.0, 1e-4, 1e-2, 0.3):
            point = objective.at(best.theta + size * rng.normal(size=4))
            weights = best.weights
            gradient = objective.gradient(point, weights)
            value = float(weights @ point.losses) + point.penalty
            # Φ(·, λ) of this λ has its minimum at the optimum of F
            fall = value - best.dual
            for rows in (np.arange(300), np.arange(0, 300, 3)):
                sample = objective.sampled(rows)
                slack = local_slack(sample, point.scores[rows], weights[rows], gradient)
                assert slack >= fall - 1e-9 * value
                finite += np.isfinite(slack)
        assert finite >= 4


def test_local_slack_is_infinite_where_it_knows_nothing():
    for loss, weight in (("absolute", 1.0), ("multinomial", 1.0), ("logistic", 0.0)):
        objective, point = small(loss)
        mass = weight * objective.ranking.mass
        gradient = np.ones(objective.size)
        assert local_slack(objective, point.scores, mass, gradient) == np.inf
    objective, point = small("logistic")
    mass = objective.ranking.mass
    assert local_slack(objective, point.scores, mass, 1e6 * np.ones(4)) == np.inf
    assert local_slack(objective, point.scores, mass, np.zeros(4)) == 0.0


def test_a_lower_bound_is_never_below_zero_nor_made_of_nothing():
    assert Bound(10.0, 1.0, 2.0).dual == 7.0
    assert Bound(10.0, 8.0, 5.0).dual == 0.0
    assert Bound(10.0, 1.0, np.inf).dual == Bound(np.inf, 1.0, 2.0).dual == -np.inf


def test_gaps_are_relative_to_the_value_and_rounding_is_none():
    known = SimpleNamespace(
        resolution=1e-15, largest_constant_loss=4.0, constant_risk=2.0
    )
    assert relative_gap(known, 2.0, 0.5) == 0.25
    assert relative_gap(known, 2.0, 1e-15) == relative_gap(known, 1e-15, 1.0) == 0.0
    assert relative_gap(known, 2.0, 2e-15) == 1e-15
    assert relative_gap(known, 2.0, np.inf) == np.inf
    assert relative_gap(known, 3e-12, 3e-13) == pytest.approx(0.1)
    assert relative_gap(known, 1e-13, 1e-14) == pytest.approx(1e-14 / 2e-12)


def test_a_certificate_reads_as_an_enclosure():
    text = str(lrisk.certificate.Certificate(1.5, 1.25, 0.25, 1 / 6))
    assert text == "objective 1.5, proven minimum ≥ 1.25 (relative gap 1.7e-01)"


@pytest.mark.numerics
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_binary_logistic_has_an_independent_proof(
    spectrum, intercept, weighted, standardise
):
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, len(y)) if weighted else None
    check_classifier(standardise(X), y, spectrum, intercept, weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_heart_has_an_independent_proof(
    spectrum, intercept, weighted, load, standardise
):
    X, y = load("heart_cleveland")
    weight = np.random.default_rng(1).integers(1, 5, len(y)) * 1.0 if weighted else None
    check_classifier(standardise(X), y, spectrum, intercept, weight)


@pytest.mark.numerics
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_multinomial_wine_has_an_independent_proof(
    spectrum, intercept, weighted, standardise
):
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(2).uniform(0.2, 3.0, len(y)) if weighted else None
    check_classifier(standardise(X), y, spectrum, intercept, weight)


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_multinomial_digits_has_an_independent_proof(spectrum, standardise):
    X, y = load_digits(return_X_y=True)
    check_classifier(standardise(X), y, spectrum, spectrum != "esrm:1", None)


@pytest.mark.numerics
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_any_weights_and_any_step_give_a_true_bound(loss, intercept):
    """A wrong λ or Δ makes the bound loose, never false."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    kind = LOSSES[loss]()
    y = rng.integers(0, 2, 40) * 1.0 if kind.classifies else rng.normal(size=40)
    space = LinearSpace(X, intercept=intercept, n_scores=2 if kind.per_class else 1)
    for spectrum in ("mean", "superquantile:0.7", "extremile:5", "worst_case"):
        ranking = Ranking(parse_spectrum(spectrum), 40, rng.uniform(0.1, 2.0, 40))
        objective = Objective(ranking, kind, space, y, 0.7)
        best = Newton(tol=1e-11).solve(objective)
        for scale in (0.0, 1e-3, 1.0, 30.0):
            point = objective.at(best.theta + scale * rng.normal(size=space.size))
            weights = project(ranking, best.weights + scale * rng.normal(size=40))
            exact = solve_positive(
                objective.hessian(point, weights), -objective.gradient(point, weights)
            )
            for step in (
                exact,
                0.5 * exact,
                np.zeros_like(exact),
                rng.normal(size=exact.size),
            ):
                proof = bound(objective, point, weights, step)
                assert proof.excess >= 0 and proof.slack >= 0
                assert proof.primal == pytest.approx(objective.value(point))
                assert proof.dual <= best.objective * (1 + 1e-12)


@pytest.mark.numerics
@pytest.mark.parametrize("loss", ["huber", "absolute", "pinball", "squared_hinge"])
@pytest.mark.parametrize("intercept", [False, True])
def test_any_dual_point_gives_a_true_bound(loss, intercept):
    """However a was found: from a softened loss, at random, or wildly infeasible."""
    rng = np.random.default_rng(1)
    X, kind = rng.normal(size=(40, 4)), LOSSES[loss]()
    y = rng.integers(0, 2, 40) * 1.0 if kind.classifies else rng.standard_t(2, 40)
    space = LinearSpace(X, intercept=intercept, n_scores=1)
    for spectrum in ("mean", "superquantile:0.7", "extremile:3"):
        ranking = Ranking(parse_spectrum(spectrum), 40, rng.uniform(0.1, 2.0, 40))
        objective = Objective(ranking, kind, space, y, 0.7)
        best = Newton(tol=1e-10).solve(objective)
        # Any good point serves; with a kink rounding ends some kernels at 1.01e-10.
        assert best.gap <= 1e-9
        for scale in (0.0, 1e-3, 1.0, 30.0):
            point = objective.at(best.theta + scale * rng.normal(size=space.size))
            weights = project(ranking, best.weights + scale * rng.normal(size=40))
            slopes = kind.derivative(y, point.scores)
            for a in (slopes, slopes + scale * rng.normal(size=40), 0 * slopes):
                proof, fitted = dual_bound(objective, point, weights, a)
                assert proof.excess >= 0 and proof.slack >= fitted >= 0
                assert proof.primal == pytest.approx(objective.value(point))
                assert proof.dual <= best.objective * (1 + 1e-12)


def test_unpenalised_squared_loss_is_certified_where_columns_are_independent():
    X, y = load_diabetes(return_X_y=True)
    model = lrisk.RiskRegressor("extremile:2", alpha=0.0, tol=1e-10).fit(X, y)
    assert 0 <= model.dual_gap_ <= 1e-10
    # ordinary least squares for the mean
    plain = lrisk.RiskRegressor("mean", alpha=0.0, tol=1e-12).fit(X, y)
    expected = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y, rcond=None)[0]
    np.testing.assert_allclose(plain.coef_, expected[:-1], rtol=1e-7)


def test_unpenalised_logistic_has_no_certificate_and_says_so():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :2]
    model = lrisk.RiskClassifier("mean", alpha=0.0, tol=1e-10).fit(X, y)
    assert model.dual_gap_ == np.inf
    from sklearn.linear_model import LogisticRegression

    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-3)


def test_clarabel_finds_the_same_minimum():
    import cvxpy as cp

    X, y = load_diabetes(return_X_y=True)
    X, y = 10 * X[:150], y[:150] / 50
    w, b = cp.Variable(10), cp.Variable()
    losses = 0.5 * cp.square(y - X @ w - b)
    risk = cp.sum_largest(losses, 30) / 30 + cp.sum_squares(w) / (2 * 150)
    cp.Problem(cp.Minimize(risk)).solve(solver="CLARABEL")
    model = lrisk.RiskRegressor("superquantile:0.8", tol=1e-10).fit(X, y)
    assert model.objective_ == pytest.approx(risk.value, rel=1e-7)
    np.testing.assert_allclose(model.coef_, w.value, atol=1e-3)


class TestCertify:
    def test_fresh_proof_agrees_with_the_fit(self):
        X, y = load_diabetes(return_X_y=True)
        model = lrisk.RiskRegressor("superquantile:0.9", tol=1e-9).fit(X, y)
        proof = lrisk.certify(model, X, y)
        assert proof.primal == pytest.approx(model.objective_, rel=1e-12)
        assert 0 <= proof.relative_gap <= 1e-9
        assert proof.gap == pytest.approx(proof.primal - proof.dual, abs=1e-15)

    def test_shuffled_rows_are_certified_too(self):
        X, y = load_iris(return_X_y=True)
        model = lrisk.RiskClassifier("extremile:2", tol=1e-9).fit(X, y)
        order = np.random.default_rng(0).permutation(len(y))
        proof = lrisk.certify(model, X[order], y[order])
        assert proof.relative_gap <= 1e-8

    def test_a_bad_model_is_found_out(self):
        X, y = load_diabetes(return_X_y=True)
        model = lrisk.RiskRegressor("superquantile:0.9", tol=1e-9).fit(X, y)
        model.coef_ = model.coef_ * 1.1
        proof = lrisk.certify(model, X, y)
        assert proof.relative_gap > 1e-4
        assert proof.dual == pytest.approx(model.objective_, rel=1e-6)

    def test_weights(self):
        X, y = load_diabetes(return_X_y=True)
        weight = np.random.default_rng(0).integers(0, 3, len(y)) * 1.0
        model = lrisk.RiskRegressor("esrm:2", tol=1e-9).fit(X, y, sample_weight=weight)
        assert lrisk.certify(model, X, y, weight).relative_gap <= 1e-8
        assert lrisk.certify(model, X, y).relative_gap > 1e-6

    def test_refusals(self):
        from sklearn.exceptions import NotFittedError
        from sklearn.linear_model import Ridge

        X, y = load_iris(return_X_y=True)
        with pytest.raises(NotFittedError):
            lrisk.certify(lrisk.RiskClassifier(), X, y)
        with pytest.raises(TypeError, match="RiskRegressor or RiskClassifier"):
            lrisk.certify(Ridge().fit(X, y), X, y)
        with pytest.raises(TypeError, match="pass its best_estimator_"):
            lrisk.certify(lrisk.RiskClassifierCV(alphas=[1.0], cv=2).fit(X, y), X, y)
        for robust in (lrisk.RobustRegressor(), lrisk.RobustClassifier()):
            with pytest.raises(TypeError, match=r"nothing to prove.* inlier_mask_"):
                lrisk.certify(robust, X, y)
        model = lrisk.RiskClassifier("mean").fit(X, y)
        with pytest.raises(ValueError, match="y must be among"):
            lrisk.certify(model, X, y + 1)


@pytest.mark.numerics
@pytest.mark.parametrize("solver", [Newton(tol=1e-9), LBFGS(tol=1e-7)])
@pytest.mark.parametrize("spectrum", ["mean", *SPECTRA, "superquantile:0.95"])
def test_solvers_agree(solver, spectrum):
    X, y = load_diabetes(return_X_y=True)
    X, y = 20 * X, y / 77
    ranking = Ranking(parse_spectrum(spectrum), len(y))
    objective = Objective(
        ranking, Squared(), LinearSpace.centred(X, ranking.mass, intercept=True), y, 1.0
    )
    reference = Newton(tol=1e-12).solve(objective).objective
    solution = solver.solve(objective)
    assert solution.gap <= solver.tol
    assert solution.objective == pytest.approx(reference, rel=2 * solver.tol)
    assert [r["objective"] for r in solution.history][-1] >= reference * (1 - 1e-12)

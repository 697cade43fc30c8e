"""Algorithm 1: steps by hand, constants, projection, starts, the fast-forward."""

import numpy as np
import pytest

from lrisk.losses import Logistic, Multinomial, Squared
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers import Status, SubquantileGradient
from lrisk.solvers.trimming.subquantile import _Watch
from lrisk.spaces import Kernel, KernelSpace, LinearSpace
from lrisk.spectra import RiskSeekingExtremile, Subquantile

N = 40
KERNELS = [
    Kernel("rbf", gamma=0.3),
    Kernel("linear"),
    Kernel("poly", gamma=0.5, degree=2, coef0=1.0),
    Kernel("laplacian", gamma=0.2),
]
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
losses = pytest.mark.parametrize("loss", [Squared(), Logistic(), Multinomial()])
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3))
TARGETS = {
    "squared": X[:, 0] + rng.standard_t(2, N),
    "logistic": (X[:, 0] + rng.normal(size=N) > 0).astype(float),
    "multinomial": rng.integers(0, 3, N).astype(float),
}


def problem(loss, kernel=KERNELS[0], p=0.7, alpha=0.5, weight=None, spectrum=None):
    space = KernelSpace(kernel, X, n_scores=3 if loss.per_class else 1)
    ranking = Ranking(spectrum or Subquantile(p), N, weight)
    return Objective(ranking, loss, space, TARGETS[loss.name], alpha)


def by_hand(loss, K, y, w, h, alpha, constant):
    """One step as the paper prints it, with the penalty's gradient added."""
    f = K @ w
    if loss.name == "squared":
        cost, slope = 0.5 * (f - y) ** 2, f - y
    elif loss.name == "logistic":
        cost = -np.log(np.where(y == 1, 1 / (1 + np.exp(-f)), 1 / (1 + np.exp(f))))
        slope = 1 / (1 + np.exp(-f)) - y
    else:
        share = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
        hot = np.eye(3)[y.astype(int)]
        cost, slope = -np.log((share * hot).sum(axis=1)), share - hot
    kept = np.argsort(cost, kind="stable")[:h]
    gradient = alpha / len(y) * w
    gradient[kept] += slope[kept] / h
    beta = constant * np.linalg.eigvalsh(K)[-1] / h + alpha / len(y)
    return w - gradient / beta


@losses
@kernels
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_one_step_is_the_hand_formula(loss, kernel, alpha):
    objective = problem(loss, kernel, alpha=alpha)
    shape = (N, 3) if loss.per_class else (N,)
    w = 0.1 * np.random.default_rng(1).normal(size=shape)
    constant = {"squared": 1.0, "logistic": 0.25, "multinomial": 0.5}[loss.name]
    K = kernel(X, X)
    expected = by_hand(loss, K, objective.y, w, 28, alpha, constant)
    solution = SubquantileGradient(max_iter=1).solve(objective, w.ravel())
    np.testing.assert_allclose(
        solution.theta.reshape(shape), expected, rtol=1e-6, atol=1e-12
    )
    again = expected
    for _ in range(4):
        again = by_hand(loss, K, objective.y, again, 28, alpha, constant)
    solution = SubquantileGradient(max_iter=5).solve(objective, w.ravel())
    np.testing.assert_allclose(
        solution.theta.reshape(shape), again, rtol=1e-5, atol=1e-10
    )


@losses
@kernels
def test_steps_descend_with_the_right_constant(loss, kernel):
    solver = SubquantileGradient(max_iter=100, fast_forward=False)
    values = [r["objective"] for r in solver.solve(problem(loss, kernel)).history]
    assert np.all(np.diff(values) <= 1e-12) and values[-1] < values[0]
    # Much longer steps do not always descend on the squared loss: 1/β is not idle.
    if loss.name == "squared":
        long = SubquantileGradient(max_iter=100, learning_rate=1e6)
        last = long.solve(problem(loss, kernel)).history[-1]["objective"]
        assert last > values[0] or not np.isfinite(last)


@pytest.mark.parametrize("fast_forward", [False, True])
@pytest.mark.parametrize(("rate", "steps"), [(100.0, 30), (1e6, 400)])
def test_divergence_is_told_and_the_best_point_kept(rate, steps, fast_forward):
    """Of 30 steps the last is finite and huge, of 400 it is no number."""
    objective = problem(Squared())
    solver = SubquantileGradient(
        max_iter=steps, learning_rate=rate, fast_forward=fast_forward
    )
    solution = solver.solve(objective)
    assert solution.status is Status.DIVERGED
    point = objective.at(solution.theta)
    assert solution.objective == pytest.approx(objective.value(point), rel=1e-12)
    assert solution.objective <= objective.value(objective.at(np.zeros(N)))
    risk = float(solution.weights @ point.losses)
    assert risk == pytest.approx(objective.ranking.risk(point.losses), rel=1e-12)


def test_a_start_outside_the_ball_is_no_divergence():
    objective = problem(Squared())
    best = SubquantileGradient(max_iter=2000).solve(objective)
    norm = best.history[-1]["norm"]
    solver = SubquantileGradient(max_iter=200, radius=0.5 * norm)
    inside = solver.solve(objective, best.theta)
    assert inside.status is Status.STEPS_TAKEN
    assert inside.history[-1]["norm"] <= 0.5 * norm * (1 + 1e-9)


def test_linear_space_takes_the_same_steps_as_the_linear_kernel():
    dual = problem(Squared(), Kernel("linear"))
    primal = dual.with_space(LinearSpace(X, intercept=False))
    solver = SubquantileGradient(max_iter=200, fast_forward=False)
    first, second = solver.solve(dual), solver.solve(primal)
    np.testing.assert_allclose(X.T @ first.theta, second.theta, rtol=1e-5)
    assert first.objective == pytest.approx(second.objective, rel=1e-6)


def test_part_of_a_row_and_weighted_rows():
    weight = np.random.default_rng(2).integers(1, 4, N).astype(float)
    copies = np.repeat(np.arange(N), weight.astype(int))
    weighted = problem(Squared(), p=0.63, weight=weight)
    space = KernelSpace(KERNELS[0], X[copies])
    copied = Objective(
        Ranking(Subquantile(0.63), len(copies)),
        Squared(),
        space,
        TARGETS["squared"][copies],
        0.5,
    )
    step = 0.1
    solver = SubquantileGradient(max_iter=50, learning_rate=step)
    first, second = solver.solve(weighted), solver.solve(copied)
    np.testing.assert_allclose(
        np.bincount(copies, second.theta), first.theta, rtol=1e-9, atol=1e-12
    )
    assert first.weights.sum() == pytest.approx(1.0)
    part = first.weights * weight.sum() * 0.63 / weight
    assert np.sum((part > 1e-9) & (part < 1 - 1e-9)) == 1


def test_schedules():
    objective = problem(Squared())
    constant = SubquantileGradient(max_iter=3, learning_rate=0.2).solve(objective)
    named = SubquantileGradient(max_iter=3, learning_rate=lambda k: 0.2)
    np.testing.assert_allclose(named.solve(objective).theta, constant.theta)
    K = problem(Squared()).space.matrix()
    beta = np.linalg.eigvalsh(K)[-1] / 28 + 0.5 / N
    falling = SubquantileGradient(max_iter=3, learning_rate="inverse_sqrt")
    explicit = SubquantileGradient(
        max_iter=3, learning_rate=lambda k: 1 / beta / np.sqrt(k)
    )
    np.testing.assert_allclose(
        falling.solve(objective).theta, explicit.solve(objective).theta, rtol=1e-9
    )


@losses
def test_projection_on_the_ball(loss):
    objective = problem(loss, alpha=0.0)
    free = SubquantileGradient(max_iter=300, fast_forward=False).solve(objective)
    norm = np.sqrt(objective.space.inner(free.theta, free.theta))
    bound = SubquantileGradient(max_iter=300, radius=0.3 * norm).solve(objective)
    reached = np.sqrt(objective.space.inner(bound.theta, bound.theta))
    assert reached == pytest.approx(0.3 * norm, rel=1e-9)
    assert all(r["norm"] <= 0.3 * norm * (1 + 1e-9) for r in bound.history)
    loose = SubquantileGradient(max_iter=300, radius=1e4, fast_forward=False)
    np.testing.assert_array_equal(loose.solve(objective).theta, free.theta)


@kernels
@losses
def test_the_papers_start_is_one_coefficient_a_row(loss, kernel):
    """f = Σ w_i k(x_i, ·), w_i uniform on ±√(6/n); linear functions start at Xᵀw."""
    objective = problem(loss, kernel)
    classes = 3 if loss.per_class else 1
    solver = SubquantileGradient(max_iter=1, learning_rate=1e-13, start="glorot")
    limit = np.sqrt(6 / N)
    shape = (N, 3) if loss.per_class else N
    w = np.random.default_rng(3).uniform(-limit, limit, shape)
    found = solver.solve(objective, rng=np.random.default_rng(3)).theta
    scores = objective.space.scores(found)
    np.testing.assert_allclose(scores, objective.space.matrix() @ w, atol=1e-9)
    if kernel.name == "linear":
        space = LinearSpace(X, intercept=True, n_scores=classes)
        own = Objective(objective.ranking, loss, space, objective.y, 0.5)
        theta = solver.solve(own, rng=np.random.default_rng(3)).theta
        np.testing.assert_allclose(space.scores(theta), X @ (X.T @ w), atol=1e-9)


def test_weights_of_a_linear_start():
    space = LinearSpace(X, intercept=True)
    objective = Objective(
        Ranking(Subquantile(0.7), N), Squared(), space, TARGETS["squared"], 0.5
    )
    solver = SubquantileGradient(max_iter=1, learning_rate=1e-13, start="weights")
    drawn = [
        solver.solve(objective, rng=np.random.default_rng(k)).theta for k in range(400)
    ]
    assert np.max(np.abs(drawn)) <= np.sqrt(6 / 4)
    assert np.std(np.array(drawn)[:, :3]) == pytest.approx(np.sqrt(2 / 4), rel=0.1)
    assert np.abs(np.array(drawn)[:, 3]).max() < 1e-9  # the intercept
    with pytest.raises(ValueError, match="start"):
        solver.solve(problem(Squared()))


@kernels
@losses
@pytest.mark.parametrize("rate", ["kept", "line_search"])
def test_steps_of_the_kept_rows_descend_faster(rate, loss, kernel):
    objective = problem(loss, kernel, alpha=0.1)
    slow = SubquantileGradient(max_iter=40, fast_forward=False).solve(objective)
    fast = SubquantileGradient(max_iter=40, learning_rate=rate).solve(objective)
    values = [record["objective"] for record in fast.history]
    assert np.all(np.diff(values) <= 1e-9 * np.abs(values[0]))
    assert fast.objective <= slow.objective * (1.0 + 1e-6)


def far_problem():
    """Right rows, and ten that were multiplied by a hundred, with flipped classes."""
    far = X.copy()
    far[:10] *= 100.0
    y = (X[:, 0] > 0).astype(float)
    y[:10] = 1.0 - y[:10]
    space = LinearSpace(far, intercept=False)
    return Objective(Ranking(Subquantile(0.75), N), Logistic(), space, y, 0.1), far


def test_the_filter_leaves_far_rows_out():
    objective, far = far_problem()
    assert SubquantileGradient(max_iter=200).solve(objective).weights[:10].any()
    for rate in ("auto", "kept", "line_search"):
        solver = SubquantileGradient(
            max_iter=200, kernel_filter=10.0, learning_rate=rate
        )
        found = solver.solve(objective)
        assert not found.weights[:10].any()
        assert found.weights.sum() == pytest.approx(1.0)
        assert np.count_nonzero(found.weights) == 30
    moved = np.abs(SubquantileGradient(max_iter=200).solve(objective).theta)
    assert np.abs(found.theta).max() > 10.0 * moved.max()  # the step no longer shrinks
    square = (far**2).sum(axis=1)
    middle = np.median(square)
    limit = np.median(np.abs(square - middle)) / 0.6745
    assert np.array_equal(np.abs(square - middle) > 10.0 * limit, np.arange(N) < 10)


def test_the_filter_leaves_out_no_more_than_is_trimmed_and_nothing_of_a_ball():
    from lrisk.solvers.trimming.steps import far_rows

    _, far = far_problem()
    space = LinearSpace(far, intercept=False)
    square = (far**2).sum(axis=1)
    assert np.array_equal(
        np.flatnonzero(far_rows(space, 10.0, 4)), np.sort(np.argsort(-square)[:4])
    )
    assert not far_rows(space, 10.0, 0).any()
    ball = KernelSpace(Kernel("rbf", gamma=0.3), far)
    assert not far_rows(ball, 1e-6, N).any()
    kernel = KernelSpace(Kernel("linear"), far)
    assert np.array_equal(far_rows(kernel, 10.0, N), far_rows(space, 10.0, N))


def test_glorot_start():
    objective = problem(Squared())
    solver = SubquantileGradient(max_iter=1, learning_rate=1e-12, start="glorot")
    theta = solver.solve(objective, rng=np.random.default_rng(3)).theta
    assert np.max(np.abs(theta)) <= np.sqrt(6 / N)
    assert np.std(theta) == pytest.approx(np.sqrt(2 / N), rel=0.3)
    again = solver.solve(objective, rng=np.random.default_rng(3)).theta
    np.testing.assert_array_equal(theta, again)


def test_history_and_early_stop():
    objective = problem(Squared(), alpha=5.0)
    solution = SubquantileGradient(tol=1e-6, max_iter=100_000).solve(objective)
    assert solution.status is Status.STATIONARY and solution.n_iter < 100_000
    last = solution.history[-1]
    assert last["kept"].sum() == 28
    assert last["norm"] == pytest.approx(
        np.sqrt(objective.space.inner(solution.theta, solution.theta))
    )
    point = objective.at(solution.theta)
    assert last["objective"] == pytest.approx(objective.value(point), rel=1e-12)
    every = SubquantileGradient(max_iter=200).solve(objective)
    assert every.status is Status.STEPS_TAKEN and every.n_iter == 200


@kernels
@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("p", [0.7, 0.633, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_fast_forward_has_the_same_iterates(kernel, alpha, p, weighted):
    weight = np.random.default_rng(5).uniform(0.5, 2, N) if weighted else None
    objective = problem(Squared(), kernel, p=p, alpha=alpha, weight=weight)
    for steps in (700, 5_000 if kernel.name == "rbf" else 1_500):
        plain = SubquantileGradient(max_iter=steps, fast_forward=False)
        fast = SubquantileGradient(max_iter=steps, fast_forward=True)
        first, second = plain.solve(objective), fast.solve(objective)
        assert first.n_iter == second.n_iter == steps
        scale = np.abs(first.theta).max()
        np.testing.assert_allclose(second.theta, first.theta, atol=1e-10 * scale)
        kept = [
            (a["kept"] == b["kept"]).all()
            for a, b in zip(first.history, second.history, strict=True)
        ]
        assert all(kept)


def test_fast_forward_really_jumps(monkeypatch):
    objective = problem(Squared(), alpha=0.0)
    calls = []
    scores = KernelSpace.scores
    monkeypatch.setattr(
        KernelSpace, "scores", lambda s, t: calls.append(1) or scores(s, t)
    )
    SubquantileGradient(max_iter=10_000).solve(objective)
    assert len(calls) < 3_000


def test_other_decreasing_spectra():
    objective = problem(Squared(), spectrum=RiskSeekingExtremile(3.0))
    values = [
        r["objective"]
        for r in SubquantileGradient(max_iter=200).solve(objective).history
    ]
    assert np.all(np.diff(values) <= 1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"max_iter": 0},
        {"tol": -1.0},
        {"learning_rate": 0.0},
        {"learning_rate": "fast"},
        {"radius": 0.0},
        {"start": "ones"},
        {"kernel_filter": 0.0},
    ],
)
def test_bad_parameters(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        SubquantileGradient(**options)


def test_the_ball_leaves_the_intercept_alone():
    space = LinearSpace(X, intercept=True)
    y = TARGETS["squared"]
    objective = Objective(Ranking(Subquantile(1.0), N), Squared(), space, y, 0.5)
    theta = np.array([3.0, -1.0, 2.0, 5.0])
    residual = X @ theta[:3] + theta[3] - y
    slope = np.r_[X.T @ residual / N + 0.5 / N * theta[:3], residual.mean()]
    expected = theta - 0.1 * slope
    expected[:3] *= 1.5 / np.linalg.norm(expected[:3])
    solver = SubquantileGradient(max_iter=1, learning_rate=0.1, radius=1.5)
    found = solver.solve(objective, theta)
    np.testing.assert_allclose(found.theta, expected, rtol=1e-10)


@pytest.mark.parametrize("fast_forward", [False, True])
@pytest.mark.parametrize("steps", [50, 250, 1234])
def test_records_come_at_even_distances_and_at_the_end(steps, fast_forward):
    solver = SubquantileGradient(max_iter=steps, fast_forward=fast_forward)
    solution = solver.solve(problem(Squared(), alpha=0.0))
    seen = [record["iteration"] for record in solution.history]
    assert seen == sorted({*range(0, steps, max(1, steps // 100)), steps})
    assert solution.n_iter == steps


def test_the_watch_keeps_the_best_point_inside_the_ball():
    def seen(value, norm):
        return {"objective": value, "norm": norm}

    watch, theta = _Watch(2.0), np.ones(2)
    watch.see(seen(1.0, 2.1), theta, theta)  # outside
    watch.see(seen(np.nan, 1.0), theta, theta)
    assert not watch.diverged(9.0)
    watch.see(seen(5.0, 2.0 * (1.0 + 5e-10)), theta, theta)
    watch.see(seen(4.0, 1.0), 3.0 * theta, theta)
    watch.see(seen(6.0, 1.0), 7.0 * theta, theta)
    assert watch.best[0] == 4.0 and watch.best[1][0] == 3.0
    assert not watch.diverged(4.5) and not watch.diverged(5.0 * (1.0 + 5e-10))
    assert watch.diverged(5.0 * (1.0 + 5e-9)) and watch.diverged(np.nan)
    free = _Watch(None)
    free.see(seen(1.0, 1e300), theta, theta)
    assert free.best[0] == 1.0


@pytest.mark.parametrize("linear", [False, True])
def test_the_early_stop_is_at_the_first_small_gradient(linear):
    """‖g‖² ≤ 2μ·tol·F, with the norm of the space; intercepts count in full."""
    kernel, tol, mu = KERNELS[0], 1e-2, 5.0 / N
    objective = problem(Squared(), kernel, p=1.0, alpha=5.0)
    if linear:
        objective = objective.with_space(LinearSpace(X, intercept=True))
    y = objective.y
    G = np.c_[X, np.ones(N)] if linear else kernel(X, X)
    beta = np.linalg.norm(G, 2) ** (2 if linear else 1) / N + mu
    theta, penal = np.zeros(G.shape[1]), np.r_[1.0, 1.0, 1.0, 0.0]
    step = 0
    while step < 100:
        residual = G @ theta - y
        if linear:
            g = G.T @ residual / N + mu * penal * theta
            square, norm = g @ g, (penal * theta) @ theta
        else:
            g = residual / N + mu * theta
            square, norm = g @ G @ g, theta @ G @ theta
        if square <= 2 * mu * tol * (0.5 * np.mean(residual**2) + 0.5 * mu * norm):
            break
        theta = theta - g / beta
        step += 1
    assert 2 < step < 99
    solver = SubquantileGradient(
        tol=tol, max_iter=100, learning_rate=1 / beta, fast_forward=False
    )
    solution = solver.solve(objective)
    assert solution.status is Status.STATIONARY and solution.n_iter == step

"""Online descent in a surrogate space: algorithm 2 of paper 3, and on a budget."""

import numpy as np
import pytest

from lrisk.corrections import Gaussian, Surrogate, bounds
from lrisk.noise import Exact, GaussianNoise
from lrisk.solvers import OnlineKernel
from lrisk.solvers.online import kernel


def problem(n=20, copies=None, seed=0):
    """Surrogate, two sides of each row in its coordinates, targets."""
    rng = np.random.default_rng(seed)
    surrogate = Surrogate(Gaussian(3.0), GaussianNoise(0.2), 2)
    X = rng.normal(size=(n, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)
    P = surrogate.transform(X + 0.4 * rng.normal(size=X.shape))
    shape = X.shape if copies is None else (copies, *X.shape)
    Q = surrogate.transform((X + 0.4 * rng.normal(size=shape)).reshape(-1, 2))
    if copies is not None:
        return surrogate, P, Q.reshape(copies, n, 2).transpose(1, 0, 2).copy(), y
    return surrogate, P, Q, y


def gram(surrogate, A, B):
    """k̂ from equation 4, in the surrogate's coordinates."""
    terms = surrogate.terms
    distances = ((A[:, None] - B) ** 2 * terms.rates[0]).sum(axis=-1)
    return terms.weights[0] * np.exp(-distances)


def between(surrogate, P, Q):
    """Mean of k̂ between each P and the copies of each row."""
    if Q.ndim == 2:
        return gram(surrogate, P, Q)
    return np.mean([gram(surrogate, P, Q[:, a]) for a in range(Q.shape[1])], axis=0)


def by_hand(surrogate, P, Q, y, rate, radius, power, judged):
    """Coefficients after each round of algorithm 2, their mean, the losses before."""
    n, K, M = len(y), gram(surrogate, P, P), between(surrogate, P, Q)
    alpha, mean, total, loss, path = np.zeros(n), np.zeros(n), 0.0, 0.0, []
    for t in range(n):
        shown = mean if judged else alpha
        loss += (t + 1) * (shown @ K[:, t] - y[t]) * (shown @ M[:, t] - y[t])
        alpha[t] = -2 * rate(t + 1) * (alpha @ M[:, t] - y[t])
        length = np.sqrt(alpha @ K @ alpha)
        if length > radius:
            alpha = alpha * radius / length
        total += (t + 1.0) ** power
        mean = mean + (t + 1.0) ** power / total * (alpha - mean)
        path.append(alpha.copy())
    return np.array(path), mean, loss


class TestExact:
    @pytest.mark.parametrize("average", [True, False])
    @pytest.mark.parametrize("copies", [None, 3])
    @pytest.mark.parametrize("radius", [0.7, 50.0])
    def test_rounds_as_printed(self, radius, copies, average):
        surrogate, P, Q, y = problem(copies=copies)
        solver = OnlineKernel(0.1, radius, average=average)
        state = solver.step(solver.init(2), surrogate, P, Q, y)
        path, mean, loss = by_hand(
            surrogate, P, Q, y, lambda t: 0.1, radius, 0.5, average
        )
        support, coefficients = solver.finish(state)
        np.testing.assert_array_equal(support, P)
        expected = mean if average else path[-1]
        np.testing.assert_allclose(coefficients, expected, rtol=1e-9, atol=1e-14)
        assert state.losses[0] == pytest.approx(loss, rel=1e-9)
        squared = path[-1] @ gram(surrogate, P, P) @ path[-1]
        assert state.norm[0] == pytest.approx(squared, rel=1e-9)
        lengths = [np.sqrt(a @ gram(surrogate, P, P) @ a) for a in path]
        assert (radius == 0.7) == np.isclose(max(lengths), radius)
        assert state.rounds == state.size == 20

    @pytest.mark.parametrize("radius", [0.7, 50.0])
    def test_refreshed_norms_and_scales_change_nothing(self, radius, monkeypatch):
        surrogate, P, Q, y = problem()
        solver = OnlineKernel(0.1, radius)
        plain = solver.step(solver.init(2), surrogate, P, Q, y)
        monkeypatch.setattr(kernel, "REFRESH", 3)
        state = solver.init(2)
        state.next_refresh = 3
        first = 0
        for last in (7, 8, 20):
            part = slice(first, last)
            state = solver.step(state, surrogate, P[part], Q[part], y[part])
            first = last
        assert state.next_refresh > 20
        np.testing.assert_allclose(
            solver.finish(state)[1], solver.finish(plain)[1], rtol=1e-9
        )
        np.testing.assert_allclose(state.norm, plain.norm, rtol=1e-9)
        np.testing.assert_allclose(state.losses, plain.losses, rtol=1e-9)
        scales = [s.scales[:20] / s.scale[0] for s in (state, plain)]
        np.testing.assert_allclose(*scales, rtol=1e-9)

    def test_the_gaps_between_refreshes_grow(self):
        surrogate, P, Q, y = problem()
        solver = OnlineKernel(0.1)
        state = solver.init(2)
        state.next_refresh = 10
        solver.step(state, surrogate, P, Q, y)
        assert state.next_refresh == 10 + kernel.REFRESH

    def test_room_doubles_and_keeps_what_is_there(self):
        surrogate, P, Q, y = problem(n=270)
        solver = OnlineKernel(0.1)
        once = solver.step(solver.init(2), surrogate, P, Q, y)
        state = solver.init(2)
        for part in (slice(0, 256), slice(256, 257), slice(257, 270)):
            state = solver.step(state, surrogate, P[part], Q[part], y[part])
        assert len(state.Z) == state.coefficients.shape[1] == len(state.scales) == 512
        np.testing.assert_array_equal(solver.finish(state)[0], P)
        np.testing.assert_allclose(
            solver.finish(state)[1], solver.finish(once)[1], rtol=1e-12
        )


class TestBudget:
    def by_hand(self, surrogate, P, Q, y, rate, radius, size):
        """Both sides of each row in both roles, projected onto the first `size`."""
        Z = P[:size]
        K = gram(surrogate, Z, Z)
        w, mean, total, loss = np.zeros(size), np.zeros(size), 0.0, 0.0
        for t in range(len(y)):
            held = min(t + 1, size)
            inverse = np.linalg.inv(K[:held, :held])
            ka, kb = np.zeros(size), np.zeros(size)
            ka[:held] = gram(surrogate, Z[:held], P[t : t + 1])[:, 0]
            kb[:held] = between(surrogate, Z[:held], Q[t : t + 1])[:, 0]
            qa, qb = np.zeros(size), np.zeros(size)
            qa[:held], qb[:held] = inverse @ ka[:held], inverse @ kb[:held]
            loss += (t + 1) * (mean @ ka - y[t]) * (mean @ kb - y[t])
            a, b = -rate * (w @ kb - y[t]), -rate * (w @ ka - y[t])
            w = w + a * qa + b * qb
            w = w * min(1.0, radius / np.sqrt(w @ K @ w))
            total += np.sqrt(t + 1)
            mean = mean + np.sqrt(t + 1) / total * (w - mean)
        return w, mean, loss, w @ K @ w

    @pytest.mark.parametrize("radius", [0.7, 50.0])
    @pytest.mark.parametrize("budget", [1, 6, 40])
    def test_rounds(self, budget, radius):
        surrogate, P, Q, y = problem(n=14, copies=2)
        solver = OnlineKernel(0.1, radius, budget=budget, tol=1e-9)
        state = solver.step(solver.init(2), surrogate, P, Q, y)
        size = min(budget, 14)
        assert state.size == size and len(state.Z) == budget
        w, mean, loss, squared = self.by_hand(surrogate, P, Q, y, 0.1, radius, size)
        support, coefficients = solver.finish(state)
        np.testing.assert_array_equal(support, P[:size])
        np.testing.assert_allclose(coefficients, mean, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(
            state.coefficients[0, :size], w, rtol=1e-5, atol=1e-7
        )
        assert state.losses[0] == pytest.approx(loss, rel=1e-8)
        assert state.norm[0] == pytest.approx(squared, rel=1e-8)

    def test_rows_in_the_span_do_not_enter_the_support(self):
        surrogate, P, Q, y = problem(n=4)
        solver = OnlineKernel(0.1, 50.0, budget=10, average=False)
        again = np.tile(P, (3, 1))
        state = solver.step(
            solver.init(2), surrogate, again, np.tile(Q, (3, 1)), np.tile(y, 3)
        )
        assert state.size == 4
        np.testing.assert_array_equal(solver.finish(state)[0], P)
        np.testing.assert_allclose(
            state.gram[:4, :4], gram(surrogate, P, P), rtol=1e-12
        )
        np.testing.assert_allclose(
            state.inverse[:4, :4] @ state.gram[:4, :4], np.eye(4), atol=1e-8
        )

    def test_the_tolerance_is_a_share_of_the_squared_radius(self):
        """Two rows at a distance where the rest is 1 − k̂²/R⁴ of R²."""
        surrogate = Surrogate(Gaussian(3.0), GaussianNoise(0.2), 1)
        rows = surrogate.transform(np.array([[0.0], [0.3]]))
        R2 = surrogate.squared_radius
        rest = 1.0 - (gram(surrogate, rows, rows)[0, 1] / R2) ** 2
        for factor, size in ((1.01, 1), (0.99, 2)):
            solver = OnlineKernel(0.1, budget=5, tol=factor * rest)
            state = solver.step(solver.init(1), surrogate, rows, rows, np.ones(2))
            assert state.size == size

    def test_norms_are_computed_anew_every_thousand_rounds(self):
        surrogate, P, Q, y = problem(n=1000)
        solver = OnlineKernel(0.1, 50.0, budget=5)
        state = solver.step(solver.init(2), surrogate, P[:999], Q[:999], y[:999])
        state.norm[:] = 77.0
        solver.step(state, surrogate, P[999:], Q[999:], y[999:])
        w = state.coefficients[0]
        assert state.norm[0] == pytest.approx(w @ state.gram @ w, rel=1e-12)


class TestReport:
    def test_ball_and_step_by_themselves(self):
        """Twenty times R·√(mean y²), and c·t/Σk̂(0) for each candidate."""
        surrogate, P, Q, y = problem()
        solver = OnlineKernel()
        state = solver.step(solver.init(2), surrogate, P, Q, y)
        report = solver.report(state, surrogate)
        R2 = surrogate.squared_radius
        ball = 20 * np.sqrt(R2 * np.mean(y**2))
        assert report["radius"] == pytest.approx(ball, rel=1e-12)
        best = int(np.argmin(state.losses))
        share = (0.4, 0.2, 0.1, 0.05, 0.025)[best]
        assert report["step"] == pytest.approx(share / R2, rel=1e-12)
        assert report["loss"] == pytest.approx(state.losses[best] / 210, rel=1e-12)
        assert report["bound"] == np.inf

    @pytest.mark.parametrize("bound", [None, 2.5])
    @pytest.mark.parametrize("horizon", [None, 100])
    def test_theorem_2(self, horizon, bound):
        """η = W/√(GT) or √2·W/√(Gt), √G = 2R(WR + B_y)."""
        surrogate, P, Q, y = problem()
        solver = OnlineKernel("theory", 1.5, horizon=horizon, target_bound=bound)
        state = solver.step(solver.init(2), surrogate, P, Q, y)
        R2 = surrogate.squared_radius
        own = np.sqrt(np.cumsum(y**2) / np.arange(1, 21))
        target = own if bound is None else np.full(20, bound)
        roots = np.sqrt([bounds.kernel_gradient_bound(1.5, R2, b) for b in target])

        def rate(t):
            if horizon is None:
                return np.sqrt(2) * 1.5 / (roots[t - 1] * np.sqrt(t))
            return 1.5 / (roots[t - 1] * np.sqrt(horizon))

        _, mean, _ = by_hand(surrogate, P, Q, y, rate, 1.5, 0.0, True)
        np.testing.assert_allclose(solver.finish(state)[1], mean, rtol=1e-9)
        report = solver.report(state, surrogate)
        assert report["step"] == pytest.approx(rate(20), rel=1e-10)
        proven = 2 * np.sqrt(2) * 1.5 * roots[-1] * np.sqrt(20)
        if horizon is not None:
            step = rate(20)
            proven = 1.5**2 / (2 * step) + 0.5 * step * roots[-1] ** 2 * 20
        if bound is None:  # a running mean is no bound
            proven = np.inf
        assert report["bound"] == pytest.approx(proven, rel=1e-10)

    def test_the_candidate_of_the_smallest_finite_loss_is_followed(self):
        solver = OnlineKernel(average=False)
        state = solver.init(1)
        state.losses[:] = [np.nan, -np.inf, 3.0, 2.0, np.inf]
        assert solver.best(state) == 3


@pytest.mark.parametrize("options", [{"budget": 5}, {}, {"learning_rate": "auto"}])
def test_states_of_another_form_are_refused(options):
    surrogate, rows = Surrogate(Gaussian(1.0), Exact(), 1), np.zeros((3, 1))
    begun = OnlineKernel(0.1, budget=None if options else 7).init(1)
    solver = OnlineKernel(**{"learning_rate": 0.1, **options})
    with pytest.raises(ValueError, match="init"):
        solver.step(begun, surrogate, rows, rows, np.ones(3))
    assert begun.rounds == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"tol": 1.1}, "tol must be"),
        ({"radius": 0.0}, "radius must be"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        OnlineKernel(**options)

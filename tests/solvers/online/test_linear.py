"""Corrected online gradient descent: algorithm 1 of paper 3, both sides, by hand."""

import itertools

import numpy as np
import pytest

from lrisk.corrections import bounds, corrected_rows
from lrisk.corrections.covariances import (
    CorrectedRows,
    Deviations,
    RowDiagonal,
    RowFull,
    SharedDiagonal,
    SharedFull,
    matrix_of,
)
from lrisk.noise import Exact, KnownCovariance, Replicates
from lrisk.solvers import OnlineLinear
from lrisk.solvers.online import LinearState, linear, squared_norms

CROSS = np.array([0.3, -0.2, 0.1])


def problem(kind, n=25, seed=0):
    """Copies, corrected rows and targets; the noise known or to be told from copies."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 2.0, 0.5]
    y = X @ [1.0, -1.0, 2.0] + 0.1 * rng.normal(size=n)
    copies = X + 0.4 * rng.normal(size=(2 if kind == "pairs" else 1, n, 3))
    noise = Replicates() if kind == "pairs" else KnownCovariance([0.1, 0.2, 0.3])
    rows = corrected_rows(copies, noise)
    if kind == "known":
        rows = rows._replace(cross=CROSS)
    return copies, rows, y


def by_hand(rows, y, squared, rate, radius, power, judged):
    """Iterates after each round, averages, and the corrected losses before each."""
    w, a, total, loss = np.zeros(3), np.zeros(3), 0.0, 0.0
    iterates, sums = [], 0.0
    for t, (x, target) in enumerate(zip(rows.mean, y), start=1):
        C, c = matrix_of(rows.covariance, t - 1), rows.cross
        sums += squared[t - 1]
        shown = a if judged else w
        loss += t * ((shown @ x - target) ** 2 - shown @ C @ shown + 2 * shown @ c)
        gradient = 2 * (w @ x - target) * x - 2 * C @ w + 2 * c
        w = w - rate(t, sums) * gradient
        w = min(1.0, radius / max(np.linalg.norm(w), 1e-300)) * w
        total += t**power
        a = a + t**power / total * (w - a)
        iterates.append(w)
    return np.array(iterates), a, loss


class TestAlgorithm1:
    @pytest.mark.parametrize("average", [True, False])
    @pytest.mark.parametrize("radius", [1.2, 50.0])
    @pytest.mark.parametrize("kind", ["pairs", "known"])
    def test_rounds_as_printed(self, kind, radius, average):
        copies, rows, y = problem(kind)
        squared = squared_norms(copies, rows)
        solver = OnlineLinear(0.03, radius, average=average)
        path = np.empty((25, 3))
        state = solver.step(solver.init(3), rows, y, squared, path)
        iterates, mean, loss = by_hand(
            rows, y, squared, lambda t, sums: 0.03, radius, 0.5, average
        )
        lengths = np.linalg.norm(iterates, axis=1)
        assert (radius == 1.2) == np.isclose(lengths.max(), 1.2)
        np.testing.assert_allclose(state.W[0], iterates[-1], rtol=1e-10)
        np.testing.assert_allclose(state.A[0], mean, rtol=1e-10)
        np.testing.assert_allclose(state.losses[0], loss, rtol=1e-10)
        np.testing.assert_allclose(path[1:], iterates[:-1], rtol=1e-9)
        assert not path[0].any() and state.rounds == 25
        np.testing.assert_array_equal(
            solver.finish(state), state.A[0] if average else state.W[0]
        )

    def test_two_copies_are_the_left_side_both_ways(self):
        """½[2(⟨w, x̃⟩ − y)x̃′ + 2(⟨w, x̃′⟩ − y)x̃]."""
        copies, rows, y = problem("pairs")
        solver, w = OnlineLinear(0.03, 50.0, average=False), np.zeros(3)
        state = solver.step(solver.init(3), rows, y, squared_norms(copies, rows))
        for one, two, target in zip(*copies, y):
            w = w - 0.03 * ((w @ one - target) * two + (w @ two - target) * one)
        np.testing.assert_allclose(solver.finish(state), w, rtol=1e-10)

    def test_the_mean_step_over_all_noises_is_the_clean_step(self):
        """Noise of ±s in each coordinate: eight rows in all, each as likely."""
        x, y, w = np.array([1.0, -0.5, 2.0]), 0.7, np.array([0.3, 0.8, -0.4])
        spread = np.array([0.5, 1.0, 0.2])
        noise, ends = KnownCovariance(spread**2), []
        solver = OnlineLinear(0.1, 100.0, average=False)
        for signs in itertools.product([-1.0, 1.0], repeat=3):
            copies = (x + spread * signs)[None, None]
            rows = corrected_rows(copies, noise)
            state = solver.init(3)
            state.W[0] = w
            solver.step(state, rows, np.array([y]), squared_norms(copies, rows))
            ends.append(solver.finish(state))
        np.testing.assert_allclose(
            np.mean(ends, axis=0), w - 0.1 * 2 * (w @ x - y) * x, rtol=1e-12
        )

    def test_five_steps_side_by_side(self):
        """η = c·t/Σ‖x̃‖²; the one of the smallest corrected loss is followed."""
        copies, rows, y = problem("known", n=60)
        squared = squared_norms(copies, rows)
        solver = OnlineLinear(radius=50.0)
        state = solver.step(solver.init(3), rows, y, squared)
        for k, share in enumerate(linear.CANDIDATES):
            _, mean, loss = by_hand(
                rows, y, squared, lambda t, sums, c=share: c * t / sums, 50.0, 0.5, True
            )
            np.testing.assert_allclose(state.A[k], mean, rtol=1e-10)
            np.testing.assert_allclose(state.losses[k], loss, rtol=1e-10)
        best = int(np.argmin(state.losses))
        assert solver.best(state) == best
        np.testing.assert_array_equal(solver.finish(state), state.A[best])
        report = solver.report(state, pairs=False)
        step = linear.CANDIDATES[best] * 60 / squared.sum()
        assert report["step"] == pytest.approx(step, rel=1e-12)
        assert report["loss"] == pytest.approx(state.losses[best] / (0.5 * 60 * 61))
        assert report["bound"] == np.inf

    def test_rows_one_by_one_or_all_at_once(self):
        copies, rows, y = problem("known")
        solver, squared = OnlineLinear(), squared_norms(copies, rows)
        once = solver.step(solver.init(3), rows, y, squared)
        state = solver.init(3)
        for i in range(25):
            one = corrected_rows(copies[:, i : i + 1], KnownCovariance([0.1, 0.2, 0.3]))
            one = one._replace(cross=CROSS)
            solver.step(state, one, y[i : i + 1], squared[i : i + 1])
        np.testing.assert_allclose(state.A, once.A, rtol=1e-12)
        np.testing.assert_allclose(state.losses, once.losses, rtol=1e-12)


class TestTheory:
    """η = B/√(GT), or √2·B/√(Gt) without a horizon (theorem 1)."""

    def root(self, kind, radius, squared, y, bound=None):
        feature = np.sqrt(squared.mean()) if bound is None else bound[0]
        target = np.sqrt((y**2).mean()) if bound is None else bound[1]
        if kind == "pairs":
            return np.sqrt(bounds.pair_gradient_bound(radius, feature, target))
        fourth = feature**2  # what is stated bounds the fourth moment too
        if bound is None:
            fourth = max(np.sqrt((squared**2).mean()), feature**2)
        return np.sqrt(
            bounds.single_gradient_bound(radius, feature, fourth, target, 0.3)
        )

    @pytest.mark.parametrize("bound", [None, (3.0, 4.0)])
    @pytest.mark.parametrize("horizon", [None, 200])
    @pytest.mark.parametrize("kind", ["pairs", "known"])
    def test_step_and_bound(self, kind, horizon, bound):
        copies, rows, y = problem(kind)
        squared = squared_norms(copies, rows)
        feature, target = bound or (None, None)
        solver = OnlineLinear(
            "theory", 2.0, horizon=horizon, feature_bound=feature, target_bound=target
        )
        state = solver.step(solver.init(3), rows, y, squared)
        report = solver.report(state, kind == "pairs")
        root = self.root(kind, 2.0, squared, y, bound)
        if horizon is None:
            step, regret = np.sqrt(2.0) * 2.0 / (root * 5.0), 2 * np.sqrt(2) * 2.0
            regret *= root * 5.0  # √25
        else:
            step = 2.0 / (root * np.sqrt(200))
            regret = 2.0**2 / (2 * step) + 0.5 * step * root**2 * 25
        assert report["radius"] == 2.0
        assert report["step"] == pytest.approx(step, rel=1e-10)
        if bound is None:  # running means are no bounds
            regret = np.inf
        assert report["bound"] == pytest.approx(regret, rel=1e-10)

    def test_the_average_is_the_plain_one(self):
        copies, rows, y = problem("known")
        squared = squared_norms(copies, rows)
        solver = OnlineLinear("theory", 2.0, feature_bound=3.0, target_bound=4.0,
                              horizon=50)  # fmt: skip
        state = solver.step(solver.init(3), rows, y, squared)
        root = 2 * (2.0 * 3.0**2 + 4.0 * 3.0 + 0.3 * 2.0)

        def rate(t, sums):
            return 2.0 / (root * np.sqrt(50))

        _, mean, _ = by_hand(rows, y, squared, rate, 2.0, 0.0, True)
        np.testing.assert_allclose(state.A[0], mean, rtol=1e-10)

    def test_where_nothing_is_proven(self):
        copies, rows, y = problem("pairs")
        for options in ({"radius": 2.0}, {"learning_rate": 0.1},
                        {"learning_rate": "theory"}):  # fmt: skip
            solver = OnlineLinear(**options)
            state = solver.step(solver.init(3), rows, y, squared_norms(copies, rows))
            assert solver.report(state, True)["bound"] == np.inf
        for stated in ({}, {"feature_bound": 3.0}, {"target_bound": 4.0}):
            solver = OnlineLinear("theory", 2.0, **stated)
            state = solver.step(solver.init(3), rows, y, squared_norms(copies, rows))
            assert solver.report(state, True)["bound"] == np.inf
        fixed = OnlineLinear(0.01, 2.0, feature_bound=3.0, target_bound=4.0)
        state = fixed.step(fixed.init(3), rows, y, squared_norms(copies, rows))
        root = self.root("pairs", 2.0, squared_norms(copies, rows), y, (3.0, 4.0))
        proven = 2.0**2 / 0.02 + 0.5 * 0.01 * root**2 * 25
        assert fixed.report(state, True)["bound"] == pytest.approx(proven, rel=1e-10)

    def test_the_ball_by_itself(self):
        """Three times √(E y²·d/E‖x‖²), of the clean x; at least a tenth is clean."""
        copies, rows, y = problem("known")
        solver, squared = OnlineLinear(), squared_norms(copies, rows)
        state = solver.step(solver.init(3), rows, y, squared)
        signal = squared.sum() - 25 * 0.6
        radius = 3 * np.sqrt((y**2).sum() * 3 / signal)
        assert solver.report(state, False)["radius"] == pytest.approx(radius)
        loud = corrected_rows(copies, KnownCovariance(100.0))
        state = solver.step(solver.init(3), loud, y, squared)
        radius = 3 * np.sqrt((y**2).sum() * 3 / (0.1 * squared.sum()))
        assert solver.report(state, False)["radius"] == pytest.approx(radius)


class TestSizes:
    """Trace and largest eigenvalue of each row's C."""

    COV = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.5]])  # 3, 1, ½

    @pytest.mark.parametrize("kind", [SharedDiagonal, SharedFull, RowDiagonal, RowFull])
    def test_of_known_covariances(self, kind):
        factor, values = np.array([1.0, 0.5, 2.0, 0.0]), np.array([1.0, 3.0, 0.5])
        match kind.__name__:
            case "SharedDiagonal":
                cov, top = SharedDiagonal(values, factor), 3.0
            case "SharedFull":
                cov, top = SharedFull(self.COV, factor), 3.0
            case "RowDiagonal":
                cov, top = RowDiagonal(factor[:, None] * values), 3.0
            case _:
                cov, top = RowFull(factor[:, None, None] * self.COV), 3.0
        trace, largest = linear._sizes(CorrectedRows(np.zeros((4, 3)), cov, CROSS))
        np.testing.assert_allclose(trace, 4.5 * factor)
        np.testing.assert_allclose(largest, top * factor)

    def test_of_copies(self):
        """‖r‖² for two copies, an upper bound on the largest for more."""
        deviations = np.random.default_rng(0).normal(size=(4, 1, 3))
        cov = Deviations(deviations)
        trace, largest = linear._sizes(CorrectedRows(np.zeros((4, 3)), cov, CROSS))
        np.testing.assert_allclose(trace, (deviations**2).sum(axis=(1, 2)))
        np.testing.assert_allclose(largest, trace)

    def test_squared_norms(self):
        """Of a single copy where the copies tell the noise, of their mean otherwise."""
        copies = np.array([[[3.0, 0.0]], [[1.0, 2.0]]])
        rows = corrected_rows(copies, Replicates())
        np.testing.assert_allclose(squared_norms(copies, rows), [(9 + 5) / 2])
        rows = corrected_rows(copies, KnownCovariance(0.1))
        np.testing.assert_allclose(squared_norms(copies, rows), [4 + 1])


class TestStates:
    @pytest.mark.parametrize("features", [2, 3])
    def test_of_another_size_are_refused(self, features):
        copies = np.ones((1, 4, features))
        rows = corrected_rows(copies, Exact())
        state = OnlineLinear(0.1).init(2)
        solver = OnlineLinear("auto" if features == 2 else 0.1)
        with pytest.raises(ValueError, match="init"):
            solver.step(state, rows, np.ones(4), squared_norms(copies, rows))
        assert state.rounds == 0

    @pytest.mark.parametrize(("last", "expected"), [(0, [1, 2, 3, 0, 0]),
                                                    (1, [1, 2, 0, 0, 3])])  # fmt: skip
    def test_new_features_come_before_the_last_ones(self, last, expected):
        state = LinearState(np.array([[1.0, 2, 3]]), np.array([[4.0, 5, 6]]),
                            np.ones(7), np.ones(1))  # fmt: skip
        grown = OnlineLinear(0.1).grow(state, 5, last)
        np.testing.assert_array_equal(grown.W, [expected])
        np.testing.assert_array_equal(grown.A[grown.W > 0], [4, 5, 6])
        assert grown.sums is state.sums and grown.losses is state.losses

    def test_a_candidate_that_diverged_is_not_followed(self):
        solver = OnlineLinear()
        state = solver.init(1)
        state.losses[:] = [np.nan, -np.inf, 3.0, 2.0, np.inf]
        state.A[:] = np.arange(5.0)[:, None]
        assert solver.finish(state)[0] == 3.0

    @pytest.mark.parametrize(("rate", "remedy"), [(0.1, "auto"),
                                                  ("auto", "outlying")])  # fmt: skip
    def test_weights_that_are_not_numbers_are_refused(self, rate, remedy):
        solver = OnlineLinear(rate)
        state = solver.init(1)
        state.A[:] = np.nan
        with pytest.raises(ValueError, match=f"learning_rate.*{remedy}"):
            solver.finish(state)

    def test_rows_and_targets_of_zero(self):
        rows = corrected_rows(np.zeros((1, 3, 2)), Exact())
        solver = OnlineLinear()
        state = solver.step(solver.init(2), rows, np.zeros(3), np.zeros(3))
        np.testing.assert_array_equal(solver.finish(state), [0.0, 0.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_rate": 0.0}, "learning_rate must be"),
        ({"learning_rate": "fast"}, "'auto', 'theory'"),
        ({"radius": -1.0}, "radius must be"),
        ({"radius": "theory"}, "radius must be"),
        ({"horizon": 0}, "horizon must be"),
        ({"feature_bound": -1.0}, "feature_bound must be"),
        ({"target_bound": np.nan}, "target_bound must be"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        OnlineLinear(**options)


def test_arrays_of_any_layout_become_the_one_that_loops_are_compiled_for():
    frozen = np.arange(6.0)
    frozen.flags.writeable = False
    for array in (frozen, np.arange(6), np.arange(12.0)[::2], np.float32([1, 2])):
        plain = linear.plain(array)
        assert plain.dtype == np.float64 and plain.flags.c_contiguous
        assert plain.flags.writeable
        np.testing.assert_array_equal(plain, array)

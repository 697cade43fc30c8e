"""Starts, paths and exchanges: trimmed least squares against R, kernels against both.

The figures of R's robustbase are in tests/data/ltsreg with the script that made them.
"""

import csv
from pathlib import Path

import numpy as np
import pytest

import lrisk
from lrisk.losses import Squared
from lrisk.objective import Objective
from lrisk.procedures.starts import huber
from lrisk.procedures.trimming import exchange_rounds, penalties
from lrisk.ranking import Ranking
from lrisk.solvers import Concentration
from lrisk.spaces import LinearSpace
from lrisk.spectra import Mean, Subquantile

pytestmark = pytest.mark.numerics

LTSREG = Path(__file__).parents[1] / "data" / "ltsreg"


def reference():
    with open(LTSREG / "reference.csv") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "row", reference(), ids=lambda r: f"{r['dataset']}-{r['alpha']}"
)
@pytest.mark.parametrize("seed", [0, 1])
def test_trimmed_least_squares_is_as_low_as_robustbase(row, seed):
    table = np.loadtxt(LTSREG / f"{row['dataset']}.csv", delimiter=",", skiprows=1)
    X, y, h = table[:, :-1], table[:, -1], int(row["h"])
    assert X.shape == (int(row["n"]), int(row["d"]))
    model = lrisk.RiskRegressor(
        Subquantile(h / len(y)), alpha=0.0, random_state=seed
    ).fit(X, y)
    squares = np.sort((y - model.predict(X)) ** 2)[:h]
    assert squares.sum() <= float(row["sum"]) * (1 + 1e-8)
    assert model.inlier_mask_.sum() == h
    assert model.objective_ == pytest.approx(squares.mean() / 2, rel=1e-9)


def contaminated(load, seed, share):
    """Concrete, standardised before a share of the labels becomes N(5, 5)."""
    X, y = load("concrete")
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    X, y = X[order], y[order]
    n = 400
    X = (X[:n] - X[:n].mean(0)) / X[:n].std(0)
    y = (y[:n] - y[:n].mean()) / y[:n].std()
    bad = rng.permutation(n)[: int(share * n)]
    y[bad] = rng.normal(5, 5, len(bad))
    return X, y, bad


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_concentration_ends_no_higher_than_the_papers_algorithm(share, load):
    for seed in range(3):
        X, y, bad = contaminated(load, seed, share)
        model = lrisk.KernelRiskRegressor(Subquantile(1 - share), gamma=1 / 8)
        exact = model.fit(X, y).objective_
        kept_bad = bad[model.inlier_mask_[bad]]
        paper = model.set_params(solver="subquantile", max_iter=5000, tol=0.0)
        assert exact <= paper.fit(X, y).objective_
        # A fifth of N(5, 5) looks like a label; only such rows may stay.
        assert np.abs(y[kept_bad]).max() < 3.5


def test_swaps_only_help(load):
    X, y, _ = contaminated(load, 0, 0.4)
    values = []
    for swaps in (0, 1, 20):
        model = lrisk.KernelRiskRegressor(
            "subquantile:0.6", alpha=0.01, solver=Concentration(swaps=swaps)
        )
        values.append(model.fit(X, y).objective_)
    assert values[0] > values[1] >= values[2]


def sines(seed, n=120):
    """A wave with thirty per cent of wrong targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.sin(2 * X[:, 0])
    bad = rng.permutation(n)[: 3 * n // 10]
    y[bad] += rng.normal(5, 5, len(bad))
    return X, y


@pytest.mark.parametrize("seed", [21, 0, 1, 2])
def test_nearly_equal_weights_are_nearly_equal_rows(seed):
    X, y = sines(seed)
    weight = np.ones(len(y))
    weight[0] += 1e-9
    model = lrisk.KernelRiskRegressor("subquantile:0.7", alpha=0.01)
    equal = model.fit(X, y).objective_
    nearly = model.fit(X, y, sample_weight=weight).objective_
    assert nearly == pytest.approx(equal, rel=1e-6)


@pytest.mark.parametrize("whole", [False, True])
def test_swaps_help_rows_of_any_weight(whole):
    ratios = []
    for seed in range(12):
        X, y = sines(seed)
        rng = np.random.default_rng(seed)
        weight = rng.integers(1, 4, 120) if whole else rng.uniform(0.5, 2, 120)
        values = []
        for swaps in (0, 20):
            model = lrisk.KernelRiskRegressor(
                "subquantile:0.7", alpha=0.01, solver=Concentration(swaps=swaps)
            ).fit(X, y, sample_weight=weight)
            risk = lrisk.risk(model.losses_, "subquantile:0.7", weight)
            assert model.risk_weights_ @ model.losses_ == pytest.approx(risk, rel=1e-9)
            values.append(model.objective_)
        ratios.append(values[1] / values[0])
    assert np.max(ratios) <= 1 + 1e-9
    assert np.min(ratios) < 0.99


@pytest.mark.parametrize("name", ["boston", "concrete"])
def test_gross_outliers_in_features_and_target(name, load):
    """Features ×100 and y×10⁴ in 40 % of the rows cost nothing (paper 2, table 2)."""
    X, y = load(name, standardise=True)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(y))
        train, test = order[: int(0.8 * len(y))], order[int(0.8 * len(y)) :]
        bad = train[: int(0.4 * len(train))]
        dirty, target = X.copy(), y.copy()
        dirty[bad] *= 100
        target[bad] *= 1e4
        model = lrisk.KernelRiskRegressor(
            "subquantile:0.6", kernel="linear", random_state=seed
        ).fit(dirty[train], target[train])
        good = np.setdiff1d(train, bad)
        oracle = lrisk.RiskRegressor("mean", fit_intercept=False).fit(X[good], y[good])
        errors = [
            np.sqrt(np.mean((m.predict(X[test]) - y[test]) ** 2))
            for m in (model, oracle)
        ]
        assert errors[0] <= 1.02 * errors[1]


def test_path_goes_down_by_tens():
    assert penalties(0.5) == [0.5]
    assert penalties(2e-3) == [2e-3]
    np.testing.assert_allclose(penalties(5e-5), [1e-2, 1e-3, 5e-5])
    np.testing.assert_allclose(penalties(0.5, 40.0), [40.0, 0.5])
    np.testing.assert_allclose(penalties(0.0, 2.0), [*(2.0 * 0.1 ** np.arange(6)), 0.0])


def test_exchanges_are_rationed():
    objective = Objective(
        Ranking(Subquantile(0.6), 4000),
        Squared(),
        LinearSpace(np.ones((4000, 1)), intercept=False),
        np.ones(4000),
        1.0,
    )
    assert exchange_rounds(objective, 7) == 7
    assert exchange_rounds(objective, "auto") <= 2


def test_huber_start_is_the_m_estimate():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X @ [1.0, -2.0] + rng.standard_t(2, 200)
    objective = Objective(
        Ranking(Mean(), 200), Squared(), LinearSpace(X, intercept=False), y, 0.0
    )
    point = huber(objective, objective.at(np.zeros(2)), rounds=200)
    residuals = point.scores - y
    cut = 1.345 * 1.4826 * np.median(np.abs(residuals))
    # A refit ends where 1e-15 of the value is left to gain: 1e-7 of a gradient.
    balance = X.T @ np.clip(residuals, -cut, cut)
    np.testing.assert_allclose(balance / np.abs(X.T).sum(axis=1), 0, atol=1e-7)


def flipped(seed, share, n=300, shift=0.4):
    """Two classes with an overlap of a tenth or so, some labels flipped; test rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, 8))
    w = np.r_[2.0, 1.5, 1.0, 0.5, np.zeros(4)]
    y = (X @ w + shift + rng.logistic(size=2 * n) * 0.3 > 0).astype(float)
    bad = rng.permutation(n)[: int(share * n)]
    dirty = y[:n].copy()
    dirty[bad] = 1.0 - dirty[bad]
    return X[:n], dirty, bad, X[n:], y[n:]


@pytest.mark.parametrize("intercept", [True, False])
def test_light_penalties_do_not_bend_to_flipped_labels(intercept):
    """As well as the paper's algorithm, which stops before it bends."""
    accuracy, kept = [], []
    for seed in range(10):
        X, y, bad, test_X, test_y = flipped(seed, 0.2)
        model = lrisk.RiskClassifier(
            "subquantile:0.8", alpha=1e-3, fit_intercept=intercept
        ).fit(X, y)
        paper = lrisk.RiskClassifier(
            "subquantile:0.8", alpha=0.0, fit_intercept=False, solver="subquantile"
        )
        paper.set_params(max_iter=1000, tol=0.0).fit(X, y)
        scores = [m.score(test_X, test_y) for m in (model, paper)]
        accuracy.append(scores[0] - scores[1])
        kept.append(model.inlier_mask_[bad].mean())
    assert np.mean(accuracy) >= -0.01
    assert np.mean(kept) < 0.25


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_flipped_rows_do_no_more_harm_far_out(share):
    """Features ×10, ×100, ×10⁶ beside the flipped labels (paper 2, table 3)."""
    factors = [1.0, 10.0, 100.0, 1e6]
    accuracy = np.zeros(len(factors))
    for seed in range(10):
        X, y, bad, test_X, test_y = flipped(seed, share)
        for which, factor in enumerate(factors):
            far = X.copy()
            far[bad] *= factor
            model = lrisk.RiskClassifier(Subquantile(1 - share), alpha=0.1).fit(far, y)
            accuracy[which] += model.score(test_X, test_y) / 10
    assert accuracy.min() >= accuracy[0] - 0.01


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("far", [1e9, 1e15])
@pytest.mark.parametrize("spectrum", ["subquantile:0.9", "risk_seeking_extremile:1.5"])
def test_right_rows_far_out_do_no_harm(spectrum, far, classes, intercept):
    """One in each column. They are kept, and all but rule a step of Newton's method."""
    accuracy = []
    for distance in (1.0, far):
        for seed in range(3):
            rng = np.random.default_rng(seed)
            X, test_X = rng.normal(size=(200, 3)), rng.normal(size=(2000, 3))
            X[:3] = distance * np.eye(3)
            truth = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [-3.0, 0.0, 1.0]])
            y, test_y = (
                np.argmax(rows @ truth[:classes].T, axis=1) for rows in (X, test_X)
            )
            model = lrisk.RiskClassifier(spectrum, fit_intercept=intercept)
            accuracy.append(model.fit(X, y).score(test_X, test_y))
    near, far_out = np.reshape(accuracy, (2, 3))
    assert (far_out - near).min() >= -0.05
    assert far_out.mean() >= near.mean() - 0.02


@pytest.mark.parametrize("spectrum", ["subquantile:0.9", "ranked_range:0.05:0.9"])
def test_far_rows_and_balance_between_classes(spectrum):
    """The way is over some rows, and each class is trimmed by itself."""
    X, y, bad, test_X, test_y = flipped(0, 0.05)
    X = X.copy()
    X[bad] *= 100.0
    model = lrisk.RiskClassifier(spectrum, solver=Concentration(class_balanced=True))
    model.fit(X, y)
    assert model.score(test_X, test_y) > 0.85
    assert model.inlier_mask_[bad].mean() < 0.25


def test_a_rare_class_far_away_is_not_left_out():
    """One row in twenty, where one in fifty may go."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = (np.arange(600) % 20 == 0).astype(float)
        X = rng.normal(size=(600, 4))
        X[:, 0] += 16.0 * y
        model = lrisk.RiskClassifier("subquantile:0.98", alpha=0.1).fit(X, y)
        assert model.score(X, y) == 1.0


def test_no_class_is_trimmed_away_by_a_light_penalty():
    """Three rows in ten are left out, and the rare class has four."""
    for seed in range(3):
        X, y, _, test_X, test_y = flipped(seed, 0.2, shift=1.0)
        model = lrisk.RiskClassifier("subquantile:0.7", alpha=0.1).fit(X, y)
        rare = test_y == 0
        assert model.score(test_X[rare], test_y[rare]) > 0.7
        assert min(model.inlier_mask_[y == k].mean() for k in (0, 1)) > 0.5


def test_the_mean_of_kernel_features_is_no_intercept_on_the_way():
    """Several overlapping classes: none is left out for being a little rarer."""
    least = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 150)
        X = rng.normal(size=(150, 4)) + rng.normal(size=(3, 4))[y] * 1.3
        bad = rng.permutation(150)[:60]
        y[bad] = (y[bad] + rng.integers(1, 3, 60)) % 3
        model = lrisk.KernelRiskClassifier("subquantile:0.6", gamma=0.125, alpha=0.03)
        mask = model.fit(X, y).inlier_mask_
        least.append(min(mask[y == k].mean() for k in range(3)))
    assert np.mean(least) > 0.4 and min(least) > 0.2


@pytest.mark.parametrize("intercept", [True, False])
def test_the_units_of_the_features_do_not_show(intercept):
    X, y, _, _, _ = flipped(0, 0.2)
    model = lrisk.RiskClassifier("subquantile:0.8", alpha=0.01, fit_intercept=intercept)
    scores = model.fit(X, y).decision_function(X)
    for unit in (1e-3, 1e3):
        model.set_params(alpha=0.01 * unit**2).fit(X * unit, y)
        again = model.decision_function(X * unit)
        np.testing.assert_allclose(again, scores, atol=1e-6 * np.abs(scores).max())


def test_halves_are_tried_on_request_and_only_lower_the_objective():
    for seed in range(3):
        X, y, *_ = flipped(seed, 0.4)
        fits = []
        for starts in (0, 10):
            solver = Concentration(starts=starts)
            model = lrisk.RiskClassifier(
                "subquantile:0.6", alpha=0.01, solver=solver, random_state=0
            )
            fits.append(model.fit(X, y))
            labels = [record["start"] for record in model.history_]
            assert ("half" in labels) is (starts > 0) and "path" in labels
            if starts == 0:
                first = model.objective_
        assert fits[1].objective_ <= first


def test_no_starts_leave_the_path_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.where(rng.random(150) < 0.3, 5.0 * rng.normal(size=150), X[:, 0])
    seen = []
    for starts in ("auto", 0):
        solver = Concentration(starts=starts, swaps=0)
        model = lrisk.KernelRiskRegressor("subquantile:0.7", alpha=0.1, solver=solver)
        model.fit(X, y)
        seen.append({record["start"] for record in model.history_})
    assert seen == [{"path", "elimination"}, {"path"}]

"""The assessment of rows: what is found, and above all what is not."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from lrisk.datasets import corrupt_labels, corrupt_units, make_awkward
from lrisk.procedures._robust.rows import Distinct
from lrisk.procedures._robust.scales import Columns
from lrisk.procedures.outliers import detect, nothing_detected, with_given_share
from lrisk.procedures.outliers.assessment import (
    has_point_mass,
    last_digit,
    tie_width,
)
from lrisk.procedures.outliers.feature_errors import (
    GAUSSIAN_80,
    Sides,
    contradicted_values,
    far_values,
)
from lrisk.procedures.outliers.kernel_ridge import Pairs
from lrisk.procedures.outliers.leverage import find_leverage_rows
from lrisk.procedures.outliers.noise_level import NoiseLevel
from lrisk.procedures.outliers.reference import (
    ordinary_reference,
    robust_reference,
)

AWKWARD = ["gaussian", "lognormal", "t3", "heteroscedastic", "nonlinear", "ties"]


def linear(seed, n=250, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return rng, X, X @ np.linspace(1, -1, d) + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("kind", AWKWARD)
def test_clean_tables_stay_clean(kind):
    rates = []
    for seed in range(3):
        X, y = make_awkward(kind, n_samples=300, random_state=seed)
        rates.append(detect(X, y, np.random.default_rng(0)).flagged.mean())
    assert max(rates) <= 0.01


@pytest.mark.parametrize("shift", [0.0, -1.0])
def test_targets_cut_off_at_zero_stay_clean(shift):
    rng, X, y = linear(0)
    y = np.maximum(y + shift, 0.0)
    assert has_point_mass(y)
    assert detect(X, y, rng).flagged.mean() <= 0.01


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_wrong_targets_are_found(share):
    errors, precision, recall, covered = [], [], [], []
    for seed in range(4):
        rng, X, y = linear(seed)
        dirty = corrupt_labels(X, y / y.std(), fraction=share, random_state=seed)
        found = detect(dirty.X, dirty.y, rng)
        hits = np.sum(found.flagged & dirty.mask)
        errors.append(found.share - share)
        covered.append(found.interval[0] <= share <= found.interval[1])
        precision.append(hits / found.flagged.sum())
        recall.append(hits / dirty.mask.sum())
    assert np.max(np.abs(errors)) < 0.07
    assert min(precision) > 0.9
    assert np.mean(recall) > 0.65
    assert sum(covered) >= 3


def test_rows_of_the_reference_speak_for_the_others():
    rng, X, y = linear(0, n=3000)
    dirty = corrupt_labels(X, y / y.std(), fraction=0.2, random_state=0)
    found = detect(dirty.X, dirty.y, rng)
    hits = np.sum(found.flagged & dirty.mask)
    assert hits / found.flagged.sum() > 0.9
    assert hits / dirty.mask.sum() > 0.65
    assert found.share == pytest.approx(0.2, abs=0.05)


def test_all_rows_are_judged_not_those_of_a_sample():
    """One wrong target of many is found wherever it is; so are values y contradicts."""
    for row in (0, 700, 1299):
        rng, X, y = linear(row, n=1300)
        y[row] += 1e6
        found = detect(X, y, np.random.default_rng(0))
        assert found.flagged[row]
        assert found.flagged.sum() == 1
        assert np.isfinite(found.u).all()
    rng, X, y = linear(0, n=1300)
    X[:100, 0] = 40.0 + rng.normal(size=100)  # a value that y contradicts
    found = detect(X, y, np.random.default_rng(0))
    assert found.flagged[:100].all()
    assert not found.flagged[100:].any()


@pytest.mark.parametrize("kind", ["nonlinear", "ties", "cut off"])
def test_new_rows_are_judged_alike_alone_and_together(kind):
    shape = "gaussian" if kind == "cut off" else kind
    X, y = make_awkward(shape, n_samples=600, random_state=0)
    dirty = corrupt_labels(X, y / y.std(), fraction=0.2, random_state=0)
    if kind == "cut off":
        dirty = dirty._replace(y=np.maximum(y, np.median(y)))
        assert has_point_mass(dirty.y)
    detector = detect(dirty.X, dirty.y, np.random.default_rng(0)).detector
    new = make_awkward(shape, n_samples=700, random_state=1)[0]
    expected, scale = detector.expected(new)
    reference, level = detector.assessment.reference, detector.assessment.mixture.level
    if kind != "ties":  # not all rows of the reference have a say
        assert 0 < len(level.members) < 600
    rows = reference.columns.compressed(new)
    fitted = reference.predict(new)
    plain = detector.units.size * level.at(fitted, rows)
    np.testing.assert_allclose(scale, plain, rtol=1e-9)
    K = np.exp(-reference.gamma * cdist(rows, reference.rows, "sqeuclidean"))
    K += rows @ reference.rows.T / rows.shape[1] + 1.0
    values = K @ reference.coefficients + reference.level
    np.testing.assert_allclose(fitted, values, rtol=1e-8, atol=1e-8)
    for i in range(20):
        one = detector.expected(new[i : i + 1])
        np.testing.assert_allclose(
            (one[0][0], one[1][0]), (expected[i], scale[i]), rtol=1e-8
        )


def test_a_column_far_beyond_all_scales():
    _, X, y = linear(0)
    X[:, 1] *= 1e-200
    X[3, 1] = 1e200
    found = detect(X, y, np.random.default_rng(0))
    assert np.isfinite(found.chance).all()
    assert found.flagged.mean() <= 0.01


def test_units_of_the_table_do_not_matter():
    _, X, y = linear(3)
    dirty = corrupt_labels(X, y / y.std(), fraction=0.2, random_state=3)
    plain = detect(dirty.X, dirty.y, np.random.default_rng(0))
    scaled = detect(
        dirty.X * [1e6, 1e-6, 3, 1, 1] + 7, 1e5 * dirty.y - 3, np.random.default_rng(0)
    )
    np.testing.assert_array_equal(plain.flagged, scaled.flagged)
    np.testing.assert_allclose(plain.chance, scaled.chance, atol=1e-3)


def test_a_with_given_share_flags_just_so_many():
    _, X, y = linear(0)
    found = detect(X, y, np.random.default_rng(0))
    for share in (0.0, 0.1, 0.49):
        told = with_given_share(found, share, np.ones(len(y)))
        assert told.flagged.sum() == int(share * len(y))
        worst = np.sort(np.abs(found.u))[::-1][: int(share * len(y))]
        assert set(np.abs(found.u[told.flagged])) == set(worst)
    nothing = nothing_detected(np.ones(20), "constant target", (0, 0.5))
    tied = with_given_share(nothing, 0.3, np.ones(20))
    assert tied.flagged.sum() == 6


def test_tie_width():
    assert tie_width(np.round(np.linspace(0, 6, 100))) == 1.0
    assert tie_width(np.linspace(0, 6, 100)) == 0.0
    assert not has_point_mass(np.round(np.linspace(0, 2, 100)))


def test_noise_level_follows_the_noise():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1500, 2))
    fitted, true = rows[:, 0], np.exp(0.8 * rows[:, 0])
    residuals = true * rng.normal(size=1500)
    level = NoiseLevel.of(residuals, fitted, rows)
    ratio = level.at(fitted, rows, own=True) / true
    middle = np.abs(fitted) < 1.5
    assert np.all((ratio[middle] > 0.5) & (ratio[middle] < 2.0))
    halves = NoiseLevel.of(2 * residuals, 2 * fitted, rows).at(
        2 * fitted, rows, own=True
    )
    np.testing.assert_allclose(halves, 2 * level.at(fitted, rows, own=True))


def test_reference_resists_two_fifths():
    _, X, y = linear(0, n=300)
    dirty = corrupt_labels(X, y / y.std(), fraction=0.4, random_state=0)
    reference = robust_reference(dirty.X, dirty.y, Columns.of(dirty.X))
    _, X_new, y_new = linear(1, n=300)
    error = np.sqrt(np.mean((reference.predict(X_new) - y_new / y.std()) ** 2))
    assert error < 1.5 * 0.5 / y.std()


@pytest.mark.parametrize("seed", range(3))
def test_reference_of_many_rows_starts_from_few(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(900, 3))
    clean = 2 * np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=900)
    dirty = corrupt_labels(X, clean, fraction=0.4, random_state=seed)
    reference = robust_reference(X, dirty.y, Columns.of(X))
    error = np.abs(reference.residuals - (dirty.y - clean))[~dirty.mask]
    assert np.median(error) < 0.3
    oracle = ordinary_reference(X[~dirty.mask], clean[~dirty.mask], Columns.of(X))
    assert np.median(np.abs(reference.residuals[~dirty.mask])) < 1.3 * np.median(
        np.abs(oracle.residuals)
    )


def test_new_rows_are_judged_without_their_place():
    """As by a fit without the rows of that place, under the same width and penalty."""
    rng = np.random.default_rng(0)
    places = rng.integers(12, size=150)
    X = rng.normal(size=(12, 2))[places] + 0.1 * rng.normal(size=(150, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=150)
    reference = ordinary_reference(X, y, Columns.of(X), places)
    new = X[::7] + 0.05
    found = reference.predict_elsewhere(new, places[::7])
    K = Pairs.of(reference.rows, reference.rows).kernel(reference.gamma)
    rows = reference.columns.compressed(new)
    asked = Pairs.of(rows, reference.rows).kernel(reference.gamma)
    for k, place in enumerate(places[::7]):
        rest = np.flatnonzero(places != place)
        A = K[np.ix_(rest, rest)] + reference.penalty * np.eye(len(rest))
        c = np.linalg.solve(A, y[rest] - reference.level)
        assert found[k] == pytest.approx(asked[k, rest] @ c + reference.level, abs=1e-7)
    elsewhere = reference.predict_elsewhere(new, np.full(len(new), 99))
    np.testing.assert_allclose(elsewhere, reference.predict(new), atol=1e-9)


def test_columns_differ_by_more_than_chance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 20))
    columns = Columns.of(X)
    assert not Columns.of(X[rng.random(1000) < 0.7]).differ(columns)
    assert not columns.differ(columns)
    for change in (1.5 * X, X + 0.5):
        wide = np.where(np.arange(20) == 7, change, X)
        assert Columns.of(wide).differ(columns)
        assert columns.differ(Columns.of(wide))


def test_a_leverage_cluster_pulls_and_a_fitting_one_does_not():
    rng, X, y = linear(0)
    weights, nobody = np.ones(len(y)), np.zeros(len(y), dtype=bool)
    far = np.arange(len(y)) < 40
    X[far] = np.linspace(8, -8, 5) + 0.3 * rng.normal(size=(40, 5))
    y[far] = X[far] @ np.linspace(1, -1, 5) + 0.5 * rng.normal(size=40)
    assert not find_leverage_rows(X, y, weights, nobody, None).any()
    y[far] = -8 + 0.3 * rng.normal(size=40)
    np.testing.assert_array_equal(find_leverage_rows(X, y, weights, nobody, None), far)


@pytest.mark.parametrize("factor", [10.0, 1000.0])
def test_values_in_another_unit(factor):
    hits = total = false = 0
    for seed in range(3):
        _, X, y = linear(seed, n=400)
        X = X + 5.0
        dirty = corrupt_units(
            X, y, fraction=0.1, factor=factor, column=0, random_state=seed
        )
        rows = np.arange(400)
        found = contradicted_values(dirty.X, dirty.y, rows, rows < 0)
        hits += np.sum(found & dirty.mask)
        false += np.sum(found & ~dirty.mask)
        total += dirty.mask.sum()
        assert not contradicted_values(X, y, rows, rows < 0).any()
    assert false == 0
    assert hits > 0.25 * total


def test_a_lone_rich_group_is_believed():
    _, X, y = linear(0, n=400)
    X[:20, 0] += 40.0
    y[:20] += 40.0
    rows = np.arange(400)
    assert not contradicted_values(X, y, rows, rows < 0).any()


def test_distinct_rows_do_not_know_order_or_copies():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(50, 3)).astype(float)
    y = rng.integers(0, 2, size=50).astype(float)
    weights = rng.integers(1, 4, size=50).astype(float)
    a = Distinct.of(X, y, weights)
    order = rng.permutation(50)
    b = Distinct.of(X[order], y[order], weights[order])
    np.testing.assert_array_equal(X[a.first], X[order][b.first])
    np.testing.assert_array_equal(a.weights, b.weights)
    np.testing.assert_array_equal(X[a.first][a.number], X)
    np.testing.assert_array_equal(y[a.first][a.number], y)
    table = np.unique(np.column_stack([X, y]), axis=0)
    assert len(a.first) == len(table)


@pytest.mark.parametrize("n", [1, 2, 30, 400])
@pytest.mark.parametrize("values", [1, 3, 1000])
def test_distinct_rows_are_sorted_by_y_then_by_columns(n, values):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        choices = np.concatenate([[0.0, -0.0, 5e-324], rng.normal(size=values)])
        X, y = rng.choice(choices, size=(n, 3)), rng.choice(choices, size=n)
        weights = rng.random(n)
        found = Distinct.of(X, y, weights)
        order = np.lexsort((*X.T[::-1], y))
        table = np.column_stack([y, X])[order]
        new = np.ones(n, dtype=bool)
        new[1:] = np.any(table[1:] != table[:-1], axis=1)
        np.testing.assert_array_equal(found.first, order[new])
        assert found.weights.sum() == pytest.approx(weights.sum())
        np.testing.assert_array_equal(y[found.first][found.number], y)


@pytest.mark.parametrize("shape", ["symmetric", "no lower side", "few far"])
def test_far_values_by_the_formula(shape):
    rng = np.random.default_rng(0)
    column = rng.standard_t(2, size=500)
    if shape == "no lower side":
        column = np.maximum(column, 0.0)
    elif shape == "few far":
        column = np.concatenate([rng.uniform(size=497), [40.0, -50.0, 60.0]])
    middle, low, high = np.quantile(column, [0.5, 0.2, 0.8])
    sides = [(middle - low) / GAUSSIAN_80, (high - middle) / GAUSSIAN_80]
    scale = np.where(column >= middle, sides[1], sides[0] or sides[1])
    expected = np.abs(column - middle) / scale > 8.0
    assert expected.any()
    np.testing.assert_array_equal(far_values(column), expected)
    assert not far_values(np.round(column / 50)).any()


def test_the_ones_of_a_rare_category_are_not_far():
    """Though a few rows between its two values make it a column of many."""
    rng = np.random.default_rng(0)
    column = (rng.random(400) < 0.1).astype(float)
    column[:80] = 0.02 + 0.05 * rng.normal(size=80)
    assert np.sum(Sides.of(column).distance(column) > 8.0) > 30
    assert not far_values(column).any()
    column[rng.random(400) < 0.05] = 1000.0 * rng.random()  # codes are, of most columns
    column[column < 1.0] += rng.normal(size=np.sum(column < 1.0))
    assert far_values(column).any()


@pytest.mark.parametrize("digits", [1, 2])
@pytest.mark.parametrize("n", [100, 400, 1500])
def test_rounding_is_no_error(digits, n):
    """Half of the rows fit exactly, the others are off by their last digit."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=n)
        X = np.column_stack([np.round(x, digits), rng.normal(size=(n, 2))])
        y = np.round(2.0 * x, digits)
        assert np.mean(detect(X, y, rng).flagged) <= 0.005
        y[:3] += 5.0
        assert detect(X, y, rng).flagged[:3].all()


def test_one_row_beside_an_exact_relation_is_wrong_by_a_single_digit():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 50, size=(200, 3)).astype(float)
        y = X @ [1.0, 2.0, 3.0]
        y[7] += 1.0
        assert np.flatnonzero(detect(X, y, rng).flagged).tolist() == [7]


UNITS = [
    lambda y: y,
    lambda y: 3.0 * y,
    lambda y: y / 7.0 + 1.0 / 3.0,
    lambda y: 1e-9 * y,
    lambda y: 1e12 * y,
    lambda y: y + 1e7,
    lambda y: (y + 20.0).astype(np.float32).astype(float),
]


@pytest.mark.parametrize("unit", range(len(UNITS)))
def test_rounding_is_seen_in_any_unit(unit):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = np.round(rng.normal(size=(150, 3)), 1)
        y = np.round(2.0 * X[:, 0] + 0.05 * rng.normal(size=150), 1)
        assert not detect(X, UNITS[unit](y), rng).flagged.any()


@pytest.mark.parametrize(
    ("y", "digit"),
    [
        (np.r_[np.arange(20) / 100, np.pi], 0.01),
        (np.r_[10.0 * np.arange(20), 1e20], 10.0),
        (3.0 * np.arange(20) + 1e6, 3.0),
        (np.random.default_rng(0).normal(size=200), 0.0),
        (np.zeros(5), 0.0),
        (np.array([1.7e308, -1.7e308]), 0.0),
    ],
)
def test_last_digit(y, digit):
    assert last_digit(y) == pytest.approx(digit)


@pytest.mark.parametrize("kind", ["zero-inflated", "censored"])
def test_one_gross_target_beside_a_value_of_many(kind):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(50, 3))
        f = X[:, 0] + np.sin(2.0 * X[:, 1])
        y = np.minimum(f + 0.3 * rng.normal(size=50), 0.5)
        if kind == "zero-inflated":
            y = np.where(rng.random(50) < 0.35, 0.0, rng.gamma(2.0, np.exp(0.5 * f)))
        y[1] = 1e6
        found = detect(X, y, rng)
        assert found.flagged[1]
        assert found.flagged.sum() <= 2


def test_new_rows_at_the_value_of_many_are_not_flagged():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 2))
        y = np.where(
            rng.random(200) < 0.35, 0.0, 3.0 + X[:, 0] + 0.3 * rng.normal(size=200)
        )
        y[:2] = 40.0 + 5.0 * rng.normal(size=2)
        detector = detect(X, y, rng).detector
        assert np.all(detector.judged(X, y)[1][y == 0.0] == 0.0)


def test_new_rows_of_a_group_apart_are_not_flagged():
    flagged = 0
    for seed in (1, 7):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 1))
        y = 10.0 * (X[:, 0] > 1.5) + 0.2 * rng.normal(size=200)
        found = detect(X, y, rng)
        flagged += np.sum(found.detector.judged(X, y)[1] > 0.7) - found.flagged.sum()
    assert flagged == 0


def test_rows_too_far_out_do_not_vouch_for_each_other():
    """A rare category beside wrong rows is all that is known of its place."""
    rng = np.random.default_rng([0, 4])
    X = np.eye(6)[rng.choice(6, 300, p=[0.3, 0.3, 0.2, 0.1, 0.07, 0.03])]
    y = X @ [0.0, 1.0, 3.0, -2.0, 5.0, -8.0] + 0.3 * rng.normal(size=300)
    wrong = rng.random(300) < 0.15
    y[wrong] += 25.0
    found = detect(X, y, rng)
    assert not found.flagged[(X[:, 5] == 1.0) & ~wrong].any()

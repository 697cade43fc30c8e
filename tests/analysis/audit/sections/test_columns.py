"""Odd values of single columns, and the words for them."""

from dataclasses import replace

import numpy as np
import pytest

from lrisk.analysis.audit.facts import Finding
from lrisk.analysis.audit.sections import Context, part_of_false_claims
from lrisk.analysis.audit.sections.columns import ColumnValues
from lrisk.tables import table_of

LEVEL = part_of_false_claims()


def found(values, name="v"):
    rng = np.random.default_rng(5)
    data = {name: values, "y": rng.normal(size=len(values))}
    return ColumnValues().find(Context(table_of(data, "y"), LEVEL))


@pytest.fixture
def heights():
    return np.random.default_rng(0).normal(170.0, 10.0, 400)


def test_a_clean_column_says_nothing(heights):
    assert found(heights) == []


def test_metres_among_centimetres(heights):
    heights[:12] /= 100.0
    (finding,) = found(heights)
    assert (finding.kind, finding.columns, finding.count) == ("far below", ["v"], 12)
    assert finding.rows == list(range(1, 13))
    assert finding.numbers["factor"] == pytest.approx(100.0)
    words = ColumnValues().words(finding)
    assert words.startswith("v: 12 rows far below all others (1.")
    assert "Multiplied by 100 they would be usual." in words
    bare = ColumnValues().words(finding.redacted())
    assert "1." not in bare.split("is ")[0] and "12 rows" in bare


def test_what_a_slip_says_already_is_not_guessed_again(heights):
    """The middle of five values may be nearer to the twelfth part than to the tenth."""
    heights[:12] /= 100.0
    data = {"v": heights, "y": np.random.default_rng(5).normal(size=400)}
    slip = Finding("slips", "factor", ["v"], list(range(1, 12)), 11, {"factor": 99.0})
    context = Context(table_of(data, "y"), LEVEL, earlier=(slip,))
    (finding,) = ColumnValues().find(context)
    assert finding.count == 12 and "factor" not in finding.numbers
    assert "they would be usual" not in ColumnValues().words(finding)
    other = replace(slip, columns=["y"])
    (finding,) = ColumnValues().find(context._replace(earlier=(other,)))
    assert finding.numbers["factor"] == pytest.approx(100.0)


def test_a_code_is_no_unit(heights):
    heights[20:25] = 999.0
    (finding,) = found(heights)
    assert finding.kind == "far above" and "factor" not in finding.numbers
    assert finding.rows == [21, 22, 23, 24, 25]


@pytest.mark.parametrize(
    ("value", "kind"), [(0.0, "zero"), (190.0, "ceiling"), (150.0, "floor"),
                        (171.25, "heap")]
)  # fmt: skip
def test_one_value_in_many_rows(heights, value, kind):
    if kind == "zero":
        heights = np.abs(heights - 170.0) + 0.5
    rng = np.random.default_rng(1)
    if kind == "ceiling":
        heights = np.minimum(heights, value)
    elif kind == "floor":
        heights = np.maximum(heights, value)
    else:
        heights[rng.choice(400, 12, replace=False)] = value
    (finding,) = found(heights)
    assert finding.kind == kind and finding.numbers["times"] >= 5.0
    shown = f"{value:.6g}"
    assert shown in ColumnValues().words(finding)
    assert shown not in ColumnValues().words(finding.redacted())


def test_most_rows_at_one_value_is_no_error():
    """Rain, claims, capital gains: the nearest other value is the median itself."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        values = np.where(rng.random(200) < 0.9, 0.0, rng.lognormal(3.0, 1.0, 200))
        found(values)
    values = np.zeros(200)
    values[::14] = np.arange(100.0, 115.0)
    found(values)


@pytest.mark.parametrize("count", [5, 10, 20])
def test_a_factor_is_named_however_many_values_it_explains(heights, count):
    heights[:count] /= 100.0
    (finding,) = found(heights)
    assert finding.numbers["factor"] == pytest.approx(100.0)


@pytest.mark.parametrize("seed", range(4))
def test_degrees_fahrenheit_among_celsius(seed):
    """By no factor are they usual: 98.6 is 2.66 times 37."""
    warm = np.random.default_rng(seed).normal(37.0, 0.4, 400)
    warm[:12] = 1.8 * warm[:12] + 32.0
    (finding,) = found(warm)
    assert finding.rows == list(range(1, 13))
    assert (
        ColumnValues()
        .words(finding)
        .endswith("Converted from °F to °C they would be usual.")
    )


@pytest.mark.parametrize("factor", [2.2046, 2.54])
def test_of_two_units_that_both_make_values_usual_the_nearer_is_named(factor):
    """A spread of a tenth leaves room for both."""
    values = np.random.default_rng(1).normal(80.0, 9.0, 400)
    values[:15] *= factor
    (finding,) = [f for f in found(values) if f.kind == "far above"]
    assert finding.numbers["factor"] == pytest.approx(1.0 / factor)


def test_a_shift_is_no_factor():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        values = 5.0 + 3.0 * rng.normal(size=400)
        values[:6] += 60.0
        assert all("factor" not in finding.numbers for finding in found(values))


def test_a_code_beyond_the_range_is_not_called_a_limit(heights):
    heights[np.random.default_rng(0).choice(400, 48, replace=False)] = -999.0
    (finding,) = found(heights)
    assert finding.kind == "code" and "missing" in ColumnValues().words(finding)


def test_a_code_among_whole_years():
    years = np.random.default_rng(0).integers(18, 90, 400).astype(float)
    assert found(years) == []
    years[[3, 50, 120, 300]] = 999.0
    (finding,) = found(years)
    assert finding.rows == [4, 51, 121, 301]


def test_rounded_sums_and_runs_of_a_panel_are_clean():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        pay = rng.lognormal(10.0, 0.4, 400)
        rounded = rng.random(400) < 0.5
        pay[rounded] = np.round(pay[rounded], -3)
        firms = np.repeat(rng.lognormal(size=25), rng.integers(4, 20, 25))
        nights = np.tile(np.r_[np.zeros(6), 1.0 + rng.random(6)], 30)
        for values in (pay, firms, nights + 1e-9 * rng.random(360) * (nights > 0)):
            assert found(values) == []


def test_a_stuck_sensor(heights):
    heights[100:112] = heights[100]
    (finding,) = found(heights)
    assert finding.kind == "stretch" and finding.rows == list(range(101, 113))
    assert "12 rows in a row" in ColumnValues().words(finding)


def test_a_stuck_sensor_that_also_had_the_value_before(heights):
    """One more equal value elsewhere makes it neither a code nor a heap."""
    heights[100:112] = heights[100]
    heights[[3, 250]] = heights[100]
    (finding,) = found(heights)
    assert finding.kind == "stretch" and finding.rows == list(range(101, 113))


def test_a_code_that_also_stands_in_a_stretch_is_a_code(heights):
    rows = np.random.default_rng(0).choice(90, 30, replace=False)
    heights[rows] = heights[100:112] = -999.0
    (finding,) = found(heights)
    assert finding.kind in ("code", "far below") and finding.count == 42


def test_recipes_that_are_tried_one_after_the_other_are_not_stuck():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        values = np.repeat(rng.normal(size=300), rng.geometric(0.7, 300))
        mixed = np.r_[values, np.repeat(rng.normal(size=6), rng.integers(15, 40, 6))]
        assert found(mixed) == []


def test_two_stuck_sensors_do_not_hide_each_other(heights):
    heights[100:112], heights[200:212] = heights[100], heights[200]
    stuck = found(heights)
    assert [finding.kind for finding in stuck] == ["stretch", "stretch"]
    assert sorted(finding.rows[0] for finding in stuck) == [101, 201]


def test_values_behind_a_gap_are_counted_in_rows(heights):
    """Rounded, the others have hardly more different values than those."""
    heights = np.round(heights)
    heights[:14] = np.round(heights[:14] * 2.54, 1)
    (finding,) = found(heights)
    assert (finding.kind, finding.count) == ("far above", 14)
    assert finding.numbers["factor"] == pytest.approx(1 / 2.54)


def test_sorted_rounded_and_mostly_zero_columns_are_clean():
    rng = np.random.default_rng(0)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rounded = np.round(rng.normal(size=300), 1)
        zeros = np.where(rng.random(300) < 0.6, 0.0, rng.lognormal(size=300))
        heaped = np.round(50.0 + 20.0 * rng.normal(size=300))
        tens = rng.random(300) < 0.4
        heaped[tens] = np.round(heaped[tens], -1)
        for values in (rounded, np.sort(rounded), zeros, heaped):
            assert found(values) == []


def test_long_runs_of_zeros_where_nearly_all_are_zero():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        values = np.where(rng.random(1800) < 0.97, 0.0, rng.lognormal(size=1800))
        assert found(values) == []


def test_missing_cells_are_not_looked_at(heights):
    heights[50:90] = np.nan
    heights[0] = np.nan
    assert found(heights) == []
    heights[1:4] = 1.7
    (finding,) = found(heights)
    assert finding.rows == [2, 3, 4]


def test_the_target_is_a_column_too(heights):
    heights[:5] *= 1000.0
    data = {"x": np.random.default_rng(0).normal(size=400), "y": heights}
    (finding,) = ColumnValues().find(Context(table_of(data, "y"), LEVEL))
    assert finding.columns == ["y"]


def related_sizes(rng, n=400):
    """Skewed sizes that go with each other, as of cells or of houses."""
    size = rng.lognormal(sigma=0.7, size=n)
    return {
        "radius": size * rng.lognormal(sigma=0.1, size=n),
        "area": 3.0 * size**2 * rng.lognormal(sigma=0.1, size=n),
        "weight": size**3 * rng.lognormal(sigma=0.3, size=n),
        "y": rng.normal(size=n),
    }


def claims(data):
    return ColumnValues().find(Context(table_of(data, "y"), LEVEL))


def test_a_factor_within_the_tail_of_a_skewed_column():
    """No gap shows them: some are usual numbers, of much larger rows."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        data = related_sizes(rng)
        rows = np.sort(rng.choice(400, 12, replace=False))
        data["area"][rows] *= 10.0
        (finding,) = claims(data)
        assert (finding.kind, finding.columns) == ("above its row", ["area"])
        assert finding.rows == (rows + 1).tolist()
        assert finding.numbers["factor"] == pytest.approx(0.1)
    words = ColumnValues().words(finding)
    assert words.startswith("area: 12 rows far above what their other columns suggest")
    assert words.endswith("Divided by 10 they would be usual.")
    assert "(" not in ColumnValues().words(finding.redacted())


def test_a_factor_in_a_column_that_the_others_tell_half_of():
    """Behind no gap of its own: 2 to 38, of which some are 39 to 300 now."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        data = related_sizes(rng)
        share = np.exp(0.5 * np.log(data["radius"]) + 0.35 * rng.normal(size=400))
        rows = np.sort(rng.choice(400, 12, replace=False))
        data["share"] = np.where(np.isin(np.arange(400), rows), 10.0 * share, share)
        (finding,) = claims(data)
        assert finding.columns == ["share"] and set(finding.rows) <= set(rows + 1)
        assert finding.count >= 11


def heavy(rng):
    size = rng.pareto(1.5, 300) + 1.0
    return {"a": size, "b": size * rng.lognormal(size=300), "c": rng.pareto(1.0, 300)}


def sites(rng):
    site = rng.integers(25, size=300)
    levels = rng.lognormal(sigma=1.0, size=(3, 25))
    return {name: levels[j][site] for j, name in enumerate("abc")}


def two_groups(rng):
    big = rng.random(300) < 0.15
    size = rng.lognormal(sigma=0.3, size=300) * np.where(big, 4.0, 1.0)
    return {"a": size, "b": 1.0 / size * rng.lognormal(sigma=0.2, size=300),
            "c": rng.gamma(2.0, size=300)}  # fmt: skip


def counts(rng):
    mean = rng.lognormal(1.0, 0.8, 300)
    return {name: 1.0 + rng.poisson(mean) for name in "abc"}


@pytest.mark.parametrize("make", [related_sizes, heavy, sites, two_groups, counts])
def test_related_columns_without_errors(make):
    """Of 20 tables at a level of 1.4 %, the binomial 99.7 % point is 2."""
    tables = [
        {"y": np.arange(300) % 7.0, **make(np.random.default_rng(seed))}
        for seed in range(20)
    ]
    assert sum(bool(claims(table)) for table in tables) <= 2

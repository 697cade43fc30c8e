"""Rows that were entered more than once."""

from itertools import product

import numpy as np
import pytest

from lrisk.analysis.audit.sections import Context, part_of_false_claims
from lrisk.analysis.audit.sections.copies import Copies
from lrisk.tables import table_of

LEVEL = part_of_false_claims()


def found(data):
    return Copies().find(Context(table_of(data, "y"), LEVEL))


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "a": rng.normal(size=n),
        "b": np.array(["u", "v", "w"], dtype=object)[rng.integers(3, size=n)],
        "y": rng.normal(size=n),
    }


def appended(data, rows):
    return {name: np.concatenate([v, v[rows]]) for name, v in data.items()}


def test_a_table_without_copies():
    assert found(table()) == []


def test_single_rows_and_a_block():
    (single,) = found(appended(table(), [17]))
    assert (single.kind, single.count, single.rows) == ("copy", 1, [201])
    assert Copies().words(single).startswith("1 row is equal")
    block, rest = found(appended(table(), [*range(50, 60), 3, 120]))
    assert (block.kind, block.count) == ("block", 10)
    assert Copies().words(block) == (
        "Rows 201 to 210 repeat rows 51 to 60 in every column."
    )
    assert (rest.kind, rest.rows) == ("copy", [211, 212])


def test_a_row_number_does_not_hide_a_copy():
    data = appended(table(), [4, 9])
    data["id"] = np.arange(1, 203)
    (finding,) = found(data)
    assert finding.rows == [201, 202]


def orders(rng, n=300):
    """Few different values; whose order it is."""
    return {
        "a": rng.integers(5, size=n).astype(float),
        "b": rng.integers(4, size=n).astype(float),
        "y": rng.integers(12, size=n).astype(float),
    }


@pytest.mark.parametrize("seed", range(3))
def test_identifiers_that_repeat_prove_a_copy(seed):
    """Without them its rows are equal to others by chance."""
    data = orders(np.random.default_rng(seed))
    data["id"] = np.array([f"C-{i}" for i in range(300)], dtype=object)
    assert found(data) == []
    (finding,) = found(appended(data, [17, 40, 203]))
    assert (finding.kind, finding.rows) == ("copy", [301, 302, 303])


@pytest.mark.parametrize("seed", range(3))
def test_customers_who_come_again_are_no_copies(seed):
    """Most come once; those who come twice may well order the same again."""
    rng = np.random.default_rng(seed)
    data = orders(rng)
    data["id"] = np.array([f"C-{i}" for i in rng.integers(220, size=300)], dtype=object)
    for name in ("a", "b"):  # a customer's own
        data[name] = np.array([float(int(i[2:]) % 4) for i in data["id"]])
    assert found(data) == []


def with_ids(rows, **options):
    """What is found of 200 rows, some of which have the id of the one before."""
    data = table()
    ids = [f"P{i}" for i in range(200)]
    for row in rows:
        ids[row - 1] = ids[row - 2]
    data["who"] = np.array(ids, dtype=object)
    return Copies().find(Context(table_of(data, "y", **options), LEVEL))


def test_different_rows_of_one_given_id_are_named():
    (finding,) = with_ids([8, 90], id="who")
    assert (finding.kind, finding.count, finding.rows) == ("same id", 2, [8, 90])
    assert finding.columns == ["who"]
    words = "2 rows have the who of an earlier one and differ from it in other columns."
    assert Copies().words(finding) == words
    (one,) = with_ids([8], id="who")
    assert Copies().words(one).startswith("1 row has the who of an earlier one and dif")
    assert with_ids([8, 90]) == []  # nobody said that it tells rows apart
    assert with_ids(range(3, 200, 5), id="who") == []  # visits, say


def test_copies_and_missing_ids_are_no_different_rows_of_one_id():
    data = table()
    ids = [f"P{i}" for i in range(200)]
    ids[3:9] = [None] * 6
    data["who"] = np.array(ids, dtype=object)
    context = Context(table_of(appended(data, [20]), "y", id="who"), LEVEL)
    assert [f.kind for f in Copies().find(context)] == ["copy"]


def test_few_different_values_prove_nothing():
    rng = np.random.default_rng(0)
    data = {
        "a": rng.integers(5, size=300).astype(float),
        "b": rng.integers(4, size=300).astype(float),
        "y": rng.integers(12, size=300).astype(float),
    }
    assert found(data) == []


def test_a_block_of_very_many_rows_is_told_once():
    (finding,) = found(appended(table(1100), np.arange(1100)))
    assert finding.kind == "block" and finding.count == 1100
    assert len(finding.rows) == 1000


def test_a_row_pasted_five_times():
    (finding,) = found(appended(table(), [7] * 5))
    assert (finding.kind, finding.rows) == ("copy", [201, 202, 203, 204, 205])


def test_columns_of_few_values_prove_copies_together():
    """No column alone has values enough; eight of them leave no room for chance."""
    rng = np.random.default_rng(0)
    data = {f"x{j}": rng.integers(0, 12, 150).astype(float) for j in range(8)}
    data["y"] = rng.normal(size=150).round(1)
    assert found(data) == []
    again = {name: np.r_[values, values[20:24]] for name, values in data.items()}
    (block,) = found(again)
    assert block.kind == "block" and block.rows == [151, 152, 153, 154]


def test_few_values_have_copies_by_chance():
    claims = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        levels = int(rng.integers(2, 9))
        data = {f"x{j}": rng.integers(0, levels, 80).astype(float) for j in range(4)}
        claims += bool(found({**data, "y": rng.integers(0, 30, 80) / 2.0}))
    assert claims <= 6  # 200 · 0.1/7, and two standard errors more


def fahrenheit(rng):
    x = rng.integers(0, 31, 60)
    return {"x": x, "f": 1.8 * x + 32, "y": x + 273}


def twice(rng):
    x = rng.integers(0, 31, 60)
    return {"x": x, "y": 2 * x}


def straight_lines(rng):
    x = rng.integers(0, 200, int(rng.choice([20, 40, 60, 200])))
    return {"x": x, "a": 3 * x + 1, "b": 0.1 * x, "c": 5 - x, "y": 7 * x}


def catalogue(rng):
    product = rng.integers(0, 25, 300)
    weight, price = rng.normal(size=25), rng.uniform(1, 90, 25).round(1)
    names = np.array([f"kind {i % 9}" for i in range(25)], dtype=object)
    columns = {"name": names, "weight": weight, "y": price}
    return {name: values[product] for name, values in columns.items()}


@pytest.mark.parametrize("make", [fahrenheit, twice, straight_lines, catalogue])
def test_columns_that_follow_from_one_repeat_as_it_does(make):
    for seed in range(20):
        assert found(make(np.random.default_rng(seed))) == []


@pytest.mark.parametrize("make", [fahrenheit, twice, straight_lines, catalogue])
def test_a_block_of_such_columns_is_no_chance(make):
    data = make(np.random.default_rng(0))
    n = len(data["y"])
    first = {name: values[: n // 2] for name, values in data.items()}
    kinds = {finding.kind for finding in found(appended(first, range(n // 2)))}
    assert kinds == {"block"}


def test_a_block_does_not_hide_single_rows():
    block, rest = found(appended(table(), [*range(40), 7, 90]))
    assert (block.count, rest.count) == (40, 2)


def test_single_rows_of_ordinary_tables():
    for seed in range(10):
        data = table(200, seed)
        data["rent"] = np.random.default_rng(seed).integers(0, 5000, 200)
        rows = np.random.default_rng(seed).permutation(200)[:6]
        (finding,) = found(appended(data, rows))
        assert finding.count == 6
        (finding,) = found(appended({**data, "y": 3.0 * data["a"]}, rows))
        assert finding.count == 6


def test_single_rows_of_a_continuous_column_and_its_multiple():
    a = np.random.default_rng(0).normal(size=2000)
    (finding,) = found(appended({"a": a, "y": 3.0 * a}, [5, 900]))
    assert (finding.kind, finding.count) == ("copy", 2)


#: Tables in which nothing was entered twice and rows are equal all the same.
def parabola(rng):
    x = rng.integers(0, 31, 60)
    return {"x": x, "y": (x - 11) ** 2}


def looked_up(rng):
    x = rng.integers(0, 120, int(rng.choice([30, 80, 300])))
    return {"x": x, "a": rng.permutation(120)[x], "y": rng.permutation(120)[x] / 7.0}


def two_columns(rng):
    x, z = rng.integers(0, 31, (2, int(rng.choice([60, 150, 400]))))
    return {"x": x, "z": z, "a": x * z, "b": x + z**2, "y": (x - 11) ** 2 * z}


def two_columns_and_names(rng):
    x, z = rng.integers(0, 25, (2, 120))
    names = np.array([f"kind {i}" for i in rng.permutation(25)], dtype=object)
    prices = rng.integers(100, 900, (25, 25))
    return {"x": names[x], "z": names[z], "y": prices[x, z]}


def logs_of_counts(rng):
    x, z = rng.poisson(6, (2, 200))
    return {"x": np.log1p(x), "z": np.sqrt(z), "y": np.log1p(x) + np.sqrt(z)}


def zeros(rng):
    x = np.where(rng.random(300) < 0.6, 0, rng.integers(0, 200, 300))
    return {"x": x, "a": 2 * x, "y": x % 7}


def skewed(rng):
    x = np.round(100.0 * rng.lognormal(sigma=2.0, size=300))
    return {"x": x, "y": 1.19 * x}


def survey(rng):
    mood = rng.normal(size=(250, 1))
    answers = np.clip(np.round(3.0 + mood + 0.7 * rng.normal(size=(250, 5))), 1, 5)
    return {**{f"q{j}": answers[:, j] for j in range(4)}, "y": answers[:, 4]}


def hours(rng):
    t = np.arange(400)
    return {"hour": t % 24, "day": t // 24 % 7, "y": rng.poisson(1.0, 400)}


def walk(rng):
    x = np.cumsum(rng.integers(-1, 2, 400))
    return {"x": x, "y": 3 * x + 1}


def sorted_rows(rng):
    x, z = rng.integers(0, 20, (2, 200))
    order = np.lexsort((z, x))
    return {"x": x[order], "z": z[order], "y": (x + z)[order]}


def rounded(rng):
    x, z = rng.normal(size=(2, 300)).round(1)
    return {"x": x, "z": z, "y": (x + 2 * z).round(0)}


def correlated(rng):
    x = rng.normal(size=200)
    x, z = x.round(2), (x + 0.2 * rng.normal(size=200)).round(2)
    return {"x": x, "z": z, "y": (x * z).round(1)}


def bottles(rng):
    """A seventh of the rows are drawn again, as in tables of wines."""
    rows = np.sort(rng.integers(0, 900, 300))
    list_ = np.random.default_rng(5).normal(size=(4, 900)).round(2)
    return dict(zip("abcy", list_[:, rows], strict=True))


def test_rows_that_may_come_from_a_list_are_named_without_a_verdict():
    for seed in range(5):
        data = bottles(np.random.default_rng(seed))
        again = 300 - len(np.unique(np.column_stack(list(data.values())), axis=0))
        (finding,) = found(data)
        assert (finding.kind, finding.count) == ("list", again) and again > 30
        assert Copies().words(finding).endswith("the table does not say.")


def eleven_from_one(rng):
    x = rng.integers(0, 200, 150)
    return {**{f"x{j}": rng.permutation(200)[x] for j in range(10)}, "y": x % 13}


def nine_from_two(rng):
    x, z = rng.integers(0, 31, (2, 300))
    others = {f"x{j}": rng.permutation(961)[31 * x + z] for j in range(8)}
    return {"x": x, "z": z, **others, "y": x + z}


def popular(rng):
    x, z = np.minimum(rng.zipf(1.6, (2, 300)), 2000)
    return {"x": x, "z": z, "y": x * z % 17}


def half_missing(rng):
    x, z = np.where(rng.random((2, 200)) < 0.5, np.nan, rng.integers(0, 60, (2, 200)))
    return {"x": x, "z": z, "y": rng.integers(0, 40, 200) / 4}


CLEAN = [parabola, correlated, eleven_from_one, nine_from_two, popular, half_missing,
          looked_up, two_columns, two_columns_and_names, logs_of_counts, zeros, skewed,
         survey, hours, walk, sorted_rows, rounded]  # fmt: skip


def test_rows_that_are_equal_by_chance_are_no_copies():
    """Of 340 tables at a level of 1.4 %, the binomial 95 % point is 9."""
    claims = [
        (make.__name__, seed)
        for make in CLEAN
        for seed in range(20)
        if any(f.kind != "list" for f in found(make(np.random.default_rng(seed))))
    ]
    assert len(claims) <= 9, claims


@pytest.mark.parametrize("times", [2, 3])
def test_a_table_pasted_and_shuffled(times):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        data = {"b": rng.integers(0, 5, 60), **table(60, seed)}
        order = rng.permutation(60 * times) % 60
        (finding,) = found({name: v[order] for name, v in data.items()})
        assert (finding.kind, finding.count) == ("copy", 60 * (times - 1))


def test_a_third_of_the_rows_pasted_and_shuffled():
    rng = np.random.default_rng(0)
    order = rng.permutation(np.r_[np.arange(150), np.arange(50)])
    (finding,) = found({name: v[order] for name, v in table(150).items()})
    assert finding.count == 50


def test_a_single_row_of_many_rounded_columns():
    """A few columns that tell rows apart by luck do not hide the copy."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        data = {f"x{j}": rng.normal(size=300).round(2) for j in range(20)}
        (finding,) = found(appended({**data, "y": rng.normal(size=300).round(2)}, [7]))
        assert finding.rows == [301]


def test_an_absurd_number_and_an_empty_column_hide_no_copy():
    rng = np.random.default_rng(0)
    a = np.r_[rng.normal(size=58), 1e308, -1e308]
    data = {"a": a, "empty": np.full(60, np.nan), "y": rng.normal(size=60)}
    (finding,) = found(appended(data, [7]))
    assert finding.rows == [61]


def factorial(rng, levels, times=1, digits=2, noise=1.0):
    """Every combination of the levels so many times, and a result."""
    points = np.repeat(list(product(*map(range, levels))), times, axis=0)
    y = 3.0 * points @ rng.normal(size=len(levels)) + noise * rng.normal(
        size=len(points)
    )
    return {**{f"x{j}": 1.5 * x for j, x in enumerate(points.T)}, "y": y.round(digits)}


@pytest.mark.parametrize("noise", [1.0, 0.0])
def test_copies_in_a_design_that_repeats_nothing(noise):
    """By chance far more of 320 combinations would be equal than six."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        data = factorial(rng, (4, 4, 4, 5), noise=noise)
        assert found(data) == []
        half = rng.permutation(320)[:200]
        data = {name: values[half] for name, values in data.items()}
        (finding,) = found(appended(data, rng.permutation(200)[:6]))
        assert (finding.kind, finding.count) == ("copy", 6)


def test_copies_in_a_design_whose_factor_is_told_by_several_columns():
    """Hulls at speeds: no column of a hull varies by itself."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        hulls = np.unique(rng.integers(0, [5, 10, 8], (22, 3)), axis=0)
        hull, speed = np.divmod(np.arange(14 * len(hulls)), 14)
        y = np.round(np.exp(0.4 * speed) * (1.0 + 0.1 * hulls[hull, 0]), 1)
        columns = [*hulls[hull].T, 0.025 * speed, y]
        data = {name: 1.0 * v for name, v in zip("abcsy", columns, strict=True)}
        assert found(data) == []
        (finding,) = found(appended(data, rng.permutation(len(y))[:9]))
        assert (finding.kind, finding.count) == ("copy", 9)


def test_designs_that_repeat_combinations_are_clean():
    """Of 120 tables at a level of 1.4 %, the binomial 95 % point is 4."""
    claims = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        levels = rng.integers(2, 6, int(rng.integers(2, 5)))
        times, digits = int(rng.integers(2, 5)), int(rng.integers(0, 2))
        data = factorial(rng, levels, times, digits, rng.choice([0.1, 0.5, 1.0, 3.0]))
        claims += len(data["y"]) < 1500 and bool(found(data))
    assert claims <= 4

"""Rows that were entered more than once."""

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

"""A table and its columns, from pandas, polars, dicts and arrays alike."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lrisk.tables import table_of
from lrisk.tables.columns import typed_column
from lrisk.tables.table import without

N = 60


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    dates = pd.date_range("2021-03-01", periods=N)
    return pd.DataFrame(
        {
            "customer_id": [f"c{i:04}" for i in range(N)],
            "size": np.where(np.arange(N) == 3, np.nan, rng.normal(size=N)),
            "colour": rng.choice(["red", "blue", None], N),
            "paid": rng.random(N) < 0.5,
            "day": dates,
            "day_text": dates.astype(str),
            "same": "x",
            "y": rng.normal(size=N),
        }
    )


KINDS = {
    "customer_id": "identifier",
    "size": "numeric",
    "colour": "categorical",
    "paid": "boolean",
    "day": "date",
    "day_text": "date",
    "same": "constant",
    "y": "target",
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas, dict])
def test_kinds_and_missing_cells_do_not_depend_on_the_frame(mixed, frame):
    table = table_of(frame(mixed), "y")
    found = {column.name: column for column in table.summaries()}
    assert {name: column.kind for name, column in found.items()} == KINDS
    assert found["size"].missing == 1
    assert found["colour"].missing == int(mixed["colour"].isna().sum())
    assert "Left out" in found["same"].note


def test_masked_cells_are_missing(mixed):
    mask = np.arange(N) % 7 == 2
    columns = {name: np.ma.array(mixed[name].to_numpy(), mask=mask) for name in mixed}
    table = table_of(columns, "y")
    missing = {column.name: column.missing for column in table.summaries()}
    assert missing["size"] == int((mask | mixed["size"].isna()).sum())
    assert missing["colour"] == int((mask | mixed["colour"].isna()).sum())
    assert {missing[name] for name in ("paid", "day", "y")} == {int(mask.sum())}
    numbers = np.ma.array(np.arange(3.0 * N).reshape(N, 3), mask=False)
    numbers[5, 1] = np.ma.masked
    table = table_of(numbers, np.ma.array(mixed["y"].to_numpy(), mask=mask))
    assert [c.missing for c in table.summaries()] == [0, 1, 0, int(mask.sum())]


def test_absurd_sizes_are_refused_and_single_ones_are_not():
    rng = np.random.default_rng(0)
    plain = {"a": rng.normal(size=N), "y": rng.normal(size=N)}
    for scale in (1e200, 1e-200):
        with pytest.raises(ValueError, match=r"table: column a must be at .* rescale"):
            table_of({**plain, "a": plain["a"] * scale}, "y")
        with pytest.raises(ValueError, match=r"table: target must be at .* rescale"):
            table_of({**plain, "y": plain["y"] * scale}, "y")
    plain["a"][[3, 4]] = 1e200, np.nan
    assert table_of(plain, "y").named("a").values[3] == 1e200


def test_dates_in_text_and_as_dates_agree(mixed):
    table = table_of(mixed, "y")
    day, text = table.named("day"), table.named("day_text")
    np.testing.assert_array_equal(day.values, text.values)
    assert day.shown(0) == text.shown(0) == "2021-03-01"
    epoch = (mixed["day"][5] - pd.Timestamp("1970-01-01")).days
    assert day.values[5] == epoch


def test_array_of_too_many_columns_is_refused():
    with pytest.raises(ValueError, match="at most 2000 columns"):
        table_of(np.zeros((3, 2001)), np.zeros(3))


def test_repeated_names_are_told_apart():
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3) ** 1.1, columns=["a", "a", "y"])
    assert [c.name for c in table_of(frame, "y").columns] == ["a", "a.1"]


def test_notes_tell_no_value():
    column = typed_column("c", np.array(["SECRET", *map(str, range(30))], dtype=object))
    assert "SECRET" not in column.note and "SECRET" in column.remark
    table = table_of({"x": np.arange(40.0) ** 1.1, "y": ["a", "b"] * 19 + ["a", "Z"]},
                     "y")  # fmt: skip
    goal = table.summaries()[-1]
    assert "single row" in goal.note and "Z" not in goal.note and "'Z'" in goal.remark


def test_of_many_columns_the_last_is_named_too():
    """A target that is not found is often called "target", and stands last."""
    frame = pd.DataFrame(np.zeros((3, 10)), columns=[*"abcdefghi", "target"])
    with pytest.raises(ValueError, match=r"'f', \.\.\., 'target'\.$"):
        table_of(frame, "strength")


def test_an_identifier_in_a_role_does_not_become_a_feature():
    data = {"x": np.arange(40.0) ** 1.1, "u": [f"u{i}" for i in range(40)],
            "y": np.sin(np.arange(40.0))}  # fmt: skip
    table = table_of(data, "y", group="u")
    assert [column.name for column in table.features] == ["x"]
    assert table.named("u").kind == "group"
    table = table_of({**data, "u": ["a", "b"] * 20}, "y", group="u")
    assert [column.name for column in table.features] == ["x", "u"]


def unusable():
    x, y = np.arange(30.0) ** 1.1, np.sin(np.arange(30.0))
    frame = pl.DataFrame({"x": x, "y": y})
    return {
        "list": (frame.with_columns(s=pl.Series([[1, 2]] * 30)), {}, "column s must"),
        "binary": (frame.with_columns(s=pl.Series([b"a"] * 30)), {}, "column s must"),
        "struct": (frame.with_columns(s=pl.struct("x")), {}, "column s must"),
        "lazy": (frame.lazy(), {}, r"data must .*collect\(\)"),
        "lists": ({"x": x, "s": [[1]] * 30, "y": y}, {}, "s must be one value"),
        "complex": ({"x": x * 1j, "y": y}, {}, "column x must"),
        "empty": (pd.DataFrame(), {}, "data must"),
        "no rows": (pd.DataFrame({"x": [], "y": []}), {}, "data must"),
        "twice": (pd.DataFrame(np.ones((30, 3)), columns=["x", "y", "y"]), {},
                  "target must be the name of one column"),
        "both": (frame, {"group": "x", "time": "x"}, "time must be another"),
    }  # fmt: skip


@pytest.mark.parametrize("case", unusable())
def test_what_cannot_be_used_is_named(case):
    data, options, words = unusable()[case]
    with pytest.raises((ValueError, TypeError), match=words):
        table_of(data, "y", **options)


def test_durations_are_days_and_names_may_be_numbers():
    hours = [36, 12] * 15
    made = pd.DataFrame({0: pd.to_timedelta(hours, "h"), 1: np.sin(np.arange(30.0))})
    for target in (1, "1"):
        table = table_of(made, target)
        assert table.target.name == "1" and table.columns[0].values[0] == 1.5
    frame = pl.DataFrame({"s": made[0], "y": made[1]})
    assert table_of(frame, "y").columns[0].values.tolist() == [1.5, 0.5] * 15


def test_fingerprints_tell_tables_apart(mixed):
    known = table_of(mixed, "y").fingerprint()
    assert known == table_of(pl.from_pandas(mixed), "y").fingerprint()
    mixed.loc[4, "size"] += 1e-9
    assert known != table_of(mixed, "y").fingerprint()


def test_the_target_shows_how_other_columns_write_decimals():
    a = [f"{20 + i},{100 + 7 * i}" for i in range(40)]
    y = [f"{i},5" for i in range(40)]
    for table in (table_of({"a": a, "y": y}, "y"), table_of({"a": a}, np.array(y))):
        assert table.columns[0].values[1] == 21.107


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_columns_left_out_are_not_read(frame):
    data = {"a": [1, 2, 4], "w": ["1 kg", "2 lb", "3 kg"], "y": [1.0, 3.0, 2.0]}
    left = without(frame(data), ["w"])
    assert list(getattr(left, "columns", left)) == ["a", "y"]
    assert table_of(left, "y").n_rows == 3
    with pytest.raises(ValueError, match=r"drop must be.*got 'W'; did you mean 'w'\?"):
        without(frame(data), ["W"])


def test_a_name_that_occurs_twice_is_left_out_twice():
    twice = pd.DataFrame([[1, 2, 3, 4]], columns=["a", "b", "a", "a.1"])
    assert list(without(twice, ["a"]).columns) == ["b", "a.1"]
    assert list(without(twice, ["a.2"]).columns) == ["a", "b", "a.1"]


def test_columns_of_an_array_have_no_names_to_leave_them_out_by():
    X = np.ones((3, 2))
    assert without(X, []) is X
    with pytest.raises(ValueError, match="pass an array of fewer columns"):
        without(X, ["x1"])

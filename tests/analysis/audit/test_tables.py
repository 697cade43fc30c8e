"""What a column holds, from pandas, polars, dicts and arrays alike."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrisk.analysis.audit.columns import typed_column
from lrisk.analysis.audit.tables import table_of

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
        with pytest.raises(ValueError, match=r"audit: column a must be at .* rescale"):
            table_of({**plain, "a": plain["a"] * scale}, "y")
        with pytest.raises(ValueError, match=r"audit: target must be at .* rescale"):
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


@pytest.mark.parametrize(
    ("cells", "kind", "note"),
    [
        (["1.5", "2", "oops", *["3"] * 17], "numeric", "'oops'"),
        (["yes", "no"] * 10, "boolean", ""),
        (["03.02.2020", "29.02.2020"] * 10, "date", ""),
        (["a", "b", "?"] * 10, "categorical", ""),
        ([f"a sentence that nobody wrote twice, {i}" for i in range(30)], "text", ""),
    ],
)
def test_text_is_read_for_what_it_means(cells, kind, note):
    column = typed_column("c", np.array(cells, dtype=object))
    assert column.kind == kind and note in column.remark


def test_impossible_date_is_missing():
    cells = np.array(["2020-02-30", *["2020-02-28", "2020-02-27"] * 10], dtype=object)
    column = typed_column("day", cells)
    assert column.kind == "date" and column.missing.tolist() == [True] + [False] * 20


def test_infinite_numbers_count_as_missing():
    column = typed_column("c", np.array([np.inf, 1.0, 2.0, -np.inf]))
    assert column.missing.tolist() == [True, False, False, True]
    assert "infinite" in column.note


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=30)), min_size=1, max_size=40))
def test_any_text_gives_a_column_whose_cells_can_be_shown(cells):
    column = typed_column("c", np.array(cells, dtype=object))
    shown = [column.shown(i) for i in range(len(cells))]
    assert all(len(text) <= 80 for text in shown)
    assert [text == "" for i, text in enumerate(shown) if column.missing[i]] == [
        True
    ] * int(column.missing.sum())


@pytest.mark.parametrize(
    ("target", "task", "words"),
    [
        ("pirce", "auto", "did you mean 'price'?"),
        ("name", "regression", "numeric for regression"),
        ("empty", "auto", "known in some rows"),
        ("one", "classification", "at least two classes"),
        ("name", "auto", "classes that repeat"),
    ],
)
def test_bad_targets_are_refused_with_a_remedy(target, task, words):
    data = {
        "price": np.arange(30.0),
        "name": [f"n{i}" for i in range(30)],
        "empty": [None] * 30,
        "one": ["a"] * 30,
        "x": np.arange(30.0) % 7,
    }
    with pytest.raises(ValueError) as error:
        table_of(data, target, task)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_two_numbers_are_classes_and_few_numbers_are_told():
    x = np.arange(40.0)
    assert table_of({"x": x, "y": x % 2}, "y").task == "classification"
    table = table_of({"x": x, "y": x % 5}, "y")
    assert table.task == "regression" and "5 different numbers" in table.notes[0]


def test_array_of_too_many_columns_is_refused():
    with pytest.raises(ValueError, match="at most 2000 columns"):
        table_of(np.zeros((3, 2001)), np.zeros(3))


def test_repeated_names_are_told_apart():
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3) ** 1.1, columns=["a", "a", "y"])
    assert [c.name for c in table_of(frame, "y").columns] == ["a", "a.1"]


def text(cells):
    return typed_column("c", np.array(cells, dtype=object))


@pytest.mark.parametrize(
    ("cells", "value", "note"),
    [
        (["1,50", "2,25", "1.234,5"], 1.5, "decimal points"),
        (["1,234", "950", "12,345,678.5"], 1234.0, "thousands"),
        (["$12", "$1,200.50", "-$3"], 12.0, "thousands"),
        (["12,5 €", "3 €", "4,25 €"], 12.5, "decimal points"),
    ],
)
def test_numbers_as_people_write_them(cells, value, note):
    column = text(cells * 10)
    assert column.kind == "numeric" and column.values[0] == value
    assert not column.missing.any() and note in column.note


@pytest.mark.parametrize(
    ("cells", "iso", "note"),
    [
        (["01/31/2020", "02/01/2020"], "2020-01-31", "month, day"),
        (["31/01/2020", "02/01/2020"], "2020-01-31", "day, month"),
        (["03/02/2020", "04/02/2020"], "2020-03-02", "other order"),
        (["2020-01-31T02:00:00+02:00", "2020-02-01T00:00:00Z"], "2020-01-31", ""),
        (["2020-01-30 20:30:00-0330", "2020-02-01"], "2020-01-31", ""),
    ],
)
def test_dates_as_people_write_them(cells, iso, note):
    column = text(cells * 10)
    assert column.kind == "date" and not column.missing.any()
    assert column.shown(0) == iso and note in column.note


def test_labels_of_a_target_stay_as_they_are():
    x = np.arange(40.0) ** 1.1
    for words in (["yes", "no"], ["T", "F"], ["none", "flu"], ["NA", "EU"]):
        table = table_of({"x": x, "y": words * 20}, "y")
        assert table.classes == sorted(words) and table.used.all()
        assert table.target_shown(0) == words[0]
    (note,) = table.notes
    assert "missing" in note and "'NA'" in table.summaries()[-1].remark
    numbers = ["NA", *[f"{v}" for v in range(39)]]
    table = table_of({"x": x, "y": numbers}, "y")
    assert table.task == "regression" and table.used.sum() == 39
    assert table_of({"x": x, "y": ["", "a", "b", None] * 10}, "y").used.sum() == 20


def test_notes_tell_no_value():
    column = text(["SECRET", *map(str, range(30))])
    assert "SECRET" not in column.note and "SECRET" in column.remark
    table = table_of({"x": np.arange(40.0) ** 1.1, "y": ["a", "b"] * 19 + ["a", "Z"]},
                     "y")  # fmt: skip
    goal = table.summaries()[-1]
    assert "single row" in goal.note and "Z" not in goal.note and "'Z'" in goal.remark


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

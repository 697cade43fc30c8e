"""What a column holds, by its cells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrisk.tables.columns import typed_column


def text(cells):
    return typed_column("c", np.array(cells, dtype=object))


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


def test_words_that_differ_in_case_or_blanks_are_told():
    column = text(["Rome", "Oslo", "rome ", "new york"] * 8)
    assert "differ only in case or blanks" in column.note and column.distinct == 4
    assert column.example == "'Rome' and 'rome '"
    assert text(["Rome", "Oslo"] * 8).note == ""


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


def kg(start, n=40):
    return np.array([f"{i} kg" for i in range(start, start + n)], dtype=object)


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("year", np.arange(1950, 2020), "numeric"),
        ("weight", kg(1), "numeric"),
        ("day", np.arange(1, 41), "numeric"),
        ("week_no", np.arange(1, 41), "identifier"),
        ("temperature", np.arange(-20.0, 20.0), "numeric"),
        ("c", np.arange(40), "identifier"),
        ("c", np.arange(40.0, 0.0, -1.0), "identifier"),
        ("c", np.array([str(i) for i in range(1, 41)], dtype=object), "identifier"),
        ("PassengerId", np.arange(892, 932), "identifier"),
        ("Unnamed: 0", np.arange(700, 740), "identifier"),
        ("row", np.arange(700, 740), "identifier"),
        ("row number", np.arange(700, 740), "identifier"),
        ("number", np.arange(700, 820, 3), "numeric"),
        ("flat_id", np.arange(700, 820, 3), "identifier"),
    ],
)
def test_steps_of_one_alone_do_not_make_a_row_number(name, cells, kind):
    assert typed_column(name, cells).kind == kind

"""Text as numbers and dates: read in one way, or refused, not guessed cell by cell."""

import numpy as np
import pytest

from lrisk.tables.columns import typed_column, typed_columns
from lrisk.tables.quoting import QuotesCells
from lrisk.tables.rules import ColumnRule
from lrisk.tables.text import read_column


def column(cells, **options):
    return typed_column("c", np.array(cells, dtype=object), **options)


@pytest.mark.parametrize(
    ("cells", "numbers", "unit"),
    [
        (["250 kg", "12.5kg", "3 Kgs"], [250, 12.5, 3], "kg"),
        (["12.3%", "4 %", "0%"], [12.3, 4, 0], "%"),
        (["$12", "-$3", "($4.50)"], [12, -3, -4.5], "$"),
        (["12,5 €", "3 €", "1.234,25 €"], [12.5, 3, 1234.25], "€"),
        (["EUR 12", "EUR 1,250.5", "EUR 7"], [12, 1250.5, 7], "eur"),
        (["20 °C", "-3°C", "0 °C"], [20, -3, 0], "°C"),
        (["30 km/h", "50 km/h", "7 km/h"], [30, 50, 7], "km/h"),
        (["3 rooms", "1 room", "4 rooms"], [3, 1, 4], "room"),
        (["1 234,5", "7 000", "0,25"], [1234.5, 7000, 0.25], ""),
        (["1'234.5", "7'000", "25"], [1234.5, 7000, 25], ""),
        (["1e3", "2.5E-1", "−4"], [1000, 0.25, -4], ""),
        (["1\u00a0234", "7\u202f000", "2\u2009500"], [1234, 7000, 2500], ""),
        (["12.50-", "-3.25", "100 €-"], [-12.5, -3.25, -100], "€"),
        (["3k", "0.5k", "0"], [3, 0.5, 0], "k"),
    ],
)
def test_numbers_with_units_are_numbers(cells, numbers, unit):
    read = column(cells * 10)
    assert read.kind == "numeric" and read.unit == unit
    assert read.values[:3].tolist() == numbers


@pytest.mark.parametrize(
    "cells",
    [
        ["1st", "2nd", "3rd", "4th"],
        ["12a", "12b", "7c", "9a"],
        ["1S", "2L", "3D", "4H"],
        ["10-20", "20-30", "30-40", "40-50"],
        ["1h 30m", "2h 10m", "3h 5m", "1h"],
        ["A12", "B7", "ABC 3", "X 4"],
        ["1.2.3", "1.2.4", "2.0.0", "2.1"],
        ["2-", "1-", "3-", "2"],
        ["2.5k", "3k", "2500", "3000"],
        ["+", "-", "+", "+"],
    ],
)
def test_words_with_digits_stay_words(cells):
    assert column(cells * 10).kind == "categorical"


def test_separators_are_claimed_only_where_they_stand():
    assert "thousands" not in column(["$12", "$13", "$14"] * 10).note
    assert "thousands" in column(["1,234", "12", "5,000"] * 10).note
    assert "possible, too" in column(["1,234", "5,678"] * 10).note
    assert "possible, too" not in column(["1,234", "5,678.5"] * 10).note
    assert column(["0,123", "0,456", "1,789"] * 10).values[0] == 0.123


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["250 kg"] * 30 + ["12 lb"] * 3, "150 in kg, 15 in lb"),
        (["$5", "€5", "$7"], r"in \$.*in €"),
        (["1.2M", "900k", "3M"], "in one unit"),
        (["5 mW", "5 MW"], "in one unit"),
        (["31/01/2020", "01/31/2020", "30/01/2020"], "dates in one order"),
    ],
)
def test_what_has_two_meanings_is_refused_with_a_remedy(cells, words):
    with pytest.raises(ValueError, match=rf"column c must be .*{words}.*; \w+"):
        column(cells * 5)


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["250 kg", None, "na", "12 lb", "7 lb"] + ["9 kg"] * 30, "'12 lb' in row 4"),
        (["12 lb", "7 lb"] + ["3 oz"] + ["9 kg"] * 15, "'3 oz' in row 3"),
        (["250 kg", "3 oz", "250 kg"], "'3 oz' in row 2"),
        (["-", "01/31/2020"] + ["31/01/2020"] * 4, "'01/31/2020' in row 2"),
    ],
)
def test_the_first_cell_of_the_rarest_kind_is_named(cells, first):
    with pytest.raises(QuotesCells, match=rf"first {first}") as refusal:
        column(cells)
    assert "drop the column" in str(refusal.value)
    assert "row" not in refusal.value.bare and "drop the" in refusal.value.bare


def test_a_target_in_two_units_is_not_to_be_dropped():
    raw = np.array(["250 kg"] * 20 + ["12 lb"] * 3, dtype=object)
    with pytest.raises(QuotesCells, match=r"'12 lb' in row 21.*to one unit\.$"):
        typed_column("y", raw, labels=True)


def test_bare_numbers_take_the_unit_of_the_others():
    read = column(["5 kg", "6 kg", "7"] * 10)
    assert read.values[2] == 7 and "10 cells have no unit" in read.note
    read = column(["5", "6", "7"] * 10 + ["8 kg"])
    assert read.kind == "numeric" and read.values[-1] == 8


def test_unknown_words_after_numbers_are_told_only_as_examples():
    read = column(["5 Smith", "6 Smith"] * 10)
    assert read.kind == "numeric"
    assert "Smith" not in read.note and "Smith" in read.remark


@pytest.mark.parametrize(
    "cells",
    [
        ["2020-01-31", "31.01.2020", "31 Jan 2020", "January 31, 2020", "31/01/2020"],
        ["31-Jan-20", "Jan. 31, 2020", "2020/1/31", "2020-01-31 00:00", "31.1.20"],
    ],
)
def test_mixed_date_formats_are_one_day(cells):
    read = column(cells * 10)
    assert read.kind == "constant" and len(set(read.values)) == 1


def test_clocks_and_months_are_read():
    read = column(["1/2/2020 3:15 PM", "1/31/2020 12:00 AM", "1/31/2020 23:59"] * 9)
    assert [read.shown(i) for i in range(2)] == ["2020-01-02 15:15:00", "2020-01-31"]
    assert column(["2020-01", "2020-02"] * 10).shown(0) == "2020-01-01"


def test_two_labels_stay_as_written_and_more_are_quantities():
    assert column(["2 doors", "4 doors"] * 10, labels=True).levels[0] == "2 doors"
    many = column([f"{i} kg" for i in range(30)], labels=True)
    assert not many.has_levels


def test_a_column_of_many_words_is_given_up_at_once():
    words = [f"{i:x}-word" for i in range(200_000)]
    assert read_column(words, np.ones(len(words), dtype=np.int64)) is None


def test_many_different_slips_do_not_hide_the_numbers():
    slips = [f"slip {i}" for i in range(60)]
    assert column([*["5", "6"] * 300, *slips]).kind == "numeric"


def typed(**columns):
    raw = [np.array(cells * 10, dtype=object) for cells in columns.values()]
    return {c.name: c for c in typed_columns(list(columns), raw)}


def test_a_comma_that_may_be_read_in_two_ways_is_read_as_in_other_columns():
    doubtful, decimals = ["28,781", "3,125"], ["1,5", "0,25"]
    alone = typed(a=doubtful, b=["7", "8"])["a"]
    assert alone.values[:2].tolist() == [28781.0, 3125.0]
    beside = typed(a=doubtful, b=decimals, c=["x", "y"])["a"]
    assert beside.values[:2].tolist() == [28.781, 3.125]
    assert beside.note == "Commas were read as decimal points, as in other columns."
    sure = typed(a=["1,028,781", "3,125"], b=decimals)["a"]
    assert sure.values[:2].tolist() == [1028781.0, 3125.0]


def test_dashes_among_numbers_are_empty_cells():
    cells = ["-", "12", "n.a.", "13.5", "—"] * 10
    read = column(cells)
    assert read.kind == "numeric" and read.missing.sum() == 30 and not read.note
    again = ColumnRule.of(read).read(np.array(["-", "-", "7", "."], dtype=object))
    np.testing.assert_array_equal(again.values, [np.nan, np.nan, 7, np.nan])
    assert column(["-", "--"] * 10).kind == "categorical"  # nothing says of what


def test_a_column_that_is_nearly_numbers_says_so():
    cells = [f"{i}.5" if i % 4 else "broken" for i in range(40)]
    read = column(cells)
    assert read.kind == "identifier"
    assert read.note.endswith("75% of its cells are numbers, the others are not.")
    assert read.example == "'broken'"
    assert "numbers" not in column(["a", "b", "c", "7"] * 10).note
    assert "numbers" not in column(["12a", "12b", "7c", "9a"] * 10).note

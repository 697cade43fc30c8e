"""Predictions that were made elsewhere: read as the target is, and checked."""

from typing import Any, NamedTuple

import numpy as np

from ..._arrays import check_targets
from ..._params import refused
from ..._typing import AnyArray, Floats, Indices
from ...estimators.row_facts import check_probabilities
from ...tables import Column, Table
from ...tables.beside import read_beside
from ...tables.cells import cells_as_text, is_table, raw_column, raw_columns
from ...tables.columns import typed_column
from ...tables.quoting import QuotesCells
from ...tables.text import DATES

#: Columns of what ``lrisk predict`` writes.
ROW, PREDICTION, PROBABILITY = "row", "prediction", "probability"
#: What predictions of classes must be.
OF_CLASSES = "labels of the target, or probabilities: one column for each class"
REMEDY = "pass predictions by models that have not seen the row, in the same order"


class _Given(NamedTuple):
    """Columns of predictions; `named` if somebody gave them their names."""

    names: list[str]
    raw: list[AnyArray]
    named: bool

    def column(self, name: str) -> AnyArray | None:
        """The cells of a column, if it is there."""
        known = self.named and name in self.names
        return self.raw[self.names.index(name)] if known else None


def given_predictions(table: Table, given: Any) -> Floats:
    """Numbers, or probabilities of classes, of every row of the table.

    Parameters
    ----------
    table : Table
    given : array-like of shape (n,) or (n, k), or a table
        Cells may be written as those of a target may. Of a table with a column
        "prediction", as ``lrisk predict`` writes it, the others do not matter, but for
        "probability" and "row", which says which row of the table each line is of.

    Returns
    -------
    array of shape (n,) or (n, n_classes)
    """
    columns = _columns(given, table.n_rows)
    if table.task == "regression":
        return _quantities(table, columns)
    try:
        return _of_classes(table, columns)
    except ValueError as error:
        bare = refused("audit", "predictions", OF_CLASSES, "others", REMEDY)
        raise QuotesCells(str(error), bare) from error


def _columns(given: Any, n: int) -> _Given:
    if is_table(given):
        own = list(given) if isinstance(given, dict) else list(given.columns)
        words = all(isinstance(name, str) for name in own)
        columns = _Given(*raw_columns(given), words)
    elif np.ndim(given) == 2:
        columns = _Given(*raw_columns(given), False)
    elif np.ndim(given) == 1:
        columns = _Given([""], [raw_column(given, "predictions")], False)
    else:
        raise _wrong(f"one for each row, {n}", given)
    if len(columns.raw[0]) != n:
        raise _wrong(f"one for each row, {n}", len(columns.raw[0]))
    return _in_order(columns, n)


def _in_order(columns: _Given, n: int) -> _Given:
    """In the order of the table's rows, if a column says which they are."""
    numbers = columns.column(ROW)
    if numbers is None or len(columns.raw) == 1:
        return columns
    rows = _numbers(numbers)
    if not np.array_equal(np.sort(rows), np.arange(1.0, n + 1.0)):
        # No cell is quoted: it may be what must not be told.
        known = np.isin(rows, np.arange(1.0, n + 1.0))
        got = "one twice" if known.all() else "others"
        rule = f"each of 1 to {n} once, in the column {ROW!r}"
        raise _wrong(rule, got, "number the rows of the table, or leave it out")
    order, at = np.argsort(rows), columns.names.index(ROW)
    names = [name for name in columns.names if name != ROW]
    raw = [own[order] for j, own in enumerate(columns.raw) if j != at]
    return _Given(names, raw, True)


def _wrong(rule: str, got: Any, remedy: str = REMEDY) -> ValueError:
    return ValueError(refused("audit", "predictions", rule, got, remedy))


def _quantities(table: Table, columns: _Given) -> Floats:
    cells = columns.column(PREDICTION)
    if cells is None and len(columns.raw) > 1:
        rule = f"one column of numbers, or one called {PREDICTION!r}"
        raise _wrong(rule, f"{len(columns.raw)} columns", "leave the others out")
    cells = columns.raw[0] if cells is None else cells
    goal = table.target
    read = read_beside(goal, "predictions", cells)
    if not _holds_numbers(read, cells):
        got = "dates" if read.way in DATES else "words"
        raise _wrong("numbers, as the target is", got)
    if read.unit and goal.unit and read.unit != goal.unit:
        raise _wrong(f"in {goal.unit}, as the target is", read.unit, "convert them")
    found, known = read.values.astype(np.float64), table.used
    lost = known & ~np.isfinite(found)
    if lost.any():
        got = f"NaN or infinity in row {int(np.flatnonzero(lost)[0]) + 1}"
        raise _wrong("finite wherever the target is known", got)
    check_targets("audit", "predictions", found[known])
    if np.all(found[known] == table.y[known]):
        raise _wrong("made without the row's own target", "the targets themselves")
    return found


def _of_classes(table: Table, columns: _Given) -> Floats:
    """Probabilities of the classes, from a table of them, or from one column.

    A column holds labels or, of two classes, probabilities of the second.
    """
    classes, rows = table.classes, np.flatnonzero(table.used)
    labels = columns.column(PREDICTION)
    if labels is None and len(columns.raw) > 1:
        return _probabilities(table, columns, rows)
    cells = (columns.raw[0] if labels is None else labels)[rows]
    codes = _codes(table, cells)
    sure = columns.column(PROBABILITY)
    if (codes >= 0).all():
        p = np.ones(len(rows)) if sure is None else _numbers(sure[rows])
        stated = _spread_out(codes, p, len(classes))
    else:
        p = _numbers(cells)
        if len(classes) != 2 or not np.all((p >= 0.0) & (p <= 1.0)):
            odd = cells_as_text(cells[np.flatnonzero(codes < 0)[:1]])[0]
            remedy = "pass out-of-fold predictions of a classifier for this target"
            raise _wrong(OF_CLASSES, odd[:40], remedy)
        stated = np.column_stack([1.0 - p, p])
    return _checked(table, stated, rows)


def _spread_out(codes: Indices, sure: Floats, k: int) -> Floats:
    """The probability of one class each; the others share the rest, not being told."""
    stated = np.repeat(((1.0 - sure) / (k - 1))[:, None], k, axis=1)
    stated[np.arange(len(codes)), codes] = sure
    return stated


def _probabilities(table: Table, columns: _Given, rows: Indices) -> Floats:
    """From columns named as the classes, or in the order of the sorted classes."""
    classes, raw = table.classes, columns.raw
    place = _places(columns.names, classes).tolist()
    if sorted(place) == list(range(len(classes))):
        raw = [raw[place.index(code)] for code in range(len(classes))]
    elif columns.named:
        rule = f"probabilities in columns named as the classes, {classes[:8]}"
        others = [name[:40] for name in columns.names[:8]]
        raise _wrong(rule, others, "rename them, or pass an array in this order")
    return _checked(table, np.column_stack([_numbers(c[rows]) for c in raw]), rows)


def _checked(table: Table, stated: Floats, rows: Indices) -> Floats:
    """Probabilities of all rows of the table, from those of some of them."""
    own = np.array(table.classes)
    whole = np.zeros((table.n_rows, len(own)))
    whole[rows] = check_probabilities("audit", stated, len(rows), own, "predictions")
    return whole


def _numbers(cells: AnyArray) -> Floats:
    """Probabilities, maybe in per cent; NaN where they are none."""
    read = typed_column("predictions", cells)
    if not _holds_numbers(read, cells):
        return np.full(len(cells), np.nan)
    return np.asarray(read.values * (0.01 if read.unit == "%" else 1.0))


def _holds_numbers(read: Column, cells: AnyArray) -> bool:
    """Whether cells are numbers, or text that was read as numbers: "yes" is none."""
    as_text = bool(read.way) and read.way not in DATES
    return cells.dtype.kind in "biuf" or as_text


def _codes(table: Table, cells: AnyArray) -> Indices:
    """Positions of labels among the classes, −1 where one is none of them."""
    goal = table.target
    if not goal.has_levels:
        read = read_beside(goal, "predictions", cells, labels=True)
        if not read.has_levels:
            return _positions(read, table)
    return _places(cells_as_text(cells), table.classes)


def _positions(read: Column, table: Table) -> Indices:
    """Of numbers among classes that are numbers."""
    firsts = [int(np.flatnonzero(table.y == k)[0]) for k in range(len(table.classes))]
    values = table.target.values[firsts]  # sorted, as the classes are
    at = np.searchsorted(values, read.values).clip(max=len(values) - 1)
    return np.asarray(np.where(values[at] == read.values, at, -1), dtype=np.int64)


def _places(words: list[str], classes: list[str]) -> Indices:
    """Of words among classes: as they stand or, if that leaves no doubt, nearly so."""
    exact = {name: code for code, name in enumerate(classes)}
    loose = {_plain(name): code for name, code in exact.items()}
    loose = loose if len(loose) == len(exact) else {}
    place = {word: exact.get(word, loose.get(_plain(word), -1)) for word in set(words)}
    return np.array([place[word] for word in words], dtype=np.int64)


def _plain(word: str) -> str:
    """Without case and blanks, and without what keeps spreadsheets from computing."""
    return "".join(word.replace("'", "").split()).casefold()

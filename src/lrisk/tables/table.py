"""A table as models use it: typed columns and a target."""

import difflib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._arrays import check_typical_size
from .._params import refused
from .._typing import AnyArray, Bools
from .cells import (
    cells_as_text,
    is_table,
    named_cells,
    raw_column,
    raw_columns,
    row_names,
)
from .columns import Column, ColumnSummary, summary_of, typed_columns
from .target import Target, target_of

#: Columns beyond which a table is refused.
MOST_COLUMNS = 2000
#: Share of the rows with a name of their own from which on a column tells rows apart:
#: copies, which an audit is to find, have that of another.
OWN_NAMES = 0.95
#: Characters of a name, of which every finding about the column has a copy.
LONGEST_NAME = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class Table(Target):
    """Features, target, group and time of all rows of the input.

    Parameters
    ----------
    task : str
        "regression" or "classification".
    y : array of shape (n,)
        The targets as numbers, or positions among `classes`; NaN or −1 where missing.
    classes : list of str
        Names of the classes; empty for numbers.
    notes : list of str
        What a reader should know of how the target was read; no value is told.
    example : str
        Values that the notes speak of.
    columns : list of Column
        All columns but the target.
    target : Column
        As it was read; what it means is told as of every `Target`.
    id_column : str
        What tells rows apart: a column, "index" for a frame's own, or empty.
    ids : list of str
        One for each row, or none.
    id_given : bool
        Whether somebody said so, and it was not found.

    See Also
    --------
    table_of : Makes it from a frame or an array.
    Column : One of its columns.

    Examples
    --------
    >>> from lrisk.tables import table_of
    >>> table = table_of({"size": [1, 2, 4], "y": [1.0, 3.0, 2.0]}, "y")
    >>> table.n_rows, [column.name for column in table.columns]
    (3, ['size'])
    """

    columns: list[Column]
    target: Column
    id_column: str = ""
    ids: list[str] = field(default_factory=list)
    id_given: bool = False

    @property
    def n_rows(self) -> int:
        """Rows of the input."""
        return len(self.y)

    @property
    def used(self) -> Bools:
        """Rows whose target is known."""
        if self.task == "classification":
            return np.asarray(self.y >= 0)
        return np.asarray(~np.isnan(self.y))

    @property
    def features(self) -> list[Column]:
        """Columns that models use."""
        return [column for column in self.columns if column.is_feature]

    def named(self, name: str) -> Column:
        """The column of that name."""
        return next(column for column in self.columns if column.name == name)

    def summaries(self) -> list[ColumnSummary]:
        """One entry per column, the target last."""
        goal = summary_of(self.target, "target")
        goal = replace(goal, note=" ".join(self.notes), example=self.example)
        return [*map(summary_of, self.columns), goal]

    def fingerprint(self) -> str:
        """What tells this table from another: the beginning of a digest of all of it.

        A digest of the whole table tells no cell.
        """
        digest = hashlib.sha256()
        for column in [*self.columns, self.target]:
            digest.update(f"{column.name}\0{len(column.values)}\0".encode())
            digest.update("\0".join(column.levels).encode("utf-8", "replace"))
            digest.update(np.ascontiguousarray(column.values).tobytes())
        return digest.hexdigest()[:16]

    def target_shown(self, row: int) -> str:
        """The target of one row as text."""
        return self.target.shown(row)


def table_of(
    data: Any,
    target: Any,
    task: str = "auto",
    group: str | None = None,
    time: str | None = None,
    id: str | None = None,
) -> Table:
    """Read a frame (pandas, polars, a dict of columns) or an array as a table.

    Parameters
    ----------
    data : DataFrame, mapping of columns, or array-like of shape (n, d)
        The rows; an array has columns without names.
    target : str or array-like of shape (n,)
        Name of a column of a frame; the targets themselves otherwise.
    task : {"auto", "regression", "classification"}, default="auto"
    group, time, id : str or None, default=None
        Names of columns. By default rows are told apart by a frame's own index, or by
        the first column in which (nearly) every row has a value of its own.

    Returns
    -------
    Table
        Typed columns, the target apart.

    See Also
    --------
    lrisk.audit : Reads its input so.
    TablePreparation : Turns columns into what models take.

    Examples
    --------
    >>> from lrisk.tables import table_of
    >>> table = table_of({"size": ["1 cm", "2 cm", "4 cm"], "y": [1.0, 3.0, 2.0]}, "y")
    >>> table.columns[0].kind, table.columns[0].unit
    ('numeric', 'cm')
    """
    if group is not None and group == time:
        rule, remedy = "another column than group", "choose one role for it"
        raise ValueError(refused("table", "time", rule, time, remedy))
    names, raw = raw_columns(data)
    check_names(names)
    if isinstance(target, str) or np.ndim(target) == 0:
        target = closest(str(target), names, "target")
        if f"{target}.1" in names and _repeats(data, target):
            rule, remedy = "the name of one column", "rename the others"
            raise ValueError(refused("table", "target", rule, "several", remedy))
        at = names.index(target)
    else:
        at = len(names)
        names, raw = [*names, "target"], [*raw, raw_column(target, "target")]
    columns = typed_columns(names, raw, at)
    goal = columns.pop(at)
    names, raw = names[:at] + names[at + 1 :], raw[:at] + raw[at + 1 :]
    if not names:
        rule, remedy = "of at least one column beside the target", "add features"
        raise ValueError(refused("table", "data", rule, "none", remedy))
    for other in raw:
        if len(other) != len(goal.values):
            rule, remedy = "one value per row", "pass as many targets as rows"
            raise ValueError(refused("table", "target", rule, len(goal.values), remedy))
    for role, name in (("group", group), ("time", time)):
        if name is not None:
            at = names.index(closest(name, names, role))
            columns[at] = columns[at].called(role)
    id = None if id is None else str(id)
    if id is not None:
        if id in (group, time, goal.name):
            rule, remedy = "another column than target, group and time", "choose one"
            raise ValueError(refused("table", "id", rule, id[:80], remedy))
        at = names.index(closest(id, names, "id"))
        columns[at] = columns[at].called("identifier")
    for column in columns:
        if column.kind == "numeric":
            check_typical_size("table", f"column {column.name[:60]}", column.values)
    table = Table(columns=columns, target=goal, **vars(target_of(goal, task)))
    return _with_ids(table, id, row_names(data), dict(zip(names, raw)))


def _with_ids(
    table: Table, given: str | None, index: list[str], raw: dict[str, AnyArray]
) -> Table:
    """The table with what tells its rows apart: as given, its index, or a column."""
    if given is None and index:
        return replace(table, id_column="index", ids=index)
    own = [column for column in table.columns if column.kind == "identifier"]
    if given is not None:
        name = given
    elif own:
        best = max(own, key=lambda column: column.distinct)  # the first of equal ones
        if best.distinct < OWN_NAMES * table.n_rows:
            return table
        name = best.name
    else:
        return table
    ids = cells_as_text(raw[name])
    return replace(table, id_column=name, ids=ids, id_given=given is not None)


def own_name(ids: Sequence[str], row: int) -> str:
    """What a table calls a row, counted from 1, if that is more than its number.

    Examples
    --------
    >>> own_name(["1", "b"], 1), own_name(["1", "b"], 2), own_name([], 2)
    ('', 'b', '')
    """
    name = ids[row - 1] if ids else ""
    return "" if name == str(row) else name


def _repeats(data: Any, name: str) -> bool:
    return [str(n) for n in getattr(data, "columns", [])].count(name) > 1


def columns_of(data: Any) -> list[Column]:
    """All columns of a table without a target, typed."""
    names, raw = raw_columns(data)
    check_names(names)
    return typed_columns(names, raw)


def column_names(data: Any) -> list[str]:
    """Names of the columns of a table, as `table_of` has them."""
    return raw_columns(data)[0]


def without(data: Any, drop: Sequence[str]) -> Any:
    """A table less some columns, of which no cell is read.

    Parameters
    ----------
    data : DataFrame or mapping of columns
    drop : sequence of str
        Names of columns; one that occurs several times goes every time.

    Raises
    ------
    ValueError
        If a name is that of no column, or the columns have no names.

    Examples
    --------
    >>> without({"size": [1, 2], "note": ["a", "b"]}, ["note"])
    {'size': [1, 2]}
    """
    if not drop:
        return data
    names, _ = named_cells(data)
    if not is_table(data):
        rule, remedy = "empty for an array", "pass an array of fewer columns"
        raise ValueError(refused("table", "drop", rule, list(drop[:8]), remedy))
    gone = {closest(str(name), names, "drop") for name in drop}
    if isinstance(data, dict):
        return {name: cells for name, cells in data.items() if str(name) not in gone}
    own = [str(name) for name in data.columns]
    kept = [at for at, both in enumerate(zip(own, names)) if gone.isdisjoint(both)]
    return data.iloc[:, kept] if hasattr(data, "iloc") else data[:, kept]


def check_present(needed: Sequence[str], there: Sequence[str]) -> None:
    """Refuse a table that lacks columns, and name them."""
    known = set(there)
    missing = [name for name in needed if name not in known]
    if missing:
        shown = ", ".join(repr(name[:40]) for name in missing[:8])
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        near = difflib.get_close_matches(missing[0], there, n=1)
        hint = f"; is {missing[0][:40]!r} called {near[0][:40]!r} here?" if near else ""
        raise ValueError(f"the table lacks what the model needs: {shown}{more}{hint}")


def check_names(names: Sequence[str]) -> None:
    """Refuse tables of too many columns, and names that are texts."""
    if len(names) > MOST_COLUMNS:
        rule, remedy = f"a table of at most {MOST_COLUMNS} columns", "leave some out"
        raise ValueError(refused("table", "data", rule, len(names), remedy))
    longest = max((len(name) for name in names), default=0)
    if longest > LONGEST_NAME:
        rule, got = (
            f"of names of at most {LONGEST_NAME} characters",
            f"one of {longest}",
        )
        raise ValueError(refused("table", "data", rule, got, "rename the column"))


def closest(name: str, names: Sequence[str], role: str, owner: str = "table") -> str:
    """The name, or an error that suggests the nearest one."""
    if name in names:
        return name
    near = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=1)
    if near:
        suggested = next(n for n in names if n.lower() == near[0])
        remedy = f"did you mean {suggested!r}?"
    else:
        shown = [repr(n[:40]) for n in names]
        if len(shown) > 8:  # the last one is often the target
            shown = [*shown[:6], "...", shown[-1]]
        remedy = f"there are {', '.join(shown)}"
    message = refused(owner, role, "the name of a column", name[:80], remedy)
    raise ValueError(message.replace("?.", "?"))

"""Cells of the columns of a table: from pandas, polars, dicts or arrays to numpy."""

import sys
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._arrays import unmasked
from .._params import refused
from .._typing import AnyArray, Floats

#: Cells that no column can be made of.
_ODD = (list, tuple, dict, set, bytes, np.ndarray, complex)


def is_table(data: Any) -> bool:
    """Whether columns have names: a frame of pandas or polars, or a dict."""
    if issparse(data):  # one of scipy's sparse formats is a dict
        return False
    frame = hasattr(data, "columns") and hasattr(data, "__getitem__")
    return frame or isinstance(data, dict) or type(data).__name__ == "LazyFrame"


def raw_columns(data: Any) -> tuple[list[str], list[AnyArray]]:
    """Names, made distinct, and cells of all columns of a frame, dict or array."""
    names, series = named_cells(data)
    return names, [raw_column(column, n) for n, column in zip(names, series)]


def named_cells(data: Any) -> tuple[list[str], list[Any]]:
    """Names, made distinct, and cells as they come: nothing is read of them."""
    if type(data).__name__ == "LazyFrame":
        rule, remedy = "a table in memory", "call its collect() first"
        raise TypeError(refused("table", "data", rule, "LazyFrame", remedy))
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        names = [str(name) for name in data.columns]
        if hasattr(data, "iloc"):
            series = [data.iloc[:, j] for j in range(len(names))]
        else:
            series = [data[name] for name in names]
    elif isinstance(data, dict):
        names, series = [str(name) for name in data], list(data.values())
    else:
        values = np.asarray(unmasked(data))
        if values.ndim != 2:
            rule, remedy = "a table of rows and columns", "pass a frame or a 2-d array"
            got = type(data).__name__
            raise ValueError(refused("table", "data", rule, got, remedy))
        names = [f"x{j + 1}" for j in range(values.shape[1])]
        series = list(values.T)
    if not names or not len(series[0]):
        rule, remedy = "a table of rows and columns", "pass one that is not empty"
        raise ValueError(refused("table", "data", rule, "none", remedy))
    return distinct(names), series


def row_names(data: Any) -> list[str]:
    """The index of a pandas frame as text, if it is more than a count; else nothing."""
    index = getattr(data, "index", None)
    if not hasattr(data, "iloc") or index is None:
        return []
    names = [str(name) for name in index]
    count = [str(i) for i in range(len(names))]
    return [] if names == count or len(set(names)) < len(names) else names


def cells_as_text(cells: AnyArray) -> list[str]:
    """Cells as they were given: text is text, whole numbers have no point."""
    if cells.dtype.kind == "M":
        return ["" if cell == "NaT" else cell for cell in cells.astype(str).tolist()]
    return [_text(cell) for cell in cells.tolist()]


def _text(cell: Any) -> str:
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2.0**53:
        return str(int(cell))
    return str(cell)


def distinct(names: list[str]) -> list[str]:
    """The names, those that occur again with a number that nobody else has.

    >>> distinct(["a", "b", "a", "a.1", "a"])
    ['a', 'b', 'a.2', 'a.1', 'a.3']
    """
    taken, numbers = set(names), dict.fromkeys(names, 0)
    seen: set[str] = set()
    unique = []
    for name in names:
        own = name
        while own in seen or (own != name and own in taken):
            numbers[name] += 1
            own = f"{name}.{numbers[name]}"
        seen.add(own)
        unique.append(own)
    return unique


def raw_column(series: Any, name: str) -> AnyArray:
    """One column as floats, booleans, dates or objects."""
    series = unmasked(series)
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(series, polars.Series):
        return _raw_polars(series, name, polars)
    kind = getattr(getattr(series, "dtype", None), "kind", "O")
    if kind in "iuf":  # pandas' own integers and floats may hold missing values
        if hasattr(series, "to_numpy"):
            plain = series.to_numpy(dtype=np.float64, na_value=np.nan)
            return _whole_if_so(plain, kind)
        return np.asarray(series)
    if kind == "M":
        if getattr(series.dtype, "tz", None) is not None:
            series = series.dt.tz_convert(None)
        return np.asarray(series, dtype="datetime64[s]")
    values = np.asarray(series)
    if values.ndim != 1:
        rule, remedy = "one value per row", "pass one column"
        raise ValueError(refused("table", name[:60], rule, values.shape, remedy))
    if values.dtype.kind in "biufM":
        return values
    if values.dtype.kind == "m":  # durations, in days
        return np.where(np.isnat(values), np.nan, values / np.timedelta64(1, "D"))
    if values.dtype.kind in "cV":
        raise _unusable(name, values.dtype)
    return _objects(values, name)


def _unusable(name: str, kind: Any) -> ValueError:
    rule, remedy = "numbers, words, dates or booleans", "convert it or leave it out"
    got = f"the type {kind}"
    return ValueError(refused("table", f"column {name[:60]}", rule, got, remedy))


def _whole_if_so(values: Floats, kind: str) -> AnyArray:
    if kind in "iu" and not np.isnan(values).any():
        return values.astype(np.int64)
    return values


def _objects(values: AnyArray, name: str) -> AnyArray:
    """Text, or numbers where all known cells are numbers."""
    cells = [None if _is_missing(cell) else cell for cell in values.tolist()]
    known = [cell for cell in cells if cell is not None]
    odd = next((c for c in known if isinstance(c, _ODD)), None)
    if odd is not None:
        raise _unusable(name, type(odd).__name__)
    if known and all(isinstance(cell, bool | np.bool_) for cell in known):
        if len(known) == len(cells):
            return np.array(cells, dtype=bool)
        return np.array([None if c is None else str(c) for c in cells], dtype=object)
    if known and all(isinstance(cell, int | float | np.number) for cell in known):
        return np.array([np.nan if c is None else _float(c) for c in cells])
    # Files that were joined end to end have marks of their encoding between them.
    words = [None if c is None else str(c).replace("\ufeff", "") for c in cells]
    return np.array(words, dtype=object)


def _float(cell: Any) -> float:
    """A number, infinite if it is a whole one of more digits than floats have."""
    try:
        return float(cell)
    except OverflowError:
        return np.inf if cell > 0 else -np.inf


def _is_missing(cell: Any) -> bool:
    if cell is None:
        return True
    if isinstance(cell, str):
        return False
    return bool(cell != cell) if np.isscalar(cell) else type(cell).__name__ == "NAType"


def _raw_polars(series: Any, name: str, polars: Any) -> AnyArray:
    kind = series.dtype
    if kind.is_nested() or kind in (polars.Binary, polars.Object):
        raise _unusable(name, kind)
    if kind == polars.Duration:
        days = series.dt.total_microseconds().cast(polars.Float64) / 86_400e6
        return np.array(days.to_numpy())
    if kind.is_numeric():
        plain = series.cast(polars.Float64).to_numpy()
        return _whole_if_so(np.array(plain), "i" if kind.is_integer() else "f")
    if kind == polars.Boolean and series.null_count() == 0:
        return np.asarray(series.to_numpy(), dtype=bool)
    if kind == polars.Date or kind == polars.Datetime:
        return np.asarray(series.cast(polars.Datetime("us")).to_numpy(),
                          dtype="datetime64[s]")  # fmt: skip
    return np.array(series.cast(polars.String).to_list(), dtype=object)

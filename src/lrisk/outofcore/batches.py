"""Batches of rows from tables, frames and generators, as arrays of numbers."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._arrays import unmasked
from .._extras import optional
from .._params import refused
from .._typing import AnyArray

#: Rows of a batch of an array or of a Parquet file.
ROWS = 1 << 16
PARQUET = (".parquet", ".pq")


class Batch(NamedTuple):
    """Features (m, d), targets and weights; None where there are none."""

    X: AnyArray
    y: Any
    weight: Any


class Named(NamedTuple):
    """Which columns of a table are what."""

    columns: list[str]
    target: str | None
    weight: str | None

    @classmethod
    def among(cls, known: Sequence[str], columns: Any, target: Any, weight: Any) -> Any:
        """The features are all others, unless they are named."""
        for role, name in (("target", target), ("sample_weight", weight)):
            if name is not None and (not isinstance(name, str) or name not in known):
                raise _unknown(role, name, known)
        if columns is None:
            columns = [name for name in known if name not in (target, weight)]
        if isinstance(columns, str):
            rule, remedy = "a list of names", f"pass [{columns!r}]"
            raise TypeError(refused("outofcore", "columns", rule, columns, remedy))
        columns = list(columns)
        for name in columns:
            if name not in known:
                raise _unknown("columns", name, known)
        if target in columns or weight in columns or len(set(columns)) < len(columns):
            rule = "different columns, neither the target nor the weight"
            raise ValueError(refused("outofcore", "columns", rule, columns, "drop it"))
        if not columns:
            rule, remedy = "at least one column", "name some"
            raise ValueError(refused("outofcore", "columns", rule, columns, remedy))
        return cls(columns, target, weight)

    @property
    def all(self) -> list[str]:
        """All that is read."""
        return [
            *self.columns,
            *(n for n in (self.target, self.weight) if n is not None),
        ]


def _unknown(role: str, name: Any, known: Sequence[str]) -> ValueError:
    shown = ", ".join(map(repr, list(known)[:20])) + (", …" if len(known) > 20 else "")
    return ValueError(
        refused("outofcore", role, f"the name of a column among {shown}", name,
                "name one of them")
    )  # fmt: skip


def arrow() -> Any:
    """pyarrow, or how to get it."""
    optional("pyarrow.dataset", "reading Parquet files")
    return optional("pyarrow", "reading Parquet files")


def is_arrow(source: Any) -> bool:
    """Whether something is pyarrow's, without importing that."""
    return type(source).__module__.partition(".")[0] == "pyarrow"


def is_frame(source: Any) -> bool:
    """Whether something is a data frame of pandas' kind."""
    return hasattr(source, "columns") and hasattr(source, "iloc")


def arrow_form(source: Any) -> Any:
    """A data frame of polars' kind as a table; anything else as it is."""
    turns = hasattr(source, "columns") and hasattr(source, "to_arrow")
    return source.to_arrow() if turns else source


def parquet(path: Path) -> Any:
    """The data set of a file, or of all Parquet files below a folder.

    Its columns are those of all files, in types that hold what each of them has.
    """
    pyarrow, files = arrow(), [str(path)]
    if path.is_dir():
        files = [str(own) for own in sorted(path.rglob("*")) if _is_rows(own, path)]
        if not files:
            raise ValueError(f"{path} is a folder without Parquet files; give a file")
    try:
        found = pyarrow.dataset.dataset(files, format="parquet")
        kinds = [fragment.physical_schema for fragment in found.get_fragments()]
        schema = pyarrow.unify_schemas(kinds, promote_options="permissive")
        return pyarrow.dataset.dataset(files, format="parquet", schema=schema)
    except pyarrow.ArrowTypeError as error:
        raise ValueError(f"the files of {path} do not fit together: {error}") from None
    except (pyarrow.ArrowInvalid, OSError) as error:
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist") from None
        raise ValueError(f"{path} is no Parquet file, or damaged: {error}") from None


def _is_rows(file: Path, folder: Path) -> bool:
    """Whether a file holds rows; hidden ones, and notes about others, do not."""
    below = file.relative_to(folder).parts
    hidden = any(name.startswith((".", "_")) for name in below)
    return file.suffix in PARQUET and not hidden and file.is_file()


def arrow_batches(source: Any, named: Named) -> Iterator[Batch]:
    """Batches of a table, a reader or a data set, in order."""
    if hasattr(source, "to_batches"):
        rule: dict[str, Any] = {}
        if hasattr(source, "scanner"):  # a data set: little is read ahead
            rule = {"columns": named.all, "batch_size": ROWS, "batch_readahead": 2,
                    "fragment_readahead": 1}  # fmt: skip
        else:
            source = source.select(named.all)
        source = source.to_batches(**rule)
    for batch in source:
        yield arrow_batch(batch, named)


def arrow_batch(batch: Any, named: Named) -> Batch:
    """One record batch or table, as arrays."""
    X = np.column_stack([_numbers(batch.column(name), name) for name in named.columns])
    y = None if named.target is None else _plain(batch.column(named.target))
    weight = None if named.weight is None else _plain(batch.column(named.weight))
    return Batch(X, y, weight)


def feature_type(schema: Any, columns: list[str]) -> Any:
    """32 bits where all features are known by as many, else 64."""
    types = arrow().types
    short = ("float", "halffloat", "bool", "int8", "int16", "uint8", "uint16")
    for name in columns:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind)
                or types.is_boolean(kind)):  # fmt: skip
            raise _not_numbers(name, str(kind))
    small = all(str(schema.field(name).type) in short for name in columns)
    return np.float32 if small else np.float64


def frame_batch(frame: Any, named: Named) -> Batch:
    """One data frame, as arrays."""
    parts = []
    for name in named.columns:
        column = frame[name]
        if column.dtype.kind not in "biuf":
            raise _not_numbers(name, str(column.dtype))
        parts.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
    y = None if named.target is None else frame[named.target].to_numpy()
    weight = None if named.weight is None else frame[named.weight].to_numpy()
    return Batch(np.column_stack(parts), y, weight)


def tuple_batch(batch: Any, with_target: bool) -> Batch:
    """(X, y) or (X, y, weights), or X alone, as arrays."""
    if not with_target and not isinstance(batch, tuple):
        batch = (batch, None)
    if not isinstance(batch, tuple) or len(batch) not in (2, 3):
        rule = "a table, a frame, or a tuple (X, y) or (X, y, weights)"
        seen = type(batch).__name__
        remedy = "yield such batches"
        raise TypeError(refused("outofcore", "a batch", rule, seen, remedy))
    X = np.asarray(unmasked(batch[0]))
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        rule, remedy = "X of shape (m, d), of numbers", "yield such batches"
        seen = f"shape {X.shape} of {X.dtype}"
        raise ValueError(refused("outofcore", "a batch", rule, seen, remedy))
    y, weight = (unmasked(own) for own in (*batch[1:], None)[:2])
    for name, own in (("y", y), ("weights", weight)):
        if own is not None and np.shape(own) != (len(X),):
            rule, remedy = f"{name} of shape ({len(X)},)", "pass one for each row"
            raise ValueError(
                refused("outofcore", "a batch", rule, np.shape(own), remedy)
            )
    return Batch(X, y, weight)


def generated(
    source: Iterable[Any],
    columns: Any,
    target: Any,
    weight: Any,
    *,
    with_target: bool,
    names: Any = None,
) -> Iterator[tuple[Batch, list[str] | None]]:
    """Batches of an iterable of tables, frames or tuples, with names of features.

    Columns of a table or frame are found by `columns`, by the `names` of a fit, or by
    those of the first one.
    """
    wanted, first = names if columns is None else columns, None
    for given in source:
        batch = arrow_form(given)
        if is_arrow(batch) or is_frame(batch):
            known = list(batch.schema.names if is_arrow(batch) else batch.columns)
            if wanted is None:
                first = known
            if first is not None and set(known) != set(first):
                rule = f"of the columns of the first one, {first}"
                remedy = "name those to be used with columns="
                raise ValueError(refused("outofcore", "a batch", rule, known, remedy))
            named = Named.among(known, wanted, target, weight)
            wanted = named.columns
            read = arrow_batch if is_arrow(batch) else frame_batch
            yield read(batch, named), named.columns
        else:
            if target is not None or weight is not None or columns is not None:
                rule = "left out where batches are tuples"
                raise ValueError(
                    refused("outofcore", "target, columns or sample_weight", rule,
                            target, "yield (X, y) or (X, y, weights)")
                )  # fmt: skip
            yield tuple_batch(batch, with_target), None


def _numbers(column: Any, name: str) -> AnyArray:
    kind = str(column.type)
    found = _plain(column)
    if found.dtype.kind == "O" and kind == "bool":  # with empty cells
        found = np.array([np.nan if v is None else float(v) for v in found.tolist()])
    if found.dtype.kind not in "biuf":
        raise _not_numbers(name, kind)
    return found


def _not_numbers(name: str, kind: str) -> ValueError:
    rule, remedy = "of numbers", "leave it out with columns=, or make it numbers"
    return ValueError(refused("outofcore", f"column {name!r}", rule, kind, remedy))


def _plain(column: Any) -> AnyArray:
    if type(column).__name__ == "ChunkedArray":
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_numpy(zero_copy_only=False))

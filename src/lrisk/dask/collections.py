"""Dask's collections: rows in, chunk by chunk, and predictions out, lazily."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed

from .._params import refused
from .._typing import AnyArray


class Layout(NamedTuple):
    """What is known of a collection of rows before anything is computed.

    parts : a Delayed for each chunk of X, y and the weights (None without)
    n_features : columns of X
    names : their names; None without
    """

    parts: list[tuple[Any, Any, Any]]
    n_features: int
    names: AnyArray | None


def is_frame(value: Any) -> bool:
    """Whether it is a dataframe or a column of Dask's."""
    frames = sys.modules.get("dask.dataframe")  # nobody has one before
    return frames is not None and isinstance(value, frames.DataFrame | frames.Series)


def is_delayed(value: Any) -> bool:
    """Whether it is a list of delayed partitions."""
    listed = isinstance(value, list | tuple) and len(value) > 0
    return listed and all(isinstance(each, Delayed) for each in value)


def laid_out(owner: object, X: Any, y: Any, weight: Any) -> Layout:
    """Chunks of rows with their targets and weights, none of them computed."""
    for name, value in (("X", X), ("y", y), ("sample_weight", weight)):
        lazy = isinstance(value, da.Array) or is_frame(value) or is_delayed(value)
        if not lazy and not (name == "sample_weight" and value is None):
            rule = "a dask array, a dask dataframe or a list of delayed partitions"
            remedy = (
                "wrap it with dask.array.from_array, or fit it in memory with "
                f"lrisk.{type(owner).__name__}"
            )
            kind = type(value).__name__
            raise TypeError(refused(owner, name, rule, kind, remedy))
    if isinstance(X, da.Array):
        if X.ndim != 2:
            rule, remedy = "of two dimensions", "give it a column for each feature"
            raise ValueError(refused(owner, "X", rule, X.shape, remedy))
        X = X.rechunk({1: -1})
    parts = _pieces(X)
    others = [
        [None] * len(parts) if value is None else _aligned(owner, name, value, X, parts)
        for name, value in (("y", y), ("sample_weight", weight))
    ]
    d, names = _columns(X, parts)
    return Layout(list(zip(parts, *others, strict=True)), d, names)


def _columns(X: Any, parts: list[Any]) -> tuple[int, AnyArray | None]:
    if isinstance(X, da.Array):
        return int(X.shape[1]), None
    columns = X.columns if is_frame(X) else delayed(_head)(parts[0]).compute()
    if isinstance(columns, int):
        return columns, None
    if all(isinstance(name, str) for name in columns):
        return len(columns), np.asarray(columns, dtype=object)
    return len(columns), None


def _head(part: Any) -> Any:
    """Names of the columns of a partition, or how many there are."""
    return list(part.columns) if hasattr(part, "columns") else int(part.shape[1])


def _pieces(values: Any) -> list[Any]:
    if isinstance(values, da.Array):
        return list(values.to_delayed().ravel())
    return list(values.to_delayed()) if is_frame(values) else list(values)


def _aligned(
    owner: object, name: str, values: Any, X: Any, parts: list[Any]
) -> list[Any]:
    """Chunks with the rows of the chunks of X, as far as their lengths are known."""
    if isinstance(values, da.Array):
        if values.ndim != 1:
            rule, remedy = "of one dimension", "take one column of it"
            raise ValueError(refused(owner, name, rule, values.shape, remedy))
        if isinstance(X, da.Array) and values.chunks[0] != X.chunks[0]:
            known = not np.isnan([*values.shape, *X.shape]).any()
            if known and values.shape[0] != X.shape[0]:
                rule, remedy = f"of {X.shape[0]} rows", "give one for each row of X"
                raise ValueError(refused(owner, name, rule, values.shape[0], remedy))
            if known:
                values = values.rechunk((X.chunks[0],))
    pieces = _pieces(values)
    if len(pieces) != len(parts):
        rule = f"in as many partitions as X, {len(parts)}"
        remedy = "repartition one of them"
        raise ValueError(refused(owner, name, rule, len(pieces), remedy))
    return pieces


Predicting = Callable[[Any], AnyArray]


def mapped(
    predict: Predicting, X: Any, dtype: Any, columns: Sequence[Any] | None
) -> Any:
    """Apply a function of rows to each chunk, lazily.

    Parameters
    ----------
    predict : callable
        Of rows in memory, at least one.
    X : dask array or dataframe, list of Delayed, or rows in memory
    dtype : dtype
        Of what it returns.
    columns : sequence or None
        Names of the columns of what it returns; None where it has one dimension.

    Returns
    -------
    array, series or dataframe of Dask's, list of Delayed, or array
        As X is.
    """
    rule = _OfChunk(predict, np.dtype(dtype), columns)
    if isinstance(X, da.Array):
        X = X.rechunk({1: -1})
        if columns is None:
            return X.map_blocks(rule, dtype=dtype, drop_axis=1, meta=np.empty(0, dtype))
        chunks = (X.chunks[0], (len(columns),))
        return X.map_blocks(
            rule, dtype=dtype, chunks=chunks, meta=np.empty((0, 0), dtype)
        )
    if is_frame(X):
        return X.map_partitions(rule.framed, meta=rule.framed(X._meta))
    if is_delayed(X):
        return [delayed(rule, pure=True)(part) for part in X]
    return predict(X)


class _OfChunk(NamedTuple):
    """A function of rows that takes chunks without rows as well."""

    predict: Predicting
    dtype: Any
    columns: Sequence[Any] | None

    def __call__(self, rows: Any) -> AnyArray:
        if len(rows):
            return self.predict(rows)
        shape = (0,) if self.columns is None else (0, len(self.columns))
        return np.empty(shape, self.dtype)

    def framed(self, rows: Any) -> Any:
        """With the index of the rows."""
        import pandas as pd

        values = self(rows)
        if self.columns is None:
            return pd.Series(values, index=rows.index)
        return pd.DataFrame(values, index=rows.index, columns=list(self.columns))

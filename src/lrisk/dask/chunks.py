"""What workers do with chunks: check them, describe them, make parts of them."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._arrays import column_sizes, unmasked
from .._params import refused
from .._typing import AnyArray, Bools, Floats, Indices
from .._validation import validate_data
from ..losses import Loss
from ..partitions.part import Part
from ..partitions.replay import Told, of_rows
from ..partitions.rows import ArrayRows, Block
from ..ranking import check_row_weights

#: Labels of a chunk that are told, at most: two are fitted.
MOST_LABELS = 20


class Chunk(NamedTuple):
    """Rows as they were given, checked; weight is None where all of them are one."""

    X: AnyArray
    y: AnyArray
    weight: Floats | None


class Facts(NamedTuple):
    """What is known of a chunk without its rows.

    rows : how many
    sizes, size : of the largest entry of each column, and of y
    weighted, total : whether weights were given, and Σw
    labels, counts, masses : its labels, rows of positive weight of each, and their Σw;
        of numbers no labels, and all such rows together
    digest : sum of the bits of each column, which no other rows are likely to have
    """

    rows: int
    sizes: Floats
    size: float
    weighted: bool
    total: float
    labels: AnyArray
    counts: Indices
    masses: Floats
    digest: tuple[int, ...]


def checked(plain: Any, X: Any, y: Any, weight: Any, numeric: bool) -> Chunk:
    """A chunk as a fit in memory would take it; `plain` knows the columns."""
    if sp.issparse(X):
        rule, remedy = "of dense rows", "fit sparse ones in memory"
        raise TypeError(refused(plain, "X", rule, "a sparse matrix", remedy))
    for name, own in (("y", y), ("sample_weight", weight)):
        if not _same_index(X, own):
            rule = "of the rows of X, with the same index in each partition"
            remedy = "join them, or pass arrays if rows belong together by their places"
            raise ValueError(refused(plain, name, rule, "another index", remedy))
    if len(X) == 0 and len(y) == 0:
        none = np.empty(0, dtype=np.float64 if numeric else np.asarray(y).dtype)
        return Chunk(np.empty((0, plain.n_features_in_)), none, None)
    kinds = [np.float64, np.float32]
    X, y = validate_data(plain, X, y, y_numeric=numeric, dtype=kinds, reset=False)
    if numeric:
        y = np.asarray(y, dtype=np.float64)
    return Chunk(X, y, _weights(weight, len(y)))


def _same_index(X: Any, other: Any) -> bool:
    """Whether two partitions, if both are frames or series, name the same rows."""
    if not (hasattr(X, "iloc") and hasattr(other, "iloc")) or len(X) != len(other):
        return True
    return bool(X.index.equals(other.index))


def _weights(weight: Any, n_rows: int) -> Floats | None:
    if weight is None:
        return None
    array = np.asarray(unmasked(weight))
    if array.shape == (n_rows,) and not np.any(array):  # another chunk may have some
        return np.zeros(n_rows)
    return check_row_weights(weight, n_rows)


def facts_of(chunk: Chunk, numeric: bool) -> Facts:
    """Describe a chunk."""
    X, y, weight = chunk
    n, d = X.shape
    own = np.ones(n) if weight is None else weight
    kept = own > 0.0
    labels, counts = y[:0], np.array([np.count_nonzero(kept)])
    masses = np.array([own.sum()])
    if not numeric:
        labels, codes = np.unique(y[kept], return_inverse=True)
        counts = np.bincount(codes, minlength=len(labels))[:MOST_LABELS]
        masses = np.bincount(codes, own[kept], minlength=len(labels))[:MOST_LABELS]
    digest = tuple(int(bits) for bits in _bits(X).sum(axis=0, dtype=np.uint64))
    return Facts(
        rows=n,
        sizes=column_sizes(X) if n else np.zeros(d),
        size=float(np.abs(y).max()) if n and numeric else 0.0,
        weighted=weight is not None,
        total=float(own.sum()),
        labels=labels[:MOST_LABELS],
        counts=counts,
        masses=masses,
        digest=digest,
    )


def _bits(X: AnyArray) -> AnyArray:
    return X.view(np.uint64 if X.dtype.itemsize == 8 else np.uint32)


class Recipe(NamedTuple):
    """How rows of chunks become rows of a part.

    loss : of one score
    weighted : whether rows have weights of their own, in any chunk
    classes, factors : classes that have weight, and the factors on the weights of their
        rows; None for numbers
    """

    loss: Loss
    weighted: bool = False
    classes: AnyArray | None = None
    factors: Any = None

    def prepared(self, chunk: Chunk) -> tuple[Chunk, Bools]:
        """Rows with targets as the loss wants them, and which of those given."""
        X, y, weight = chunk
        kept = np.ones(len(y), dtype=bool)
        if self.weighted and weight is None:
            weight = np.ones(len(y))
        if self.classes is not None:
            codes = np.searchsorted(self.classes, y).clip(max=len(self.classes) - 1)
            if weight is not None:
                known = self.classes[codes] == y
                weight = weight * np.where(known, self.factors[codes], 0.0)
            y = codes.astype(np.float64)
        if weight is not None:
            kept = weight > 0.0
            if not kept.all():
                X, y, weight = X[kept], y[kept], weight[kept]
        return Chunk(X, y, weight), kept

    def part(self, chunks: Sequence[Chunk]) -> Part:
        """One part of some chunks."""
        own = [self.prepared(chunk)[0] for chunk in chunks]
        y = np.concatenate([chunk.y for chunk in own])
        weight = None
        if self.weighted:
            weight = np.concatenate([chunk.weight for chunk in own])
        X = [usual(chunk.X) for chunk in own]
        return Part(ChunkRows(X), y, weight, self.loss)

    def kept(self, facts: Facts) -> int:
        """How many rows of a chunk have weight."""
        own = facts.counts
        if self.classes is not None:
            own = own[np.isin(facts.labels, self.classes)]
        return int(own.sum())


class Steps(NamedTuple):
    """λ by bins, which may be millions, of which few rows use few."""

    values: Floats
    lengths: Indices

    @classmethod
    def of(cls, density: Floats) -> "Steps":
        """Each unused bin is counted to the one below it, where a row lies by rounding.

        Examples
        --------
        >>> Steps.of(np.array([0.0, 0.0, 2.0, 0.0, 0.0, 3.0])).values
        array([0., 2., 3.])
        """
        starts = np.union1d([0], np.flatnonzero(density))
        lengths = np.diff(np.append(starts, len(density)))
        return cls(density[starts], lengths)

    def by_bin(self) -> Floats:
        """Of each bin."""
        return np.repeat(self.values, self.lengths)


class Weighing:
    """How rows get their λ: what a part is told.

    Parameters
    ----------
    recipe : Recipe
    calls : Told
    """

    def __init__(self, recipe: Recipe, calls: Told) -> None:
        self._recipe, self._calls = recipe, calls

    def __call__(self, chunk: Chunk, start: int) -> Floats:
        """λ of the given rows of a chunk, the first of which has this place."""
        own, kept = self._recipe.prepared(chunk)
        rows = ArrayRows(usual(own.X))
        part = Part(rows, usual(own.y), usual(own.weight), self._recipe.loss)
        for method, arguments in of_rows(self._calls, start, start + part.n):
            told = (a.by_bin() if isinstance(a, Steps) else a for a in arguments)
            getattr(part, method)(*told)
        weights = np.zeros(len(kept))
        weights[kept] = part.weights
        return weights


def usual(value: Any) -> Any:
    """An array as NumPy makes them: aligned, and to be written to.

    Those from a network lie anywhere. For them loops would be compiled once more, and
    other loops give other bits.
    """
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=["ALIGNED", "WRITEABLE"])
    return value


class ChunkRows:
    """Rows of several arrays, one after another; nothing is copied.

    Parameters
    ----------
    arrays : sequence of arrays of shape (n_i, d)
    """

    def __init__(self, arrays: Sequence[AnyArray]) -> None:
        self._arrays = [ArrayRows(X) for X in arrays]
        self._starts = [0, *itertools.accumulate(len(X) for X in arrays)]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._starts[-1], self._arrays[0].shape[1]

    def blocks(self, every: int = 1) -> Iterator[Block]:
        """All rows, or a share of them from the front of each block."""
        for start, rows in zip(self._starts, self._arrays, strict=False):
            for block in rows.blocks(every):
                yield Block(start + block.start, start + block.stop, block.X)

    def some(self, ids: Indices) -> Floats:
        """Rows by their places, ascending."""
        found = np.empty((len(ids), self.shape[1]))
        ends = np.searchsorted(ids, self._starts)
        for k in np.flatnonzero(np.diff(ends)).tolist():  # few of very many arrays
            own = slice(ends[k], ends[k + 1])
            found[own] = self._arrays[k].some(ids[own] - self._starts[k])
        return found

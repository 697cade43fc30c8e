"""A second opinion that shares nothing with kernels: a forest's out-of-bag medians."""

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from ..._jit import jit
from ..._typing import Bools, Floats
from .._robust.scales import half_scale, shortest_half
from .constants import CONSTANTS as C


class MedianForest:
    """Medians of y over the leaves a row falls into, in trees that did not see the row.

    Two rounds: the second leaves out what the first misfits grossly. Splits are chosen
    with y held near its shortest half, medians are taken of y itself.
    """

    def __init__(self, X: Floats, y: Floats, seed: int) -> None:
        low, high = shortest_half(y)
        middle, reach = 0.5 * (low + high), 1.5 * (high - low)
        self._y = y
        kept = np.ones(len(y), dtype=bool)
        held = np.clip(y, middle - reach, middle + reach)
        for round_, trees in enumerate(C.trees):
            self._grow(X, held, kept, trees, seed + round_)
            self.residuals = y - self._medians(X, own=True)
            shifted = self.residuals - np.median(self.residuals)
            kept = np.abs(shifted) <= C.gross_misfit * max(half_scale(shifted), 1e-300)

    def predict(self, X: Floats) -> Floats:
        """Medians for new rows, over all trees."""
        return self._medians(X, own=False)

    def _grow(
        self, X: Floats, held: Floats, kept: Bools, trees: int, seed: int
    ) -> None:
        self._forest = RandomForestRegressor(
            trees,
            min_samples_leaf=C.leaf_rows,
            max_features=C.column_share,
            random_state=seed,
        )
        self._forest.fit(X[kept], held[kept])
        index = np.flatnonzero(kept)
        self._counts = np.array(
            [
                np.bincount(index[drawn], minlength=len(held))
                for drawn in self._forest.estimators_samples_
            ],
            dtype=np.int32,
        )
        self._order = np.argsort(self._y, kind="stable")
        self._leaves = self._forest.apply(X).astype(np.int32)

    def _medians(self, X: Floats, own: bool) -> Floats:
        leaves = self._leaves if own else self._forest.apply(X).astype(np.int32)
        return np.asarray(
            _leaf_medians(
                np.ascontiguousarray(leaves),
                np.ascontiguousarray(self._leaves[self._order].T),
                np.ascontiguousarray(self._counts[:, self._order]),
                self._counts if own else self._counts[:, :0],
                self._y[self._order],
            )
        )


@jit(fastmath=False)
def _leaf_medians(leaves: Any, known: Any, counts: Any, own: Any, y: Any) -> Any:
    """Weighted medians of y (ascending) over leaves.

    leaves (r, T): of the rows asked for. known (T, n), counts (T, n): leaf and in-bag
    count of every row, in the order of y. own (T, r): in-bag counts of the rows asked
    for, whose trees do not count; empty for new rows. In a tree rows of a leaf share
    weight one.
    """
    rows, trees = leaves.shape
    n = len(y)
    most = 0
    for t in range(trees):
        for j in range(n):
            most = max(most, known[t, j])
    for i in range(rows):
        for t in range(trees):
            most = max(most, leaves[i, t])
    starts = np.zeros((trees, most + 2), dtype=np.int32)
    members = np.empty((trees, n), dtype=np.int32)
    for t in range(trees):
        for j in range(n):
            starts[t, known[t, j] + 1] += 1
        for leaf in range(most + 1):
            starts[t, leaf + 1] += starts[t, leaf]
        fill = starts[t].copy()
        for j in range(n):
            members[t, fill[known[t, j]]] = j
            fill[known[t, j]] += 1
    weight = np.zeros(n)
    out = np.empty(rows)
    for i in range(rows):
        weight[:] = 0.0
        total = 0.0
        for t in range(trees):
            if own.shape[1] > 0 and own[t, i] > 0:
                continue
            first, last = starts[t, leaves[i, t]], starts[t, leaves[i, t] + 1]
            in_leaf = 0
            for k in range(first, last):
                in_leaf += counts[t, members[t, k]]
            if in_leaf == 0:
                continue
            for k in range(first, last):
                j = members[t, k]
                weight[j] += counts[t, j] / in_leaf
            total += 1.0
        seen = 0.0
        j = 0
        while j < n - 1 and seen + weight[j] < 0.5 * total:
            seen += weight[j]
            j += 1
        out[i] = y[j] if total > 0.0 else y[n // 2]
    return out

"""Arrays as users pass them: what is masked is missing, and sizes have limits.

Fits form products of what they are given, and beyond some size these overflow, or
vanish, and a fit is constant or ruined without a word. Rescaling inside would have to
rescale the penalty, the width of a kernel and the losses too, and these are stated in
the user's units. So such numbers are refused, in one place, before anything is done.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._params import refused
from ._typing import AnyArray, Floats

#: Largest size of a feature or of a sample weight, and of a target; one over them is
#: the least size of the largest of a column. The largest products that fits form, the
#: squares x⁴ of kernel values and x²y² of gradients, then stay within 2⁶⁴⁰ and 2¹⁰⁰⁰,
#: which leaves room for the sums; floats end at 2¹⁰²⁴ and 2⁻¹⁰²².
FEATURE, TARGET = 2.0**160, 2.0**340
#: Entries that stay in a core's cache until both of their ends are found: 512 kB.
PIECE = 1 << 16
#: Rows that are looked at first: nearly always they show that no column is too small.
FIRST_ROWS = 64


def unmasked(values: Any) -> Any:
    """The values, those behind the mask of a `numpy.ma` array as NaN (dates as NaT).

    Anything else, and an array that masks nothing, is returned as it is.
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.any(np.ma.getmaskarray(values)):
        return np.asarray(values)
    kind = values.dtype.kind
    if kind in "mM":
        return values.filled(values.dtype.type("NaT"))
    if kind in "iu":
        values = values.astype(np.float64)
    elif kind != "f":
        values = values.astype(object)
    return values.filled(np.nan)


def check_features(
    owner: object,
    name: str,
    X: Any,
    *,
    fitted: bool = False,
    names: Any = None,
    largest: float | None = None,
) -> None:
    """Refuse features that are too large, or columns that are too small, to fit.

    Parameters
    ----------
    owner : object or str
        Who refuses.
    name : str
        What the table is called there.
    X : array or sparse array of shape (n, d)
        What is not of floats passes, and so do NaN.
    fitted : bool, default=False
        Whether X meets a model that is fitted already, which a small column cannot
        spoil.
    names : sequence of d str or None
        Names of the columns.
    largest : float or None
        `largest_size` of X, where that is known.
    """
    if X.dtype.kind != "f" or X.size == 0:
        return
    if largest is None:
        largest = largest_size(X)
    if largest > FEATURE:
        sizes = column_sizes(X)
        j = int(np.argmax(sizes))
        rule, remedy = f"at most {FEATURE:.2g} in size", "rescale that column"
        seen = f"{sizes[j]:.3g} in {_column(j, names)}"
        raise ValueError(refused(owner, name, rule, seen, remedy))
    if fitted:
        return
    few = X[: min(FIRST_ROWS, X.shape[0])]
    sizes = column_sizes(few)
    if np.any(sizes < 1.0 / FEATURE):
        sizes = column_sizes(X)
    small = np.flatnonzero((sizes > 0.0) & (sizes < 1.0 / FEATURE))
    if small.size:
        j = int(small[0])
        rule = f"at least {1.0 / FEATURE:.2g} in size somewhere in every column, or 0"
        seen = f"at most {sizes[j]:.3g} in {_column(j, names)}"
        remedy = "rescale that column or leave it out"
        raise ValueError(refused(owner, name, rule, seen, remedy))


def check_typical_size(
    owner: object, name: str, values: Floats, limit: float = FEATURE
) -> None:
    """Refuse a column half of whose entries are too large, or all of them too small.

    For columns that will be scaled by robust measures: a single absurd entry of theirs
    is to be found, not refused. NaN and zeros do not count.
    """
    sizes = np.abs(values[~np.isnan(values)])
    sizes = sizes[sizes > 0.0]
    if sizes.size == 0:
        return
    with np.errstate(over="ignore"):  # of the mean of both in the middle
        middle = float(np.median(sizes))
    if middle > limit:
        rule = f"at most {limit:.2g} in size"
        raise ValueError(refused(owner, name, rule, middle, "rescale it"))
    if (most := float(sizes.max())) < 1.0 / limit:
        rule = f"at least {1.0 / limit:.2g} in size somewhere"
        raise ValueError(refused(owner, name, rule, most, "rescale it"))


def check_targets(
    owner: object, name: str, y: AnyArray, *, fitted: bool = False
) -> None:
    """Refuse finite targets that are too large, or all too small, to fit."""
    _check_size(owner, name, y, TARGET, fitted=fitted)


def check_weights(owner: object, name: str, weights: AnyArray) -> None:
    """Refuse finite sample weights that are too large, or all too small."""
    _check_size(owner, name, weights, FEATURE, fitted=False)


def _check_size(
    owner: object, name: str, values: AnyArray, limit: float, *, fitted: bool
) -> None:
    if values.dtype.kind != "f" or values.size == 0:
        return
    size = largest_size(values)
    if size > limit:
        rule = f"at most {limit:.2g} in size"
        raise ValueError(refused(owner, name, rule, size, "rescale it"))
    if not fitted and 0.0 < size < 1.0 / limit:
        rule = f"at least {1.0 / limit:.2g} in size somewhere, or 0 throughout"
        raise ValueError(refused(owner, name, rule, size, "rescale it"))


def largest_size(values: Any) -> float:
    """Size of the largest entry, in one pass and without a copy; NaN if one is NaN."""
    entries = values.data if _sparse(values) else values
    if entries.size == 0:
        return 0.0
    if entries.flags.c_contiguous or entries.flags.f_contiguous:
        flat = entries.reshape(-1, order="A")
        pieces = [flat[i : i + PIECE] for i in range(0, flat.size, PIECE)]
    else:
        pieces = [entries]
    return float(np.max([(piece.max(), -piece.min()) for piece in pieces]))


def column_sizes(X: Any) -> Floats:
    """Size of the largest entry of each column, without a copy of X."""
    if not _sparse(X):
        return np.asarray(np.maximum(X.max(axis=0), -X.min(axis=0)), dtype=np.float64)
    sizes = np.zeros(X.shape[1])
    np.maximum.at(sizes, X.indices, np.abs(X.data))
    return sizes


def _sparse(X: Any) -> bool:
    return bool(sp.issparse(X))


def _column(j: int, names: Any) -> str:
    return f"column {j}" if names is None else f"column {names[j]!r}"

"""Rows as judges use them, and what the user says of them.

Groups, labels known to be right, and class probabilities.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._params import refused
from .._typing import AnyArray, Bools, Floats, Indices
from .._validation import validate_data

#: Typical size of features beside targets up to which their products are numbers, and
#: of features whose robust scales are.
LARGEST, LARGEST_ALONE = 2.0**500, 2.0**600
#: How many times as large single entries may be; farther ones are held there. Those of
#: features beside targets can be squared.
HELD = 2.0**5

#: Entries of a sparse table that is made dense, at most: 400 MB, of which some copies
#: are made. Half or twice as many change nothing else.
DENSE = 50_000_000
#: By how much the probabilities of a row may miss one: those of 32 bits, or printed.
ROUNDING = 1e-3


def check_groups(owner: object, groups: Any, n_rows: int) -> Indices | None:
    """Number of each row's group, shape (n_rows,); None stays None."""
    if groups is None:
        return None
    names, remedy = np.asarray(groups), "pass the name of a group for each row"
    if names.shape != (n_rows,):
        rule = f"of shape ({n_rows},)"
        raise ValueError(refused(owner, "groups", rule, names.shape, remedy))
    missing = np.array([_is_missing(name) for name in names.tolist()])
    if missing.any():
        rule, remedy = "known for every row", "give rows of no group one of their own"
        raise ValueError(refused(owner, "groups", rule, names[missing][0], remedy))
    try:
        return np.unique(names, return_inverse=True)[1]
    except TypeError:
        kinds = sorted({type(name).__name__ for name in names.tolist()})
        rule, remedy = "names of one type", "pass all as text, or all as numbers"
        raise ValueError(refused(owner, "groups", rule, kinds, remedy)) from None


def _is_missing(name: Any) -> bool:
    """None, NaN, and what pandas writes for them, which is not even equal to itself."""
    return name is None or type(name).__name__ == "NAType" or bool(name != name)


def check_trusted(owner: object, trusted: Any, n_rows: int) -> Bools:
    """Which labels are known to be right, shape (n_rows,); None means no label."""
    if trusted is None:
        return np.zeros(n_rows, dtype=bool)
    mask, remedy = np.asarray(trusted), "pass True for labels known to be right"
    if mask.dtype != bool or mask.shape != (n_rows,):
        rule, seen = (
            f"a boolean mask of shape ({n_rows},)",
            f"{mask.dtype} {mask.shape}",
        )
        raise ValueError(refused(owner, "trusted", rule, seen, remedy))
    return mask


def check_probabilities(
    owner: object,
    p: Any,
    n_rows: int,
    classes: AnyArray,
    name: str = "probabilities",
) -> Floats:
    """Probabilities of the classes, shape (n_rows, K), of which every row sums to one.

    Columns of a data frame are taken by their names; those without names, numbered from
    0 on, in the order of the classes, as columns of an array are.

    Raises
    ------
    ValueError
        If the shape is another, names are not those of the classes, or a row is not one
        of probabilities.
    """
    columns = getattr(p, "columns", None)
    p = np.asarray(p)
    shape = (n_rows, len(classes))
    if p.shape != shape:
        rule = f"of shape {shape}"
        remedy = f"pass a row for each of X and a column for each of {classes.tolist()}"
        raise ValueError(refused(owner, name, rule, p.shape, remedy))
    if columns is not None:
        p = p[:, _order_of(owner, name, list(columns), classes.tolist())]
    try:
        p = p.astype(np.float64)
    except (TypeError, ValueError):
        remedy = "pass what predict_proba gives"
        raise ValueError(refused(owner, name, "numbers", p.flat[0], remedy)) from None
    outside = ~((p >= 0.0) & (p <= 1.0 + ROUNDING))  # NaN, too
    if outside.any():
        rule, remedy = "within 0 and 1", "pass what predict_proba gives, not scores"
        raise ValueError(refused(owner, name, rule, p[outside][0], remedy))
    total = p.sum(axis=1)
    off = np.flatnonzero(np.abs(total - 1.0) > ROUNDING)
    if off.size:
        rule, remedy = "rows that sum to 1", "divide every row by its sum"
        seen = f"{total[off[0]]:.6g} in row {off[0]}"
        raise ValueError(refused(owner, name, rule, seen, remedy))
    return np.asarray(p / total[:, None])


def _order_of(
    owner: object, name: str, columns: list[Any], classes: list[Any]
) -> list[int]:
    """Places of the classes among columns named as they are, or not named at all."""
    given = [_written(column) for column in columns]
    wanted = [_written(one) for one in classes]
    if sorted(given) == sorted(wanted):
        return [given.index(one) for one in wanted]
    numbered = list(range(len(classes)))
    if columns == numbered:
        return numbered
    rule = f"in columns named as the classes, {classes[:8]}"
    remedy = "rename them, or pass an array in this order"
    raise ValueError(refused(owner, name, rule, columns[:8], remedy))


def _written(value: Any) -> str:
    """A class as text: 1, 1.0 and "1" are one."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value)


def dense(owner: object, X: Any) -> Any:
    """X, no longer sparse: columns are centred, and trees and kernels need all."""
    sparse: Any = X
    if not sp.issparse(X):
        return X
    if sparse.shape[0] * sparse.shape[1] > DENSE:
        rule = f"dense, or sparse with at most {DENSE:,} entries, zeros included"
        remedy = "reduce its columns first, by TruncatedSVD(100), say"
        raise ValueError(refused(owner, "X", rule, sparse.shape, remedy))
    return sparse.toarray()


def rows_of_any_size(
    owner: Any, X: Any, *y: Any, reset: bool = True, numeric: bool = False
) -> Any:
    """X, and y if given, as judges use them: dense, of 64 bits.

    Single entries may be of any size, for they are to be found; absurd ones are held.
    `numeric` targets are of 64 bits, too.
    """
    largest = LARGEST if numeric else LARGEST_ALONE
    checks: Any = {"dtype": np.float64, "reset": reset, "absurd": largest}
    if not y:
        return _held(validate_data(owner, dense(owner, X), **checks), largest)
    (target,) = y
    if numeric:
        target, checks["y_numeric"] = _numbers(owner, target), True
    X, target = validate_data(owner, dense(owner, X), target, **checks)
    if numeric:
        target = _held(np.asarray(target, dtype=np.float64), largest)
    return _held(X, largest), target


def _held(values: Floats, largest: float) -> Floats:
    """Values as they are, but for single ones of absurd size; no copy of others."""
    end = HELD * largest
    if max(values.max(), -values.min()) <= end:
        return values
    return np.clip(values, -end, end)


def _numbers(owner: Any, y: Any) -> Any:
    """The targets; text and dates are refused, missing values of objects are NaN."""
    kind, remedy = np.asarray(y).dtype.kind, "pass numbers, or use a classifier"
    if kind == "O":
        try:
            return np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            kind = "U"
    if kind in "USmM":
        first = np.ravel(np.asarray(y))[0]
        raise ValueError(refused(owner, "y", "numbers", first, remedy))
    return y

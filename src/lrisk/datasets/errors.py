"""Wrong rows that look plausible: leverage, second populations, unit errors.

Harder than the papers' corruptions, because the rows agree with each other or are wrong
in a single column. The conventions are those of `lrisk.datasets.corruption`.
"""

from typing import Any, Literal

import numpy as np

from .._params import check_real, refused
from .._typing import AnyArray, Bools, Floats, Indices
from .corruption import (
    Corrupted,
    RandomState,
    checked_table,
    drawn,
    mask_of,
    spoiled_rows,
)


def add_leverage_cluster(
    X: Any,
    y: Any,
    *,
    fraction: float,
    distance: float = 8.0,
    spread: float = 0.3,
    height: float = 8.0,
    classification: bool = False,
    random_state: RandomState = None,
) -> Corrupted:
    """Move rows together far out, on the wrong side of the linear trend.

    The rows go to one place, `distance` standard deviations from the mean in a random
    direction, with a little spread. Their targets lie `height` standard deviations from
    the mean on the side opposite to where the least-squares line of the clean rows goes
    (regression), or are the class which that fit holds for the least likely
    (classification). One such cluster turns an ordinary linear fit round.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features, which are not changed in place.
    y : array of shape (n_samples,)
        Targets or classes of the rows.
    fraction : float in [0, 1]
        Share of the rows to move. At least one row stays.
    distance : float ≥ 0, default=8.0
        How far from the mean they go, in standard deviations of the columns.
    spread : float ≥ 0, default=0.3
        Standard deviation within the cluster, in those of the columns (and of y).
    height : float ≥ 0, default=8.0
        How far off the trend their targets lie, in standard deviations of y; not used
        for classes.
    classification : bool, default=False
        Whether y holds classes.
    random_state : int, Generator, RandomState or None, default=None
        Decides which rows move, and in which direction.

    Returns
    -------
    Corrupted
        The rows, and a mask of those that were moved.

    See Also
    --------
    add_second_population : Wrong rows that follow a relation of their own.
    corrupt_rows : Gross errors that do not lie together.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from lrisk.datasets import add_leverage_cluster, make_hidden_group
    >>> X, y, _ = make_hidden_group(200, fraction=0.0, random_state=0)
    >>> bad = add_leverage_cluster(X, y, fraction=0.2, random_state=0)
    >>> LinearRegression().fit(bad.X, bad.y).score(X, y) < 0.5
    True
    """
    owner = "add_leverage_cluster"
    _check_sizes(owner, distance=distance, spread=spread, height=height)
    X, y, rows, rng = spoiled_rows(
        owner, X, y, fraction, random_state, numeric=not classification
    )
    mask, d = mask_of(rows, len(y)), X.shape[1]
    if mask.all():
        rule, remedy = "below 1", "some clean rows must stay to have a trend"
        raise ValueError(refused(owner, "fraction", rule, fraction, remedy))
    mean, sd = X.mean(axis=0), X.std(axis=0)
    Z = (X - mean) / np.where(sd > 0, sd, 1.0)
    direction = rng.standard_normal(d)
    place = distance * direction / np.linalg.norm(direction)
    X[rows] = mean + sd * (place + spread * rng.standard_normal((len(rows), d)))
    if classification:
        classes = np.unique(y)
        indicators = (y[:, None] == classes).astype(np.float64)
        y[rows] = classes[_line_at(Z[~mask], indicators[~mask], place).argmin()]
    else:
        centre, scale = y.mean(), y.std()
        trend = _line_at(Z[~mask], (y - centre)[~mask, None], place)[0]
        side = 1.0 if trend < 0 else -1.0
        y[rows] = centre + scale * (
            side * height + spread * rng.standard_normal(len(rows))
        )
    return Corrupted(X, y, mask)


def add_second_population(
    X: Any,
    y: Any,
    *,
    fraction: float,
    slope: float = -2.0,
    offset: float = 3.0,
    shift: float = 2.0,
    random_state: RandomState = None,
) -> Corrupted:
    """Replace rows by another population: another relation, features partly elsewhere.

    With z the standardised target, the rows' target becomes slope·z + offset (in
    standard deviations of y) and their first column moves by `shift` standard
    deviations. Such rows are themselves predictable, so they look like structure.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features, which are not changed in place.
    y : array of shape (n_samples,)
        Targets of the rows.
    fraction : float in [0, 1]
        Share of the rows to replace.
    slope : float, default=-2.0
        How the new targets grow with the old ones, both standardised.
    offset : float, default=3.0
        What is added to the new targets, in standard deviations of y.
    shift : float, default=2.0
        How far the first column moves, in its standard deviations.
    random_state : int, Generator, RandomState or None, default=None
        Decides which rows are replaced.

    Returns
    -------
    Corrupted
        The rows, and a mask of those that were replaced.

    See Also
    --------
    add_leverage_cluster : Wrong rows that lie together, far out.
    make_hidden_group : A small group that is different but right.

    Examples
    --------
    >>> from lrisk.datasets import add_second_population, make_hidden_group
    >>> X, y, _ = make_hidden_group(200, random_state=0)
    >>> bad = add_second_population(X, y, fraction=0.2, random_state=0)
    >>> bool(bad.y[bad.mask].mean() > y.mean() + 2 * y.std())
    True
    """
    owner = "add_second_population"
    for name, value in (("slope", slope), ("offset", offset), ("shift", shift)):
        check_real(owner, name, value, remedy="pass a number of standard deviations")
    X, y, rows, _ = spoiled_rows(owner, X, y, fraction, random_state)
    centre, scale = y.mean(), y.std()
    y[rows] = centre + slope * (y[rows] - centre) + offset * scale
    X[rows, 0] += shift * X[:, 0].std()
    return Corrupted(X, y, mask_of(rows, len(y)))


def corrupt_units(
    X: Any,
    y: Any,
    *,
    fraction: float,
    factor: float = 10.0,
    column: int | Literal["random", "target"] = "random",
    random_state: RandomState = None,
) -> Corrupted:
    """Write one column in the wrong unit: metres as decimetres, euros as cents.

    Entries that are zero are the same in every unit, so the rows are drawn among those
    with another value.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features, which are not changed in place.
    y : array of shape (n_samples,)
        Targets of the rows.
    fraction : float in [0, 1]
        Share of all rows.
    factor : float, default=10.0
        What the entries are multiplied by, for example 10 or 1000.
    column : int, "random" or "target", default="random"
        A column of X; by default one with enough entries other than zero that is not
        constant.
    random_state : int, Generator, RandomState or None, default=None
        Decides which rows and, if it is not given, which column.

    Returns
    -------
    Corrupted
        ``columns`` holds the one column; ``n_features`` for the target.

    See Also
    --------
    swap_columns : Another slip of data entry.
    corrupt_rows : All columns of a row wrong at once.

    Examples
    --------
    >>> from lrisk.datasets import corrupt_units, make_hidden_group
    >>> X, y, _ = make_hidden_group(200, random_state=0)
    >>> bad = corrupt_units(X, y, fraction=0.1, factor=1000, random_state=0)
    >>> j = bad.columns[0]
    >>> bool((bad.X[bad.mask, j] == 1000 * X[bad.mask, j]).all())
    True
    """
    owner = "corrupt_units"
    check_real(owner, "factor", factor, remedy="1 changes nothing")
    numeric = column == "target"
    X, y, rng = checked_table(owner, X, y, fraction, random_state, numeric=numeric)
    count = round(fraction * len(y))
    if column == "target":
        chosen, values = X.shape[1], y
    else:
        usable = (X != 0).sum(axis=0) >= count
        chosen = _column(owner, column, usable & (np.ptp(X, axis=0) > 0), rng)
        values = X[:, chosen]
    rows = _rows_among(owner, values != 0, count, fraction, rng)
    values[rows] *= factor
    return Corrupted(X, y, mask_of(rows, len(y)), (chosen,))


def swap_columns(
    X: Any,
    y: Any,
    *,
    fraction: float,
    columns: tuple[int, int] | None = None,
    random_state: RandomState = None,
) -> Corrupted:
    """Exchange two features in some rows, as after a shifted cell in a spreadsheet.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        At least two columns.
    y : array of shape (n_samples,)
        Targets of the rows; they stay as they are.
    fraction : float in [0, 1]
        Share of all rows; drawn among those where the two entries differ.
    columns : tuple of two int or None, default=None
        None draws two columns that differ in enough rows.
    random_state : int, Generator, RandomState or None, default=None
        Decides which rows and, if they are not given, which columns.

    Returns
    -------
    Corrupted
        ``columns`` holds both.

    See Also
    --------
    corrupt_units : Another slip of data entry.
    corrupt_features : Noise in every feature of the chosen rows.

    Examples
    --------
    >>> from lrisk.datasets import make_hidden_group, swap_columns
    >>> X, y, _ = make_hidden_group(200, random_state=0)
    >>> bad = swap_columns(X, y, fraction=0.1, columns=(0, 3), random_state=0)
    >>> bool((bad.X[bad.mask, 0] == X[bad.mask, 3]).all())
    True
    """
    owner = "swap_columns"
    X, y, rng = checked_table(owner, X, y, fraction, random_state, numeric=False)
    count, d = round(fraction * len(y)), X.shape[1]
    if columns is None:
        columns = _differing_columns(owner, X, max(count, 1), rng)
    everything: Bools = np.ones(d, dtype=bool)
    j, k = (_column(owner, one, everything, rng) for one in columns)
    if j == k:
        rule, remedy = "two different columns", "a column swapped with itself stays"
        raise ValueError(refused(owner, "columns", rule, (j, k), remedy))
    rows = _rows_among(owner, X[:, j] != X[:, k], count, fraction, rng)
    X[rows, j], X[rows, k] = X[rows, k], X[rows, j]
    return Corrupted(X, y, mask_of(rows, len(y)), (j, k))


def _check_sizes(owner: str, **sizes: float) -> None:
    for name, value in sizes.items():
        check_real(owner, name, value, low=0, remedy="pass standard deviations")


def _line_at(Z: Floats, targets: Floats, place: Floats) -> Floats:
    """What the least-squares line with intercept says at one place; one per target."""
    design = np.column_stack([np.ones(len(Z)), Z])
    coefficients = np.linalg.lstsq(design, targets, rcond=None)[0]
    answer: Floats = np.concatenate([[1.0], place]) @ coefficients
    return answer


def _column(owner: str, column: Any, usable: Bools, rng: np.random.Generator) -> int:
    d = len(usable)
    if column == "random":
        if not usable.any():
            rule, remedy = "of a column that varies", "lower fraction or name a column"
            raise ValueError(refused(owner, "X", rule, f"{d} columns", remedy))
        return int(rng.choice(np.flatnonzero(usable)))
    whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if not whole or not 0 <= column < d:
        rule, remedy = f"a column from 0 to {d - 1}", "count from zero"
        raise ValueError(refused(owner, "column", rule, column, remedy))
    return int(column)


def _differing_columns(
    owner: str, X: Floats, count: int, rng: np.random.Generator
) -> tuple[int, int]:
    """Two columns that differ in enough rows; pairs are drawn, never listed."""
    for j in rng.permutation(X.shape[1]):
        differing = np.count_nonzero(X[:, j, None] != X, axis=0) >= count
        if differing.any():
            k = int(rng.choice(np.flatnonzero(differing)))
            return min(int(j), k), max(int(j), k)
    rule, remedy = "of at least two columns that differ", "add another column"
    raise ValueError(refused(owner, "X", rule, f"shape {X.shape}", remedy))


def _rows_among(
    owner: str, able: AnyArray, count: int, fraction: float, rng: np.random.Generator
) -> Indices:
    among = np.flatnonzero(able)
    if len(among) < count:
        rule = f"at most {len(among) / len(able):g}, the share of rows it would change"
        raise ValueError(refused(owner, "fraction", rule, fraction, "lower it"))
    return drawn(rng, among, count)

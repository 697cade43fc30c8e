"""Wrong rows on purpose: the corruptions of the robust-learning papers.

Every function takes clean rows, spoils a `fraction` of them and returns a `Corrupted`
with new arrays and the mask of the spoiled rows, so that a robust fit can be judged
against the truth. The given arrays stay as they are.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import check_X_y

from .._arrays import unmasked
from .._params import check_choice, check_real, refused
from .._typing import AnyArray, Bools, Floats, Indices
from .._validation import generator

RandomState = int | np.random.Generator | np.random.RandomState | None


class Corrupted(NamedTuple):
    """Rows of which some were made wrong, and which ones.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The features, in the wrong rows as the corruption left them.
    y : array of shape (n_samples,)
        The targets or classes, likewise.
    mask : array of bool of shape (n_samples,)
        True where a row was corrupted.
    columns : tuple of int, default=()
        Which columns of the table [X, y] are wrong in those rows, where the corruption
        is one of columns; ``n_features`` is the target. Otherwise empty.

    See Also
    --------
    corrupt_labels : Wrong targets, whatever the features say.
    corrupt_features : Noise in the features.
    corrupt_rows : Gross errors in whole rows.

    Examples
    --------
    >>> from lrisk.datasets import corrupt_labels, make_hidden_group
    >>> X, y, _ = make_hidden_group(50, random_state=0)
    >>> bad = corrupt_labels(X, y, fraction=0.1, random_state=0)
    >>> bad.X.shape, bad.y.shape, int(bad.mask.sum())
    ((50, 5), (50,), 5)
    """

    X: Floats
    y: AnyArray
    mask: Bools
    columns: tuple[int, ...] = ()


def corrupt_labels(
    X: Any,
    y: Any,
    *,
    fraction: float,
    mean: float = 5.0,
    sd: float = 5.0,
    random_state: RandomState = None,
) -> Corrupted:
    """Draw some targets anew from N(mean, sd²), whatever the features say.

    The label noise of the subquantile paper (its tables 1 and 2) has mean 5 and
    standard deviation 5 on a target standardised to mean 0 and standard deviation 1:
    standardise y first, or pass `mean` and `sd` in its units.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features; they stay as they are.
    y : array of shape (n_samples,)
        Targets, which are not changed in place.
    fraction : float in [0, 1]
        Share of the rows; ``round(fraction * n_samples)`` of them.
    mean : float, default=5.0
        Mean of the new targets, in units of y.
    sd : float ≥ 0, default=5.0
        Standard deviation of the new targets, in units of y.
    random_state : int, Generator, RandomState or None, default=None
        Decides which rows, and draws the new targets.

    Returns
    -------
    Corrupted
        The rows, and a mask of those with a new target.

    See Also
    --------
    corrupt_classes : The same for classes.
    corrupt_rows : Wrong features besides.

    Examples
    --------
    >>> from lrisk.datasets import corrupt_labels, make_hidden_group
    >>> X, y, _ = make_hidden_group(200, random_state=0)
    >>> bad = corrupt_labels(X, y, fraction=0.2, random_state=0)
    >>> int(bad.mask.sum()), bool((bad.y == y)[~bad.mask].all())
    (40, True)
    """
    owner = "corrupt_labels"
    check_real(owner, "mean", mean, remedy="pass the mean of the wrong targets")
    check_real(owner, "sd", sd, low=0, remedy="0 makes the wrong targets equal")
    X, y, rows, rng = spoiled_rows(owner, X, y, fraction, random_state)
    y[rows] = rng.normal(mean, sd, len(rows))
    return Corrupted(X, y, mask_of(rows, len(y)))


def corrupt_classes(
    X: Any, y: Any, *, fraction: float, random_state: RandomState = None
) -> Corrupted:
    """Relabel some rows with another class, drawn at random among the wrong ones.

    With two classes this is the flip of the subquantile paper's table 3, with more the
    random wrong label of its table 4.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features; they stay as they are.
    y : array of shape (n_samples,)
        Classes of any type, at least two.
    fraction : float in [0, 1]
        Share of the rows to relabel.
    random_state : int, Generator, RandomState or None, default=None
        Decides which rows, and which of the wrong classes.

    Returns
    -------
    Corrupted
        The rows, and a mask of those that were relabelled.

    See Also
    --------
    corrupt_labels : The same for numbers.
    lrisk.LabelErrorDetector : Finds such labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lrisk.datasets import corrupt_classes
    >>> X, y = load_iris(return_X_y=True)
    >>> bad = corrupt_classes(X, y, fraction=0.4, random_state=0)
    >>> bool(((bad.y != y) == bad.mask).all())
    True
    """
    owner = "corrupt_classes"
    X, y, rows, rng = spoiled_rows(owner, X, y, fraction, random_state, numeric=False)
    y[rows] = wrong_classes(owner, y, rows, rng)
    return Corrupted(X, y, mask_of(rows, len(y)))


def corrupt_rows(
    X: Any,
    y: Any,
    *,
    fraction: float,
    feature_factor: float = 100.0,
    target: Literal["scale", "flip", "keep"] = "scale",
    target_factor: float = 1e4,
    about: Literal["zero", "mean"] = "zero",
    random_state: RandomState = None,
) -> Corrupted:
    r"""Multiply features by 100 and targets by 10⁴: gross errors in whole rows.

    The label and feature noise of the subquantile paper,
    :math:`x \mapsto m + 100\,(x - m)`, :math:`y \mapsto 10^4 y`, with m = 0 as printed
    or the column means. The paper multiplies standardised data, for which both are the
    same; on raw data multiplying about zero also moves the rows away from all others.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features, which are not changed in place.
    y : array of shape (n_samples,)
        Targets or classes of the rows.
    fraction : float in [0, 1]
        Share of the rows to corrupt.
    feature_factor : float, default=100.0
        What the features are multiplied by.
    target : {"scale", "flip", "keep"}, default="scale"
        What happens to the target: multiplied by `target_factor`, another class (for
        classification, the paper's tables 3 and 4), or nothing.
    target_factor : float, default=1e4
        What the target is multiplied by, if it is scaled.
    about : {"zero", "mean"}, default="zero"
        The point m about which features are multiplied.
    random_state : int, Generator, RandomState or None, default=None
        Decides which rows, and which class a flipped one gets.

    Returns
    -------
    Corrupted
        The rows, and a mask of the corrupted ones.

    See Also
    --------
    corrupt_labels : Wrong targets beside right features.
    corrupt_features : Noise in the features instead of gross errors.
    corrupt_units : One column wrong, by a factor.

    Examples
    --------
    >>> from lrisk.datasets import corrupt_rows, make_hidden_group
    >>> X, y, _ = make_hidden_group(200, random_state=0)
    >>> bad = corrupt_rows(X, y, fraction=0.4, random_state=0)
    >>> bool((bad.X[bad.mask] == 100 * X[bad.mask]).all())
    True
    """
    owner = "corrupt_rows"
    check_choice(owner, "target", target, ("scale", "flip", "keep"))
    check_choice(owner, "about", about, ("zero", "mean"))
    check_real(owner, "feature_factor", feature_factor, remedy="1 keeps the features")
    check_real(owner, "target_factor", target_factor, remedy="1 keeps the target")
    X, y, rows, rng = spoiled_rows(
        owner, X, y, fraction, random_state, numeric=target == "scale"
    )
    middle = X.mean(axis=0) if about == "mean" else np.zeros(X.shape[1])
    X[rows] = middle + feature_factor * (X[rows] - middle)
    if target == "scale":
        y[rows] *= target_factor
    elif target == "flip":
        y[rows] = wrong_classes(owner, y, rows, rng)
    return Corrupted(X, y, mask_of(rows, len(y)))


def corrupt_features(
    X: Any,
    y: Any,
    *,
    fraction: float,
    distribution: Literal["gaussian", "laplace"] = "gaussian",
    scale: float = 5.0,
    random_state: RandomState = None,
) -> Corrupted:
    """Add noise to every feature of some rows.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features, which are not changed in place.
    y : array of shape (n_samples,)
        Targets; they stay as they are.
    fraction : float in [0, 1]
        Share of the rows; 1 gives measurement error in all of them.
    distribution : {"gaussian", "laplace"}, default="gaussian"
        Shape of the noise; Laplace noise has the heavier tails.
    scale : float ≥ 0, default=5.0
        Standard deviation of the noise, in standard deviations of the column.
    random_state : int, Generator, RandomState or None, default=None
        Decides which rows, and draws the noise.

    Returns
    -------
    Corrupted
        The rows, and a mask of those with noise.

    See Also
    --------
    corrupt_rows : Gross errors, not noise, in whole rows.
    lrisk.NoiseCorrectedRegressor : Allows for noise of known size in all rows.

    Examples
    --------
    >>> from lrisk.datasets import corrupt_features, make_hidden_group
    >>> X, y, _ = make_hidden_group(200, random_state=0)
    >>> bad = corrupt_features(
    ...     X, y, fraction=0.1, distribution="laplace", random_state=0
    ... )
    >>> bool(((bad.X != X).all(axis=1) == bad.mask).all())
    True
    """
    owner = "corrupt_features"
    check_choice(owner, "distribution", distribution, ("gaussian", "laplace"))
    check_real(owner, "scale", scale, low=0, remedy="0 adds nothing")
    X, y, rows, rng = spoiled_rows(owner, X, y, fraction, random_state, numeric=False)
    shape = (len(rows), X.shape[1])
    if distribution == "gaussian":
        noise = rng.standard_normal(shape)
    else:
        noise = rng.laplace(scale=np.sqrt(0.5), size=shape)  # standard deviation 1
    X[rows] += scale * X.std(axis=0) * noise
    return Corrupted(X, y, mask_of(rows, len(y)))


# -- what all corruptions share --------------------------------------------------------


def spoiled_rows(
    owner: str,
    X: Any,
    y: Any,
    fraction: float,
    random_state: RandomState,
    *,
    numeric: bool = True,
) -> tuple[Floats, AnyArray, Indices, np.random.Generator]:
    """Copies of the checked arrays, the rows to spoil, and the generator to go on with.

    With `numeric` y is returned in float64; otherwise in its own type.
    """
    X, y, rng = checked_table(owner, X, y, fraction, random_state, numeric=numeric)
    return X, y, drawn(rng, np.arange(len(y)), round(fraction * len(y))), rng


def checked_table(
    owner: str,
    X: Any,
    y: Any,
    fraction: float,
    random_state: RandomState,
    *,
    numeric: bool = True,
) -> tuple[Floats, AnyArray, np.random.Generator]:
    """Copies of the checked arrays, and a generator."""
    remedy = "pass a fraction of the rows"
    check_real(owner, "fraction", fraction, low=0, high=1, remedy=remedy)
    X, y = unmasked(X), unmasked(y)
    X, y = check_X_y(X, y, dtype=np.float64, copy=True, y_numeric=numeric)
    y = np.array(y, dtype=np.float64) if numeric else np.array(y)
    return X, y, generator(random_state)


def drawn(rng: np.random.Generator, among: AnyArray, count: int) -> Indices:
    """`count` of the given rows, drawn without replacement, in ascending order."""
    rows: Indices = np.sort(rng.choice(among, count, replace=False)).astype(np.int64)
    return rows


def mask_of(rows: Indices, n_rows: int) -> Bools:
    """Boolean mask of row numbers."""
    mask = np.zeros(n_rows, dtype=bool)
    mask[rows] = True
    return mask


def wrong_classes(
    owner: str, y: AnyArray, rows: Indices, rng: np.random.Generator
) -> AnyArray:
    """For each of the rows a class it does not have, each equally likely."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        rule, remedy = "of at least two classes", "a single class has no wrong one"
        raise ValueError(refused(owner, "y", rule, f"only {classes[0]!r}", remedy))
    steps = rng.integers(1, len(classes), len(rows))
    wrong: AnyArray = classes[(codes[rows] + steps) % len(classes)]
    return wrong

"""Synthetic data with a known story."""

import numpy as np

from .._params import check_count, check_real
from .._typing import Bools, Floats


def make_hidden_group(
    n_samples: int = 1000,
    n_features: int = 5,
    *,
    fraction: float = 0.1,
    shift: float = 2.0,
    noise: float = 0.5,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Floats, Floats, Bools]:
    """Make regression data in which a small group of rows follows a line of its own.

    An average fit serves the many and fails the few; a tail risk does not.

    Parameters
    ----------
    n_samples : int, default=1000
        Rows of the table.
    n_features : int, default=5
        Columns of the table.
    fraction : float in [0, 1], default=0.1
        Size of the group.
    shift : float, default=2.0
        How much its coefficients differ from the others'.
    noise : float ≥ 0, default=0.5
        Standard deviation of the noise in y.
    random_state : int, Generator or None, default=None
        Decides the draw; pass an int for the same data in every call.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The features.
    y : array of shape (n_samples,)
        The targets.
    group : array of bool of shape (n_samples,)
        Who belongs to the group.

    See Also
    --------
    make_awkward : Regression data with unusual noise and no group.
    add_second_population : Makes a second group in data of your own.
    lrisk.RiskRegressor : With a tail risk, a fit that cares for the group.

    Examples
    --------
    >>> from lrisk.datasets import make_hidden_group
    >>> X, y, group = make_hidden_group(200, random_state=0)
    >>> X.shape, int(group.sum())
    ((200, 5), 20)
    """
    check_count("make_hidden_group", "n_samples", n_samples)
    check_count("make_hidden_group", "n_features", n_features)
    remedy = "pass a fraction of the rows"
    check_real("make_hidden_group", "fraction", fraction, low=0, high=1, remedy=remedy)
    check_real("make_hidden_group", "noise", noise, low=0, remedy="0 means none")
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n_samples, n_features))
    common = rng.standard_normal(n_features)
    own = common + shift * rng.standard_normal(n_features) / np.sqrt(n_features)
    group = np.zeros(n_samples, dtype=bool)
    group[rng.permutation(n_samples)[: round(fraction * n_samples)]] = True
    y = np.where(group, X @ own, X @ common) + noise * rng.standard_normal(n_samples)
    return X, y, group

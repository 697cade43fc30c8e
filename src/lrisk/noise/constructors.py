"""Noises from what people have: replicates, reliabilities, privacy budgets."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from .._arrays import check_features, unmasked
from .._params import check_choice, check_real, refused
from .._typing import Floats
from .base import check_same_columns
from .models import GaussianNoise, KnownCovariance, LaplaceNoise


def from_replicates(
    X1: ArrayLike, X2: ArrayLike, *, gaussian: bool = False
) -> KnownCovariance:
    """Estimate the noise covariance from two independent copies of the same rows.

    Cov(x̃ − x̃′) = 2Σ, so Σ̂ is half the covariance of the differences.

    Parameters
    ----------
    X1, X2 : array-like of shape (n_samples, n_features)
        The rows as observed twice, with independent noise.
    gaussian : bool, default=False
        Also take the noise for Gaussian, which kernel models need.

    Returns
    -------
    KnownCovariance or GaussianNoise
        The noise of one copy, Gaussian if `gaussian` is true.

    See Also
    --------
    from_reliability : From published reliability ratios instead.
    Replicates : Uses the copies themselves, with no estimate between.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.noise import from_replicates
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(4000, 1))
    >>> X1, X2 = (x + 0.5 * rng.normal(size=x.shape) for _ in range(2))
    >>> float(from_replicates(X1, X2).cov[0, 0].round(2))
    0.25
    """
    check_same_columns("from_replicates", "X2", X1, X2)
    first, second = _table("X1", X1), _table("X2", X2)
    if first.shape != second.shape or len(first) < 2:
        rule = f"of the shape of X1, {first.shape}, with at least 2 rows"
        remedy = "pass two observations of the same rows"
        raise ValueError(refused("from_replicates", "X2", rule, second.shape, remedy))
    difference = first - second
    difference -= difference.mean(axis=0)
    cov = 0.5 * difference.T @ difference / (len(first) - 1)
    return GaussianNoise(cov) if gaussian else KnownCovariance(cov)


def from_reliability(
    ratio: ArrayLike, X: ArrayLike, *, gaussian: bool = False
) -> KnownCovariance:
    """Make a noise from reliability ratios Var(x)/Var(x̃), as test manuals give them.

    With the ratios r, Σ is diagonal with (1 − r) Var(x̃).

    Parameters
    ----------
    ratio : float or array of shape (n_features,)
        The ratios r in (0, 1]; 1 for a feature without noise.
    X : array-like of shape (n_samples, n_features)
        Noisy rows, from which Var(x̃) is taken.
    gaussian : bool, default=False
        Also take the noise for Gaussian, which kernel models need.

    Returns
    -------
    KnownCovariance or GaussianNoise
        The noise, Gaussian if `gaussian` is true.

    See Also
    --------
    from_replicates : From two copies of the rows instead.
    KnownCovariance : From variances or a covariance.

    Examples
    --------
    >>> from lrisk.noise import from_reliability
    >>> from_reliability([0.8, 1.0], [[0.0, 1.0], [2.0, 5.0]]).cov
    array([0.4, 0. ])
    """
    table = _table("X", X)
    if len(table) < 2:
        remedy = "pass more rows"
        raise ValueError(
            refused("from_reliability", "X", "of 2 rows or more", len(table), remedy)
        )
    r = np.asarray(ratio, dtype=np.float64)
    if r.ndim > 1 or (r.ndim == 1 and r.shape != (table.shape[1],)):
        rule = f"a number or of shape ({table.shape[1]},)"
        remedy = "give one ratio per feature"
        raise ValueError(refused("from_reliability", "ratio", rule, r.shape, remedy))
    if not np.all((r > 0) & (r <= 1)):
        rule, remedy = "in (0, 1]", "it is the share of variance that is signal"
        raise ValueError(refused("from_reliability", "ratio", rule, ratio, remedy))
    cov = (1.0 - r) * table.var(axis=0, ddof=1)
    return GaussianNoise(cov) if gaussian else KnownCovariance(cov)


def local_differential_privacy(
    mechanism: str,
    *,
    epsilon: float,
    delta: float = 0.0,
    sensitivity: float = 1.0,
) -> GaussianNoise | LaplaceNoise:
    """Make the noise that a locally private mechanism adds to each row.

    Parameters
    ----------
    mechanism : {"gaussian", "laplace"}
        Laplace: b = sensitivity/ε for (ε, 0)-privacy, sensitivity in the 1-norm.
        Gaussian: the smallest σ that gives (ε, δ)-privacy for the sensitivity in the
        2-norm, by the exact condition
        Φ(s/2σ − εσ/s) − e^ε Φ(−s/2σ − εσ/s) ≤ δ (Balle and Wang, 2018, theorem 8).
    epsilon : float > 0
        The privacy budget ε; the smaller, the more noise.
    delta : float in (0, 1) for "gaussian", 0 for "laplace", default=0.0
        The chance δ with which the promise may fail.
    sensitivity : float > 0, default=1.0
        Largest distance between two rows.

    Returns
    -------
    GaussianNoise or LaplaceNoise
        The noise, for ``NoiseCorrectedRegressor`` and its relatives.

    See Also
    --------
    LaplaceNoise, GaussianNoise : The same noises, from their size.

    Examples
    --------
    >>> from lrisk.noise import local_differential_privacy
    >>> local_differential_privacy("laplace", epsilon=2.0)
    LaplaceNoise(scale=0.5)
    """
    owner = "local_differential_privacy"
    check_choice(owner, "mechanism", mechanism, ("gaussian", "laplace"))
    for name, value in (("epsilon", epsilon), ("sensitivity", sensitivity)):
        check_real(owner, name, value, low=0, low_open=True, remedy="pass one above 0")
    if mechanism == "laplace":
        if delta != 0.0:
            rule, remedy = "0 for mechanism='laplace'", "leave it out"
            raise ValueError(refused(owner, "delta", rule, delta, remedy))
        return LaplaceNoise(sensitivity / epsilon)
    remedy = "1e-5 is a usual choice"
    check_real(
        owner, "delta", delta, low=0, high=1, low_open=True, high_open=True,
        remedy=remedy,
    )  # fmt: skip
    return GaussianNoise((sensitivity * _gaussian_multiplier(epsilon, delta)) ** 2)


def _gaussian_multiplier(epsilon: float, delta: float) -> float:
    """Smallest σ/sensitivity with (ε, δ)-privacy; the condition falls in σ."""

    def excess(sigma: float) -> float:
        upper = np.exp(log_ndtr(0.5 / sigma - epsilon * sigma))
        lower = np.exp(epsilon + log_ndtr(-0.5 / sigma - epsilon * sigma))
        return float(upper - lower - delta)

    low = high = 1.0
    while excess(high) > 0:
        high *= 2.0
    while excess(low) <= 0:
        low /= 2.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high


def _table(name: str, X: ArrayLike) -> Floats:
    table = np.asarray(unmasked(X), dtype=np.float64)
    if table.ndim != 2 or not np.all(np.isfinite(table)):
        rule, remedy = "a finite table of shape (n, d)", "pass numbers, no NaN"
        raise ValueError(refused("lrisk.noise", name, rule, table.shape, remedy))
    check_features("lrisk.noise", name, table, fitted=True)
    return table

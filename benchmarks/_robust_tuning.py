"""One search of alpha and gamma for all, so that ratios compare robustness only.

Regression: over `ALPHAS` (ridge) or `GAMMAS` × `KERNEL_ALPHAS` (kernel ridge; gamma in
units of 1/(2d), one over the mean squared distance of standardised rows). The ordinary
fit takes the least mean squared leave-one-out error, the oracle the same over its clean
rows. Methods that are told the number of wrong rows search the same grid with the
trimmed fit in three folds, and take the least mean of as many held-out errors as there
are right rows: leave-one-out errors of rows that were selected by their loss are too
low. Their penalties are those of a tenfold step (every second of the grid's), since
each costs three trimmed fits. Rivals that have an alpha or a gamma use what that search
finds.
Classification: likewise, with log-losses of three-fold cross-validation for all.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, StratifiedKFold

from lrisk import KernelRiskRegressor, RiskRegressor
from lrisk.spectra import Subquantile

ALPHAS = np.logspace(-3, 3, 13)
KERNEL_ALPHAS = np.logspace(-3, 1, 9)
GAMMAS = (0.1, 0.3, 1.0, 3.0)
CLASS_ALPHAS = (0.01, 0.1, 1.0, 10.0)
CLASS_GAMMAS = (0.1, 0.3, 1.0, 3.0)


class Tuned(NamedTuple):
    """The best parameters and their criterion."""

    alpha: float
    gamma: float | None
    value: float


def lowest_mean(losses: Any, wrong: int) -> float:
    """Mean without the `wrong` largest of all losses."""
    return float(np.mean(np.sort(losses)[: len(losses) - wrong]))


def base_gamma(X: Any) -> float:
    return 0.5 / X.shape[1]


def keeping(count: int, n: int) -> Subquantile:
    """The spectrum that keeps `count` of `n` rows."""
    return Subquantile(count / n)


# -- regression ------------------------------------------------------------------------


def search(X: Any, y: Any, kernel: str, wrong: int = 0) -> Tuned:
    """Best alpha (and gamma), given how many of the rows are wrong."""
    factors = (None,) if kernel == "linear" else GAMMAS
    alphas = ALPHAS if kernel == "linear" else KERNEL_ALPHAS
    if wrong:
        alphas = alphas[::2]
    best = Tuned(1.0, None, np.inf)
    for factor in factors:
        gamma = None if factor is None else factor * base_gamma(X)
        K = None if gamma is None else rbf_kernel(X, gamma=gamma)
        if wrong:
            errors = (_held_out_errors(X, K, y, alpha, wrong) for alpha in alphas)
        elif K is None:
            errors = _ridge_errors(X, y, alphas)
        else:
            errors = _kernel_errors(K, y, alphas)
        for alpha, error in zip(alphas, errors):
            value = lowest_mean(error**2, wrong)
            if value < best.value:
                best = Tuned(float(alpha), gamma, value)
    return best


def _ridge_errors(X: Any, y: Any, alphas: Any) -> Iterator[Any]:
    """Leave-one-out errors of ridge fits with an intercept."""
    level = y - y.mean()
    left, size, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    inner = left.T @ level
    for alpha in alphas:
        shrink = size**2 / (size**2 + alpha)
        leverage = left**2 @ shrink + 1.0 / len(y)
        errors = level - left @ (shrink * inner)
        yield errors / np.maximum(1.0 - leverage, 1e-12)


def _kernel_errors(K: Any, y: Any, alphas: Any) -> Iterator[Any]:
    """Leave-one-out errors of kernel ridge fits about the mean."""
    values, vectors = np.linalg.eigh(K)
    inner = vectors.T @ (y - y.mean())
    for alpha in alphas:
        inverse = 1.0 / (np.maximum(values, 0.0) + alpha)
        yield (vectors @ (inverse * inner)) / (vectors**2 @ inverse)


def _held_out_errors(X: Any, K: Any, y: Any, alpha: float, wrong: int) -> Any:
    """Errors of trimmed fits in three folds."""
    n, errors = len(y), np.empty(len(y))
    folds = KFold(3, shuffle=True, random_state=0)
    for train, held in folds.split(X):
        spectrum = keeping(len(train) - round(wrong * len(train) / n), len(train))
        if K is None:
            line = RiskRegressor(spectrum, alpha=alpha, random_state=0)
            predicted = line.fit(X[train], y[train]).predict(X[held])
        else:
            curve = KernelRiskRegressor(
                spectrum, kernel="precomputed", alpha=alpha, random_state=0
            )
            curve.fit(K[np.ix_(train, train)], y[train])
            predicted = curve.predict(K[np.ix_(held, train)])
        errors[held] = y[held] - predicted
    return errors


# -- classification --------------------------------------------------------------------


class KernelFeatures:
    """Features Φ with K = ΦΦᵀ: logistic regression on them is kernel logistic.

    A fold's fit lies in the span of its own rows, so features of all training rows give
    the same cross-validation as those of the fold.
    """

    def __init__(self, X: Any, gamma: float | None) -> None:
        self.X, self.gamma = X, gamma
        if gamma is not None:
            values, vectors = np.linalg.eigh(rbf_kernel(X, gamma=gamma))
            used = values > 1e-10 * values[-1]
            self._map = vectors[:, used] / np.sqrt(values[used])

    def __call__(self, X: Any) -> Any:
        if self.gamma is None:
            return X
        return rbf_kernel(X, self.X, gamma=self.gamma) @ self._map


def logistic(alpha: float) -> LogisticRegression:
    return LogisticRegression(C=1.0 / alpha, max_iter=2000)


def search_classes(X: Any, y: Any, kernel: str, wrong: int = 0) -> Tuned:
    """Best alpha (and gamma) by held-out log-losses, without the `wrong` highest."""
    best = Tuned(1.0, None, np.inf)
    factors = (None,) if kernel == "linear" else CLASS_GAMMAS
    folds = _folds(X, y)
    classes, codes = np.unique(y, return_inverse=True)
    for factor in factors:
        gamma = None if factor is None else factor * base_gamma(X)
        features = KernelFeatures(X, gamma)(X)
        for alpha in CLASS_ALPHAS:
            losses = np.empty(len(y))
            for train, held in folds:
                model = logistic(alpha).fit(features[train], y[train])
                full = np.full((len(held), len(classes)), 1e-12)
                where = np.searchsorted(classes, model.classes_)
                full[:, where] = model.predict_proba(features[held])
                losses[held] = -np.log(np.maximum(full, 1e-12))[
                    np.arange(len(held)), codes[held]
                ]
            value = lowest_mean(losses, wrong)
            if value < best.value:
                best = Tuned(alpha, gamma, value)
    return best


def _folds(X: Any, y: Any) -> list[tuple[Any, Any]]:
    return list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))

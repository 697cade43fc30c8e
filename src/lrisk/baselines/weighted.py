"""Fits that are repeated under changing weights: losses, penalty, and a fit.

Each keeps the losses of all rows and the penalty at its present parameters, of which
``fit(weights)`` renews both.
"""

from typing import Any, Protocol

import numpy as np

from .._typing import Floats
from ..losses import Logistic, Loss, Multinomial
from ..objective import Objective
from ..ranking import Ranking
from ..solvers import automatic_solver
from ..spaces import LinearSpace
from ..spectra import Mean
from .ridge import kernel_ridge, weighted_ridge


class WeightedFit(Protocol):
    """What reweighting needs of a model."""

    losses: Floats
    penalty: float

    def fit(self, weights: Floats) -> None:
        """Minimise the weighted mean of the losses plus the penalty."""


class WeightedLine:
    """Weighted ridge fits of a line, from a constant."""

    def __init__(self, X: Floats, y: Floats, alpha: float, intercept: bool) -> None:
        self._X, self._y, self._alpha, self._free = X, y, alpha, intercept
        self.coef = np.zeros(X.shape[1])
        self.intercept = float(np.median(y)) if intercept else 0.0
        self._renew()

    def fit(self, weights: Floats) -> None:
        """Minimise under these weights, of mean 1."""
        self.coef, self.intercept = weighted_ridge(
            self._X, self._y, weights, self._alpha, self._free
        )
        self._renew()

    def _renew(self) -> None:
        self.losses = (self._y - self._X @ self.coef - self.intercept) ** 2
        self.penalty = self._alpha / len(self._y) * float(self.coef @ self.coef)


class WeightedCurve:
    """Weighted ridge fits in a kernel's space, from zero."""

    def __init__(self, K: Floats, y: Floats, alpha: float) -> None:
        self._K, self._y, self._alpha = K, y, alpha
        self.coef = np.zeros(len(y))
        self._renew()

    def fit(self, weights: Floats) -> None:
        """Minimise under these weights, of mean 1."""
        self.coef = kernel_ridge(self._K, self._y, weights, self._alpha)
        self._renew()

    def _renew(self) -> None:
        values = self._K @ self.coef
        self.losses = (self._y - values) ** 2
        self.penalty = self._alpha / len(self._y) * float(self.coef @ values)


class WeightedScores:
    """Weighted logistic fits of scores linear in features, from zero."""

    def __init__(self, space: LinearSpace, codes: Floats, alpha: float) -> None:
        self._space, self._codes, self._alpha = space, codes, alpha
        self._loss: Loss = Logistic() if space.n_scores == 1 else Multinomial()
        self.theta = np.zeros(space.size)
        self._renew()

    def fit(self, weights: Floats) -> None:
        """Minimise under these weights, of mean 1."""
        used = weights > 0
        space = LinearSpace(
            self._space.X[used],
            intercept=self._space.intercept,
            n_scores=self._space.n_scores,
            offset=self._space.offset,
        )
        ranking = Ranking(Mean(), int(used.sum()), weights[used])
        objective = Objective(
            ranking, self._loss, space, self._codes[used], self._alpha
        )
        solver: Any = automatic_solver(objective)
        self.theta = solver(tol=1e-11).solve(objective, self.theta).theta
        self._renew()

    def _renew(self) -> None:
        space, n = self._space, len(self._codes)
        self.losses = self._loss.value(self._codes, space.scores(self.theta))
        self.penalty = 0.5 * self._alpha / n * space.inner(self.theta, self.theta)

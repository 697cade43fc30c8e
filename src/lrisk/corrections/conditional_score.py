"""Logistic regression from Gaussian-noisy rows by the conditional score.

Given Δ = x̃ + (y − ½)Σw the label follows P(y=1 | Δ) = H(Δ·w + b), whatever the clean x
was (Stefanski and Carroll, 1987), so the root of

    mean (y − H(Δ·w + b)) (Δ, 1) − (μw, 0)

estimates the clean relation without bias of first order. Without noise it is
the gradient of penalised logistic regression.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from .._typing import Floats
from .covariances import Covariance, average, times


class ScoreRoot(NamedTuple):
    """A root of the conditional score.

    Attributes
    ----------
    theta : array of shape (d,) or (d + 1,)
        w, and b as the last entry if there is an intercept.
    correction : float
        Share of Σ that could be corrected: 1 unless the score has no root near the
        path that leads from the naive fit.
    residual : float
        Largest entry of the score.
    n_iter : int
    """

    theta: Floats
    correction: float
    residual: float
    n_iter: int


class ConditionalScore:
    """The score, its derivative and its root.

    Parameters
    ----------
    X : array of shape (n, d)
        Noisy rows.
    y : array of shape (n,)
        0 or 1.
    covariance : Covariance
        Σ of each row's noise.
    mu : float
        Penalty ½μ‖w‖².
    intercept : bool
    """

    def __init__(
        self, X: Floats, y: Floats, covariance: Covariance, mu: float, intercept: bool
    ) -> None:
        self.X, self.y, self.mu = X, y, mu
        self.covariance, self.intercept = covariance, intercept
        self._scale = 1.0 + float(np.sqrt(np.mean(X**2)))

    def score(self, theta: Floats, share: float) -> Floats:
        """The score with the share of Σ that is corrected; shape of `theta`."""
        delta, residual = self._at(theta, share)
        w = theta[: self.X.shape[1]]
        score = delta.T @ residual / len(self.y) - self.mu * w
        return np.append(score, residual.mean()) if self.intercept else score

    def _at(self, theta: Floats, share: float) -> tuple[Floats, Floats]:
        d = self.X.shape[1]
        w, b = theta[:d], theta[d] if self.intercept else 0.0
        pull = times(self.covariance, w)
        delta = self.X + (share * (self.y - 0.5))[:, None] * pull
        return delta, self.y - expit(delta @ w + b)

    def derivative(self, theta: Floats, share: float) -> Floats:
        """Derivative of the score by theta; a square matrix.

        Entry by entry: ∂Δ/∂w = (y−½)Σ and ∂(Δ·w)/∂w = x̃ + 2(y−½)Σw. The sum of
        residual·(y−½)Σ over rows is taken at the mean Σ, exact where Σ is shared.
        """
        n, d = self.X.shape
        delta, residual = self._at(theta, share)
        probability = self.y - residual
        curvature = probability * (1.0 - probability)
        inner = 2.0 * delta - self.X  # x̃ + 2(y−½)Σw
        ones = np.ones((n, 1))
        left = np.hstack([delta, ones]) if self.intercept else delta
        right = np.hstack([inner, ones]) if self.intercept else inner
        matrix = -(left * curvature[:, None]).T @ right / n
        moved = share * float(np.mean(residual * (self.y - 0.5)))
        matrix[:d, :d] += moved * average(self.covariance)
        matrix[range(d), range(d)] -= self.mu
        return np.asarray(matrix)

    def solve(self, tol: float, max_iter: int) -> ScoreRoot:
        """Follow the root from the naive fit (share 0) to the full correction.

        Each stage is a damped Newton iteration; where it fails the step in the share is
        halved, and the last share with a root is returned.
        """
        size = self.X.shape[1] + int(self.intercept)
        theta, spent = self._newton(np.zeros(size), 0.0, tol, max_iter)
        if theta is None:  # far from the root; without noise the score is a gradient
            start = minimize(self._naive, np.zeros(size), jac=True, method="L-BFGS-B").x
            theta, more = self._newton(start, 0.0, tol, max_iter)
            spent += more
            if theta is None:
                residual = float(np.abs(self.score(start, 0.0)).max())
                return ScoreRoot(start, 0.0, residual, spent)
        reached, step = 0.0, 1.0
        while reached < 1.0 and step > 1e-3 and spent < max_iter:
            share = min(reached + step, 1.0)
            found, used = self._newton(theta, share, tol, max_iter - spent)
            spent += used
            if found is None:
                step *= 0.5
            else:
                theta, reached = found, share
        residual = float(np.abs(self.score(theta, reached)).max())
        return ScoreRoot(theta, reached, residual, spent)

    def _naive(self, theta: Floats) -> tuple[float, Floats]:
        """Penalised logistic loss of the noisy rows, and its gradient."""
        d = self.X.shape[1]
        scores = self.X @ theta[:d] + (theta[d] if self.intercept else 0.0)
        loss = float(np.mean(np.logaddexp(0.0, scores) - self.y * scores))
        penalty = 0.5 * self.mu * float(theta[:d] @ theta[:d])
        return loss + penalty, -self.score(theta, 0.0)

    def _newton(
        self, theta: Floats, share: float, tol: float, max_iter: int
    ) -> tuple[Floats | None, int]:
        score = self.score(theta, share)
        size = float(np.abs(score).max())
        for iteration in range(1, max_iter + 1):
            if size <= tol * self._scale:
                return theta, iteration
            try:
                step = np.linalg.solve(self.derivative(theta, share), -score)
            except np.linalg.LinAlgError:
                return None, iteration
            fraction = 1.0
            while fraction > 1e-4:
                candidate = theta + fraction * step
                new = self.score(candidate, share)
                if np.linalg.norm(new) < (1.0 - 0.1 * fraction) * np.linalg.norm(score):
                    break
                fraction *= 0.5
            else:
                return (theta, iteration) if size <= 1e3 * tol else (None, iteration)
            theta, score = candidate, new
            size = float(np.abs(score).max())
        return None, max_iter

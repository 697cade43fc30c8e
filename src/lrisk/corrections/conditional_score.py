"""Logistic regression from Gaussian-noisy rows by the conditional score.

For several classes with P(y=k | x) ∝ exp(w_k·x + b_k) and x̃ ~ N(x, Σ) the density of
(x̃, y) holds x only through Δ = x̃ + Σw_y, so that, whatever the clean x was,

    P(y=k | Δ) ∝ exp(w_k·Δ + b_k − ½ w_kᵀΣw_k)

(Stefanski and Carroll, 1987, who treat two classes), and the root of

    mean (1{y=k} − P(y=k | Δ)) (Δ, 1) − (μw_k, 0),    k = 1 … K

estimates the clean relation without bias of first order. For two classes with
w_1 = −w_0 = w/2 this is Δ = x̃ + (y − ½)Σw and P(y=1 | Δ) = H(Δ·w + b). Without noise it
is the gradient of penalised logistic regression.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax

from .._typing import Floats
from .covariances import Covariance, combined, times


class ScoreRoot(NamedTuple):
    """A root of the conditional score.

    Attributes
    ----------
    theta : array of shape (d,) or (d + 1,), or (K·d,) or (K·(d + 1),)
        w, and b as the last entry if there is an intercept; class by class.
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


class Score:
    """What both scores share: the rows, and the way to the root.

    Parameters
    ----------
    X : array of shape (n, d)
        Noisy rows.
    y : array of shape (n,)
        Numbers of the classes, from 0.
    covariance : Covariance
        Σ of each row's noise.
    mu : float
        Penalty ½μ‖w‖².
    intercept : bool
    weights : array of shape (n,) or None
        A row of weight k counts as k rows.
    """

    def __init__(
        self,
        X: Floats,
        y: Floats,
        covariance: Covariance,
        mu: float,
        intercept: bool,
        weights: Floats | None = None,
    ) -> None:
        self.X, self.y, self.mu = X, y, mu
        self.covariance, self.intercept = covariance, intercept
        n = len(y)
        self.shares = (
            np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
        )
        square = float(np.mean(self.shares @ X**2))
        self._scale = 1.0 + float(np.sqrt(square))

    @property
    def size(self) -> int:
        """Entries of `theta`."""
        raise NotImplementedError

    def score(self, theta: Floats, share: float) -> Floats:
        """The score with the share of Σ that is corrected; shape of `theta`."""
        raise NotImplementedError

    def derivative(self, theta: Floats, share: float) -> Floats:
        """Derivative of the score by theta; a square matrix."""
        raise NotImplementedError

    def _naive(self, theta: Floats) -> tuple[float, Floats]:
        """Penalised logistic loss of the noisy rows, and its gradient."""
        raise NotImplementedError

    def solve(self, tol: float, max_iter: int) -> ScoreRoot:
        """Follow the root from the naive fit (share 0) to the full correction.

        Each stage is a damped Newton iteration; where it fails the step in the share is
        halved, and the last share with a root is returned.
        """
        zero = np.zeros(self.size)
        theta, spent = self._newton(zero, 0.0, tol, max_iter)
        if theta is None:  # far from the root; without noise the score is a gradient
            start = minimize(self._naive, zero, jac=True, method="L-BFGS-B").x
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


class ConditionalScore(Score):
    """The equation whose root is a classifier of clean features, for two classes.

    Its `theta` is w, and b after it.

    Parameters
    ----------
    X : array of shape (n, d)
        Noisy rows.
    y : array of shape (n,)
        The classes as 0 and 1.
    covariance : Covariance
        Covariance Σ of each row's noise.
    mu : float
        Penalty ½μ‖w‖².
    intercept : bool
        Whether there is a constant b.
    weights : array of shape (n,) or None, default=None
        A row of weight k counts as k rows.

    See Also
    --------
    MultinomialScore : For more classes.
    lrisk.NoiseCorrectedClassifier : The estimator that uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import ConditionalScore, corrected_rows
    >>> from lrisk.noise import KnownCovariance
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0.0, 1.0], 200)
    >>> X = y[:, None] + rng.normal(size=(400, 1))
    >>> rows = corrected_rows(X[None], KnownCovariance(0.1))
    >>> score = ConditionalScore(rows.mean, y, rows.covariance, 0.01, True)
    >>> root = score.solve(tol=1e-8, max_iter=100)
    >>> root.theta.shape, bool(root.residual <= 1e-8)
    ((2,), True)
    """

    @property
    def size(self) -> int:
        """Entries of `theta`."""
        return int(self.X.shape[1]) + int(self.intercept)

    def score(self, theta: Floats, share: float) -> Floats:
        """The score with the share of Σ that is corrected; shape of `theta`."""
        delta, residual = self._at(theta, share)
        w, residual = theta[: self.X.shape[1]], self.shares * residual
        score = delta.T @ residual - self.mu * w
        return np.append(score, residual.sum()) if self.intercept else score

    def _at(self, theta: Floats, share: float) -> tuple[Floats, Floats]:
        d = self.X.shape[1]
        w, b = theta[:d], theta[d] if self.intercept else 0.0
        pull = times(self.covariance, w)
        delta = self.X + (share * (self.y - 0.5))[:, None] * pull
        return delta, self.y - expit(delta @ w + b)

    def derivative(self, theta: Floats, share: float) -> Floats:
        """Derivative of the score by theta; a square matrix.

        Entry by entry: ∂Δ/∂w = (y−½)Σ and ∂(Δ·w)/∂w = x̃ + 2(y−½)Σw.
        """
        n, d = self.X.shape
        delta, residual = self._at(theta, share)
        probability = self.y - residual
        curvature = self.shares * probability * (1.0 - probability)
        inner = 2.0 * delta - self.X  # x̃ + 2(y−½)Σw
        ones = np.ones((n, 1))
        left = np.hstack([delta, ones]) if self.intercept else delta
        right = np.hstack([inner, ones]) if self.intercept else inner
        matrix = -(left * curvature[:, None]).T @ right
        moved = share * self.shares * residual * (self.y - 0.5)
        matrix[:d, :d] += combined(self.covariance, moved)
        matrix[range(d), range(d)] -= self.mu
        return np.asarray(matrix)

    def _naive(self, theta: Floats) -> tuple[float, Floats]:
        """Penalised logistic loss of the noisy rows, and its gradient."""
        d = self.X.shape[1]
        scores = self.X @ theta[:d] + (theta[d] if self.intercept else 0.0)
        loss = float(self.shares @ (np.logaddexp(0.0, scores) - self.y * scores))
        penalty = 0.5 * self.mu * float(theta[:d] @ theta[:d])
        return loss + penalty, -self.score(theta, 0.0)


class MultinomialScore(Score):
    """The equation whose root is a classifier of clean features, for K classes.

    Its `theta` is (w_k, b_k) class by class. One vector added to every w_k, or one
    number to every b_k, changes no probability: the mean over the classes is kept at
    zero.

    Parameters
    ----------
    X : array of shape (n, d)
        Noisy rows.
    y : array of shape (n,)
        Numbers of the classes, from 0.
    covariance : Covariance
        Covariance Σ of each row's noise.
    mu : float
        Penalty ½μΣ‖w_k‖².
    intercept : bool
        Whether there are constants b_k.
    weights : array of shape (n,) or None, default=None
        A row of weight k counts as k rows.

    See Also
    --------
    ConditionalScore : For two classes.
    lrisk.NoiseCorrectedClassifier : The estimator that uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import MultinomialScore, corrected_rows
    >>> from lrisk.noise import KnownCovariance
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 200)
    >>> X = y[:, None] + rng.normal(size=(600, 1))
    >>> rows = corrected_rows(X[None], KnownCovariance(0.1))
    >>> score = MultinomialScore(rows.mean, y, rows.covariance, 0.01, True)
    >>> score.solve(tol=1e-8, max_iter=100).theta.shape  # w and b of three classes
    (6,)
    """

    def __init__(
        self,
        X: Floats,
        y: Floats,
        covariance: Covariance,
        mu: float,
        intercept: bool,
        weights: Floats | None = None,
    ) -> None:
        super().__init__(X, y, covariance, mu, intercept, weights)
        self.classes = int(y.max()) + 1
        self._own = y.astype(np.intp)[:, None] == np.arange(self.classes)

    @property
    def size(self) -> int:
        """Entries of `theta`."""
        return self.classes * (int(self.X.shape[1]) + int(self.intercept))

    def score(self, theta: Floats, share: float) -> Floats:
        """The score with the share of Σ that is corrected; shape of `theta`."""
        table = theta.reshape(self.classes, -1)
        delta, _, residual, _ = self._at(theta, share)
        score = (self.shares[:, None] * residual).T @ self._with_one(delta)
        score[:, : self.X.shape[1]] -= self.mu * table[:, : self.X.shape[1]]
        return np.asarray((score - table.mean(axis=0)).ravel())

    def _with_one(self, delta: Floats) -> Floats:
        return np.hstack([delta, np.ones((len(delta), 1))]) if self.intercept else delta

    def _at(self, theta: Floats, share: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Δ, the pulls Σw_k (K, n, d), 1{y=k} − P(k) (n, K) and P(k)."""
        d = self.X.shape[1]
        table = theta.reshape(self.classes, -1)
        W, b = table[:, :d], table[:, d] if self.intercept else np.zeros(self.classes)
        pulls = share * np.stack([times(self.covariance, w) for w in W])
        delta = self.X + np.einsum("nk,knd->nd", self._own, pulls)
        forms = np.einsum("knd,kd->nk", pulls, W)
        chance = softmax(delta @ W.T + b - 0.5 * forms, axis=1)
        return delta, pulls, self._own - chance, np.asarray(chance)

    def derivative(self, theta: Floats, share: float) -> Floats:
        """Derivative of the score by theta; a square matrix.

        With η_k the logarithm of P(k) before it is normalised,
        ∂η_k/∂w_l = 1{k=l}(Δ − Σw_k) + 1{y=l}Σw_k and ∂Δ/∂w_l = 1{y=l}Σ.
        """
        d, K = self.X.shape[1], self.classes
        delta, pulls, residual, chance = self._at(theta, share)
        left = self._with_one(delta) * self.shares[:, None]
        width = left.shape[1]
        own = [self._with_one(delta - pull) for pull in pulls]
        moved = np.zeros((K, len(delta), width))
        moved[:, :, :d] = pulls - np.einsum("nk,knd->nd", chance, pulls)
        matrix = np.empty((K, width, K, width))
        for k in range(K):
            for m in range(K):
                inner = -chance[:, m, None] * own[m]
                inner += (k == m) * own[k] + self._own[:, m, None] * moved[k]
                block = -left.T @ (chance[:, k, None] * inner)
                turned = share * self.shares * residual[:, k] * self._own[:, m]
                block[:d, :d] += combined(self.covariance, turned)
                block[range(width), range(width)] -= 1.0 / K
                if k == m:
                    block[range(d), range(d)] -= self.mu
                matrix[k, :, m] = block
        return matrix.reshape(K * width, K * width)

    def _naive(self, theta: Floats) -> tuple[float, Floats]:
        """Penalised logistic loss of the noisy rows, and its gradient."""
        table = theta.reshape(self.classes, -1)
        W = table[:, : self.X.shape[1]]
        logs = log_softmax(self._with_one(self.X) @ table.T, axis=1)
        loss = -float(self.shares @ (logs * self._own).sum(axis=1))
        centre = 0.5 * self.classes * float((table.mean(axis=0) ** 2).sum())
        penalty = 0.5 * self.mu * float((W**2).sum())
        return loss + penalty + centre, -self.score(theta, 0.0)

"""Batch kernel regression from noisy rows: corrected Gram matrices on landmarks.

A function f = Σ_a c_a k(a, ·) over landmarks a has the empirical risk

    cᵀGc − 2bᵀc + mean y²,    G_ab = mean k(a, x)k(b, x),    b_a = mean k(a, x) y

With two copies of each row G and b are unbiased through the surrogate kernel of each
copy; with one copy the product k(a, x)k(b, x) is itself a Gaussian of width M/2 round
(a + b)/2, with a surrogate of its own where M − 4Σ ≻ 0.
"""

from typing import NamedTuple

import numpy as np

from .._params import refused
from .._typing import Floats, Indices
from ..noise import LaplaceNoise, Noise, Replicates
from .covariances import CorrectedRows, corrected_rows
from .kernels import Gaussian
from .moments import corrected_gram
from .surrogates import (
    GaussianTerms,
    Surrogate,
    Terms,
    check_closed_form,
    check_width,
    terms_matrix,
    width_matrix,
)

#: Entries of one block of the Laplace product surrogate.
BLOCK = 2_000_000
#: Exponents beyond which e^x and e^−x cannot be told from ∞ and 0 in a product.
LARGEST = 600.0
#: Products of two kernels that count for nothing.
NEGLIGIBLE = 1e-20


class Quadratic(NamedTuple):
    """cᵀ gram c − 2 cᵀ linear, an unbiased estimate of a risk (up to a constant)."""

    gram: Floats
    linear: Floats


def pair_quadratic(
    features: Floats, y: Floats, weights: Floats | None = None
) -> Quadratic:
    """Estimate the squared loss of a linear model of features from copies of the rows.

    The estimate is free of bias if the features of each copy are, and if the noises of
    the copies are independent.

    Parameters
    ----------
    features : array of shape (copies, n, size)
        Features of each copy, of at least two.
    y : array of shape (n,)
        Targets of the rows.
    weights : array of shape (n,) or None, default=None
        How much each row counts in the mean.

    Returns
    -------
    Quadratic
        The loss cᵀGc − 2bᵀc, up to a constant, by its `gram` G and `linear` b.

    See Also
    --------
    OneCopy : For rows that were observed once.
    corrected_rows : What it is made of.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import pair_quadratic
    >>> copies = np.array([[[1.0], [2.0]], [[3.0], [2.0]]])
    >>> pair_quadratic(copies, np.array([1.0, 1.0])).gram  # (1·3 + 2·2)/2
    array([[3.5]])
    """
    return quadratic(corrected_rows(features, Replicates()), y, weights)


def quadratic(
    rows: CorrectedRows, y: Floats, weights: Floats | None = None
) -> Quadratic:
    """The corrected squared loss of rows of features, weighted by `weights`."""
    shares = _shares(len(y), weights)
    return Quadratic(corrected_gram(rows, shares), rows.mean.T @ (shares * y))


def _shares(n: int, weights: Floats | None) -> Floats:
    """Weights that sum to one."""
    if weights is None:
        return np.full(n, 1.0 / n)
    return np.asarray(weights / weights.sum())


class OneCopy:
    """What replaces products of a Gaussian kernel where rows were observed once.

    Their mean over the noise is the product at the clean rows.

    Parameters
    ----------
    kernel : Gaussian
        The kernel of the model.
    noise : Noise
        Of the row itself (of its mean, if there are several copies).
    landmarks : array of shape (m, d)
        The m points whose kernels the model is a sum of.

    See Also
    --------
    pair_quadratic : For rows that were observed at least twice.
    lrisk.NoiseCorrectedKernelRegressor : The estimator that uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.corrections import Gaussian, OneCopy
    >>> from lrisk.noise import GaussianNoise
    >>> X = np.linspace(-1.0, 1.0, 20)[:, None]
    >>> product = OneCopy(Gaussian(2.0), GaussianNoise(0.1), X[::10])
    >>> product.gram(X).shape
    (2, 2)
    """

    def __init__(self, kernel: Gaussian, noise: Noise, landmarks: Floats) -> None:
        if not isinstance(kernel, Gaussian):
            rule, remedy = "a Gaussian kernel for one copy", "pass X2, or kernel='rbf'"
            raise ValueError(refused("landmarks", "kernel", rule, kernel, remedy))
        check_closed_form(noise)
        d = landmarks.shape[1]
        M = width_matrix(kernel, d)
        if not isinstance(noise, LaplaceNoise):
            cov = noise.covariance(d)
            check_width(kernel, M, np.diag(cov) if cov.ndim == 1 else cov, times=4.0)
        half = np.asarray(kernel.width, dtype=np.float64) / 2.0
        self._product = Surrogate(Gaussian(half), noise, d)
        self._single = Surrogate(kernel, noise, d)
        self._landmarks = landmarks
        # k(a, x) k(b, x) = exp(−(a−b)ᵀM⁻¹(a−b)/2) · exp(−(x−m)ᵀ(M/2)⁻¹(x−m))
        self._between = np.sqrt(self._single.clean_matrix(landmarks, landmarks))
        self._points = self._product.transform(landmarks)
        if isinstance(self._product.terms, GaussianTerms):
            self._split(self._product.terms)

    def quadratic(
        self, X: Floats, y: Floats, weights: Floats | None = None
    ) -> Quadratic:
        """G and b from rows observed once, weighted by `weights`, shape (n,)."""
        shares = _shares(len(y), weights)
        linear = self._single.matrix(X, self._landmarks).T @ (shares * y)
        return Quadratic(self.gram(X, weights), linear)

    def gram(self, X: Floats, weights: Floats | None = None) -> Floats:
        """Mean of the surrogate of k(a, x)k(b, x); shape (m, m)."""
        product, A = self._product, self._points
        shares = _shares(len(X), weights)
        Z = product.transform(X)
        terms = product.terms
        if isinstance(terms, GaussianTerms):
            return self._gaussian_gram(terms, Z, shares)
        m = len(A)
        middles = 0.5 * (A[:, None] + A[None]).reshape(m * m, -1)
        mean = _column_means(terms, Z, middles, shares)
        return np.asarray(mean.reshape(m, m) * self._between)

    def _split(self, terms: GaussianTerms) -> None:
        """What the product of two matrices leaves out; zero between far landmarks.

        exp(−q(x−m)) = exp(−½q(x−a)) exp(−½q(x−b)) exp(¼q(a−b)) with q the form. Between
        far landmarks the last factor overflows as the first two underflow; those pairs
        are computed as they stand, or left at zero if k(a, ·)k(b, ·) is.
        """
        A = self._points
        apart = ((A[:, None] - A[None]) ** 2 @ terms.rates[0]) / 4.0
        near = apart <= LARGEST
        growth = np.where(near, np.exp(np.where(near, apart, 0.0)), 0.0)
        self._growth = terms.weights[0] * growth * self._between
        self._far = np.nonzero(~near & (self._between > NEGLIGIBLE))

    def _gaussian_gram(self, terms: GaussianTerms, Z: Floats, shares: Floats) -> Floats:
        halved = GaussianTerms(np.ones(1), terms.rates / 2.0)
        E = terms_matrix(halved, Z, self._points)
        gram = ((E * shares[:, None]).T @ E) * self._growth
        first, second = self._far
        if len(first):
            middles = 0.5 * (self._points[first] + self._points[second])
            own = _column_means(terms, Z, middles, shares)
            gram[first, second] = own * self._between[first, second]
        return np.asarray(gram)


def _column_means(terms: Terms, Z: Floats, points: Floats, shares: Floats) -> Floats:
    """Weighted mean over the rows of Z of the terms at each point, block by block."""
    total = np.zeros(len(points))
    step = max(1, BLOCK // len(points))
    for start in range(0, len(Z), step):
        part = slice(start, start + step)
        total += shares[part] @ terms_matrix(terms, Z[part], points)
    return total


def whitening(K: Floats) -> Floats:
    """Coordinates in which K is the identity, shape (m, r).

    Directions that K does not resolve are left out.
    """
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-10 * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def penalised_minimum(problem: Quadratic, whiten: Floats, penalties: Floats) -> Floats:
    """Argmin cᵀGc − 2bᵀc + λ cᵀKc for each λ, G clipped to its cone; shape (λ, m).

    Parameters
    ----------
    problem : Quadratic
        G and b.
    whiten : array of shape (m, r)
        `whitening` of K.
    penalties : array of shape (λ,)
        Infinity leaves nothing of the fit. At zero it is the one of least norm.
    """
    inner = whiten.T @ problem.gram @ whiten
    spectrum, Q = np.linalg.eigh(0.5 * (inner + inner.T))
    basis = whiten @ Q
    target = basis.T @ problem.linear
    divisor = spectrum.clip(0.0) + np.asarray(penalties)[:, None]
    decided = divisor > 1e-14 * np.abs(spectrum).max(initial=0.0)
    solutions = np.where(decided, target / np.where(decided, divisor, 1.0), 0.0)
    return np.asarray(solutions @ basis.T)


def pooled(problems: list[Quadratic], sizes: Floats) -> Quadratic:
    """The risk over all the rows of several parts, from the parts' own."""
    shares = sizes / sizes.sum()
    gram = np.einsum("f,fab->ab", shares, np.stack([p.gram for p in problems]))
    linear = np.einsum("f,fa->a", shares, np.stack([p.linear for p in problems]))
    return Quadratic(gram, linear)


def folds(n: int, count: int) -> list[Indices]:
    """Rows of each of `count` interleaved folds."""
    return [np.arange(start, n, count) for start in range(min(count, n))]

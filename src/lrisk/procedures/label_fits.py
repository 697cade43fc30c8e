"""(Kernel) logistic fits with and without a share of wrong labels, and their folds.

A label is right with probability 1 − ρ and otherwise one of the other K − 1 classes:

    P(observed y | x) = a + b·p_y(x),     a = ρ/(K − 1),   b = 1 − ρ − a,

with p the probabilities of a (kernel) logistic model. Its negative logarithm is a
concave function of log p_y, so a tangent bounds it from above: weighted logistic fits
with the weights r_i = b·p_y/(a + b·p_y) lower it in every round (expectation and
maximisation; r is the probability that a label came from the model and not from a
uniform draw).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from .._typing import Bools, Floats, Indices
from ..losses import Logistic, Loss, Multinomial
from ..losses.multinomial import softmax
from ..objective import Objective, Point
from ..ranking import Ranking
from ..solvers.concentration import NewtonRefit
from ..solvers.coordinates import Coordinates, newton_step
from ..solvers.newton import solve_positive
from ..spaces import LinearSpace
from ..spectra import Mean

#: Parameters up to which a dense Hessian is formed; above, conjugate gradients.
DENSE, CG_STEPS = 250, 15
#: Newton steps or rounds of reweighting at most; in cross-validation, where fits start
#: from one another and are compared to a tenth of a nat, fewer.
STEPS, QUICK_STEPS = 60, 8
#: Fall of the mean loss at which reweighting stops.
ENOUGH = 1e-7
#: Eigenvalues of a kernel matrix kept, at most, and in relation to the first.
MOST_FEATURES, SMALLEST = 250, 1e-10


class Basis(NamedTuple):
    """Features in which a model is linear, and how to get from them to coefficients.

    Attributes
    ----------
    features : array of shape (n, r)
        Centred, with a constant last column if there is an intercept: the intercept is
        penalised like one more feature of average size, or the share of a majority
        class would outweigh heavily penalised features.
    back : array of shape (m, r')
        Coefficients over the m features or centres are ``back @ theta[:r']``.
    middle : array of shape (r',)
        What was subtracted from the features.
    constant : float
        The last column; 0 if there is none.
    """

    features: Floats
    back: Floats
    middle: Floats
    constant: float

    def coefficients(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients (m, k) and intercepts (k,) of θ, shape (r, k)."""
        slopes = theta[: self.back.shape[1]]
        intercept = -self.middle @ slopes
        if self.constant:
            intercept = intercept + self.constant * theta[-1]
        return self.back @ slopes, np.asarray(intercept)


def linear_basis(Z: Floats, mass: Floats, intercept: bool) -> Basis:
    """The columns themselves, or for n < d an orthogonal basis of the rows."""
    back = np.eye(Z.shape[1])
    features = Z
    if Z.shape[1] > len(Z):
        _, sizes, right = np.linalg.svd(Z, full_matrices=False)
        back = right[sizes > 1e-10 * sizes.max(initial=1e-300)].T
        features = Z @ back
    return completed(features, back, mass, intercept, Z.shape[1])


def kernel_basis(K: Floats, mass: Floats, intercept: bool, n_columns: int) -> Basis:
    """Leading eigenvectors of a kernel matrix K = UΛUᵀ, as UΛ^½."""
    values, vectors = np.linalg.eigh(K)
    kept = np.flatnonzero(values > max(SMALLEST * values[-1], 1e-12))[-MOST_FEATURES:]
    root = np.sqrt(values[kept])
    U = vectors[:, kept]
    return completed(U * root, U / root, mass, intercept, n_columns)


def completed(
    features: Floats, back: Floats, mass: Floats, intercept: bool, n_columns: int
) -> Basis:
    """Centre the features and add a constant column, if there is an intercept."""
    if not intercept:
        return Basis(features, back, np.zeros(features.shape[1]), 0.0)
    middle = mass @ features
    centred = features - middle
    size = float(mass @ np.einsum("ij,ij->i", centred, centred))
    constant = np.sqrt(size / max(n_columns, 1)) or 1.0
    column = np.full((len(features), 1), constant)
    return Basis(np.hstack([centred, column]), back, middle, float(constant))


class LogisticRefit(NewtonRefit):
    """Newton steps on weighted logistic losses, by conjugate gradients if large."""

    def __init__(self, objective: Objective, steps: int) -> None:
        self.objective = objective
        self.steps = steps
        self._dense = objective.space.size <= DENSE
        self._coordinates = None if self._dense else Coordinates(objective)

    def _step(self, point: Point, weights: Floats, gradient: Floats) -> Floats:
        objective = self.objective
        if self._coordinates is None:
            return solve_positive(objective.hessian(point, weights), -gradient)
        return newton_step(
            objective, point, weights, gradient, self._coordinates, CG_STEPS
        )


class LabelModel:
    """Logistic models in one basis over rows with observed classes.

    Parameters
    ----------
    features : array of shape (n, r)
    codes : array of int of shape (n,)
    n_classes : int
    weight : array of shape (n,)
    """

    def __init__(
        self, features: Floats, codes: Indices, n_classes: int, weight: Floats
    ) -> None:
        self.n_classes = n_classes
        self.n_scores = 1 if n_classes == 2 else n_classes
        self._loss: Loss = Logistic() if n_classes == 2 else Multinomial()
        self._space = LinearSpace(features, intercept=False, n_scores=self.n_scores)
        self._ranking = Ranking(Mean(), len(codes), weight)
        self._y = codes.astype(np.float64)

    def fit(
        self,
        alpha: float,
        rho: float = 0.0,
        start: Floats | None = None,
        steps: int = STEPS,
    ) -> Floats:
        """θ, shape (r, k), under penalty α and a share ρ of wrong labels."""
        objective = Objective(self._ranking, self._loss, self._space, self._y, alpha)
        begin = np.zeros(self._space.size) if start is None else start.ravel()
        point = objective.at(begin)
        mass = self._ranking.mass
        if rho == 0.0:
            point = LogisticRefit(objective, steps)(mass, point)
            return point.theta.reshape(-1, self.n_scores)
        refit = LogisticRefit(objective, steps=1)
        floor, rest = noise_terms(rho, self.n_classes)
        value = np.inf
        for _ in range(steps):
            own = rest * np.exp(-point.losses)
            likelihood = floor + own
            before = value
            value = point.penalty - float(mass @ np.log(likelihood))
            if before - value < ENOUGH:
                break
            point = refit(mass * own / likelihood, point)
        return point.theta.reshape(-1, self.n_scores)


def noise_terms(rho: float, n_classes: int) -> tuple[float, float]:
    """A and b of P(observed y | x) = a + b·p_y(x)."""
    floor = rho / (n_classes - 1)
    return floor, 1.0 - rho - floor


def probabilities(scores: Floats) -> Floats:
    """Shape (n, K) from scores (n,) or (n, 1) of two classes or (n, K) of more."""
    if scores.ndim == 1 or scores.shape[1] == 1:
        column = scores.reshape(-1, 1)
        return np.hstack([expit(-column), expit(column)])
    return softmax(scores)


def surprise(scores: Floats, codes: Indices) -> Floats:
    """−log p of the labels, accurate where p is tiny; shape (n,)."""
    if scores.ndim == 1 or scores.shape[1] == 1:
        column = scores.reshape(-1)
        return np.logaddexp(0.0, np.where(codes == 1, -column, column))
    return Multinomial().value(codes.astype(np.float64), scores)


def wrong_label(p_observed: Floats, rho: float, n_classes: int) -> Floats:
    """Probability that the observed label is not the true one."""
    floor, rest = noise_terms(rho, n_classes)
    likelihood = np.maximum(floor + rest * p_observed, 1e-300)
    return np.asarray(floor * (1.0 - p_observed) / likelihood)


def assign_folds(
    codes: Indices,
    n_folds: int,
    rng: np.random.Generator,
    places: Indices | None = None,
) -> Indices:
    """Fold of each row, classes spread evenly; −1 (never held out) for lone rows.

    Rows of the same place (equal features) share a fold: a row must not be held out to
    a fit that has seen another label at the very same x.
    """
    places = np.arange(len(codes)) if places is None else places
    _, leaders, group = np.unique(places, return_index=True, return_inverse=True)
    folds = np.full(len(leaders), -1)
    begin = 0
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes[leaders] == code))
        if len(rows) > 1:
            folds[rows] = (begin + np.arange(len(rows))) % n_folds
            begin += len(rows)
    result = folds[group]
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        if np.all(result[rows] == result[rows[0]]):
            result[rows] = -1
    return result


def held_out_scores(
    features: Floats,
    codes: Indices,
    n_classes: int,
    weight: Floats,
    folds: Indices,
    alphas: Floats,
    rho: float = 0.0,
) -> Floats:
    """Scores of each row by fits without its fold, shape (len(alphas), n, k).

    The path goes from heavy penalties to light ones, each fit starting from the last.
    Rows that no fold holds out get the scores of a fit that has them.
    """
    k = 1 if n_classes == 2 else n_classes
    scores = np.empty((len(alphas), len(codes), k))
    parts = [fold for fold in np.unique(folds) if fold >= 0]
    for fold in [*parts, *([-1] if np.any(folds < 0) else [])]:
        out: Bools = folds == fold
        kept = ~out if fold >= 0 else np.ones(len(codes), dtype=bool)
        model = LabelModel(features[kept], codes[kept], n_classes, weight[kept])
        theta: Floats | None = None
        for j in np.argsort(-alphas):
            theta = model.fit(float(alphas[j]), rho, theta, QUICK_STEPS)
            scores[j, out] = features[out] @ theta
    return scores

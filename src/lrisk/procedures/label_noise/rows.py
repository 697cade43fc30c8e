"""Labelled rows: their scale, folds and samples, and features linear models see."""

from typing import NamedTuple, Self

import numpy as np

from ..._typing import Bools, Floats, Indices
from .._robust.rows import equal_rows
from .._robust.scales import weighted_quantiles

#: Robust standard deviations (by IQR) from where on a value is far: it is clipped
#: before means and standard deviations are taken, and its row loses weight in linear
#: fits. In columns of which most are equal the median of the others is the unit.
CLIP = 6.0
#: Usual sizes of a column beyond which a value is just far: its square is finite.
FARTHEST = 1e30
#: Eigenvalues of a kernel matrix kept, in relation to the first.
SMALLEST = 1e-10


class LabelledRows(NamedTuple):
    """Rows Z, shape (n, d), or a kernel matrix, with observed classes and weights.

    `voice` are the weights in likelihoods, 0 for rows that are fitted but not asked;
    `folds` are −1 where a row is never held out; `agreeing`, shape (n_folds, n), rows
    that agree with models without a fold. Rows of one of the `places` share a fold;
    labels of `trusted` rows are known to be right.
    """

    Z: Floats
    codes: Indices
    n_classes: int
    weight: Floats
    voice: Floats
    folds: Indices
    agreeing: Bools
    places: Indices
    trusted: Bools

    @classmethod
    def of(
        cls,
        Z: Floats,
        codes: Indices,
        n_classes: int,
        weight: Floats | None = None,
        places: Indices | None = None,
        trusted: Bools | None = None,
    ) -> Self:
        """Rows before anything is known of them.

        By default they weigh alike, equal rows are of one place, and none is trusted.
        """
        n = len(codes)
        weight = np.ones(n) if weight is None else weight
        places = equal_rows(Z) if places is None else places
        nobody, unknown = np.zeros(n, dtype=bool), np.full(n, -1)
        trusted = nobody if trusted is None else trusted
        return cls(
            Z, codes, n_classes, weight, weight, unknown, nobody[None], places, trusted
        )

    def labels(self, rows: Indices) -> "LabelledRows":
        """Some of them, for fits in features that are at hand."""
        return self._replace(
            codes=self.codes[rows],
            weight=self.weight[rows],
            trusted=self.trusted[rows],
        )

    def seen(self, noise: Floats) -> tuple[Indices, Floats]:
        """Codes of labels, and T with a column for each, shape (K, 2K).

        A label j that is trusted is code K + j, and that is always class j.
        """
        sure = np.eye(self.n_classes)
        return self.codes + self.n_classes * self.trusted, np.hstack([noise, sure])

    def only(self, rows: Indices, precomputed: bool = False) -> "LabelledRows":
        """Some of them."""
        return self._replace(
            Z=self.Z[np.ix_(rows, rows)] if precomputed else self.Z[rows],
            codes=self.codes[rows],
            weight=self.weight[rows],
            voice=self.voice[rows],
            folds=self.folds[rows],
            agreeing=self.agreeing[:, rows],
            places=self.places[rows],
            trusted=self.trusted[rows],
        )


def assign_folds(
    codes: Indices,
    n_folds: int,
    rng: np.random.Generator,
    places: Indices | None = None,
) -> Indices:
    """Fold of each row, classes spread evenly; −1 (never held out) for lone rows.

    Rows of the same place (equal features, one group) share a fold: a row must not be
    held out to a fit that has seen another label at the very same x.
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


def sample_rows(codes: Indices, size: int, rng: np.random.Generator) -> Indices:
    """At most so many rows, in the classes' proportions, two of each if there are."""
    if len(codes) <= size:
        return np.arange(len(codes))
    parts = []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        count = min(len(rows), max(2, round(size * len(rows) / len(codes))))
        parts.append(rng.choice(rows, count, replace=False))
    return np.sort(np.concatenate(parts))


class FeatureScaling(NamedTuple):
    """z = (x − centre)/scale, for each column."""

    centre: Floats
    scale: Floats

    def __call__(self, X: Floats) -> Floats:
        """Scaled rows, not beyond FARTHEST."""
        with np.errstate(over="ignore"):
            Z = (X - self.centre) / self.scale
        return np.asarray(np.clip(Z, -FARTHEST, FARTHEST), dtype=np.float64)


def plain_scaling(X: Floats, weight: Floats) -> FeatureScaling:
    """Mean and standard deviation of columns clipped far outside their bulk.

    On ordinary data the clipping does nothing, and this is standardisation; columns
    constant up to rounding have scale one.
    """
    middle, reach = _bulk(X, weight)
    clipped = np.clip(X, middle - reach, middle + reach)
    mean = weight @ clipped / weight.sum()
    deviation = np.sqrt(weight @ (clipped - mean) ** 2 / weight.sum())
    varied = deviation > 1e-12 * np.abs(mean)
    return FeatureScaling(mean, np.where(varied, deviation, 1.0))


def bounded_influence(X: Floats, weight: Floats) -> Floats:
    """min(1, (reach/|x − middle|)²) of the farthest column of each row, shape (n,).

    Under these weights neither means nor squares of the columns are ruled by a few rows
    (Mallows' weights), and the pull of a row on a linear fit falls as it moves away,
    whatever its label is. Rows inside the bulk of every column keep their weight.
    """
    middle, reach = _bulk(X, weight)
    beyond = np.max(np.abs(X - middle) / reach, axis=1, initial=1.0)
    return np.asarray(beyond**-2.0)


def _bulk(X: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Median of each column, and the deviation from it beyond which values are far."""
    low, middle, high = weighted_quantiles(X, weight, [0.25, 0.5, 0.75])
    unit = (high - low) / 1.349
    for j in np.flatnonzero(unit == 0.0):
        apart = np.abs(X[:, j] - middle[j])
        others = np.flatnonzero(apart)
        if len(others):
            own = apart[others, None]
            unit[j] = weighted_quantiles(own, weight[others], [0.5])[0, 0]
    return middle, np.where(unit > 0.0, CLIP * unit, np.inf)


def column_units(X: Floats) -> Floats:
    """Powers of two near the usual size of each column, shape (d,).

    Dividing by them is exact, and squares of what is left do not overflow.
    """
    size = np.where(X == 0.0, np.nan, np.abs(X))
    usual = np.ones(X.shape[1])
    filled = np.flatnonzero(np.any(X != 0.0, axis=0))
    usual[filled] = np.nanquantile(size[:, filled], 0.5, axis=0, method="lower")
    return np.asarray(np.exp2(np.floor(np.log2(usual))))


class Basis(NamedTuple):
    """Features of rows, made without labels.

    `features`, shape (n, r), lie along their own axes. With an intercept they are
    centred at `middle` and the last column is `constant`: it is penalised like one more
    feature of average size, or the share of a majority class would outweigh heavily
    penalised features. Coefficients over the m columns or centres are ``back @ θ``.
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


def linear_basis(
    Z: Floats, weight: Floats, intercept: bool = True, most: int | None = None
) -> Basis:
    """The columns themselves, or the leading axes of (some) rows if those are fewer."""
    n, d = Z.shape
    most = min(n, d if most is None else most)
    back = np.eye(d)
    if d > most:
        some = Z[:: max(1, n // (2 * most))]
        _, sizes, axes = np.linalg.svd(some, full_matrices=False)
        back = axes[:most][sizes[:most] > 1e-10 * sizes.max(initial=1e-300)].T
    return _completed(Z @ back, back, weight, intercept, d)


def kernel_basis(
    products: Floats,
    among: Floats,
    weight: Floats,
    intercept: bool = True,
    n_columns: int = 1,
    most: int | None = None,
) -> Basis:
    """What centres span: k(x, c) U Λ^{−½} with k(c, c′) = UΛUᵀ, leading axes only.

    `products` are k(x, c), shape (n, m), `among` k(c, c′), shape (m, m).
    """
    values, vectors = np.linalg.eigh(among)
    kept = np.flatnonzero(values > max(SMALLEST * values[-1], 1e-12))
    kept = kept[-(most or len(values)) :]
    back = vectors[:, kept] / np.sqrt(values[kept])
    return _completed(products @ back, back, weight, intercept, n_columns)


def _completed(
    features: Floats, back: Floats, weight: Floats, intercept: bool, n_columns: int
) -> Basis:
    """Centre the features, turn them to their own axes, and add a constant."""
    mass = weight / weight.sum()
    middle = mass @ features if intercept else np.zeros(features.shape[1])
    centred = features - middle
    sizes, axes = np.linalg.eigh(centred.T @ (mass[:, None] * centred))
    turned, back, middle = centred @ axes, back @ axes, middle @ axes
    if not intercept:
        return Basis(turned, back, middle, 0.0)
    constant = float(np.sqrt(max(sizes.sum(), 0.0) / max(n_columns, 1))) or 1.0
    column = np.full((len(features), 1), constant)
    return Basis(np.hstack([turned, column]), back, middle, constant)

"""The user's own (kernel) logistic model: which penalty, width and kind, and its fit.

Scores of fits that have not seen a row are turned into probabilities of its observed
label by a slope t (penalised scores are too small) and the noise T,

    P(y | x) = Σ_k softmax(t·s(x))_k T[k, y],

whose likelihood is maximised over t; trusted labels have no noise. Heavily penalised
fits, whose *direction* is the best under much noise, are so compared on equal terms.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from ..._typing import Bools, Floats, Indices
from ...spaces import Kernel
from .likelihood import (
    CONSTANTS,
    class_scores,
    fit_logistic,
    held_out_scores,
    label_terms,
    uniform_noise,
)
from .rows import (
    Basis,
    LabelledRows,
    bounded_influence,
    kernel_basis,
    linear_basis,
    sample_rows,
)

#: Penalties tried for linear and kernel models, and widths in units of 1/n_features.
LINEAR_ALPHAS = 10.0 ** np.arange(4.0, -1.6, -1.0)
KERNEL_ALPHAS = 10.0 ** np.arange(2.0, -2.1, -1.0)
WIDTHS = np.array([0.1, 0.3, 1.0, 3.0, 10.0])
#: Slopes in units of one over the root mean square of the scores.
SLOPES = np.exp(np.linspace(-3.0, 4.0, 32))
#: Nats in favour of a penalty ten times as heavy (two classes), and against penalties
#: (more classes) and widths ten times off the likely ones; the likely width for two.
HEAVIER, NEAR_ALPHA, NEAR_WIDTH, SMOOTH = 0.5, 2.0, 4.0, 0.3
#: More nats for a heavier penalty (two classes) for each share of noise above MUCH.
#: Without, breast cancer with 40 % flips and an RBF kernel loses 3 points of accuracy.
NOISIER, MUCH = 4.0, 0.15
#: Weight of a row on the wrong side at the scores' root mean square.
DOUBT = 0.1
#: Rows by which the choice is made, axes of a kernel there, and centres of the final
#: fit, at most, unless their number is given.
PILOT, AXES, CENTRES = 500, 150, 1000


class Settings(NamedTuple):
    """What the user fixed; None means that it is to be found."""

    kernel: Callable[[float | None], Kernel]
    gamma: float | None
    alpha: float | None
    contamination: float | None
    intercept: bool
    n_components: int | None = None

    @property
    def linear(self) -> bool:
        """Whether the model is linear in the columns."""
        return bool(self.kernel(None).name == "linear")

    @property
    def precomputed(self) -> bool:
        """Whether rows are rows of a kernel matrix."""
        return self.kernel(None).precomputed

    @property
    def growth(self) -> float:
        """The power of x by which features grow far out; 0 where they are bounded."""
        kernel = self.kernel(None)
        if kernel.name in ("poly", "polynomial"):
            return float(kernel.degree)
        return float(self.linear)

    def inside(self, Z: Floats, weight: Floats) -> Indices:
        """Rows that may be centres: where features grow, the calmer half, or more.

        A kernel among rows one of which is 10³ times as far out as the others holds,
        in floating point, that row alone.
        """
        if not self.growth:
            return np.arange(len(Z))
        calm = bounded_influence(Z, weight)
        return np.flatnonzero(calm >= np.median(calm))

    def alphas(self) -> Floats:
        """Penalties to try, falling."""
        if self.alpha is not None:
            return np.array([self.alpha])
        return LINEAR_ALPHAS if self.linear else KERNEL_ALPHAS

    def widths(self, n_columns: int) -> list[float | None]:
        """Widths to try; the middle one is usual."""
        name = self.kernel(None).name
        if name not in ("rbf", "laplacian", "poly", "polynomial"):
            return [None]
        if self.gamma is not None:
            return [self.gamma]
        widths = WIDTHS if name in ("rbf", "laplacian") else np.ones(1)
        return [float(width) / n_columns for width in widths]

    def basis(
        self,
        Z: Floats,
        weight: Floats,
        gamma: float | None,
        centres: Indices | None = None,
        most: int | None = AXES,
    ) -> Basis:
        """Features of the model over rows, spanned by centres; all rows by default."""
        if self.linear:
            return linear_basis(Z, weight, self.intercept)
        at = self.inside(Z, weight) if centres is None else centres
        K = Z[:, at] if self.precomputed else self.kernel(gamma)(Z, Z[at])
        return kernel_basis(K, K[at], weight, self.intercept, Z.shape[1], most)


class Choice(NamedTuple):
    """What to fit: the kind, its penalty and width, and the slope of its scores.

    `kind` is "ordinary", "ordinary, noisy labels", "label noise" (under T) or "agreeing
    rows"; `scores` the held-out log likelihood of the best of each.
    """

    kind: str
    alpha: float
    gamma: float | None
    slope: float
    scores: dict[str, float]


def choose(
    settings: Settings,
    rows: LabelledRows,
    noise: Floats | None,
    rng: np.random.Generator,
) -> Choice:
    """What held-out labels prefer; of rows without folds, which are few, the usual.

    `noise` is T, found or likely; without it no fits for noisy labels are tried.
    """
    if rows.folds.max() < 0:
        widths = settings.widths(rows.Z.shape[1])
        kind = "ordinary" if noise is None else "label noise"
        return Choice(kind, settings.alpha or 1.0, widths[len(widths) // 2], 1.0, {})
    pilot = rows.only(sample_rows(rows.codes, PILOT, rng), settings.precomputed)
    return Chooser(settings, pilot, noise).choose()


class Chooser:
    """Compares fits by held-out labels, whose noise is T, or next to none."""

    def __init__(
        self, settings: Settings, rows: LabelledRows, noise: Floats | None
    ) -> None:
        self._settings, self._rows, self._noisy = settings, rows, noise is not None
        clean = uniform_noise(CONSTANTS.clean_share, rows.n_classes)
        self._noise = clean if noise is None else noise

    def choose(self) -> Choice:
        """The kind, penalty, width and slope that make held-out labels likeliest."""
        alphas = self._settings.alphas()
        widths = self._settings.widths(self._rows.Z.shape[1])
        tables = np.array([self._path("ordinary", width, alphas) for width in widths])
        kind = "ordinary, noisy labels" if self._noisy else "ordinary"
        alpha, gamma, best = self._typical(tables, widths, alphas)
        scores = {kind: float(tables[..., 0].max())}
        for other in ("label noise", "agreeing rows") if self._noisy else ():
            table = self._path(other, gamma, alphas)[None]
            own, _, value = self._typical(table, [gamma], alphas)
            scores[other] = float(table[..., 0].max())
            if value > best:
                kind, alpha, best = other, own, value
        slope = float(self._path(kind, gamma, np.array([alpha]))[0, 1])
        return Choice(kind, alpha, gamma, slope, scores)

    def _path(self, kind: str, gamma: float | None, alphas: Floats) -> Floats:
        """Held-out likelihoods and slopes, shape (len(alphas), 2)."""
        rows, folds = self._rows, self._rows.folds
        features = self._settings.basis(rows.Z, rows.weight, gamma).features
        noise = self._noise if kind == "label noise" else None
        learnt = rows.agreeing if kind == "agreeing rows" else None
        tables = held_out_scores(features, rows, folds, alphas, noise, learnt)
        codes, T = rows.seen(self._noise)
        own = (codes, np.where(folds >= 0, rows.voice, 0.0), T)
        free = self._settings.alpha is None
        return np.array([calibrated(table, *own, free) for table in tables])

    def _typical(
        self, tables: Floats, widths: list[float | None], alphas: Floats
    ) -> tuple[float, float | None, float]:
        """Penalty and width as geometric means under exp(likelihood + prior), and best.

        Means vary less from sample to sample than the maximum does. The prior decides
        near ties. Two classes: heavy penalties, which leave the line between the means,
        and smooth kernels are the best guess where labels say little. With more classes
        that limit lacks the classes' own offsets, and the best guess is what
        scikit-learn's defaults are: a penalty of one, a width of 1/n_features.
        """
        logs, binary = np.log10(np.maximum(alphas, 1e-12)), self._rows.n_classes == 2
        share = float(1.0 - np.diag(self._noise).mean())
        prior = np.tile(-NEAR_ALPHA * logs**2, (len(widths), 1))
        if binary:
            prior[:] = (HEAVIER + NOISIER * max(share - MUCH, 0.0)) * logs
        sizes = np.array([1.0 if width is None else width for width in widths])
        if widths[0] is not None:
            usual = (SMOOTH if binary else 1.0) / self._rows.Z.shape[1]
            cost = NEAR_WIDTH * (1.0 if binary else 2.0)
            prior -= cost * np.log10(sizes / usual)[:, None] ** 2
        chance = softmax(tables[..., 0] + prior)
        alpha = float(10.0 ** (chance.sum(axis=0) @ logs))
        gamma = float(np.exp(chance.sum(axis=1) @ np.log(sizes)))
        best = float(np.max(tables[..., 0] + prior))
        return alpha, None if widths[0] is None else gamma, best


def calibrated(
    scores: Floats, codes: Indices, weight: Floats, noise: Floats, free: bool
) -> tuple[float, float]:
    """The likelihood of held-out scores (n, k), and the (free) slope that maximises it.

    A tenth of a fictitious row on the wrong side keeps the slope finite where classes
    are separable.
    """
    own = scores if scores.shape[1] == 1 else scores - scores.mean(1, keepdims=True)
    total = max(float(weight.sum()), 1e-300)
    size = float(np.sqrt(weight @ np.mean(own**2, axis=1) / total)) or 1.0
    slopes = SLOPES / size if free else np.ones(1)
    full = class_scores(scores)
    values = np.array([weight @ label_terms(t * full, codes, noise)[0] for t in slopes])
    best = int(np.argmax(values - DOUBT * np.logaddexp(0.0, slopes * size)))
    return float(values[best]), float(slopes[best])


def fit(
    settings: Settings,
    rows: LabelledRows,
    choice: Choice,
    noise: Floats | None,
    agreeing: Bools,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Indices | None]:
    """Coefficients (m, k), intercepts (k,) and centres of the chosen fit.

    A kernel of many rows is fitted to a sample: their products must fit in memory.
    """
    used, centres = np.arange(len(rows.codes)), None
    if not settings.linear:
        used = sample_rows(rows.codes, CONSTANTS.trained, rng)
        rows = rows.only(used, settings.precomputed)
        inside = settings.inside(rows.Z, rows.weight)
        most = settings.n_components or CENTRES
        centres = inside[sample_rows(rows.codes[inside], most, rng)]
    basis = settings.basis(rows.Z, rows.weight, choice.gamma, centres, most=None)
    kept = np.flatnonzero(agreeing[used] | (choice.kind != "agreeing rows"))
    features, own = basis.features[kept], rows.labels(kept)
    theta = fit_logistic(features, own, choice.alpha)
    if choice.kind == "label noise":
        theta = fit_logistic(features, own, choice.alpha, noise, theta)
    coefficients, intercept = basis.coefficients(choice.slope * theta)
    return coefficients, intercept, None if centres is None else used[centres]

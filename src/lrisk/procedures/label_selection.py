"""Which penalty, which width, how many wrong labels: judged by held-out labels.

Scores of fits that have not seen a row are turned into probabilities of its observed
label by two numbers, a slope t (penalised scores are too small) and the share ρ of
wrong labels,

    P(observed y | x) = a + b·softmax(t·s(x))_y,

whose likelihood is maximised over t for each ρ of a grid. Heavily penalised fits,
whose *direction* is the best under much noise, are so compared on equal terms, and the
likelihood as a function of ρ tells how many labels are wrong.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from .._typing import Floats, Indices
from .label_fits import noise_terms, surprise

#: Shares of wrong labels that are considered; less than the second is not called noise.
SHARES = np.array([0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.44, 0.47])
#: Slopes in units of one over the root mean square of the scores.
SLOPES = np.exp(np.linspace(-3.0, 4.0, 32))
#: Nats in favour of a penalty ten times as heavy (two classes), and against penalties
#: (more classes) and widths ten times off the likely ones; the likely width for two.
HEAVIER, NEAR_ALPHA, NEAR_WIDTH, SMOOTH = 0.5, 2.0, 4.0, 0.3
#: More nats for a heavier penalty (two classes) for each share of noise above MUCH.
NOISIER, MUCH = 4.0, 0.15
#: Weight of a row on the wrong side at the scores' root mean square.
DOUBT = 0.1
#: Nats below the highest likelihood at which a share is not excluded.
SUPPORTED = 1.92


class Judged(NamedTuple):
    """A candidate fit with its held-out likelihood.

    Attributes
    ----------
    name : str
        Kernel.
    gamma : float or None
    alpha : float
    rho : float
        Share of wrong labels in the fit itself; 0 is the ordinary one.
    likelihood : array of shape (len(SHARES),)
        Held-out log likelihood of the observed labels for each share.
    slopes : array of shape (len(SHARES),)
        The maximising t.
    rows : array of shape (len(SHARES), n)
        Log likelihood of each row.
    before : float
        Nats in its favour before any label is seen.
    binary : bool
        Whether there are two classes.
    """

    name: str
    gamma: float | None
    alpha: float
    rho: float
    likelihood: Floats
    slopes: Floats
    rows: Floats
    before: float
    binary: bool


def observed_probabilities(scores: Floats, codes: Indices, slopes: Floats) -> Floats:
    """softmax(t·s)_y for each slope, shape (len(slopes), n)."""
    return np.array([np.exp(-surprise(t * scores, codes)) for t in slopes])


def score_size(scores: Floats, weight: Floats) -> float:
    """Root mean square of the scores about their mean over classes."""
    centred = scores if scores.shape[1] == 1 else scores - scores.mean(1, keepdims=True)
    square = float(weight @ np.mean(centred**2, axis=1) / weight.sum())
    return float(np.sqrt(square)) or 1.0


def judge(
    name: str,
    gamma: float | None,
    alpha: float,
    rho: float,
    scores: Floats,
    codes: Indices,
    n_classes: int,
    weight: Floats,
    *,
    before: float = 0.0,
    recalibrate: bool = True,
) -> Judged:
    """Likelihood of held-out scores (repeats, n, k) for each share of wrong labels.

    A tenth of a fictitious row on the wrong side keeps the slope finite where classes
    are separable.
    """
    repeats, n, k = scores.shape
    flat = scores.reshape(repeats * n, k)
    labels, mass = np.tile(codes, repeats), np.tile(weight, repeats) / repeats
    slopes = SLOPES / score_size(flat, mass) if recalibrate else np.ones(1)
    p = observed_probabilities(flat, labels, slopes)
    against = DOUBT * np.logaddexp(0.0, SLOPES if recalibrate else np.ones(1))
    likelihood, best = np.empty(len(SHARES)), np.empty(len(SHARES), dtype=np.intp)
    rows = np.empty((len(SHARES), n))
    for i, share in enumerate(SHARES):
        floor, rest = noise_terms(float(share), n_classes)
        if rest <= 0.0:
            likelihood[i], best[i], rows[i] = -np.inf, 0, -np.inf
            continue
        logs = np.log(np.maximum(floor + rest * p, 1e-12))
        totals = logs @ mass
        best[i] = int(np.argmax(totals - against))
        likelihood[i] = totals[best[i]]
        rows[i] = logs[best[i]].reshape(repeats, n).mean(axis=0)
    fit = (name, gamma, alpha, rho)
    return Judged(*fit, likelihood, slopes[best], rows, before, n_classes == 2)


def prior(alpha: float, width: float | None, n_classes: int) -> float:
    """Nats in favour of a candidate before any label is seen; they decide near ties.

    Two classes: heavy penalties, under which they are told apart by the line between
    their means, and smooth kernels are the best guess where labels say little. With
    more classes that limit lacks the classes' own offsets, and the best guess is what
    scikit-learn's defaults are: a penalty of one, a width of 1/n_features.

    Parameters
    ----------
    alpha : float
    width : float or None
        γ·n_features.
    n_classes : int
    """
    log_alpha = np.log10(max(alpha, 1e-12))
    log_width = None if width is None else np.log10(width)
    if n_classes == 2:
        value = HEAVIER * log_alpha
        if log_width is not None:
            value -= NEAR_WIDTH * (log_width - np.log10(SMOOTH)) ** 2
    else:
        value = -NEAR_ALPHA * log_alpha**2
        if log_width is not None:
            value -= 2.0 * NEAR_WIDTH * log_width**2
    return float(value)


def typical(candidates: list[Judged], share: int) -> tuple[float, float | None, float]:
    """Penalty and width as geometric means under exp(likelihood + prior), and the best.

    Averaging makes the choice vary less from sample to sample than the maximum does.
    """
    noisier = NOISIER * max(float(SHARES[share]) - MUCH, 0.0)
    values = np.array(
        [
            c.likelihood[share]
            + c.before
            + (noisier * np.log10(max(c.alpha, 1e-12)) if c.binary else 0.0)
            for c in candidates
        ]
    )
    chance = np.exp(values - logsumexp(values))
    alpha = float(np.exp(chance @ np.log([max(c.alpha, 1e-12) for c in candidates])))
    gamma: float | None = None
    if candidates[0].gamma is not None:
        widths = np.array([c.gamma for c in candidates], dtype=np.float64)
        gamma = float(np.exp(chance @ np.log(widths)))
    return alpha, gamma, float(values.max())


class ShareOfNoise(NamedTuple):
    """How many labels are wrong.

    Attributes
    ----------
    place : int
        In SHARES; 0 means none.
    share : float
        Interpolated between the members of SHARES.
    gain : float
        Nats by which the best share beats none.
    low, high : float
        Bootstrap interval of level 0.9.
    """

    place: int
    share: float
    gain: float
    low: float
    high: float


def share_of_noise(
    candidates: list[Judged],
    weight: Floats,
    rng: np.random.Generator,
    *,
    threshold: float,
    draws: int = 400,
) -> ShareOfNoise:
    """Profile the likelihood over all candidates; none unless clearly beaten.

    The interval is that of a bootstrap over rows, with the best candidate of each
    share, joined with the shares whose likelihood is within 1.92 nats of the highest.
    """
    table = np.array([c.likelihood for c in candidates])
    best = table.argmax(axis=0)
    profile = table[best, np.arange(len(SHARES))]
    rows = np.array([candidates[c].rows[i] for i, c in enumerate(best)])
    index = int(np.argmax(profile[1:])) + 1
    gain = float(profile[index] - profile[0])
    n = rows.shape[1]
    finite = np.flatnonzero(np.isfinite(profile))
    counts = rng.multinomial(n, weight / weight.sum(), size=draws) * (weight.sum() / n)
    sampled = counts @ rows[finite].T
    shares = np.array([_peak(SHARES[finite], row) for row in sampled])
    fine = np.linspace(0.0, float(SHARES[finite][-1]), 200)
    smooth = np.interp(fine, SHARES[finite], profile[finite])
    supported = fine[smooth >= smooth.max() - SUPPORTED]
    low = min(float(np.quantile(shares, 0.05)), float(supported[0]))
    high = max(float(np.quantile(shares, 0.95)), float(supported[-1]))
    if gain <= threshold:
        return ShareOfNoise(0, 0.0, gain, 0.0, high)
    share = max(_peak(SHARES[finite], profile[finite]), float(SHARES[1]))
    return ShareOfNoise(index, share, gain, min(low, share), max(high, share))


def _peak(shares: Floats, values: Floats) -> float:
    """Where a parabola through the highest value and its neighbours is highest."""
    i = int(np.argmax(values))
    if i in (0, len(shares) - 1):
        return float(shares[i])
    x, y = shares[i - 1 : i + 2], values[i - 1 : i + 2]
    curve, slope, _ = np.polyfit(x - x[1], y - y[1], 2)
    if curve >= 0.0:
        return float(x[1])
    return float(np.clip(x[1] - 0.5 * slope / curve, x[0], x[2]))

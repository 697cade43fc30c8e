"""The choice among fits: how many labels are wrong, and what to fit to them."""

from typing import NamedTuple

import numpy as np

from .._typing import Floats
from .label_pilot import LabelNoiseSettings, Pilot
from .label_selection import SHARES, Judged, ShareOfNoise, share_of_noise, typical

#: Penalties tried for linear and kernel models, and widths in units of 1/n_features.
LINEAR_ALPHAS = 10.0 ** np.arange(-1.5, 4.1, 0.5)
KERNEL_ALPHAS = 10.0 ** np.arange(-2.0, 2.1, 0.5)
WIDTHS = np.array([0.1, 0.3, 1.0, 3.0, 10.0])
REFERENCE_WIDTHS = np.array([0.3, 1.0, 3.0])
#: Nats by which wrong labels must beat none. Where they merely may be there, by more
#: than PLAUSIBLE, penalties are chosen as if they were, which costs nothing otherwise.
CLEAR, PLAUSIBLE = 2.0, -0.5
#: Nats that a mixture may be behind the ordinary fits once labels are wrong: of equals
#: it predicts better.
WORSE = 1.0


class Choice(NamedTuple):
    """What to fit.

    Attributes
    ----------
    alpha : float
    gamma : float or None
    rho : float
        Share of wrong labels in the fit; 0 is the ordinary one.
    share : float
        Share of wrong labels.
    interval : tuple of float
    selected : str
    scores : dict
        Held-out log likelihood of each family of fits.
    """

    alpha: float
    gamma: float | None
    rho: float
    share: float
    interval: tuple[float, float]
    selected: str
    scores: dict[str, float]


def choose(pilot: Pilot, share: float | None, rng: np.random.Generator) -> Choice:
    """Judge the ordinary fits, the noise, and then the mixtures.

    Parameters
    ----------
    pilot : Pilot
    share : float or None
        Share of wrong labels if known.
    rng : Generator
        For the bootstrap.
    """
    settings = pilot.settings
    own, d = settings.own, pilot.Z.shape[1]
    alphas = alphas_of(settings)
    ordinary: list[Judged] = []
    for gamma in widths_of(settings, d):
        ordinary += pilot.judged(own, gamma, alphas)
    everything = ordinary + _reference(pilot)
    noise = _noise(everything, pilot.voice, rng, share)
    level = noise.share or float(SHARES[1 + int(np.argmax(_profile(everything)[1:]))])
    at = noise.place
    if share is None and noise.gain > PLAUSIBLE:
        at = at or _nearest(level)
    alpha, gamma, value = typical(ordinary, at)
    scores = {"ordinary": _best(ordinary, 0)}
    selected, rho = "ordinary", 0.0
    if at > 0:
        mixtures = pilot.judged(own, gamma, alphas, level)
        noise = _noise(everything + mixtures, pilot.voice, rng, share)
        scores["label noise"] = _best(mixtures, at)
        scores["ordinary, noisy labels"] = _best(ordinary, at)
    if noise.place > 0:
        selected = "ordinary, noisy labels"
        mixed_alpha, mixed_gamma, mixed = typical(mixtures, noise.place)
        if mixed > value - WORSE:
            alpha, gamma, rho = mixed_alpha, mixed_gamma, noise.share
            selected = "label noise"
    return Choice(
        alpha, gamma, rho, noise.share, (noise.low, noise.high), selected, scores
    )


def _noise(
    candidates: list[Judged],
    weight: Floats,
    rng: np.random.Generator,
    share: float | None,
) -> ShareOfNoise:
    if share is None:
        return share_of_noise(candidates, weight, rng, threshold=CLEAR)
    index = _nearest(share) if share > 0 else 0
    return ShareOfNoise(index, share, 0.0, share, share)


def _nearest(share: float) -> int:
    return 1 + int(np.argmin(np.abs(SHARES[1:] - share)))


def _profile(candidates: list[Judged]) -> Floats:
    return np.asarray(np.max([c.likelihood for c in candidates], axis=0))


def _best(candidates: list[Judged], share: int) -> float:
    return float(max(c.likelihood[share] for c in candidates))


def alphas_of(settings: LabelNoiseSettings) -> Floats:
    """Penalties to try."""
    if settings.alpha is not None:
        return np.array([settings.alpha])
    return LINEAR_ALPHAS if settings.own == "linear" else KERNEL_ALPHAS


def widths_of(settings: LabelNoiseSettings, n_columns: int) -> list[float | None]:
    """Widths to try."""
    name = settings.kernel(None).name
    if name not in ("rbf", "laplacian", "poly", "polynomial"):
        return [None]
    if settings.gamma is not None:
        return [settings.gamma]
    widths = WIDTHS if name in ("rbf", "laplacian") else np.ones(1)
    return [float(width) / n_columns for width in widths]


def _reference(pilot: Pilot) -> list[Judged]:
    """Other models, for the judgement of the noise only."""
    settings = pilot.settings
    if settings.precomputed:
        return []
    if settings.own != "linear":
        return pilot.judged("linear", None, LINEAR_ALPHAS)
    result: list[Judged] = []
    for width in REFERENCE_WIDTHS:
        gamma = float(width) / pilot.Z.shape[1]
        result += pilot.judged("rbf", gamma, KERNEL_ALPHAS)
    return result

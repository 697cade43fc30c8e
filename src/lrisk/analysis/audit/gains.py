"""Whether the tail-risk fit has the better tail, and how sure that is.

With ℓ the held-out losses of a fit, v their q-quantile and m the number of rows, the
mean of the worst share 1 − q is S = v + Σ max(ℓ − v, 0)/((1 − q)m). Its error is that
of a mean over rows (the quantile itself does not matter to first order), so two fits
are compared on the same rows by the standard error of the mean of their difference.
"""

import numpy as np

from ..._typing import Floats

#: Fewest rows in the tail: the spread of a mean of fewer is not known.
FEWEST_IN_TAIL = 10
#: Tail losses below this are nothing to lower: as a share of the target's standard
#: deviation, or in nats. Penalties alone move fits by about as much.
NEGLIGIBLE = 1e-3
#: Standard errors, and share of the loss, by which a tail must be lower to be named.
BEYOND, LEAST_GAIN = 2.0, 0.1


def tail_gain(
    losses: dict[str, Floats], level: float, unit: float
) -> tuple[float, float]:
    """By what share the tail-risk fit lowers the tail of the best of the other fits.

    Parameters
    ----------
    losses : dict of arrays of shape (m,)
        Held-out losses by fit, on rows that nobody doubts.
    level : float
        The tail is the worst share 1 − level of the rows.
    unit : float
        Of losses: the standard deviation of the targets, or 1 for nats.

    Returns
    -------
    gain, error : float
        1 − S(tail)/S(best other) and its standard error; NaN where the rows are too
        few, or the losses too small, to tell.

    Examples
    --------
    >>> loss = np.arange(200.0)
    >>> gain, error = tail_gain({"ordinary": loss, "tail": 0.8 * loss}, 0.9, 1.0)
    >>> round(gain, 2), error < 0.01
    (0.2, True)
    """
    rows = len(losses["tail"])
    if rows * (1.0 - level) < FEWEST_IN_TAIL:
        return np.nan, np.nan
    parts = {name: _parts(own, level) for name, own in losses.items()}
    tail = parts.pop("tail")
    best = min(parts.values(), key=np.mean)
    least = float(best.mean())
    if not least > NEGLIGIBLE * unit:
        return np.nan, np.nan
    lower = best - tail
    return float(lower.mean() / least), float(lower.std() / np.sqrt(rows) / least)


def is_clear(gain: float, error: float) -> bool:
    """Whether a gain is large, and beyond its uncertainty; NaN is neither."""
    return bool(gain >= LEAST_GAIN and gain > BEYOND * error)


def _parts(losses: Floats, level: float) -> Floats:
    """What every row adds to the mean of the tail: its mean over rows is S."""
    cut = np.quantile(losses, level)
    return np.asarray(cut + np.maximum(losses - cut, 0.0) / (1.0 - level))

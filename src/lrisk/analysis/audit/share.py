"""How many rows do not fit: the flags and the estimated share, brought together.

The share is estimated from all rows together, the flags come from fits that have not
seen the rows they judge, so that the two may disagree. The flags can be looked at one
by one, and their expected false ones are taken off: where the estimate leaves no room
for them, they decide.
"""

import numpy as np

from ..._typing import Bools, Floats
from .tails import noise_tail

#: Share of the flagged rows that are expected, by their scores, to fit after all, at
#: most.
MOST_FALSE = 0.2
#: Share of flagged rows up to which an estimate of none is not overruled.
CLEAN_SHARE = 0.02
#: The 95 % point of a Gaussian: intervals hold 90 %.
Z = 1.645
#: Noise scales below which a flagged row says nothing of how far out flags begin, and
#: the share of flagged rows that may lie below where they begin.
NEAR, BELOW = 3.0, 0.1


def wilson(share: float, n: float) -> tuple[float, float]:
    """Wilson's 90 % interval of a share that was seen in n rows.

    Examples
    --------
    >>> low, high = wilson(0.5, 100)
    >>> round(low, 3), round(high, 3)
    (0.419, 0.581)
    """
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    reach = Z * np.sqrt(share * (1 - share) / n + (Z / (2 * n)) ** 2)
    reach /= 1 + Z * Z / n
    return float(max(middle - reach, 0.0)), float(min(middle + reach, 1.0))


def cut_for_false_share(scores: Floats, least: float, share: float) -> float:
    """The lowest cut, not below `least`, with few false rows above it.

    If scores are chances, Σ (1 − score) of the rows above are false: at most this
    `share` of them are (the direct posterior approach to false discovery rates).

    Examples
    --------
    >>> scores = np.array([0.99, 0.9, 0.8, 0.55, 0.1])
    >>> cut_for_false_share(scores, 0.5, 0.2), cut_for_false_share(scores, 0.5, 0.1)
    (0.5, 0.8)
    """
    above = -np.sort(-scores[scores > least])
    false = np.cumsum(1.0 - above) / np.arange(1, len(above) + 1)
    kept = int(np.sum(false <= share))  # the mean of ever less sure rows only grows
    return least if kept == len(above) else float(above[kept])


def expected_false(scores: Floats, sizes: Floats | None, flags: Bools) -> float:
    """How many of the rows that the fits flag are expected to fit.

    Σ (1 − score) over them, if the scores are right. They come from a model of the
    noise and may be too sure of themselves: so it is at least the number of rows that
    Student's t, fitted to the rows inside, puts beyond where the flags begin.

    Parameters
    ----------
    scores : array of shape (m,)
    sizes : array of shape (m,) or None
        Distances in noise scales, for regression.
    flags : array of shape (m,)
    """
    doubt = float(np.sum(1.0 - scores[flags]))
    if sizes is None:
        return doubt
    out = sizes[flags & (sizes >= NEAR)]
    if not len(out):
        return doubt
    begin = float(np.quantile(out, BELOW))
    tail = noise_tail(sizes, begin)
    brought = 0.0 if tail is None else float(tail.beyond(begin))
    return min(max(doubt, brought), float(flags.sum()))


def reconciled(
    share: float,
    interval: tuple[float, float],
    flagged: int,
    false_flags: float,
    n_rows: int,
    *,
    noisy: int = 0,
    wrong: int = 0,
    proven: int = 0,
) -> tuple[float, tuple[float, float]]:
    """Share and interval that do not contradict the flags.

    The interval holds the net share, (flagged − false)/n. If the estimate from all rows
    lies below it, the lower end is that of Wilson's interval of the net share: a
    smaller share would contradict rows that can be named. That end is lowered where
    flagged rows may be nothing but larger noise (`noisy` of them), and is never below
    what a person has found `wrong`, or Wilson's of the flagged rows
    of `proven` slips of the target.
    """
    net = max(flagged - false_flags, 0.0) / n_rows
    low, high = interval
    if flagged and not low <= net <= high:
        under, over = wilson(net, n_rows)
        if net > high:
            sure = low > 0.0 or flagged > CLEAN_SHARE * n_rows
            low, high = (max(low, under) if sure else low), max(high, over)
        else:
            low = net
    if noisy:
        low = min(low, max(flagged - false_flags - noisy, 0.0) / n_rows)
    low = max(low, wrong / n_rows, wilson(proven / n_rows, n_rows)[0])
    high = max(high, low)
    return (share if low <= share <= high else max(net, low)), (low, high)

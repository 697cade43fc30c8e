"""How sure a spectral risk is on new rows, and whether one model's is lower.

Intervals are percentile-t bootstraps (`bootstrap.py`), or the worst distribution within
a band that holds the true one.
"""

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._params import check_choice, check_count, check_real, refused
from .._typing import Floats, Indices
from .._validation import generator
from ..ranking import Ranking, ascending, check_losses, check_row_weights
from ..spectra import Spectrum, parse_spectrum
from .bootstrap import Sample, percentile_t

METHODS = ("bootstrap", "dkw")
#: Rows in the tail from which on a bootstrap's interval can be trusted: with fewer, the
#: largest losses that there are have often not been seen.
FEWEST_IN_TAIL = 50
#: Of so many nothing can be told but their loss; by rounding 1/Σσ² may be above 1.
ONE_ROW = 1.0 + 1e-9


class RiskInterval(NamedTuple):
    """Where the risk of new rows lies: an estimate and its confidence interval.

    Parameters
    ----------
    risk : float
        Risk of the losses given.
    low, high : float
        Ends of the interval.
    tail_rows : float
        1/Σσ², how many rows decide: all under the mean, (1 − q)n under a superquantile.

    See Also
    --------
    risk_interval : Makes it from the losses of a model.
    RiskComparison : The same for the difference of two models.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.metrics import risk_interval
    >>> losses = np.random.default_rng(0).exponential(size=1000)
    >>> found = risk_interval(losses, "mean")
    >>> found.low < found.risk < found.high
    True
    """

    risk: float
    low: float
    high: float
    tail_rows: float


class RiskComparison(NamedTuple):
    """How two models' risks differ on new rows, with a confidence interval.

    Parameters
    ----------
    difference : float
        Risk of the first less that of the second.
    low, high : float
        Ends of the interval of the difference.
    risk_a, risk_b : float
        Risk of either model on the losses given.
    tail_rows : float
        How many rows decide, as in `RiskInterval`.

    See Also
    --------
    compare_risks : Makes it from the losses of two models.
    RiskInterval : The same for one model.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.metrics import compare_risks
    >>> losses = np.random.default_rng(0).exponential(size=1000)
    >>> found = compare_risks(0.9 * losses, losses, "mean")
    >>> found.low < found.difference < found.high < 0  # the first is better
    True
    """

    difference: float
    low: float
    high: float
    risk_a: float
    risk_b: float
    tail_rows: float

    @property
    def better(self) -> str | None:
        """``"a"`` or ``"b"`` if the interval leaves zero out, else None."""
        return "a" if self.high < 0.0 else "b" if self.low > 0.0 else None


def risk_interval(
    losses: ArrayLike,
    spectrum: str | Spectrum = "superquantile",
    *,
    confidence: float = 0.95,
    method: str = "bootstrap",
    bounds: tuple[float, float] = (-np.inf, np.inf),
    sample_weight: ArrayLike | None = None,
    n_resamples: int = 999,
    random_state: int | np.random.Generator | None = 0,
) -> RiskInterval:
    r"""Compute a confidence interval of a model's risk on new rows.

    Parameters
    ----------
    losses : array-like of shape (n,)
        Of independent rows that the model has not seen.
    spectrum : str or Spectrum, default="superquantile"
        How the sorted losses are weighted, as in `lrisk.RiskRegressor`: ``"mean"`` for
        the plain average.
    confidence : float in (0, 1), default=0.95
        How often such intervals hold the true risk.
    method : {"bootstrap", "dkw"}, default="bootstrap"
        ``"bootstrap"`` is percentile-t: close to `confidence` if the tail holds fifty
        rows or more. ``"dkw"`` is at least `confidence` whatever n and the
        distribution, and wide: the distribution function lies within
        :math:`\sqrt{\log(2/(1-c))/(2n)}` of the observed one, and risks grow with the
        losses.
    bounds : (float, float), default=(-np.inf, np.inf)
        Least and largest loss there can be. ``"dkw"`` needs the upper one if large
        losses count, or ends at infinity.
    sample_weight : array-like of shape (n,) or None, default=None
        How much rows count; 0 like no row. Only ratios matter: a weight of 2 does not
        say that the row was seen twice, as two rows of that loss would.
    n_resamples : int, default=999
        Of the bootstrap; the time grows with n times that (0.2 seconds for 10⁵ rows and
        200 resamples).
    random_state : int, Generator or None, default=0
        Decides the resamples of the bootstrap.

    Returns
    -------
    RiskInterval
        Named `risk`, `low`, `high` and `tail_rows`. Of a tail of a single row nothing
        is known, and the ends are the bounds.

    Warns
    -----
    UserWarning
        If a bootstrap's tail holds fewer than fifty rows.

    See Also
    --------
    compare_risks : Whether one model's risk is lower than another's.

    References
    ----------
    Hall (1992), *The Bootstrap and Edgeworth Expansion*, section 3.2; Massart (1990),
    *The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality*.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.metrics import risk_interval
    >>> losses = np.random.default_rng(0).exponential(size=1000)
    >>> found = risk_interval(losses, "superquantile:0.9")
    >>> bool(found.low < 1 + np.log(10) < found.high)
    True
    """
    check_choice("risk_interval", "method", method, METHODS)
    low, high = _checked_bounds(bounds)
    losses = check_losses(losses, "risk_interval")
    (losses,), weight = _rows("risk_interval", (losses,), sample_weight)
    _check_level("risk_interval", confidence, n_resamples)
    if losses.min() < low or losses.max() > high:
        seen = float(losses.min() if losses.min() < low else losses.max())
        rule, remedy = f"within bounds={(low, high)}", "widen the bounds"
        raise ValueError(refused("risk_interval", "losses", rule, seen, remedy))
    # Sorted first, so that the order of the rows does not matter.
    order = ascending(losses)
    losses, weight = losses[order], None if weight is None else weight[order]
    ranking = Ranking(parse_spectrum(spectrum), losses.size, weight)
    order = np.arange(losses.size)
    tail = _tail_rows(ranking, order)
    if method == "dkw":
        if not ranking.equal:
            rule, remedy = "equal or None for method='dkw'", "use method='bootstrap'"
            message = refused("risk_interval", "sample_weight", rule, "others", remedy)
            raise ValueError(message)
        ends = _dkw(ranking, losses, confidence, (low, high))
        return RiskInterval(ranking.risk(losses), *ends, tail)
    _warn_of_tail("risk_interval", tail)
    if _counts_the_largest(ranking.spectrum):
        return RiskInterval(float(losses[-1]), float(losses[-1]), high, tail)
    if tail <= ONE_ROW:
        return RiskInterval(ranking.risk(losses), low, high, tail)
    unit = _unit(losses)
    losses = losses / unit
    rng, samples = generator(random_state), [Sample(1.0, order, losses)]
    least, most = percentile_t(samples, ranking, confidence, n_resamples, rng)
    risk = ranking.risk(losses)
    ends = max((risk + least) * unit, low), min((risk + most) * unit, high)
    return RiskInterval(risk * unit, *ends, tail)


def compare_risks(
    losses_a: ArrayLike,
    losses_b: ArrayLike,
    spectrum: str | Spectrum = "superquantile",
    *,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    n_resamples: int = 999,
    random_state: int | np.random.Generator | None = 0,
) -> RiskComparison:
    """Compute a confidence interval of the difference of two models' risks.

    Both are of the same rows. These are resampled in pairs (a symmetric percentile-t
    bootstrap): what is hard for both models cancels, and the interval is narrower than
    those of the risks suggest.

    Parameters
    ----------
    losses_a, losses_b : array-like of shape (n,)
        Losses of the two models on the same rows, which neither has seen.
    spectrum : str or Spectrum, default="superquantile"
        How the sorted losses are weighted, as in `lrisk.RiskRegressor`: ``"mean"`` for
        the plain average.
    confidence : float in (0, 1), default=0.95
        How often such intervals hold the true difference.
    sample_weight : array-like of shape (n,) or None, default=None
        How much rows count, as in `risk_interval`.
    n_resamples : int, default=999
        Resamples of the bootstrap; the time grows with them.
    random_state : int, Generator or None, default=0
        Decides the resamples.

    Returns
    -------
    RiskComparison
        `difference` is the risk of a less that of b; `better` names the model whose
        risk is lower beyond doubt, or is None.

    Warns
    -----
    UserWarning
        If the tail holds fewer than fifty rows.

    See Also
    --------
    risk_interval : The interval of one model's risk.
    row_losses : The losses that this takes, from targets and predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.metrics import compare_risks
    >>> losses = np.random.default_rng(0).exponential(size=1000)
    >>> compare_risks(0.9 * losses, losses, "superquantile:0.9").better
    'a'
    """
    a = check_losses(losses_a, "compare_risks", "losses_a")
    b = check_losses(losses_b, "compare_risks", "losses_b")
    if a.shape != b.shape:
        rule = f"of shape {a.shape}, as losses_a"
        remedy = "pass losses of the same rows"
        raise ValueError(refused("compare_risks", "losses_b", rule, b.shape, remedy))
    (a, b), weight = _rows("compare_risks", (a, b), sample_weight)
    _check_level("compare_risks", confidence, n_resamples)
    ranking = Ranking(parse_spectrum(spectrum), a.size, weight)
    unit = max(_unit(a), _unit(b))
    a, b = a / unit, b / unit
    samples = [Sample.of(a), Sample.of(b, -1.0)]
    tail = min(_tail_rows(ranking, sample.order) for sample in samples)
    _warn_of_tail("compare_risks", tail)
    risks = ranking.risk(a), ranking.risk(b)
    difference, ends = risks[0] - risks[1], (-np.inf, np.inf)
    if tail > ONE_ROW and not _counts_the_largest(ranking.spectrum):
        rng = generator(random_state)
        ends = percentile_t(
            samples, ranking, confidence, n_resamples, rng, symmetric=True
        )
    low, high = (unit * (difference + end) for end in ends)
    risk_a, risk_b = (unit * own for own in risks)
    return RiskComparison(unit * difference, low, high, risk_a, risk_b, tail)


def _rows(
    owner: str, losses: tuple[Floats, ...], sample_weight: ArrayLike | None
) -> tuple[list[Floats], Floats | None]:
    """Losses and weights of the rows that have weight; two or more."""
    weight = check_row_weights(sample_weight, losses[0].size)
    kept = slice(None) if weight is None else weight > 0
    parts = [own[kept] for own in losses]
    if parts[0].size < 2:
        name = "losses" if len(losses) == 1 else "losses_a"
        rule, remedy = "two or more, of positive weight", "pass held-out losses"
        raise ValueError(refused(owner, name, rule, parts[0].size, remedy))
    return parts, None if weight is None else weight[kept]


def _unit(losses: Floats) -> float:
    """A power of two: in it losses can be multiplied that are not too large for that.

    It is 1 but for losses near the largest numbers there are.
    """
    return 2.0**300 if np.max(np.abs(losses)) > 2.0**700 else 1.0


def _checked_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        low = high = np.nan
    if not low < high:
        rule, remedy = "(low, high) with low < high", "pass the range of the loss"
        raise ValueError(refused("risk_interval", "bounds", rule, bounds, remedy))
    return low, high


def _check_level(owner: str, confidence: float, n_resamples: int) -> None:
    check_real(owner, "confidence", confidence, low=0, high=1, low_open=True,
               high_open=True, remedy="0.95 is usual")  # fmt: skip
    # Before 2/(1 − c) resamples the ends would be beyond all of them.
    check_count(owner, "n_resamples", n_resamples,
                low=int(np.ceil(2.0 / (1.0 - confidence) - 1e-9)) - 1)  # fmt: skip


def _tail_rows(ranking: Ranking, order: Indices) -> float:
    """1/Σσ²."""
    return float(1.0 / np.sum(ranking.sigma(order) ** 2))


def _warn_of_tail(owner: str, tail: float) -> None:
    if tail < FEWEST_IN_TAIL * (1.0 - 1e-9):
        message = (
            f"{owner}: the tail holds {tail:.3g} rows, and from fewer than "
            f"{FEWEST_IN_TAIL} the largest losses of new rows cannot be told: the "
            "interval may be too narrow. Hold more rows out, or take a milder spectrum."
        )
        warnings.warn(message, UserWarning, stacklevel=3)


def _counts_the_largest(spectrum: Spectrum) -> bool:
    """Whether the largest loss there can be, which nobody has seen, has weight."""
    return bool(np.isinf(spectrum.density(np.ones(1))[0]))


def _dkw(
    ranking: Ranking, x: Floats, confidence: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Risks of the least and of the largest distribution within the band."""
    n, spectrum = ranking.n_rows, ranking.spectrum
    width = float(np.sqrt(np.log(2.0 / (1.0 - confidence)) / (2.0 * n)))
    places = np.arange(n + 1) / n
    ends = []
    for shift, bound in ((width, bounds[0]), (-width, bounds[1])):
        S = spectrum.cumulative(np.clip(places + shift, 0.0, 1.0))
        moved = float(S[0]) if shift > 0.0 else 1.0 - float(S[-1])
        # A share without weight does not matter, even at infinity.
        end = float(np.diff(S) @ x) + (bound * moved if moved > 1e-15 else 0.0)
        ends.append(end)
    return ends[0], ends[1]

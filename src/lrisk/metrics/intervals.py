"""How sure a spectral risk is on new rows, and whether one model's is lower.

The risk of n losses, Σσ_iℓ_(i), estimates that of the distribution they come from,
∫F⁻¹(u) dS(u). To first order its error is a mean over rows of the influence

    ψ(ℓ) = ∫_{−∞}^{ℓ} s(F(t)) dt − its mean,          s = S′        (L-statistics:
                                                      Serfling 1980, section 8.2)

so that its standard error is that of a mean. Losses are skewed and their tails few
rows, so the interval is not read off a normal distribution but off the bootstrap's of
the studentised risk (percentile-t: Hall 1992, section 3.2), which is right to second
order: quantiles of resampled risks themselves, BCa's too, cover too rarely in the tail.
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

METHODS = ("bootstrap", "dkw")
#: Rows in the tail from which on a bootstrap's interval can be trusted: with fewer, the
#: largest losses that there are have often not been seen.
FEWEST_IN_TAIL = 50


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
    bounds : (float, float), default=(-inf, inf)
        Least and largest loss there can be. ``"dkw"`` needs the upper one if large
        losses count, or ends at infinity.
    sample_weight : array-like of shape (n,) or None, default=None
        How much rows count; 0 like no row. Only ratios matter: a weight of 2 does not
        say that the row was seen twice, as two rows of that loss would.
    n_resamples : int, default=999
        Of the bootstrap; the time grows with n times that (a second for 10⁵ rows and
        200 resamples).
    random_state : int, Generator or None, default=0
        Decides the resamples of the bootstrap.

    Returns
    -------
    RiskInterval
        Named `risk`, `low`, `high` and `tail_rows`.

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
    losses, weight = _rows(losses, sample_weight)
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
        return RiskInterval(float(losses.max()), float(losses.max()), high, tail)
    samples = [_Sample(1.0, order, losses)]
    rng = generator(random_state)
    risk, least, most = _percentile_t(samples, ranking, confidence, n_resamples, rng)
    return RiskInterval(risk, max(least, low), min(most, high), tail)


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

    Both are of the same rows. These are resampled in pairs (percentile-t, as in
    `risk_interval`): what is hard for both models cancels, and the interval is narrower
    than those of the risks suggest.

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
    a, weight = _rows(losses_a, sample_weight)
    b, _ = _rows(losses_b, sample_weight)
    if a.shape != b.shape:
        rule, remedy = (
            f"of shape {a.shape}, as losses_a",
            "pass losses of the same rows",
        )
        raise ValueError(refused("compare_risks", "losses_b", rule, b.shape, remedy))
    _check_level("compare_risks", confidence, n_resamples)
    ranking = Ranking(parse_spectrum(spectrum), a.size, weight)
    samples = [
        _Sample(sign, order := ascending(own), own[order])
        for sign, own in ((1.0, a), (-1.0, b))
    ]
    tail = min(_tail_rows(ranking, sample.order) for sample in samples)
    _warn_of_tail("compare_risks", tail)
    risks = ranking.risk(a), ranking.risk(b)
    if _counts_the_largest(ranking.spectrum):
        ends = -np.inf, np.inf
    else:
        rng = generator(random_state)
        ends = _percentile_t(samples, ranking, confidence, n_resamples, rng)[1:]
    return RiskComparison(risks[0] - risks[1], *ends, *risks, tail)


class _Sample(NamedTuple):
    """Losses in ascending order, whose risk is added or taken away."""

    sign: float
    order: Indices
    ascending: Floats


def _rows(
    losses: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Floats, Floats | None]:
    """Losses and weights of the rows that have weight; two or more."""
    losses = check_losses(losses)
    weight = check_row_weights(sample_weight, losses.size)
    if weight is not None:
        losses, weight = losses[weight > 0], weight[weight > 0]
    if losses.size < 2:
        rule, remedy = "two or more, of positive weight", "pass held-out losses"
        raise ValueError(refused("lrisk", "losses", rule, losses.size, remedy))
    return losses, weight


def _checked_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    low, high = (float(bound) for bound in bounds)
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


def _percentile_t(
    samples: list[_Sample],
    ranking: Ranking,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """The signed sum of the samples' risks, and the ends of its interval."""
    n, weight = ranking.n_rows, ranking.row_weight
    risk, error = _studentised(samples, ranking.spectrum, weight, np.ones(n))
    t = np.empty(n_resamples)
    with np.errstate(divide="ignore", invalid="ignore"):
        for b in range(n_resamples):
            counts = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
            own, scale = _studentised(samples, ranking.spectrum, weight, counts)
            t[b] = np.divide(own - risk, scale)
    t[np.isnan(t)] = 0.0  # the very same rows, all alike
    t.sort()
    place = int((n_resamples + 1) * (1.0 - confidence) / 2.0 + 1e-9) - 1
    # A risk known exactly has no error, however far its resamples went.
    low, high = (error * t[at] if error > 0.0 else 0.0 for at in (-1 - place, place))
    return risk, float(risk - low), float(risk - high)


def _studentised(
    samples: list[_Sample], spectrum: Spectrum, weight: Floats, counts: Floats
) -> tuple[float, float]:
    """The signed sum of risks of rows drawn so many times, and its standard error."""
    risk, influence = 0.0, np.zeros(len(counts))
    total = float(weight @ counts)
    for sign, order, x in samples:
        mass = (weight * counts)[order]
        drawn = mass > 0.0
        rows, x, mass = order[drawn], x[drawn], mass[drawn]
        # Divided last: a share of equal rows that ends at a kink of S ends there
        # exactly, and the gap of losses beyond it counts.
        P = np.cumsum(mass)
        P, mass = P / P[-1], mass / P[-1]
        slopes = spectrum.density(P[:-1])
        sigma = spectrum.increments(P, mass)
        risk += sign * float(sigma @ x) / float(sigma.sum())
        psi = np.zeros(len(x))
        np.cumsum(slopes * np.diff(x), out=psi[1:])
        influence[rows] += sign * (psi - mass @ psi)
    spread = float(counts @ (weight * influence) ** 2)
    return risk, float(np.sqrt(spread)) / total

"""Intervals of risks: that they hold, and what they do at the edges.

Coverage over 1,000 simulated sets is measured by `python -m benchmarks.intervals`; here
a few hundred must not contradict it.
"""

import warnings

import numpy as np
import pytest
from scipy.stats import binom, norm

import lrisk
from lrisk.metrics import compare_risks, risk_interval
from lrisk.metrics.bootstrap import Sample, percentile_t
from lrisk.ranking import Ranking
from lrisk.spectra import FAMILIES, CustomSpectrum, parse_spectrum

SPECTRA = [kind() for name, kind in FAMILIES.items() if name != "worst_case"]
SPECTRA.append(CustomSpectrum(weights=[1, 0, 3, 2]))


@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
def test_the_risk_is_that_of_lrisk_and_within_its_interval(spectrum):
    rng = np.random.default_rng(1)
    losses, weight = rng.gamma(2.0, size=300), rng.exponential(size=300)
    for w in (None, weight):
        found = risk_interval(losses, spectrum, sample_weight=w, n_resamples=99)
        assert found.risk == pytest.approx(lrisk.risk(losses, spectrum, w), rel=1e-12)
        assert found.low < found.risk < found.high
        same = risk_interval(losses[::-1], spectrum, n_resamples=99,
                             sample_weight=None if w is None else w[::-1])  # fmt: skip
        np.testing.assert_allclose(same, found, rtol=1e-9)


def test_only_ratios_of_weights_matter_and_zero_is_no_row():
    rng = np.random.default_rng(2)
    losses, weight = rng.gamma(2.0, size=200), rng.exponential(size=200)
    found = risk_interval(losses, "mean", sample_weight=weight)
    scaled = risk_interval(losses, "mean", sample_weight=7.0 * weight)
    np.testing.assert_allclose(found, scaled, rtol=1e-9)
    more = risk_interval(
        np.append(losses, 1e9), "mean", sample_weight=np.append(weight, 0.0)
    )
    assert more == found


def _covered(seed, draw, truth, spectrum, sets, **options):
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(sets):
        found = risk_interval(draw(rng), spectrum, **options)
        hits += found.low <= truth <= found.high
    return hits


@pytest.mark.parametrize("seed", [0, 1])
def test_the_bootstrap_covers_in_a_skewed_tail(seed):
    """Lognormal losses, 50 rows in the tail: quantiles of resamples cover 90 %."""
    tail = norm.cdf(1.0 - norm.ppf(0.75)) / 0.25 * np.exp(0.5)
    hits = _covered(seed, lambda rng: rng.lognormal(size=200), tail,
                    "superquantile:0.75", 300, n_resamples=199)  # fmt: skip
    # 93 % would be below this bound once in a thousand runs.
    assert hits >= binom.ppf(1e-3, 300, 0.93)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_a_comparison_covers_where_both_are_skewed(seed, correlation):
    """Equal tails hold the difference of lognormal losses in 91.5 to 92.7 %."""
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(300):
        shared, *own = rng.normal(size=(3, 200))
        rest = np.sqrt(1.0 - correlation**2)
        a, b = (np.exp(correlation * shared + rest * z) for z in own)
        found = compare_risks(a, b, "superquantile:0.75", n_resamples=199)
        hits += found.low <= 0.0 <= found.high
    # 93 % would be below this bound once in a thousand runs.
    assert hits >= binom.ppf(1e-3, 300, 0.93)


def test_dkw_covers_always():
    options = {"method": "dkw", "bounds": (0, 1), "confidence": 0.9}
    truths = {
        "mean": 0.5,
        "superquantile:0.9": 0.95,
        "subquantile:0.5": 0.25,
        "worst_case": 1.0,
    }
    for spectrum, truth in truths.items():
        hits = _covered(3, lambda rng: rng.uniform(size=100), truth, spectrum, 200,
                        **options)  # fmt: skip
        assert hits >= 180


def test_dkw_is_the_worst_distribution_within_the_band():
    """All mass moved by hand: of 4 losses, the share ε = ½ from one end to the other.

    Confidence 1 − 2e^{−2nε²} makes the band as wide as ½ for n = 4.
    """
    x, c = [1.0, 2.0, 3.0, 4.0], 1.0 - 2.0 * np.exp(-2.0)
    found = risk_interval(x, "mean", method="dkw", bounds=(0, 10), confidence=c)
    assert (found.low, found.high) == pytest.approx((0.75, 6.75))
    one_sided = risk_interval(x, "superquantile:0.75", method="dkw", confidence=c)
    assert (one_sided.low, one_sided.high) == (2.0, np.inf)
    trimmed = risk_interval(x, "subquantile:0.25", method="dkw", confidence=c)
    assert (trimmed.low, trimmed.high) == (-np.inf, 3.0)


def test_few_rows_in_the_tail_are_told():
    losses = np.random.default_rng(4).normal(size=200)
    with pytest.warns(UserWarning, match="the tail holds 20 rows"):
        risk_interval(losses, "superquantile:0.9")
    with pytest.warns(UserWarning, match="the tail holds 20 rows"):
        compare_risks(losses, losses + 1.0, "superquantile:0.9")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert risk_interval(losses, "superquantile:0.75").tail_rows == pytest.approx(
            50
        )
        risk_interval(losses, "superquantile:0.9", method="dkw")


def test_the_largest_loss_of_all_rows_is_not_known():
    losses = np.arange(100.0)
    with pytest.warns(UserWarning, match="the tail holds 1 rows"):
        found = risk_interval(losses, "worst_case", bounds=(0, 200))
    assert (found.low, found.high) == (99.0, 200.0)
    with pytest.warns(UserWarning, match="the tail holds 1 rows"):
        assert compare_risks(losses, losses, "worst_case").better is None


@pytest.mark.filterwarnings("ignore:risk_interval", "ignore:compare_risks")
def test_smallest_cases():
    assert risk_interval([2.0, 2.0], "mean")[:3] == (2.0, 2.0, 2.0)
    found = risk_interval([1.0, 2.0], "mean")
    assert found.low == -np.inf and found.high == np.inf
    assert risk_interval([1.0, 2.0], "mean", bounds=(0, 5))[1:3] == (0.0, 5.0)
    # Nobody knows how far the loss of a single row is from the next one's.
    alone = risk_interval([1.0, 2.0], "superquantile:0.9", bounds=(0, 5))
    assert alone[:3] == (2.0, 0.0, 5.0)
    both = compare_risks([1.0, 2.0], [0.0, 0.0], "superquantile:0.9")
    assert both[:3] == (2.0, -np.inf, np.inf) and both.better is None


@pytest.mark.parametrize("value", [1e155, 1e300, 1.7e308, -1e300])
@pytest.mark.parametrize("spectrum", ["mean", "superquantile:0.5", "subquantile:0.5"])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_loss_may_be_as_large_as_numbers_are(value, spectrum, weighted):
    rng = np.random.default_rng(7)
    x, w = rng.exponential(size=400), rng.exponential(size=400) if weighted else None
    losses = np.append(x[:-1], value)
    found = risk_interval(losses, spectrum, sample_weight=w, n_resamples=199)
    assert not np.isnan(found).any() and found.low <= found.risk <= found.high
    if (value, spectrum) == (-1e300, "superquantile:0.5"):  # the row has no say
        assert found.high - found.low < 1.0
    if value > 0.0 and spectrum == "subquantile:0.5":
        assert found.high - found.low < 1.0
    same = compare_risks(losses, x, spectrum, sample_weight=w, n_resamples=199)
    assert not np.isnan(same).any() and same.low <= same.difference <= same.high


@pytest.mark.parametrize("scale", [1e-308, 1e-160, 1e160, 1e305])
def test_losses_may_all_be_very_small_or_large(scale):
    x = np.random.default_rng(8).exponential(size=300)
    plain, found = risk_interval(x, "mean"), risk_interval(scale * x, "mean")
    np.testing.assert_allclose(found[:3], scale * np.array(plain[:3]), rtol=1e-6)
    spread = risk_interval(1.7e308 * np.linspace(-1.0, 1.0, 300), "mean")
    assert np.isfinite(spread).all() and spread.low < spread.risk < spread.high


def test_losses_that_are_all_alike_leave_nothing_open():
    for value in (0.0, 0.1, 1.7e308):
        found = risk_interval(np.full(300, value), "superquantile:0.5")
        assert found.low == found.risk == found.high == pytest.approx(value)
        moved = compare_risks(np.full(300, value), np.zeros(300), "superquantile:0.5")
        assert moved.low == moved.difference == moved.high


def test_pairs_cancel_what_is_hard_for_both():
    rng = np.random.default_rng(5)
    hard = rng.lognormal(size=1000)
    a, b = hard + 0.1 * rng.normal(size=1000), hard + 0.1 + 0.1 * rng.normal(size=1000)
    found = compare_risks(a, b, "superquantile:0.9")
    assert (
        found.better == "a" and compare_risks(b, a, "superquantile:0.9").better == "b"
    )
    assert found.difference == pytest.approx(found.risk_a - found.risk_b)
    alone = risk_interval(a, "superquantile:0.9")
    assert found.high - found.low < 0.2 * (alone.high - alone.low)
    mirrored = compare_risks(b, a, "superquantile:0.9")
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))
    assert compare_risks(a, a, "mean")[:3] == (0.0, 0.0, 0.0)


def test_a_comparison_with_zero_is_the_interval():
    rng = np.random.default_rng(6)
    losses, weight = rng.gamma(2.0, size=200), rng.exponential(size=200)
    ranking = Ranking(parse_spectrum("extremile:2"), 200, weight)
    rng = np.random.default_rng(0)
    ends = percentile_t([Sample.of(losses)], ranking, 0.9, 99, rng, symmetric=True)
    alone = ranking.risk(losses) + np.array([0.0, *ends])
    both = compare_risks(losses, np.zeros(200), "extremile:2", confidence=0.9,
                         sample_weight=weight, n_resamples=99)  # fmt: skip
    np.testing.assert_allclose(both[:3], alone, rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: risk_interval([1.0]), "losses must be two or more"),
        (lambda: risk_interval([1.0, np.nan]), "losses must be finite"),
        (lambda: risk_interval([1.0, 2.0], method="t"), "method must be one of"),
        (lambda: risk_interval([1.0, 2.0], confidence=1.0), "confidence must be"),
        (lambda: risk_interval([1.0, 2.0], n_resamples=38), "n_resamples must be"),
        (lambda: risk_interval([1.0, 2.0], bounds=(3, 3)), "bounds must be"),
        (lambda: risk_interval([1.0, 2.0], bounds=(0, 1.5)), "losses must be within"),
        (
            lambda: risk_interval([1.0, 2.0], method="dkw", sample_weight=[1, 2]),
            "sample_weight must be equal",
        ),
        (lambda: risk_interval([1.0, 2.0], "nothing"), "spectrum must be one of"),
        (lambda: risk_interval([1.0, 2.0], bounds=None), "bounds must be"),
        (lambda: risk_interval([1.0, 2.0], bounds=(0,)), "bounds must be"),
        (lambda: risk_interval([]), "risk_interval: losses must be a 1-d"),
        (lambda: risk_interval([1.0, 2.0], sample_weight=[1, 0]), "two or more"),
        (lambda: risk_interval([1.0, 2.0], sample_weight=[1, -1]), "sample_weight"),
        (lambda: compare_risks([1.0, 2.0], [1.0, 2.0, 3.0]), "losses_b must be of"),
        (lambda: compare_risks([1.0], [1.0, 2.0]), r"losses_b must be of shape \(1,\)"),
        (lambda: compare_risks([1.0, 2.0], [1.0]), "losses_b must be of"),
        (
            lambda: compare_risks([1.0, 2.0], [1.0], sample_weight=[1, 1]),
            "losses_b must be of",
        ),
        (lambda: compare_risks([1.0, 2.0], []), "losses_b must be a 1-d"),
        (lambda: compare_risks([1.0, 2.0], [1.0, np.inf]), "losses_b must be finite"),
        (lambda: compare_risks([1.0], [2.0]), "losses_a must be two or more"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""Laws every registered spectrum obeys; a new one is tested by being registered."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrisk.spectra import (
    ESRM,
    FAMILIES,
    CustomSpectrum,
    Extremile,
    Mean,
    RankedRange,
    RiskSeekingExtremile,
    Subquantile,
    Superquantile,
    WorstCase,
)

mpmath.mp.dps = 60
EPS = np.finfo(float).eps

fractions = st.floats(0.0, 1.0, exclude_min=True, exclude_max=True)
MEMBERS = {
    "mean": st.just(Mean()),
    "superquantile": st.builds(Superquantile, st.just(0.0) | fractions),
    "subquantile": st.builds(Subquantile, st.just(1.0) | fractions),
    "extremile": st.builds(Extremile, st.floats(1.0, 400.0)),
    "risk_seeking_extremile": st.builds(RiskSeekingExtremile, st.floats(1.0, 400.0)),
    "esrm": st.builds(ESRM, st.floats(1e-12, 800.0)),
    "worst_case": st.just(WorstCase()),
    "ranked_range": st.tuples(st.floats(0, 0.49), st.floats(0.51, 1)).map(
        lambda ends: RankedRange(*ends)
    ),
}


def test_every_family_has_members():
    assert set(MEMBERS) == set(FAMILIES)


every_family = pytest.mark.parametrize("name", FAMILIES)


def exact_cumulative(spectrum, u):
    """S(u) in rational arithmetic or sixty digits; parameters as the floats are."""
    match spectrum:
        case Mean():
            return u
        case Superquantile() | Subquantile() | RankedRange():
            a, b = (Fraction(end) for end in spectrum._ends)
            return min(max((u - a) / (b - a), Fraction(0)), Fraction(1))
        case WorstCase():
            return Fraction(int(u >= 1))
    u = mpmath.mpf(u.numerator) / u.denominator
    match spectrum:
        case RiskSeekingExtremile():
            return 1 - (1 - u) ** mpmath.mpf(spectrum.r)
        case Extremile():
            return u ** mpmath.mpf(spectrum.r)
        case ESRM():
            rho = mpmath.mpf(spectrum.rho)
            return mpmath.expm1(rho * u) / mpmath.expm1(rho)
    raise AssertionError(spectrum)


def exact_weight(spectrum, high, low):
    if isinstance(spectrum, RiskSeekingExtremile):  # sixty digits are few for 1 − …
        return exact_weight(Extremile(spectrum.r), 1 - low, 1 - high)
    return exact_cumulative(spectrum, high) - exact_cumulative(spectrum, low)


def assert_close(spectrum, got, exact, n_sigma_max):
    """Tight bounds on rounding (absolute for ranges, relative for smooth ones)."""
    error = abs(mpmath.mpf(float(got)) - to_mpf(exact))
    match spectrum:
        case Extremile():
            factor = 4 * (2 + spectrum.r)
        case ESRM():
            factor = 4 * (2 + spectrum.rho)
        case _:
            assert error <= 4 * EPS * n_sigma_max
            return
    if to_mpf(exact) > mpmath.mpf("1e-290"):
        assert error <= factor * EPS * to_mpf(exact)


def to_mpf(x):
    if isinstance(x, Fraction):
        return mpmath.mpf(x.numerator) / x.denominator
    return mpmath.mpf(x)


@every_family
@settings(max_examples=250, deadline=None)
@given(data=st.data())
def test_weights_are_exact(name, data):
    spectrum = data.draw(MEMBERS[name])
    n = data.draw(st.integers(1, 400))
    sigma = spectrum.weights(n)
    top = max(float(sigma.max()) * n, 1.0)
    for i in data.draw(st.lists(st.integers(1, n), min_size=1, max_size=8)):
        exact = exact_weight(spectrum, Fraction(i, n), Fraction(i - 1, n))
        assert_close(spectrum, sigma[i - 1], exact, top)


@every_family
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_unequal_increments_are_exact(name, data):
    spectrum = data.draw(MEMBERS[name])
    raw = data.draw(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=12))
    mass = np.array(raw) / np.sum(raw)
    P = np.minimum(np.cumsum(mass), 1.0)
    P[-1] = 1.0
    got = spectrum.increments(P, mass)
    for value, high, p in zip(got, P, mass):
        low = max(Fraction(float(high)) - Fraction(float(p)), Fraction(0))
        exact = exact_weight(spectrum, Fraction(float(high)), low)
        if isinstance(spectrum, RiskSeekingExtremile):
            # its mirrored argument (1 − P) + p carries one rounding of its own
            error = abs(to_mpf(float(value)) - to_mpf(exact))
            slack = 4 * (2 + spectrum.r) * EPS
            assert error <= slack * (to_mpf(exact) + spectrum.r * EPS)
        else:
            assert_close(spectrum, value, exact, max(1.0, float(np.max(got / mass))))


@every_family
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_weights_sum_to_one_are_monotone_and_match_the_cumulative(name, data):
    spectrum = data.draw(MEMBERS[name])
    n = data.draw(st.integers(1, 3000))
    sigma = spectrum.weights(n)
    assert sigma.shape == (n,)
    assert np.all(np.isfinite(sigma)) and np.all(sigma >= 0)
    assert abs(math.fsum(sigma) - 1.0) <= 1e-12
    steps = np.diff(sigma)
    match spectrum.monotone:
        case "up":
            assert np.all(steps >= 0)
        case "down":
            assert np.all(steps <= 0)
        case "flat":
            assert np.all(np.abs(steps) <= 8 * EPS / n)
    u = np.arange(n + 1) / n
    S = spectrum.cumulative(u)
    assert abs(S[0]) <= 1e-15 and abs(S[-1] - 1.0) <= 1e-12
    assert np.all(np.diff(S) >= -1e-15)
    if not isinstance(spectrum, WorstCase):
        np.testing.assert_allclose(np.cumsum(sigma), S[1:], atol=2e-12)


@every_family
def test_a_million_rows(name):
    sigma = FAMILIES[name]().weights(10**6)
    assert abs(math.fsum(sigma) - 1.0) <= 1e-12
    assert np.all(np.isfinite(sigma))


@every_family
def test_parameters_can_be_read_set_and_cloned(name):
    from sklearn.base import clone

    spectrum = FAMILIES[name]()
    assert clone(spectrum) == spectrum
    assert clone(spectrum) is not spectrum
    for parameter in spectrum.get_params():
        with pytest.raises((ValueError, TypeError), match=parameter):
            spectrum.set_params(**{parameter: "many"})
        with pytest.raises((ValueError, TypeError), match=parameter):
            spectrum.set_params(**{parameter: float("nan")})
    assert spectrum == FAMILIES[name]()
    with pytest.raises(ValueError, match="has no parameter 'nonsense'"):
        spectrum.set_params(nonsense=1)


@every_family
def test_divergences_are_those_of_the_density(name):
    """The closed forms are limits of the discretised ones, from below (Jensen)."""
    spectrum = FAMILIES[name]()
    if isinstance(spectrum, WorstCase):
        assert spectrum.kl_divergence() == spectrum.chi2_divergence() == math.inf
        return
    n = 20_000
    slices = CustomSpectrum(weights=spectrum.weights(n))
    kl, chi2 = spectrum.kl_divergence(), spectrum.chi2_divergence()
    assert slices.kl_divergence() == pytest.approx(kl, abs=2e-3)
    assert slices.chi2_divergence() == pytest.approx(chi2, abs=2e-3)
    assert slices.kl_divergence() <= kl + 1e-9
    assert slices.chi2_divergence() <= chi2 + 1e-9


@every_family
@pytest.mark.parametrize("smoothing", ["l2", "entropy"])
def test_smoothing_bounds_hold(name, smoothing):
    """νΩ(σ) bounds the smoothing error and is below its limit (paper 1, cor. 18)."""
    from lrisk.permutahedron import smoothed_risk
    from lrisk.ranking import Ranking

    spectrum = FAMILIES[name]()
    n, nu = 50, 0.3
    limit = (
        nu / (2 * n) * spectrum.chi2_divergence()
        if smoothing == "l2"
        else nu * spectrum.kl_divergence()
    )
    bound = spectrum.smoothing_bound(smoothing, nu, n)
    assert 0 <= bound <= limit + 1e-12
    if spectrum.monotone not in ("up", "flat"):
        return
    ranking = Ranking(spectrum, n)
    rng = np.random.default_rng(0)
    for _ in range(20):
        losses = rng.exponential(size=n)
        smooth, _ = smoothed_risk(ranking, losses, smoothing, nu)
        error = ranking.risk(losses) - smooth
        assert -1e-12 <= error <= bound + 1e-12


@every_family
def test_draws_through_the_inverse_follow_the_spectrum(name):
    """S(S⁻¹(v)) = v where S is continuous, so ranks drawn by it have weights σ."""
    spectrum = FAMILIES[name]()
    v = np.linspace(0.0, 1.0, 101)
    u = spectrum.inverse(v)
    assert np.all((u >= 0) & (u <= 1)) and np.all(np.diff(u) >= 0)
    if not isinstance(spectrum, WorstCase):
        np.testing.assert_allclose(spectrum.cumulative(u), v, atol=1e-12)
    for n in (7, 40):
        draws = np.random.default_rng(0).random(200_000)
        ranks = np.ceil(n * spectrum.inverse(draws)).clip(1, n).astype(int)
        shares = np.bincount(ranks, minlength=n + 1)[1:] / draws.size
        sigma = spectrum.weights(n)
        deviation = np.sqrt(sigma * (1 - sigma) / draws.size) + 1e-12
        assert np.all(np.abs(shares - sigma) <= 5 * deviation)


@pytest.mark.parametrize("rho", [1e-12, 0.3, 0.999, 1.001, 30.0, 800.0])
def test_inverse_of_the_exponential_spectrum(rho):
    v = np.linspace(0.01, 1.0, 20)
    spectrum = ESRM(rho)
    np.testing.assert_allclose(spectrum.cumulative(spectrum.inverse(v)), v, rtol=1e-9)


def test_inverse_of_custom_spectra():
    spectrum = CustomSpectrum(weights=[0.0, 1.0, 0.0, 3.0])
    v = np.linspace(0.01, 0.99, 20)
    np.testing.assert_allclose(spectrum.cumulative(spectrum.inverse(v)), v, atol=1e-12)


def exact_density(spectrum, u):
    """s(u) in sixty digits, on the right of a jump."""
    match spectrum:
        case Mean():
            return mpmath.mpf(1)
        case RankedRange():
            a, b = (Fraction(end) for end in spectrum._ends)
            inside = a <= u and (u < b or b == 1)
            return to_mpf(1 / (b - a)) if inside else mpmath.mpf(0)
        case RiskSeekingExtremile():
            return exact_density(Extremile(spectrum.r), 1 - u)
        case Extremile():
            r = mpmath.mpf(spectrum.r)
            return r * to_mpf(u) ** (r - 1)
        case ESRM():
            rho = mpmath.mpf(spectrum.rho)
            return rho * mpmath.exp(rho * to_mpf(u)) / mpmath.expm1(rho)
    raise AssertionError(spectrum)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "worst_case"])
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_densities_are_exact(name, data):
    spectrum = data.draw(MEMBERS[name])
    u = data.draw(st.fractions(0, 1, max_denominator=997)) if name != "mean" else 0.5
    u = Fraction(float(u))  # what the spectrum is given
    got, exact = float(spectrum.density(float(u))), exact_density(spectrum, u)
    condition = 4 + 2 * getattr(spectrum, "r", 0.0) + 2 * getattr(spectrum, "rho", 0.0)
    if isinstance(spectrum, RiskSeekingExtremile):  # 1 − u is rounded
        condition += spectrum.r / max(float(1 - u), EPS)
    if exact > np.finfo(float).max:
        assert got == math.inf
        return
    assert abs(to_mpf(got) - exact) <= 4 * EPS * condition * exact + mpmath.mpf(
        "1e-300"
    )


@every_family
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_increments_lie_between_densities_at_their_ends(name, data):
    """What the error of shared ranks is bounded by."""
    spectrum = data.draw(MEMBERS[name])
    if spectrum.monotone not in ("up", "down", "flat"):
        return
    n = data.draw(st.integers(1, 500))
    ends = np.arange(n + 1) / n
    s, sigma = spectrum.density(ends), n * spectrum.weights(n)
    low, high = np.minimum(s[:-1], s[1:]), np.maximum(s[:-1], s[1:])
    room = 1e-12 * np.where(np.isfinite(high), high, 0.0) + 1e-300
    if isinstance(spectrum, Subquantile | RankedRange):
        low = np.zeros(n)  # the last row may be cut by the end
        a, b = spectrum._ends
        high = np.full(n, float(spectrum.density(a)))
        room = 1e-9 * high if a < b - 1e-300 else math.inf
    assert np.all(sigma >= low - room)
    assert np.all((sigma <= high + room) | np.isinf(high))


def test_densities_of_custom_spectra():
    slices = CustomSpectrum(weights=[1.0, 3.0])
    np.testing.assert_allclose(
        slices.density([0.0, 0.49, 0.5, 1.0]), [0.5, 0.5, 1.5, 1.5]
    )
    square = CustomSpectrum(lambda u: u**2)
    u = np.linspace(0.0, 1.0, 9)
    np.testing.assert_allclose(square.density(u), 2 * u, atol=2e-3)


def test_the_worst_case_has_no_density():
    assert WorstCase().density([0.0, 0.9, 1.0]).tolist() == [0.0, 0.0, math.inf]

"""What is claimed of a slip by the likelihood of rows far out."""

import numpy as np
import pytest
from scipy.integrate import quad

from lrisk.analysis.audit.sections.evidence import Evidence, FarRows
from lrisk.analysis.audit.sections.repairs import DEGREES, Repair
from lrisk.analysis.audit.sections.slips import MISFIT, REPAIRS
from lrisk.analysis.audit.tails import NoiseTail

NOISE = NoiseTail(4.0, 1.0, 100.0)


def rows_at(away, expected, scale):
    """Rows at given distances, in noise scales, from what is expected of them."""
    return FarRows(expected + away * scale, expected, scale, NOISE, MISFIT)


def tail(rng, m):
    """Pareto's tails of any exponent, heavier or lighter on either side."""
    exponents = rng.choice([0.3, 1.0, 3.0, 10.0], 2)
    up = rng.random(m) < rng.uniform(0.1, 0.9)
    sizes = MISFIT * (1.0 + rng.pareto(np.where(up, *exponents)))
    return np.where(up, sizes, -sizes)


@pytest.mark.parametrize("chance", [0.1, 0.01])
def test_tails_are_hardly_ever_taken_for_a_slip(chance):
    """The ratio is 1/p or more in at most p of all tables: one slip is asked for."""
    claims, tables = 0, 400
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(3, 60))
        expected, scale = rng.uniform(20, 60, m), rng.choice([2.0, 8.0], m)
        rows = rows_at(tail(rng, m), expected, scale)
        repair = REPAIRS[seed % len(REPAIRS)]
        claims += Evidence.of(rows, repair).gain >= np.log(1.0 / chance)
    assert claims <= chance * tables


def test_other_factors_are_no_slip():
    """Every row with a factor of its own: whatever is asked for, it is not that."""
    claims = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        expected = rng.uniform(20, 60, 25)
        wrong = expected * np.exp(rng.uniform(1.0, 4.0, 25)) + rng.normal(0, 2.0, 25)
        rows = rows_at((wrong - expected) / 2.0, expected, np.full(25, 2.0))
        claims += any(Evidence.of(rows, r).gain > np.log(1000.0) for r in REPAIRS)
    assert claims == 0


@pytest.mark.parametrize(
    "repair", [Repair(0.1), Repair(2.2046), Repair(-1.0), *DEGREES]
)
def test_density_of_a_slip_is_one(repair):
    """∫ |a| g((r(y) − e)/s) du = 1."""

    def density(u):
        rows = rows_at(np.array([u]), np.array([30.0]), np.array([5.0]))
        return float(np.exp(rows.slipped(repair, np.ones(1))[0, 0]))

    middle = ((30.0 - repair.shift) / repair.factor - 30.0) / 5.0
    reach = 200.0 / abs(repair.factor)
    mass = quad(density, middle - reach, middle + reach, points=[middle], limit=400)[0]
    assert mass == pytest.approx(1.0, abs=1e-4)


def test_chances_are_those_of_bayes():
    """One row of ten has not slipped; the posterior by hand, part by part."""
    expected = np.linspace(100.0, 300.0, 10)
    wrong = np.r_[10.0 * expected[:9] * 1.02, 5.0 * expected[9]]
    rows = rows_at((wrong - expected) / 5.0, expected, np.full(10, 5.0))
    proof = Evidence.of(rows, Repair(0.1))
    chance = proof.chances(rows, Repair(0.1))
    assert chance[:9].min() > 0.9 and chance[9] < 0.01
    assert proof.weights.sum() == pytest.approx(1.0)
    slip = np.exp(rows.slipped(Repair(0.1), np.ones(1))[0])
    by_hand = np.zeros(10)
    for i, part in enumerate((0.1, 0.3, 0.5, 0.7, 0.9)):
        for j, exponent in enumerate((0.5, 1.0, 2.0, 4.0)):
            other = exponent / 4.0 * (np.abs(rows.away) / 4.0) ** -(exponent + 1.0)
            own = part * slip / (part * slip + (1.0 - part) * other)
            by_hand += proof.weights[i, j] * own
    np.testing.assert_allclose(chance, by_hand, rtol=1e-10)


def test_enormous_values_and_tiny_scales_give_numbers():
    expected = np.array([1.0, 2.0, 3.0, 4.0])
    for away in (1e12, -1e300, 1e16):
        rows = rows_at(np.full(4, away), expected, np.full(4, 1e-14))
        for repair in REPAIRS:
            proof = Evidence.of(rows, repair)
            assert np.isfinite(proof.gain)
            assert np.isfinite(proof.chances(rows, repair)).all()

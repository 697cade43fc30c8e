"""Local false discovery rates: how many of the rows far out are right."""

import numpy as np
import pytest
from scipy import stats

from lrisk.procedures.outliers.false_discovery import FalseDiscovery
from lrisk.procedures.outliers.populations import (
    Histogram,
    Populations,
    fit_two_populations,
)
from lrisk.procedures.outliers.tails import Tail


def mixed(seed, n=1000, wrong=100, freedom=5.0, at=30.0):
    """Residuals of right rows, then of wrong ones, and the populations found."""
    rng = np.random.default_rng(seed)
    u = np.r_[rng.standard_t(freedom, n - wrong), rng.normal(at, 5.0, wrong)]
    found = fit_two_populations(Histogram.of(u))
    assert found is not None
    return u, found


def test_rates_never_rise_outwards():
    u, found = mixed(0)
    discovery = FalseDiscovery.of(found, u)
    for sign in (-1.0, 1.0):
        rates = discovery.at(found.core[0] + sign * np.linspace(0.0, 60.0, 500))
        assert np.all(np.diff(rates) <= 0.0)
    assert discovery.at(np.array([60.0]))[0] < 1e-3


def test_rates_add_up_to_the_right_rows_expected_beyond_the_nearest():
    u, found = mixed(1)
    mode, _, scale = found.core[:3]
    end = scale * found.flagged_from(0.7)[1]
    away = u - mode
    tail = Tail.of(away[(away > 0.0) & (away < end)], end, 2.0)
    above = FalseDiscovery.of(found, u).above
    assert np.all(above.rates < 1.0)
    expected = tail.expected_beyond(above.distances[:1])[0]
    assert above.rates.sum() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("freedom", [100.0, 5.0, 3.0])
@pytest.mark.parametrize("at", [12.0, 40.0])
def test_as_many_flags_are_false_as_expected(freedom, at):
    expected, actual = 0.0, 0
    for seed in range(20):
        u, found = mixed(seed, freedom=freedom, at=at)
        right = FalseDiscovery.of(found, u).at(u)
        chance = np.minimum(found.outlier_probability(u), 1.0 - right)
        flagged = chance > 0.7
        assert flagged[-100:].mean() > 0.75  # some of these are within the tail
        expected += np.sum(1.0 - chance[flagged])
        actual += flagged[:-100].sum()
    low = stats.poisson.ppf(0.025, expected / 2)
    high = stats.poisson.ppf(0.975, 2 * expected)
    assert low <= actual <= high


def test_gaps_are_no_rows():
    """What the tail expects where nobody is does not count against the next row."""
    rng = np.random.default_rng(0)
    u = np.r_[rng.normal(size=500), np.full(20, 40.0)]
    core = np.array([0.0, 1.0, 1.0, 3.0, 3.0])
    both = Populations(core, 0.04, 40.0, 10.0, 0.0, np.zeros(7))
    assert FalseDiscovery.of(both, u).at(np.array([40.0]))[0] < 0.01


def test_a_side_without_rows_has_the_rate_of_its_end():
    u, found = mixed(3)
    below = u[u > found.core[0] - 2.0 * found.core[1]]
    rate = FalseDiscovery.of(found, below).at(np.array([-50.0]))
    assert 0.0 <= rate[0] <= 1.0

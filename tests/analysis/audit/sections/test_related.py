"""What the other columns of a row let expect of a number."""

import numpy as np
import pytest

from lrisk.analysis.audit.sections.ordered import Ordered
from lrisk.analysis.audit.sections.related import off_their_rows


def found(*columns):
    ordered = [Ordered.of(c) for c in columns]
    return off_their_rows(ordered, len(columns[0]), 1e-4)


def sizes(seed=0):
    rng = np.random.default_rng(seed)
    size = rng.lognormal(size=500)
    return [size**k * rng.lognormal(sigma=0.05, size=500) for k in (1, 2, 3)]


@pytest.mark.parametrize("factor", [10.0, 0.1, 100.0])
def test_a_factor_is_named_in_its_own_column_only(factor):
    """Of three columns, of which the wrong one is half of what the others go by.

    A value at the very end of its column, wrong or not, has none beyond it to go by.
    """
    for seed in range(5):
        columns = sizes(seed)
        columns[1][:10] *= factor
        (off,) = found(*columns)
        assert (off.column, off.above) == (1, factor > 1.0)
        assert off.inside[:10].sum() >= 9 and not off.inside[10:].any()
        assert off.factor == factor


def test_two_columns_with_a_factor_each():
    a, b, c = sizes()
    a[:10] *= 10.0
    c[20:30] *= 100.0
    off = sorted(found(a, b, c))
    assert [(one.column, round(one.factor)) for one in off] == [(0, 10), (2, 100)]
    assert [np.flatnonzero(one.inside)[0] for one in off] == [0, 20]


def test_nothing_is_expected_of_missing_cells_and_of_what_is_not_positive():
    a, b, c = sizes()
    b[:10] *= 10.0
    b[3] = np.nan
    (off,) = found(-a, b, c, np.full(500, np.nan))
    assert np.flatnonzero(off.inside).tolist() == [0, 1, 2, *range(4, 10)]
    assert found(-a, -b) == [] and found(b) == []


@pytest.mark.parametrize("seed", range(4))
def test_rows_in_another_unit_do_not_make_the_others_wrong(seed):
    """A log whose temperature is in degrees Fahrenheit for a part of its rows."""
    rng = np.random.default_rng(seed)
    day = np.arange(2000) / 288.0
    warm = 12.0 + 7.0 * np.sin(2.0 * np.pi * day) + rng.normal(scale=0.5, size=2000)
    moist = 80.0 - 1.2 * warm + rng.normal(size=2000)
    power = 200.0 + 3.0 * warm + rng.normal(scale=3.0, size=2000)
    warm = np.maximum(warm, 0.3)
    warm[1500:1700] = 1.8 * warm[1500:1700] + 32.0
    assert not any(one.inside[:1500].any() for one in found(warm, moist, power))

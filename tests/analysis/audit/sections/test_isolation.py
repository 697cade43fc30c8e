"""Gaps: as rare on clean columns as they are said to be, and found where planted."""

import numpy as np
import pytest

from lrisk.analysis.audit.sections.isolation import isolated_values
from lrisk.analysis.audit.sections.ordered import Ordered

LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.random(n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "t3": lambda rng, n: rng.standard_t(3, n),
    "Poisson": lambda rng, n: rng.poisson(3, n).astype(float),
    "whole years": lambda rng, n: rng.integers(18, 90, n).astype(float),
    "many zeros": lambda rng, n: rng.lognormal(size=n) * (rng.random(n) < 0.4),
    "two digits": lambda rng, n: np.array(
        [float(f"{v:.2g}") for v in rng.lognormal(sigma=2.0, size=n)]
    ),
    "one decimal": lambda rng, n: np.round(rng.normal(size=n), 1),
    "logs of counts": lambda rng, n: np.log1p(rng.poisson(3, n)),
    "powers of two": lambda rng, n: 2.0 ** rng.geometric(0.4, n),
    "twenty firms": lambda rng, n: rng.lognormal(size=20)[rng.integers(20, size=n)],
    "doses": lambda rng, n: np.array(
        [m * 10.0**e for e in range(4) for m in (1, 2, 5)]
    )[rng.integers(12, size=n)],
    "children": lambda rng, n: rng.negative_binomial(1, 0.3, n).astype(float),
    "pixels": lambda rng, n: 2.0 * rng.integers(20, 60, n),
    "forty sites": lambda rng, n: rng.normal(size=40)[rng.integers(40, size=n)],
}  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [60, 300, 2000])
def test_clean_columns_have_no_gap_more_often_than_promised(law, n):
    """Of 60 sides at a level of 1 %, the binomial 99.9 % point is 5."""
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(30):
        values = LAWS[law](rng, n)
        for above in (True, False):
            gap = isolated_values(Ordered.of(values), above)
            found += gap is not None and gap.chance < 0.01
    assert found <= 5


@pytest.mark.parametrize("count", [1, 2, 9, 30])
def test_values_in_another_unit_are_behind_a_gap(count):
    rng = np.random.default_rng(count)
    values = rng.normal(170.0, 10.0, 300)
    values[:count] *= 10.0
    found = isolated_values(Ordered.of(values), above=True)
    assert found is not None and found.chance < 0.01
    assert found.number == count and found.nearest == values[count:].max()
    assert isolated_values(Ordered.of(values), above=False) is None
    assert isolated_values(Ordered.of(-values), above=False) == found._replace(
        nearest=-found.nearest
    )


def test_units_and_origin_do_not_matter():
    rng = np.random.default_rng(0)
    values = rng.lognormal(size=200)
    values[:3] = 500.0
    first, second = (
        isolated_values(Ordered.of(v), above=True) for v in (values, 1e6 * values - 3.0)
    )
    assert first is not None and second is not None
    assert first.chance == pytest.approx(second.chance, rel=1e-6)


def test_a_group_of_a_fifth_is_no_exception():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=240), 50.0 + rng.normal(size=60)])
    assert isolated_values(Ordered.of(values), above=True) is None


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("levels", [10, 17, 60])
def test_levels_of_a_design_with_a_slipped_point_are_behind_a_gap(seed, levels):
    """Few values are left beside them, and theirs are many of the different ones."""
    rng = np.random.default_rng(seed)
    design = np.round(np.linspace(2.8, 5.3, levels), 2)
    values = design[rng.integers(levels, size=400)]
    assert isolated_values(Ordered.of(values), above=True) is None
    values[:12] *= 10.0
    found = isolated_values(Ordered.of(values), above=True)
    assert found is not None and found.chance < 1e-4
    assert found.number == 12 and found.nearest == values[12:].max()

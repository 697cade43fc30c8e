"""Bounds against measurements."""

from itertools import combinations

import numpy as np
import pytest

from experiments import proven


def test_every_bound_holds_and_its_looseness_is_told(miniature):
    made = miniature("bounds")
    for record in made.records:
        for measured, bound in zip(record["measured"], record["bound"]):
            assert measured <= bound + 1e-12
    for kind, title in proven.TITLES.items():
        own = [r for r in made.records if r["cell"]["kind"] == kind]
        count = sum(len(r["at"]) for r in own)
        assert f"## {title}" in made.text
        assert f"The bound holds in {count} of {count} rows" in made.text
    assert len(made.figures) == 1


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_expected_order_statistics_by_counting(m):
    x = np.array([0.1, 0.4, 0.5, 2.0, 7.0])
    means = np.mean([sorted(part) for part in combinations(x, m)], axis=0)
    np.testing.assert_allclose(proven.mean_order_statistics(x, m), means, rtol=1e-12)

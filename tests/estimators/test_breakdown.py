"""What `python -m benchmarks.breakdown` promises, on forty fixed draws."""

import sys
from pathlib import Path

import numpy as np
import pytest

from lrisk import RobustRegressor

# The folder is beside the package, not in it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks._breakdown_data import draw
from benchmarks.breakdown import Cell, far_but_right, fitted

DRAWS = [
    (kind, n, d, k, seed)
    for kind, n, d, k in [
        ("targets", 60, 2, 1),
        ("targets", 60, 2, 18),
        ("targets", 200, 5, 2),
        ("targets", 200, 5, 60),
        ("scattered", 60, 2, 1),
        ("scattered", 200, 5, 1),
        ("scattered", 200, 5, 10),
        ("cluster", 60, 2, 1),
        ("cluster", 60, 2, 7),
        ("cluster", 200, 5, 24),
    ]
    for seed in range(100, 104)
]


def error(table):
    model = RobustRegressor(random_state=0).fit(table.X, table.y)
    return table.error(model)


def test_wrong_rows_are_harmless():
    """At most 2 E₀ in 95 % of the draws, never above 5 E₀."""
    worse = 0
    for options in DRAWS:
        table = draw(*options)
        found = error(table)
        least = table.sigma * np.sqrt(table.parameters / len(table.y))
        if found <= 2.0 * least:
            continue
        least = max(least, error(table.without_bad_rows()))
        assert found <= 5.0 * least, options
        worse += found > 2.0 * least
    assert worse <= 2


@pytest.mark.parametrize(
    "kind, placement, seeds",
    [
        ("targets", "anywhere", (0, 1)),
        ("targets", "one end", (39,)),
        ("targets", "ball", (11, 25)),
        ("scattered", "anywhere", (0, 23)),
        ("cluster", "anywhere", (0, 1)),
    ],
)
def test_the_size_of_what_is_wrong_does_not_matter(kind, placement, seeds):
    for seed in seeds:
        near, far = (
            error(draw(kind, 60, 2, 18, seed, size=size, placement=placement))
            for size in (1e3, 1e12)
        )
        assert far <= 1.1 * near


@pytest.mark.parametrize("seed", [5, 8])
def test_right_rows_far_out_are_kept(seed):
    """Five rows of a hundred, up to a thousand times as far out as the others."""
    table = far_but_right(Cell("clean", "far", "targets", 1000, 10, 0), seed)
    robust, plain = (table.error(fitted(table, "linear", c)) for c in ("auto", 0.0))
    assert robust < 1.1 * plain

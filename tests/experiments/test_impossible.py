"""One copy without knowledge: two worlds that look alike."""

import numpy as np
import pytest

from experiments import impossible


def test_the_worlds_look_alike_but_are_not():
    rng = np.random.default_rng(0)
    moments = {}
    for world, v in impossible.WORLDS.items():
        x, (P, Q), y = impossible.drawn(world, 200_000, rng)
        moments[world] = np.cov(np.column_stack([P[:, 0], y]).T)
        assert np.mean(P[:, 0] * Q[:, 0]) == pytest.approx(v, abs=0.02)
        clean = np.mean(x[:, 0] * y) / np.mean(x[:, 0] ** 2)
        assert clean == pytest.approx(impossible.C / v, abs=0.02)
    np.testing.assert_allclose(moments["A"], moments["B"], atol=0.02)


def test_no_coefficient_is_good_in_both():
    v, u = impossible.WORLDS.values()
    w = np.linspace(0.0, 2.0, 2_000_001)
    worse = np.maximum(v * (w - impossible.C / v) ** 2, u * (w - impossible.C / u) ** 2)
    assert worse.min() == pytest.approx(impossible.least_regret(v, u), rel=1e-4)


def test_two_copies_tell_them_apart(miniature):
    made = miniature("noisy-impossible")
    (table,) = made.tables()
    worse = {row[0]: float(row[3]) for row in table[1:]}
    floor = impossible.least_regret(*impossible.WORLDS.values())
    for name, value in worse.items():
        assert (value < 0.5 * floor) == name.startswith("two copies")

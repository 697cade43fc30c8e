"""Regret under changing, other and chosen noise."""

import numpy as np
import pytest

from experiments import worlds


def test_the_mean_regret_and_the_excess_are_within_the_valid_bound(miniature):
    made = miniature("noisy-worlds")
    for (form, _), by_rounds in worlds.grouped(made.records).items():
        for T, own in by_rounds.items():
            bound = np.mean(worlds.pooled(own, "bound"))
            assert 0.0 < np.mean(worlds.pooled(own, "regret")) <= bound
            assert np.mean(worlds.pooled(own, "excess")) <= bound / T
            printed = np.mean(worlds.pooled(own, "printed"))
            if form == "one copy and Σ":
                assert np.isnan(printed)
            else:
                assert (printed < bound) == (form == "two copies")
    table, growth = made.tables()
    assert len(table) == 1 + 4 * 2 + 2 and len(growth) == 1 + 4


@pytest.mark.parametrize("noise", worlds.NOISES)
def test_noises_have_the_stated_covariance_and_fourth_moment(noise):
    rng = np.random.default_rng(0)
    w, truth = np.array([0.5, 0.5, 0.0]), np.array([0.0, 1.0, 0.0])
    cov = worlds.covariance(noise, 60, w, truth)
    drawn = np.array([worlds.draw(noise, cov, rng) for _ in range(20_000)])
    assert np.abs(drawn.mean(axis=0)).max() < 0.03
    np.testing.assert_allclose(drawn.T @ drawn / len(drawn), cov, atol=0.03)
    assert np.trace(cov) <= worlds.ENERGY + 1e-12
    for x in np.eye(3):
        fourth = np.mean(np.sum((x + drawn) ** 2, axis=1) ** 2)
        assert fourth <= worlds.fourth_moment(noise)


@pytest.mark.parametrize("name", worlds.KERNELS)
def test_a_surrogate_is_nowhere_more_than_its_factor_above_the_kernel(name):
    """0 ≤ k̂ ≤ R²k, on which the ball of theorem 2 rests, for mixtures as well."""
    from lrisk.corrections import Surrogate
    from lrisk.noise import GaussianNoise

    for cov in (0.09, np.array([0.2, 0.02])):
        surrogate = Surrogate(worlds.KERNELS[name], GaussianNoise(cov), 2)
        rng = np.random.default_rng(0)
        A, B = rng.normal(size=(200, 2)), 3.0 * rng.normal(size=(200, 2))
        noisy, clean = surrogate.matrix(A, B), surrogate.clean_matrix(A, B)
        assert np.all(noisy >= 0.0)
        assert np.all(noisy <= surrogate.squared_radius * clean * (1.0 + 1e-9))

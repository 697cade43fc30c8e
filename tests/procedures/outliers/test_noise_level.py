"""The level of the noise."""

import numpy as np
import pytest

from lrisk.procedures.outliers.constants import CONSTANTS
from lrisk.procedures.outliers.noise_level import NoiseLevel


@pytest.fixture
def table():
    """Residuals whose scale doubles from the lowest to the highest fitted value."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 2))
    fitted = rows[:, 0]
    truth = np.exp(0.5 * np.log(2.0) * np.tanh(fitted))
    return rng.normal(size=2000) * truth, fitted, rows, truth


def test_level_follows_the_noise(table):
    residuals, fitted, rows, truth = table
    level = NoiseLevel.of(residuals, fitted, rows).at(fitted, rows, own=True)
    assert np.median(np.abs(np.log(level / truth))) < 0.12


@pytest.mark.parametrize("approximate", [True, False])
def test_sizes_of_wrong_rows_do_not_move_it(table, approximate):
    """Nor do values that a model which has learnt wrong rows predicts for them."""
    residuals, fitted, rows, _ = table
    wrong = np.arange(len(rows)) % 4 == 0
    levels = []
    for size in (1e3, 1e12):
        residuals[wrong], fitted[wrong] = size, 2.0 * size
        found = NoiseLevel.of(residuals, fitted, rows, approximate=approximate)
        levels.append((found.common, found.floor))
    np.testing.assert_allclose(*levels, rtol=1e-9)
    assert levels[0][0] < 2.0


def test_floor_is_a_share_of_the_spread_of_an_approximate_model(table):
    _, fitted, rows, _ = table
    level = NoiseLevel.of(np.zeros(2000), fitted, rows)
    np.testing.assert_allclose(level.floor, CONSTANTS.model_error, rtol=0.1)
    assert NoiseLevel.of(np.zeros(2000), fitted, rows, approximate=False).floor < 1e-3

"""Weights of tensors are those of arrays, for every spectrum; smoothed ones too."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")
import torch

from lrisk import risk_weights
from lrisk.permutahedron import smoothed_risk
from lrisk.ranking import Ranking
from lrisk.spectra import FAMILIES, SMOOTHINGS, CustomSpectrum
from lrisk.torch.weighing import KEPT_SIZES, Weigher

SPECTRA = [
    *(family() for family in FAMILIES.values()),
    CustomSpectrum(weights=[1, 0, 3]),
    CustomSpectrum(cumulative=np.square),
]
RISING = [spectrum for spectrum in SPECTRA if spectrum.monotone in ("flat", "up")]
every = pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
weighted = pytest.mark.parametrize("weighted", [False, True])


def rows(n, seed, weighted):
    """Losses with ties and of both signs, and weights with zeros."""
    rng = np.random.default_rng(seed)
    losses = rng.normal(size=n).round(1)
    weight = rng.integers(0, 4, n).astype(float) if weighted else None
    if weighted:
        weight[0] = 1.0
    return losses, weight


def tensor(values):
    return None if values is None else torch.from_numpy(values)


@weighted
@every
@pytest.mark.parametrize("n", [1, 2, 3, 17, 200])
def test_exact_weights_are_those_of_arrays(spectrum, n, weighted):
    for seed in range(3):
        losses, weight = rows(n, seed, weighted)
        weigher = Weigher("", spectrum, None, 0.0)
        found = weigher.by_rank(tensor(losses), tensor(weight))
        wanted = risk_weights(losses, spectrum, sample_weight=weight)
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-15)


@every
def test_exact_weights_of_32_bits_are_the_nearest(spectrum):
    losses = np.random.default_rng(0).normal(size=500).astype(np.float32)
    found = Weigher("", spectrum, None, 0.0).by_rank(tensor(losses), None)
    wanted = risk_weights(losses, spectrum)
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-30)


@weighted
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("spectrum", RISING, ids=repr)
def test_smoothed_weights_and_values_are_those_of_arrays(spectrum, smoothing, weighted):
    losses, weight = rows(40, 1, weighted)
    weigher = Weigher("", spectrum, smoothing, 0.7)
    found = weigher.smoothed(tensor(losses), tensor(weight))
    given = {"sample_weight": weight, "smoothing": smoothing, "nu": 0.7}
    np.testing.assert_array_equal(
        found.weights, risk_weights(losses, spectrum, **given)
    )
    kept = slice(None) if weight is None else weight > 0
    ranking = Ranking(
        spectrum, len(losses[kept]), None if weight is None else weight[kept]
    )
    value, _ = smoothed_risk(ranking, losses[kept], smoothing, 0.7)
    assert float(found.value) == pytest.approx(value, rel=1e-14)


def test_a_weight_counts_like_so_many_rows():
    losses = torch.tensor([3.0, 1.0, 2.0], dtype=torch.float64)
    counts = torch.tensor([2, 1, 3])
    for spectrum in SPECTRA:
        weigher = Weigher("", spectrum, None, 0.0)
        once = weigher.by_rank(losses, counts.double())
        repeated = weigher.by_rank(losses.repeat_interleave(counts), None)
        there = torch.repeat_interleave(torch.arange(3), counts)
        summed = torch.zeros_like(losses).index_add_(0, there, repeated)
        torch.testing.assert_close(once, summed, rtol=1e-12, atol=1e-15)


def test_equal_losses_share_equally():
    weigher = Weigher("", "superquantile:0.9", None, 0.0)
    found = weigher.by_rank(torch.full((10,), 2.0), None)
    torch.testing.assert_close(found, torch.full((10,), 0.1))


def test_few_sizes_of_batches_are_kept():
    weigher = Weigher("", "esrm:2", None, 0.0)
    for n in range(1, 3 * KEPT_SIZES):
        weigher.by_rank(torch.arange(float(n)), None)
    assert len(weigher._sigma) == KEPT_SIZES

"""Weights of rows by rank, and their smoothed forms, for tensors.

By rank they are what `lrisk.ranking.Ranking.shared_weights` gives, on the device of the
losses. The smoothed ones are those of `lrisk.permutahedron` itself, whose pooling is a
sequential loop: losses go to the host and weights come back.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .._params import check_choice, check_real, refused
from .._typing import Floats, Indices
from ..spectra import SMOOTHINGS, Spectrum, parse_spectrum

#: Sizes of batches whose σ are kept: a loader has two, the last batch being smaller.
KEPT_SIZES = 8


class Weights(NamedTuple):
    """Weights λ of rows, and what smoothing tells besides; tensors of one dtype.

    weights : λ; shape (n,)
    value : h_ν(ℓ), by rank λ·ℓ; shape ()
    slope : w of ∂λ/∂ℓ = (1/ν)(diag w_B − w_B w_Bᵀ/Σw_B) in a block B; shape (n,)
    blocks : which block a row was pooled in, from 0; shape (n,)
    """

    weights: Tensor
    value: Tensor
    slope: Tensor
    blocks: Tensor


class Weigher:
    """A spectrum, exact or smoothed, ready for batches of any size.

    Parameters
    ----------
    spectrum : str or Spectrum
    smoothing : {"l2", "entropy"} or None
    nu : float > 0, or 0 without smoothing
    """

    def __init__(
        self, owner: str, spectrum: str | Spectrum, smoothing: str | None, nu: float
    ) -> None:
        self.spectrum = parse_spectrum(spectrum)
        check_choice(owner, "smoothing", smoothing, (None, *SMOOTHINGS))
        if smoothing is not None:
            remedy = "the smaller, the closer to the exact risk"
            check_real(owner, "nu", nu, low=0, low_open=True, remedy=remedy)
        elif nu != 0.0:
            rule, remedy = "0 without smoothing", "pass smoothing='l2' or 'entropy'"
            raise ValueError(refused(owner, "nu", rule, nu, remedy))
        if smoothing is not None and self.spectrum.monotone not in ("flat", "up"):
            rule = "None for a spectrum that is not increasing"
            remedy = "drop the smoothing"
            raise ValueError(refused(owner, "smoothing", rule, smoothing, remedy))
        self.smoothing, self.nu = smoothing, float(nu)
        self._sigma: dict[tuple[int, torch.device], tuple[Tensor, Tensor]] = {}

    def __call__(self, losses: Tensor, sample_weight: Tensor | None) -> Weights:
        """λ of detached losses; sample weights of 64 bits, some of them positive."""
        if sample_weight is None or bool((sample_weight > 0).all()):
            return self._of_positive(losses, sample_weight)
        kept = sample_weight > 0
        found = self._of_positive(losses[kept], sample_weight[kept])
        weights, slope = torch.zeros_like(losses), torch.zeros_like(losses)
        blocks = torch.zeros_like(losses, dtype=torch.int64)
        weights[kept], slope[kept], blocks[kept] = found[0], found[2], found[3]
        return Weights(weights, found.value, slope, blocks)

    def _of_positive(self, losses: Tensor, sample_weight: Tensor | None) -> Weights:
        if self.smoothing is not None:
            return self._smoothed(losses, sample_weight)
        weights = self._by_rank(losses, sample_weight)
        nothing = torch.zeros_like(weights)
        return Weights(weights, weights @ losses, nothing, nothing.long())

    def _by_rank(self, losses: Tensor, sample_weight: Tensor | None) -> Tensor:
        n = len(losses)
        if self.spectrum.monotone == "flat" and sample_weight is None:
            return torch.full_like(losses, 1.0 / n)
        ordered, order = losses.sort()
        if sample_weight is None:
            sigma, summed = self._equal_sigma(n, losses.device)
        else:
            mass = sample_weight[order] / sample_weight.sum()
            sigma, summed = self._weighted_sigma(mass)
        # Tied losses are neighbours: each gets its share, by mass, of all their σ.
        place = torch.arange(n, device=losses.device)
        apart = torch.ones(n + 1, dtype=torch.bool, device=losses.device)
        torch.ne(ordered[1:], ordered[:-1], out=apart[1:-1])
        first = torch.cummax(torch.where(apart[:-1], place, 0), 0).values
        last = torch.where(apart[1:], place, n).flip(0).cummin(0).values.flip(0) + 1
        share = 1.0 / (last - first).double()
        if sample_weight is not None:
            masses = _from_zero(mass)
            share = mass / (masses[last] - masses[first])
        sigma = torch.where(
            last - first == 1, sigma, (summed[last] - summed[first]) * share
        )
        return torch.empty_like(losses).scatter_(0, order, sigma.to(losses.dtype))

    def _equal_sigma(self, n: int, device: torch.device) -> tuple[Tensor, Tensor]:
        if (n, device) not in self._sigma:
            if len(self._sigma) >= KEPT_SIZES:
                self._sigma.pop(next(iter(self._sigma)))
            sigma = torch.from_numpy(self.spectrum.weights(n)).to(device)
            self._sigma[n, device] = sigma, _from_zero(sigma)
        return self._sigma[n, device]

    def _weighted_sigma(self, mass: Tensor) -> tuple[Tensor, Tensor]:
        """As `Ranking.sigma`: only the last row completes the mass."""
        own = mass.cpu().numpy()
        cumulative = np.minimum(np.cumsum(own), np.nextafter(1.0, 0.0))
        cumulative[-1] = 1.0
        sigma = self.spectrum.increments(cumulative, own)
        there = torch.from_numpy(sigma / sigma.sum()).to(mass.device)
        return there, _from_zero(there)

    def _smoothed(self, losses: Tensor, sample_weight: Tensor | None) -> Weights:
        found = _projected(
            self.spectrum,
            losses.double().cpu().numpy(),
            None if sample_weight is None else sample_weight.cpu().numpy(),
            str(self.smoothing),
            self.nu,
        )
        device, dtype = losses.device, losses.dtype
        weights, value, slope = (
            torch.tensor(numbers, dtype=torch.float64).to(device, dtype)
            for numbers in (found.weights, found.value, found.slope)
        )
        blocks = torch.from_numpy(found.blocks).to(device)
        return Weights(weights, value, slope, blocks)


class _Projected(NamedTuple):
    """As `Weights`, in numbers of the host."""

    weights: Floats
    value: float
    slope: Floats
    blocks: Indices


def _from_zero(values: Tensor) -> Tensor:
    """Partial sums, with a zero in front; shape (n + 1,)."""
    return torch.nn.functional.pad(values.cumsum(0), (1, 0))


def _projected(
    spectrum: Spectrum,
    losses: Floats,
    sample_weight: Floats | None,
    smoothing: str,
    nu: float,
) -> _Projected:
    """A smoothed maximiser, by the loops of `lrisk.permutahedron`."""
    from ..permutahedron import (
        entropic_weights,
        proximal_weights,
        smoothing_penalty,
    )
    from ..ranking import Ranking

    ranking = Ranking(spectrum, len(losses), sample_weight)
    if smoothing == "l2":
        found = proximal_weights(ranking, losses, ranking.mass, nu)
        slope = np.array(ranking.row_weight)
    else:
        found = entropic_weights(ranking, losses, nu)
        slope = found.weights
    blocks = np.empty(len(losses), dtype=np.int64)
    sizes = np.diff(found.starts)
    blocks[found.order] = np.repeat(np.arange(len(sizes)), sizes)
    penalty = smoothing_penalty(ranking, found.weights, smoothing)
    value = float(found.weights @ losses) - nu * penalty
    return _Projected(found.weights, value, slope, blocks)

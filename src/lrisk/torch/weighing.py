"""Weights of rows by rank, and their smoothed forms, for tensors.

By rank they are what `lrisk.ranking.Ranking.shared_weights` gives, on the device of the
losses. The smoothed ones are those of `lrisk.permutahedron` itself, whose pooling is a
sequential loop: losses go to the host and weights come back.
"""

import copy
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .._params import check_choice, check_real, refused
from ..spectra import SMOOTHINGS, Spectrum, parse_spectrum

#: Sizes of batches whose σ are kept: a loader has two, the last batch being smaller.
KEPT_SIZES = 8


class Smoothed(NamedTuple):
    """A smoothed risk and how it changes; tensors of one dtype.

    weights : its gradient λ; shape (n,)
    value : h_ν(ℓ); shape ()
    slope : w of ∂λ/∂ℓ = (1/ν)(diag w_B − w_B w_Bᵀ/Σw_B) in a block B; shape (n,)
    blocks : a row of the block that a row was pooled in; shape (n,)
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
        # Its σ are kept, and spectra can be changed in place.
        self.spectrum = copy.deepcopy(parse_spectrum(spectrum))
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

    def by_rank(self, losses: Tensor, sample_weight: Tensor | None) -> Tensor:
        """λ, tied losses sharing by mass; for sample weights of 64 bits, or None."""
        n = len(losses)
        if sample_weight is None and self.spectrum.monotone == "flat":
            return torch.full_like(losses, 1.0 / n)
        if sample_weight is not None and not bool((sample_weight > 0).all()):
            weights, kept = torch.zeros_like(losses), sample_weight > 0
            weights[kept] = self.by_rank(losses[kept], sample_weight[kept])
            return weights
        ordered, order = losses.sort()
        mass = None
        if sample_weight is None:
            sigma, summed = self._equal_sigma(n, losses.device)
        else:
            mass = sample_weight[order] / sample_weight.sum()
            sigma, summed = self._weighted_sigma(mass)
        apart = ordered[1:] != ordered[:-1]
        if not bool(apart.all()):
            sigma = _shared(apart, sigma, summed, mass)
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

    def smoothed(self, losses: Tensor, sample_weight: Tensor | None) -> Smoothed:
        """The smoothed risk, by the loops of `lrisk.permutahedron`, on the host."""
        from ..permutahedron import (
            entropic_weights,
            proximal_weights,
            smoothing_penalty,
        )
        from ..ranking import Ranking

        own = losses.double().cpu().numpy()
        weight = None if sample_weight is None else sample_weight.cpu().numpy()
        kept = np.ones(len(own), bool) if weight is None else weight > 0
        weight = None if weight is None else weight[kept]
        ranking = Ranking(self.spectrum, int(kept.sum()), weight)
        if self.smoothing == "l2":
            found = proximal_weights(ranking, own[kept], ranking.mass, self.nu)
            slope = ranking.row_weight
        else:
            found = entropic_weights(ranking, own[kept], self.nu)
            slope = found.weights
        penalty = smoothing_penalty(ranking, found.weights, str(self.smoothing))
        value = float(found.weights @ own[kept]) - self.nu * penalty
        blocks = np.arange(ranking.n_rows)  # a block is known by its first row
        first = found.rows[found.starts[:-1]]
        blocks[found.rows] = np.repeat(first, np.diff(found.starts))
        rows = torch.zeros(3, len(own), dtype=torch.float64)
        rows[:, torch.from_numpy(kept)] = torch.from_numpy(
            np.stack([found.weights, slope, blocks])
        )
        rows = rows.to(losses.device)
        total = losses.new_tensor(value)
        weights, slopes = rows[0].to(losses.dtype), rows[1].to(losses.dtype)
        return Smoothed(weights, total, slopes, rows[2].long())


def _shared(
    apart: Tensor, sigma: Tensor, summed: Tensor, mass: Tensor | None
) -> Tensor:
    """σ in ascending order, tied losses sharing theirs by mass.

    apart : whether a loss differs from the one before; shape (n − 1,)
    summed : partial sums of σ from zero; shape (n + 1,)
    """
    begins = torch.cat([apart.new_ones(1), apart])
    # Not by cummax of the places: on a GPU that takes 45 times as long as the sort.
    block, starts = begins.cumsum(0) - 1, torch.nonzero(begins)[:, 0]
    ends = torch.cat([starts[1:], starts.new_tensor([len(sigma)])])
    alone, total = ends - starts == 1, summed[ends] - summed[starts]
    if mass is None:
        even = torch.where(alone, sigma[starts], total / (ends - starts))
        return even[block]
    masses = _from_zero(mass)
    density = total / (masses[ends] - masses[starts])
    return torch.where(alone[block], sigma, mass * density[block])


def _from_zero(values: Tensor) -> Tensor:
    """Partial sums, with a zero in front; shape (n + 1,)."""
    return torch.nn.functional.pad(values.cumsum(0), (1, 0))

"""A spectral risk in the place of a mean over the losses of a batch."""

import copy
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..spectra import FAMILIES, Spectrum
from .checks import check_losses, check_row_weights
from .weighing import Smoothed, Weigher


class SpectralRisk(torch.nn.Module):
    """Weigh the losses of a batch by their ranks, in the place of their mean.

    That is the spectral risk Σσ_iℓ_(i). Its gradient is Σλ_i∇ℓ_i with the weights λ
    that `lrisk.risk_weights` gives; λ is a constant of the graph, so a second
    derivative is Σλ_i∇²ℓ_i. Smoothed, it is
    h_ν(ℓ) = max_λ λ·ℓ − νΩ(λ) over the permutahedron (paper 1, equation 6), which is
    differentiable: there λ moves with the losses, and second derivatives say so.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        How the sorted losses are weighted: ``"superquantile:0.9"``, ``"esrm:2"``,
        ``"subquantile:0.8"`` and all others of `lrisk.spectra`.
    smoothing : {"l2", "entropy"} or None, default=None
        Only for spectra that increase. Its weights are found on the host, whatever the
        device of the losses.
    nu : float, default=0.0
        How much, > 0 with a smoothing. The smoothed risk is below the exact one by at
        most `spectrum.smoothing_bound(smoothing, nu, n)`.

    See Also
    --------
    RiskTable : For batches so small that their own tail is not that of the data.
    lrisk.RiskRegressor : Linear models, with a proof of the optimum.

    Notes
    -----
    A batch of n rows is weighted by its own ranks. The gradient is then that of the
    mean risk of n rows, not of all: of ``"superquantile:0.95"`` in a batch of 64 three
    rows count.

    Losses must be finite, which costs a look at them, on a GPU a wait for it. In
    `torch.compile` nothing is looked at, and a risk of NaN says that one was not.
    Second derivatives are those of eager mode, and smoothed risks are not for
    `torch.func`.

    Examples
    --------
    >>> import torch
    >>> from lrisk.torch import SpectralRisk
    >>> risk = SpectralRisk("superquantile:0.5")
    >>> losses = torch.tensor([3.0, 1.0, 2.0, 10.0], requires_grad=True)
    >>> value = risk(losses)
    >>> value.backward()
    >>> float(value.detach()), losses.grad.tolist()
    (6.5, [0.5, 0.0, 0.0, 0.5])

    In a training loop the loss keeps one number for each row, and the risk is what was
    a mean:

    >>> model = torch.nn.Linear(3, 1)
    >>> X, y = torch.ones(8, 3), torch.zeros(8)
    >>> losses = torch.nn.functional.mse_loss(model(X)[:, 0], y, reduction="none")
    >>> risk(losses).backward()
    """

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        smoothing: str | None = None,
        nu: float = 0.0,
    ) -> None:
        super().__init__()
        self._weigher = Weigher("SpectralRisk", spectrum, smoothing, nu)
        self._text = named(self._weigher.spectrum)

    @property
    def spectrum(self) -> Spectrum:
        """How the sorted losses are weighted; a copy."""
        return copy.deepcopy(self._weigher.spectrum)

    def extra_repr(self) -> str:
        """What the module is shown with."""
        smoothing, nu = self._weigher.smoothing, self._weigher.nu
        more = "" if smoothing is None else f", smoothing={smoothing!r}, nu={nu!r}"
        return f"{self.spectrum!r}{more}"

    def weights(self, losses: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """λ, of sum one; shape (n,). Takes the losses of a graph or of none."""
        with torch.no_grad():
            losses = check_losses(self, losses)
            sample_weight = check_row_weights(self, sample_weight, losses)
            if self._weigher.smoothing is None:
                return self._by_rank(losses, sample_weight)
            return self._smoothed(losses, sample_weight).weights

    def forward(self, losses: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Risk of the losses of a batch.

        Parameters
        ----------
        losses : tensor of shape (n,)
            Of float32 or float64, with a gradient unless in `torch.no_grad()`.
        sample_weight : tensor of shape (n,) or None, default=None
            A weight k counts like k rows. No gradient flows through it.

        Returns
        -------
        tensor of shape ()
        """
        losses = check_losses(self, losses)
        sample_weight = check_row_weights(self, sample_weight, losses)
        if self._weigher.smoothing is None:
            # Not a product of vectors: autocast would round λ to 16 bits.
            return (self._by_rank(losses.detach(), sample_weight) * losses).sum()
        found = self._smoothed(losses.detach(), sample_weight)
        value: Tensor = _SmoothedRisk.apply(losses, *found, self._weigher.nu)
        return value

    def _by_rank(self, losses: Tensor, sample_weight: Tensor | None) -> Tensor:
        if not torch.compiler.is_compiling():
            return self._weigher.by_rank(losses, sample_weight)
        if self._text is None:
            return _apart(self._weigher.by_rank, losses, sample_weight)
        return _rank_weights(losses, sample_weight, self._text)

    def _smoothed(self, losses: Tensor, sample_weight: Tensor | None) -> Smoothed:
        if not torch.compiler.is_compiling():
            return self._weigher.smoothed(losses, sample_weight)
        if self._text is None:
            return Smoothed(*_apart(self._weigher.smoothed, losses, sample_weight))
        rule = (self._text, self._weigher.smoothing, self._weigher.nu)
        return Smoothed(*_smoothed_weights(losses, sample_weight, *rule))


class _SmoothedRisk(torch.autograd.Function):
    """h_ν, whose gradient is λ."""

    @staticmethod
    def forward(
        losses: Tensor,
        weights: Tensor,
        value: Tensor,
        slope: Tensor,
        blocks: Tensor,
        nu: float,
    ) -> Tensor:
        return value.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        losses, weights, _, slope, blocks, ctx.nu = inputs
        ctx.save_for_backward(losses, weights, slope, blocks)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> Any:
        losses, weights, slope, blocks = ctx.saved_tensors
        if torch.is_grad_enabled():
            weights = _SmoothedWeights.apply(losses, weights, slope, blocks, ctx.nu)
        return upstream * weights, None, None, None, None, None


class _SmoothedWeights(torch.autograd.Function):
    """λ, whose derivative is (1/ν)(diag w_B − w_B w_Bᵀ/Σw_B) in a block B."""

    @staticmethod
    def forward(
        losses: Tensor, weights: Tensor, slope: Tensor, blocks: Tensor, nu: float
    ) -> Tensor:
        return weights.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, _, slope, blocks, ctx.nu = inputs
        ctx.save_for_backward(slope, blocks)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> Any:
        slope, blocks = ctx.saved_tensors
        nothing = torch.zeros_like(slope)
        own = slope * upstream
        total = nothing.index_add(0, blocks, own)[blocks]
        share = nothing.index_add(0, blocks, slope)[blocks]
        even = torch.where(share > 0, slope / share, 0.0) * total
        return (own - even) / ctx.nu, None, None, None, None


# -- for torch.compile, which sees one operation and does not look into it -------------


def named(spectrum: Spectrum) -> str | None:
    """A spectrum as `parse_spectrum` takes it, to the last digit; None for custom."""
    if FAMILIES.get(spectrum.name) is not type(spectrum):
        return None
    numbers = [repr(float(value)) for value in spectrum.get_params().values()]
    return ":".join([spectrum.name, *numbers])


@functools.lru_cache(maxsize=16)
def _weigher(text: str, smoothing: str | None, nu: float) -> Weigher:
    return Weigher("SpectralRisk", text, smoothing, nu)


@torch.library.custom_op("lrisk::rank_weights", mutates_args=())
def _rank_weights(
    losses: Tensor, sample_weight: Tensor | None, spectrum: str
) -> Tensor:
    return _weigher(spectrum, None, 0.0).by_rank(losses, sample_weight)


@_rank_weights.register_fake
def _(losses: Tensor, sample_weight: Tensor | None, spectrum: str) -> Tensor:
    return torch.empty_like(losses)


@torch.library.custom_op("lrisk::smoothed_weights", mutates_args=())
def _smoothed_weights(
    losses: Tensor,
    sample_weight: Tensor | None,
    spectrum: str,
    smoothing: str,
    nu: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    weigher = _weigher(spectrum, smoothing, nu)
    return tuple(weigher.smoothed(losses, sample_weight))


@_smoothed_weights.register_fake
def _(
    losses: Tensor,
    sample_weight: Tensor | None,
    spectrum: str,
    smoothing: str,
    nu: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    weights, value = torch.empty_like(losses), losses.new_empty(())
    blocks = torch.empty_like(losses, dtype=torch.int64)
    return weights, value, torch.empty_like(losses), blocks


@torch.compiler.disable
def _apart(
    weigh: Callable[..., Any], losses: Tensor, sample_weight: Tensor | None
) -> Any:
    """Custom spectra, which have no name: the graph breaks here."""
    return weigh(losses, sample_weight)

"""The last loss of every row of a data set, so that a batch is weighted by all ranks.

Ranks come from bins, as in `lrisk.partitions.grid`, that are kept up to date: a step
takes its rows out of their old bins, puts them into their new ones and adds up the
bins. What that costs depends on the batch and the number of bins, not on the rows.
"""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from .._params import check_count
from ..partitions.grid import SMALLEST, Grid
from ..spectra import Spectrum
from .checks import check_device, check_losses, check_rows
from .weighing import Weigher

#: Bins of losses. They are added up in every step, in the time of a few small tensors;
#: losses that span 50 binades still differ in bins of a thousandth of their size.
BINS = 1 << 16
#: Binades above the largest loss that bins are kept for, in case losses grow.
HEADROOM = 10
#: Share of the rows that may be written before bins are chosen anew, which reads all
#: rows: a small part of the time that a model takes over that many.
RENEWED = 1.0


class RiskTable(torch.nn.Module):
    """Weigh the losses of a batch by their ranks in the whole data set.

    Under a tail-heavy spectrum a small batch has hardly a tail: its own risk is biased
    (`SpectralRisk` of it is the risk of so few rows). Here the last loss of every row
    is kept, and a row of the batch has the weight of its rank among all of them:

        (1/b) Σ_{i in batch} nλ_i ℓ_i,   λ_i = (S(P_i) − S(P_i − m_i))/(rows of its bin)

    with P_i the share of the rows in and below the bin of ℓ_i and m_i that in it. For
    rows drawn uniformly that is an unbiased estimate of λ·ℓ, and its gradient one of
    Σλ_i∇ℓ_i.

    Parameters
    ----------
    n_rows : int
        Rows of the training set.
    spectrum : str or Spectrum, default="superquantile"
        Any; also those that leave the largest losses out.

    Attributes
    ----------
    losses : tensor of shape (n_rows,)
        Of float32; NaN for a row that no batch has had yet.

    See Also
    --------
    SpectralRisk : The risk of a batch by itself, for batches of thousands of rows.

    Notes
    -----
    *Before a row was seen* it does not count: ranks are among the rows that were, so
    that the first batch is weighted as by `SpectralRisk` and the table grows from
    there.

    *Staleness*: ℓ_i is compared with losses that are up to an epoch old. As steps grow
    small, all of them approach the losses of the present model, and λ the weights of
    its risk. Nothing else is stale: bins are up to date after each step.

    *Exactness*: λ lies in the permutahedron of the table's losses. Rows of one bin
    share their weight; with 65536 bins these are losses that agree in about three
    digits of their distance from the smallest one. `risk` and `weights` rank the table
    exactly.

    Averaging over a batch with few rows of the tail is noisy: some steps are zero,
    others large. A smaller learning rate, or a larger batch, evens that out.

    Forward looks at values, on a GPU a wait for them; `torch.compile` leaves its graph
    there. Processes that train together have a table each.

    Examples
    --------
    A training loop needs the places of the batch's rows, here from a data set of
    ``(place, x, y)``:

    >>> import torch
    >>> from lrisk.torch import RiskTable
    >>> X, y = torch.arange(8.0)[:, None], torch.arange(8.0)
    >>> data = torch.utils.data.TensorDataset(torch.arange(8), X, y)
    >>> model, risk = torch.nn.Linear(1, 1), RiskTable(8, "superquantile:0.5")
    >>> for rows, inputs, targets in torch.utils.data.DataLoader(data, batch_size=4):
    ...     losses = (model(inputs)[:, 0] - targets) ** 2
    ...     risk(losses, rows).backward()
    >>> risk.seen
    8
    """

    losses: Tensor
    _counts: Tensor
    _owner: Tensor

    def __init__(self, n_rows: int, spectrum: str | Spectrum = "superquantile") -> None:
        super().__init__()
        check_count(self, "n_rows", n_rows)
        self._exact = Weigher("RiskTable", spectrum, None, 0.0)
        self.n_rows = int(n_rows)
        self.register_buffer("losses", torch.full((self.n_rows,), torch.nan))
        for name, size in (("_counts", BINS), ("_owner", self.n_rows)):
            nothing = torch.zeros(size, dtype=torch.int64)
            self.register_buffer(name, nothing, persistent=False)
        shares = np.arange(self.n_rows + 1) / self.n_rows
        cumulative = self._exact.spectrum.cumulative(shares)
        self._cumulative = torch.from_numpy(cumulative.copy())
        self._bins = _Bins(0.0, 0, 0)
        self._since, self._ever = 0, 0  # rows written: since bins were chosen, in all
        self.register_load_state_dict_post_hook(_recount)

    @property
    def spectrum(self) -> Spectrum:
        """How the sorted losses are weighted; a copy."""
        return copy.deepcopy(self._exact.spectrum)

    @property
    def seen(self) -> int:
        """How many rows some batch has had."""
        return int((~self.losses.isnan()).sum())

    def get_extra_state(self) -> list[float]:
        """What `state_dict` keeps besides the losses: which bins they are in."""
        return [*self._bins, self._since, self._ever]

    def set_extra_state(self, state: list[float]) -> None:
        """Take what `get_extra_state` gave; the losses are counted anew."""
        low, *rest = state
        least, shift, self._since, self._ever = (int(number) for number in rest)
        self._bins = _Bins(low, least, shift)

    def extra_repr(self) -> str:
        """What the module is shown with."""
        return f"{self.n_rows}, {self.spectrum!r}"

    @torch.compiler.disable
    def forward(self, losses: Tensor, rows: Tensor) -> Tensor:
        """Estimate of the data set's risk from a batch, whose losses are kept.

        Parameters
        ----------
        losses : tensor of shape (b,)
            Of the batch, of float32 or float64.
        rows : tensor of integers of shape (b,)
            Which rows of the data set these are, from 0 to n_rows − 1. Rows may repeat.

        Returns
        -------
        tensor of shape ()
        """
        losses = check_losses(self, losses)
        check_device(self, "losses", losses, self.losses.device)
        rows = check_rows(self, rows, losses, self.n_rows)
        with torch.no_grad():
            relative = self._relative_weights(self._write(losses, rows))
        # Not a product of vectors: autocast would round the weights to 16 bits.
        return (relative.to(losses.dtype) * losses).mean()

    def risk(self) -> float:
        """Σσ_iℓ_(i) of the kept losses, ranked exactly; NaN if there are none."""
        known = self._known()
        if len(known) == 0:
            return float("nan")
        return float(self._exact.by_rank(known, None) @ known)

    def weights(self) -> Tensor:
        """λ of all rows by their kept losses, ranked exactly; 0 if not seen."""
        weights = torch.zeros_like(self.losses, dtype=torch.float64)
        known = self._known()
        if len(known) > 0:
            weights[~self.losses.isnan()] = self._exact.by_rank(known, None)
        return weights

    # -- inner -------------------------------------------------------------------------

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move with the model that holds it, but keep 32 bits whatever it is made of.

        In 16 bits losses would tie by the hundred, and those beyond 65504 be infinite.
        """
        kept = self.losses
        super()._apply(fn, recurse)
        if self.losses.dtype != kept.dtype:
            self.losses = kept.to(self.losses.device)
        return self

    def _known(self) -> Tensor:
        return self.losses[~self.losses.isnan()].double()

    def _write(self, losses: Tensor, rows: Tensor) -> Tensor:
        """Keep the losses, and count their rows in the bins they now belong to.

        Gives the bins back. A row that repeats has one loss, and counts once.
        """
        most = torch.finfo(torch.float32).max
        place = torch.arange(len(rows), device=rows.device)
        self._owner[rows] = place  # one of its places, where a row repeats
        owner = self._owner[rows]
        new = losses.detach()[owner].clamp(-most, most).float()
        old = self.losses[rows]
        self.losses[rows] = new
        self._since, self._ever = self._since + len(rows), self._ever + len(rows)
        if self._since >= RENEWED * min(self._ever, self.n_rows):
            self._renew()
            return self._bins.of(new)
        bins, once = self._bins.of(new), owner == place
        known = once & ~old.isnan()
        before = self._bins.of(old.nan_to_num())
        self._counts.index_add_(0, before, known.long(), alpha=-1)
        self._counts.index_add_(0, bins, once.long())
        return bins

    def _renew(self) -> None:
        known = self._known()
        self._bins, self._since = _Bins.for_losses(known), 0
        self._count(known)

    def _count(self, known: Tensor) -> None:
        self._counts.copy_(torch.bincount(self._bins.of(known), minlength=BINS))

    def _relative_weights(self, bins: Tensor) -> Tensor:
        """nλ of rows in these bins, n the rows seen; of mean one over all rows."""
        up_to = self._counts.cumsum(0)
        seen, own, high = up_to[-1].double(), self._counts[bins], up_to[bins]
        ends = torch.stack([high - own, high])
        low, high = self._share_below(ends * (self.n_rows / seen))
        return (high - low) * (seen / own)

    def _share_below(self, place: Tensor) -> Tensor:
        """S(place/n), linear between rows: exact once all of them were seen."""
        if self._cumulative.device != place.device:
            self._cumulative = self._cumulative.to(place.device)
        low = place.long()
        high = (low + 1).clamp_(max=self.n_rows)
        return torch.lerp(self._cumulative[low], self._cumulative[high], place - low)


class _Bins(NamedTuple):
    """A `Grid` of the distances from a loss."""

    low: float
    least: int
    shift: int

    @classmethod
    def for_losses(cls, losses: Tensor) -> "_Bins":
        """Bins as narrow as they can be that part some losses, of 64 bits."""
        low = losses.min()
        above = losses - low
        top = max(float(above.max()), SMALLEST)
        least = min(float(torch.where(above > 0, above, top).min()), top)
        grid = Grid.between(least, top * 2.0**HEADROOM, BINS)
        return cls(float(low), grid.least, grid.shift)

    def of(self, losses: Tensor) -> Tensor:
        """As `Grid.places`."""
        # −0.0, the cross entropy of a sure row, passes any clamp: its bits are below 0.
        bits = (losses.double() - self.low).clamp_(min=0.0).abs_().view(torch.int64)
        return ((bits - self.least) >> self.shift).clamp_(0, BINS - 1)


def _recount(table: RiskTable, keys: Any) -> None:
    """Bins are not saved: a loaded table counts its losses anew."""
    most = torch.finfo(torch.float32).max
    table.losses = table.losses.float().clamp_(-most, most)
    table._count(table._known())

"""Random numbers of rows by their contents: `lrisk.procedures.nystroem.row_keys`.

The same bits as there. Numbers of 64 bits without a sign are the bits of those with
one, which wrap around alike.
"""

import numpy as np
import torch
from torch import Tensor

from .._typing import Floats
from ..procedures.nystroem import MIXING, SPREAD, Keys, salts_of
from .kernel_values import stretches
from .rows import in_memory, on_device


def tensor_keys(X: Tensor, salt: int, y: Floats | None = None) -> Keys:
    """A number for each row, in memory; `y` belongs to the row if it is given."""
    n, d = X.shape
    salts = on_device(salts_of(d, salt).view(np.int64), X.device)
    keys = torch.empty(n, dtype=torch.int64, device=X.device)
    for rows in stretches(n, d, X.device):
        block = X[rows].double()
        terms = _mixed(_bits(block) ^ salts[:-1])
        keys[rows] = torch.where(block == 0.0, 0, terms).sum(dim=1)
    if y is not None:
        keys += _mixed(_bits(on_device(y, X.device)) ^ salts[d])
    mixed: Keys = in_memory(_mixed(keys)).view(np.uint64)
    return mixed


def _bits(values: Tensor) -> Tensor:
    """The bits of numbers; −0 is 0."""
    return (values + 0.0).view(torch.int64)


def _mixed(bits: Tensor) -> Tensor:
    """Spread every bit over all."""
    first, second = SPREAD
    bits = bits ^ _shifted(bits, first)
    for factor in MIXING:
        bits = bits * (factor - (1 << 64))
        bits = bits ^ _shifted(bits, second)
    return bits


def _shifted(bits: Tensor, places: int) -> Tensor:
    """To the right, zeros coming in: there is no sign."""
    return (bits >> places) & ((1 << (64 - places)) - 1)

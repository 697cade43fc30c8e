"""Kernels of rows that are tensors: the formulas of `lrisk.spaces.kernels`."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._arrays import FEATURE
from .._params import refused
from ..spaces import Kernel
from ..spaces.kernels import FAR
from ..spaces.offset import leave_outliers, some_rows
from .rows import in_memory, on_device

#: Entries of k(x, z) in one block: 4 MB stay in a processor's cache; on a GPU products
#: of blocks of 1 GB run at its full speed.
BLOCK, GPU_BLOCK = 1 << 19, 1 << 27


def check_kernel(owner: object, kernel: Kernel) -> None:
    """Refuse kernels that have no form for tensors."""
    kernel.validate(owner)
    if kernel.precomputed or not kernel.trusted:
        rule = "one of the named kernels, of features"
        remedy = f"fit lrisk.{type(owner).__name__} in memory"
        raise ValueError(refused(owner, "kernel", rule, kernel.name, remedy))


def stretches(n: int, width: int, device: torch.device) -> Iterator[slice]:
    """Slices of n rows, a block of so many numbers in each row at a time."""
    most = GPU_BLOCK if device.type == "cuda" else BLOCK
    height = max(1, most // max(width, 1))
    for start in range(0, n, height):
        yield slice(start, min(start + height, n))


class TensorKernel:
    """k(·, z_j) for centres z that stay the same, for block after block of rows.

    Of 64 bits, whatever the rows are. The Gaussian kernel is one product and one
    exponential, as in `lrisk.spaces.kernels.KernelColumns`.

    Parameters
    ----------
    kernel : Kernel
        One that `check_kernel` lets pass.
    Z : tensor of shape (m, d)
        Centres, of 64 bits.
    """

    def __init__(self, kernel: Kernel, Z: Tensor) -> None:
        self.kernel, self.Z = kernel, Z
        m, d = Z.shape
        self.gamma = 1.0 / d if kernel.gamma is None else float(kernel.gamma)
        if kernel.name == "rbf":
            means = in_memory(Z.mean(dim=0))
            leave_outliers(means, in_memory(Z[some_rows(m)]))
            self._mean = on_device(means, Z.device)
            centred = Z - self._mean
            self._right = centred.square().sum(dim=1).mul_(-self.gamma)
            ones = torch.ones_like(self._right)
            rows = [2.0 * self.gamma * centred.T, ones[None], self._right[None]]
            self._folded = torch.cat(rows)
        elif kernel.name == "cosine":
            self._unit = _unit(Z)

    def __call__(self, X: Tensor, out: Tensor | None = None) -> Tensor:
        """k(x_i, z_j), shape (n, m), of 64 bits; in `out` if that is given."""
        X = X.double()
        match self.kernel.name:
            case "rbf":
                return self._gaussian(X, out)
            case "linear":
                return _bounded(torch.matmul(X, self.Z.T, out=out))
            case "cosine":
                return torch.matmul(_unit(X), self._unit.T, out=out)
            case "laplacian":
                K = torch.cdist(X, self.Z, p=1.0).mul_(-self.gamma).exp_()
            case _:
                K = torch.matmul(X, self.Z.T, out=out).mul_(self.gamma)
                K = _bounded(K.add_(self.kernel.coef0).pow_(self.kernel.degree))
        return K if out is None else out.copy_(K)

    def _gaussian(self, X: Tensor, out: Tensor | None) -> Tensor:
        centred = X - self._mean
        left = centred.square().sum(dim=1, keepdim=True).mul_(-self.gamma)
        rows = torch.cat([centred, left, torch.ones_like(left)], dim=1)
        K = torch.matmul(rows, self._folded, out=out).clamp_(max=0.0)
        far, others = left[:, 0] < -FAR, self._right < -FAR
        if bool(others.any()) and bool(far.any()):
            exact = "donot_use_mm_for_euclid_dist"
            away = torch.cdist(X[far], self.Z[others], compute_mode=exact)
            places = far.nonzero(), others.nonzero()[:, 0]
            K[places] = away.square_().mul_(-self.gamma)
        return K.exp_()


def kernel_matrix(kernel: Kernel, X: Tensor) -> Tensor:
    """K of all pairs of rows, of 64 bits, made block by block; shape (n, n)."""
    n = len(X)
    values = TensorKernel(kernel, X.double())
    K = torch.empty((n, n), dtype=torch.float64, device=X.device)
    for rows in stretches(n, n, X.device):
        values(X[rows], out=K[rows])
    if kernel.name == "rbf":  # to the last bit, whatever rounding made of zero
        K.fill_diagonal_(1.0)
    return K


def _unit(X: Tensor) -> Tensor:
    """Rows of length one; a zero row stays zero."""
    norms = torch.linalg.vector_norm(X, dim=1, keepdim=True)
    return X / torch.where(norms > 0.0, norms, 1.0)


def _bounded(K: Tensor) -> Tensor:
    """Kernel values, if their squares and those times targets can be computed with."""
    ends: Any = torch.aminmax(K)
    size = float(torch.maximum(-ends.min, ends.max))
    if not size <= FEATURE**2:
        rule = f"such that kernel values are at most {FEATURE**2:.2g}"
        raise ValueError(refused("lrisk", "X", rule, np.abs(size), "rescale it"))
    return K

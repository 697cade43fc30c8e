"""Few centres for many rows on a device: `lrisk.spaces.NystroemSpace` of tensors.

The features φ(x) = L⁻¹k_Z(x) and their norm are the same. Gram matrices of k_Z(x) are
made of blocks of the rows that have weight, by the half that symmetry leaves, and are
brought up to date where few weights change; they and what is solved with them stay on
the device. Vectors as long as the rows, and θ, are arrays in memory.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._typing import Floats, Indices
from ..procedures.nystroem import Keys, Rows
from ..solvers._linalg import FIRST_RAISE, GROWTH, MOST_RAISES
from ..spaces import Kernel
from ..spaces.nystroem import Centres
from .kernel_values import TensorKernel, kernel_matrix, stretches
from .keys import tensor_keys
from .rows import in_memory, on_device

#: Relative change of a row's weight that is put down to rounding, and left.
SAME = 1e-13
#: Columns of a Gram matrix that are made together: of 10,000 centres the half that
#: symmetry leaves is then 55 % of the whole.
STRIP = 1024


class DeviceRows:
    """Rows of a tensor, of which few are asked for in memory.

    Parameters
    ----------
    X : tensor of shape (n, d)
        Of 32 or 64 bits.
    source : tuple or None
        The tensor that they were selected from, and their places in it.
    """

    def __init__(self, X: Tensor, source: tuple[Tensor, Indices] | None = None) -> None:
        self.tensor, self.source = X, source
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])

    def __getitem__(self, rows: Any) -> Floats:
        """Some rows as an array."""
        if isinstance(rows, np.ndarray):
            rows = on_device(rows, self.tensor.device)
        fetched: Floats = in_memory(self.tensor[rows].double())
        return fetched


class RowsOnDevice(Rows):
    """What a search among centres asks of `DeviceRows`."""

    def __init__(self) -> None:
        self._last: DeviceCentres | None = None
        self._sample: DeviceSpace | None = None

    def selected(self, X: DeviceRows, rows: Indices) -> DeviceRows:
        """Copies of some of the rows."""
        own = X.tensor[on_device(rows, X.tensor.device)]
        return DeviceRows(own, (X.tensor, rows))

    taken = selected

    def keys(self, X: DeviceRows, salt: int, y: Floats | None = None) -> Keys:
        """The same as of these rows in memory."""
        return tensor_keys(X.tensor, salt, y)

    def scores(
        self, kernel: Kernel, centres: Floats, X: DeviceRows, table: Floats
    ) -> Floats:
        """Σ_j c_j k(z_j, x_i) for one column c; shape (n, 1)."""
        used, device = np.flatnonzero(table[:, 0]), X.tensor.device
        if not used.size:
            return np.zeros((X.shape[0], 1))
        values = TensorKernel(kernel, on_device(centres[used], device))
        column = on_device(table[used, 0], device)
        found: Floats = in_memory(summed(values, X.tensor, column))
        return found[:, None]

    def nearness(
        self, kernel: Kernel, X: DeviceRows, rows: Indices, others: Floats
    ) -> Floats:
        """Mean |k(x, z)| of some rows x over others; shape (m,)."""
        own, device = self.selected(X, rows).tensor, X.tensor.device
        values = TensorKernel(kernel, on_device(others, device))
        parts = stretches(len(own), len(others), device)
        means = [values(own[part]).abs_().mean(dim=1) for part in parts]
        found: Floats = in_memory(torch.cat(means))
        return found

    def space(
        self,
        kernel: Kernel,
        centres: Any,
        mu: float | None,
        X: DeviceRows,
        n_scores: int,
        held: bool = False,
    ) -> "DeviceSpace":
        """The centres' span over the rows.

        The factor of the last centres is kept, and what was summed over a sample of the
        same rows is where their sums begin.
        """
        last = self._last
        if last is None or last.mu != mu or not np.array_equal(last.given, centres):
            self._last = last = self._sample = None  # and its memory is free
            self._last = last = DeviceCentres(kernel, centres, mu, X.tensor.device)
        space, sample = DeviceSpace(last, X), self._sample
        source = None if sample is None else sample.X.source
        if sample is not None and source is not None and source[0] is X.tensor:
            space.sample = sample
        self._sample = space if X.source is not None else None
        return space


def summed(values: TensorKernel, X: Tensor, column: Tensor) -> Tensor:
    """Σ_j c_j k(z_j, x_i), shape (n,)."""
    total = torch.empty(len(X), dtype=torch.float64, device=X.device)
    for rows in stretches(len(X), len(column), X.device):
        torch.mv(values(X[rows]), column, out=total[rows])
    return total


class DeviceCentres:
    """Centres and the factor L on a device, as `lrisk.spaces.nystroem.Centres`.

    Parameters
    ----------
    kernel : Kernel
    Z : array of shape (m, d)
    mu : float or None
    device : torch.device

    Attributes
    ----------
    used : array of shape (r,)
        Numbers of the centres that are used: all, or those that `Centres` finds
        independent, in memory, of which there are far fewer where any are left out.
    values : TensorKernel
        k(·, z) of these.
    factor : tensor of shape (r, r)
        L, a lower triangle.
    """

    def __init__(
        self, kernel: Kernel, Z: Floats, mu: float | None, device: torch.device
    ) -> None:
        self.given, self.mu = Z, mu
        rows = on_device(Z, device)
        K = kernel_matrix(kernel, rows)
        largest = float(K.diagonal().max())
        size = float(torch.linalg.vector_norm(K, ord=1, dim=0).max())
        self.factor, failed = torch.linalg.cholesky_ex(K)
        del K
        # What each centre adds to all others; pivoting keeps all if none adds less.
        unit = torch.eye(len(Z), dtype=torch.float64, device=device)
        adds = self.inward(unit).square_().sum(dim=0).reciprocal_()
        least = Centres.least(len(Z), largest, size, mu)
        self.used: Indices = np.arange(len(Z))
        if int(failed) or not float(adds.min()) > least:
            found = Centres(kernel, Z, mu)
            self.used = found.used
            self.factor = on_device(found.factor, device)
            rows = on_device(found.rows, device)
        self.values = TensorKernel(kernel, rows)

    def inward(self, right: Tensor) -> Tensor:
        """L⁻¹ times columns."""
        return torch.linalg.solve_triangular(self.factor, right, upper=False)

    def outward(self, theta: Floats) -> Tensor:
        """L⁻ᵀθ: coefficients of k(z, ·) from those of φ."""
        right = on_device(theta, self.factor.device)[:, None]
        solve: Any = torch.linalg.solve_triangular
        column: Tensor = solve(self.factor.T, right, upper=True)[:, 0]
        return column

    def coefficients(self, theta: Floats) -> Floats:
        """Coefficients of all given centres, zero where one is not used."""
        result = np.zeros(len(self.given))
        result[self.used] = in_memory(self.outward(theta))
        return result


class DeviceSpace:
    """Functions of few centres over rows on a device, as linear ones of features φ.

    Parameters
    ----------
    centres : DeviceCentres
    X : DeviceRows
    """

    intercept = False
    n_scores = 1

    def __init__(self, centres: DeviceCentres, X: DeviceRows) -> None:
        self.centres, self.X = centres, X
        self.n_rows, self.size = X.shape[0], len(centres.used)
        self._seen: tuple[Floats, Floats] | None = None
        self._sums: tuple[Floats, Tensor, Tensor] | None = None
        #: The same functions over some of the rows, until its sums are taken over.
        self.sample: DeviceSpace | None = None

    # -- what every space can do -------------------------------------------------------

    def scores(self, theta: Floats) -> Floats:
        """f_θ(x_i), shape (n,); the last are remembered, for passes cost."""
        if self._seen is None or not np.array_equal(self._seen[0], theta):
            column = self.centres.outward(theta)
            found = summed(self.centres.values, self.X.tensor, column)
            self._seen = theta.copy(), in_memory(found)
        return self._seen[1].copy()

    def pullback(self, theta: Floats, r: Floats) -> Floats:
        """Σ_i r_i φ(x_i)."""
        device = self.X.tensor.device
        weights = on_device(r, device)[:, None]
        total = torch.zeros((self.size, 1), dtype=torch.float64, device=device)
        for rows in stretches(self.n_rows, self.size, device):
            total += self.centres.values(self.X.tensor[rows]).T @ weights[rows]
        pulled: Floats = in_memory(self.centres.inward(total)[:, 0])
        return pulled

    def inner(self, a: Floats, b: Floats) -> float:
        """⟨a, b⟩: φ are features of the kernel's space itself."""
        return float(a @ b)

    def penalised(self, theta: Floats) -> Floats:
        """θ: the gradient of ½⟨θ, θ⟩."""
        return theta.copy()

    def at(self, X: DeviceRows) -> "DeviceSpace":
        """The same functions over other rows."""
        return DeviceSpace(self.centres, X)

    def coefficients(self, theta: Floats) -> Floats:
        """Coefficients of the given centres."""
        return self.centres.coefficients(theta)

    # -- fits --------------------------------------------------------------------------

    def ridge(self, c: Floats, y: Floats, mu: float, *, rough: bool = False) -> Floats:
        """θ that minimises Σc_i½(y_i − f(x_i))² + (μ/2)‖f‖²: (Σcφφᵀ + μ)θ = Σcyφ."""
        gram, right = self._moments(c, y)
        if self.centres.mu is not None:  # else they are those of φ already
            inward = self.centres.inward
            gram = inward(inward(gram).T)
            gram = 0.5 * (gram + gram.T)
            right = inward(right[:, None])[:, 0]
        gram.diagonal().add_(mu)
        theta: Floats = in_memory(solve_positive(gram, right))
        return theta

    def _moments(self, c: Floats, y: Floats) -> tuple[Tensor, Tensor]:
        """Σ c k kᵀ and Σ c y k, from those before where few weights have changed.

        For no μ those of φ, as `NystroemSpace` sums them where it holds the features:
        dearer, and without the rounding of k that L⁻¹ magnifies.
        """
        last, change = self._sums or self._scaled(c), c
        if last is not None:
            change = c - last[0]
            change[np.abs(change) <= SAME * c] = 0.0
            if np.count_nonzero(change) > np.count_nonzero(c):
                last, change = None, c
        device = self.X.tensor.device
        if last is None:
            gram = torch.zeros(
                (self.size, self.size), dtype=torch.float64, device=device
            )
            right = torch.zeros(self.size, dtype=torch.float64, device=device)
            used = c.copy()
        else:
            before, gram, right = last
            used = before + change
        target = on_device(y, device)
        for sign in (1.0, -1.0):
            rows = on_device(np.flatnonzero(sign * change > 0.0), device)
            if len(rows):
                self._add(gram, right, rows, on_device(change, device), target)
        self._sums = used, gram, right
        whole = gram.tril()
        return whole + gram.tril(-1).T, right.clone()

    def _scaled(self, c: Floats) -> tuple[Floats, Tensor, Tensor] | None:
        """The sums of the sample, if any, its weights brought to the size of others."""
        sample, self.sample = self.sample, None
        if sample is None or sample._sums is None or sample.X.source is None:
            return None
        own, gram, right = sample._sums
        rows = sample.X.source[1]
        both = (own > 0.0) & (c[rows] > 0.0)
        if not both.any():
            return None
        factor = float(np.median(c[rows][both] / own[both]))
        weight = np.zeros(self.n_rows)
        weight[rows] = factor * own
        return weight, gram * factor, right * factor

    def _add(
        self, gram: Tensor, right: Tensor, rows: Tensor, c: Tensor, y: Tensor
    ) -> None:
        """Add the sums over some rows, whose weights are of one sign, in place."""
        for part in stretches(len(rows), self.size, rows.device):
            own = rows[part]
            weight = c[own]
            K = self.centres.values(self.X.tensor[own])
            if self.centres.mu is None:
                K = self.centres.inward(K.T).T
            right += torch.mv(K.T, weight * y[own])
            factor = float(weight[0])
            if not bool((weight == factor).all()):
                K *= weight.abs().sqrt_()[:, None]
                factor = 1.0 if factor > 0.0 else -1.0
            for start in range(0, self.size, STRIP):
                strip = K[:, start : start + STRIP]
                below = gram[start:, start : start + STRIP]
                below.addmm_(K[:, start:].T, strip, alpha=factor)


def solve_positive(matrix: Tensor, right: Tensor) -> Tensor:
    """One system, by the rules of `lrisk.solvers._linalg`; overwrites the matrix."""
    root = matrix.diagonal().clamp(min=torch.finfo(matrix.dtype).tiny).rsqrt()
    matrix.mul_(root[:, None]).mul_(root)
    ridge = 0.0
    for _ in range(MOST_RAISES):
        factor, failed = torch.linalg.cholesky_ex(matrix)
        if not int(failed):
            return root * torch.cholesky_solve((root * right)[:, None], factor)[:, 0]
        raised = FIRST_RAISE if ridge == 0.0 else GROWTH * ridge
        matrix.diagonal().add_(raised - ridge)
        ridge = raised
    return right * root.square()

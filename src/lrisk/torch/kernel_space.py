"""A kernel's space over rows on a device, whose matrix lies there and solves for fits.

Vectors as long as the rows are arrays in memory, as in `lrisk.spaces`: the rows of a
kernel matrix are few, and only products with it are much work. With weights c_i of the
kept rows a fit is (K_SS + μ/c)w = y_S, which conjugate gradients solve to rounding on
the matrix as it lies. One Cholesky factor of n³/3 flops, in which the rows that may yet
be left out come last, makes one or two of their steps enough for one set of kept rows
after another. Under a heavier penalty an approximation of low rank, of n·m² flops,
makes it fifteen.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from .._params import refused
from .._typing import Floats
from ..spaces import Kernel
from .kernel_values import kernel_matrix, stretches
from .rows import in_memory, on_device

#: Rows of the approximation, and the share of all that they are at most.
SOME, SHARE = 4096, 0.25
#: What is added to the diagonal of its own kernel matrix, as a share of that.
JITTER = 1e-10
#: Rows of a triangle that are solved for together by their inverse.
BLOCK = 2048
#: Kept rows, those of largest residual, that may be left out later, for each that is.
LATE = 0.5
#: Residual, as a share of the targets, at which steps end, and what may truly be left
#: then, which predictions err by at most (losses that tie are equal to 1e-12); and the
#: same of fits under a heavier penalty, which only choose rows.
FINE, ROUGH = (1e-14, 1e-11), (1e-9, 1e-8)
#: Residual above which rounding has won, and the fit is refused.
WORST = 1e-8
#: Such rounds, and steps in all: so many cost as much as another factor.
ROUNDS, STEPS = 4, 80


#: The product of a symmetric matrix with a vector.
Product = Callable[[Tensor], Tensor]


class TensorKernelSpace:
    """Functions Σ w_i k(x_i, ·) over rows on a device; a `lrisk.spaces.Space`.

    Parameters
    ----------
    kernel : Kernel
    X : tensor of shape (n, d)
    """

    intercept = False
    n_scores = 1

    def __init__(self, kernel: Kernel, X: Tensor) -> None:
        self.K = kernel_matrix(kernel, X)
        self.n_rows = self.size = len(X)
        self._seen: tuple[Floats, Floats] | None = None
        self._near: tuple[float, LowRank | Ordered] | None = None
        self._last: Tensor | None = None

    # -- what every space can do -------------------------------------------------------

    def scores(self, theta: Floats) -> Floats:
        """Kw, shape (n,); the last are remembered, for K is large."""
        if self._seen is None or not (self._seen[0] == theta).all():
            product = torch.mv(self.K, on_device(theta, self.K.device))
            self._seen = theta.copy(), in_memory(product)
        return self._seen[1].copy()

    def pullback(self, theta: Floats, r: Floats) -> Floats:
        """Σ_i r_i k(x_i, ·), whose coefficients are r itself."""
        return r.copy()

    def inner(self, a: Floats, b: Floats) -> float:
        """aᵀKb."""
        return float(a @ self.scores(b))

    def penalised(self, theta: Floats) -> Floats:
        """θ: the gradient of ½⟨θ, θ⟩."""
        return theta.copy()

    def coefficients(self, theta: Floats) -> Floats:
        """θ itself."""
        return theta

    # -- fits --------------------------------------------------------------------------

    def ridge(self, c: Floats, y: Floats, mu: float, *, rough: bool = False) -> Floats:
        """θ that minimises Σc_i½(y_i − f(x_i))² + (μ/2)‖f‖², shape (n,).

        ``rough=True`` is enough to see which rows have the lowest losses.
        """
        if mu == 0.0:
            rule, remedy = "positive for a kernel model", "choose a tiny one"
            raise ValueError(refused("lrisk", "alpha", rule, 0.0, remedy))
        weight = on_device(c, self.K.device)
        kept = weight > 0.0
        right = torch.where(kept, on_device(y, self.K.device), 0.0)
        added = torch.where(kept, mu / weight, 0.0)
        if self._near is None or self._near[0] != mu:
            self._near = None  # and its memory is free
            near = self._few_rows(kept, added) or self._ordered(kept, added, y)
            self._near = mu, near
            del near
        product = torch.zeros_like(right)

        def times(v: Tensor) -> Tensor:
            nonlocal product
            product = torch.mv(self.K, v)
            return (product * kept).addcmul_(added, v)

        enough = ROUGH if rough else FINE
        w = torch.zeros_like(right) if self._last is None else self._last * kept
        near_it = self._near[1].at(kept, added)
        w, left, slow = solved(times, right, w, near_it, enough)
        if slow:
            del near_it
            self._near = None
            self._near = mu, self._ordered(kept, added, y)
            near_it = self._near[1].at(kept, added)
            w, left, _ = solved(times, right, w, near_it, enough)
        if not left <= WORST:
            rule = "large enough to make K + alpha·p positive definite"
            raise ValueError(
                refused("lrisk", "alpha", rule, "too small", "raise alpha")
            )
        theta: Floats = in_memory(w)
        self._last = w
        if left <= enough[1]:  # then w was multiplied last
            self._seen = theta.copy(), in_memory(product)
        return theta

    def _few_rows(self, kept: Tensor, added: Tensor) -> "LowRank | None":
        """Where the error of few rows is below what is added to the diagonal."""
        some = max(1, min(SOME, int(SHARE * self.n_rows)))
        error = self.n_rows / some * float(self.K.diagonal().mean())
        even = _everywhere(kept, added)
        return LowRank.of(self.K, even, some) if error <= float(even.min()) else None

    def _ordered(self, kept: Tensor, added: Tensor, y: Floats) -> "Ordered":
        """With the rows last that are out, and as many as may be by their residuals."""
        late = ~kept
        if self._seen is not None:
            away = on_device(abs(y - self._seen[1]), self.K.device).mul_(kept)
            most = min(int(LATE * int(late.sum())), self.n_rows)
            late[torch.topk(away, most).indices] = True
        return Ordered(self.K, _everywhere(kept, added), late)


def _everywhere(kept: Tensor, added: Tensor) -> Tensor:
    """What is added to the diagonal, for rows that are out its mean."""
    return torch.where(kept, added, added.sum() / kept.sum())


class Found(NamedTuple):
    """A solution x, ‖right − Ax‖ as a share of ‖right‖, and whether steps ran out."""

    x: Tensor
    left: float
    slow: bool


def solved(
    times: Product,
    right: Tensor,
    start: Tensor,
    near: Product,
    enough: tuple[float, float],
) -> Found:
    """A system's solution by preconditioned conjugate gradients, and what is left.

    Parameters
    ----------
    times : callable
        The product of a positive definite matrix with a vector.
    right, start : tensors of shape (n,)
    near : callable
        The product with nearly its inverse, positive definite too.
    enough : tuple of float
        Shares of ‖right‖ at which steps end, and that may truly be left.

    Returns
    -------
    Found
    """
    size = float(torch.linalg.vector_norm(right))
    if size == 0.0:
        return Found(torch.zeros_like(right), 0.0, False)
    x, best, least, steps = start, start, torch.inf, 0
    for _ in range(ROUNDS):
        r = right - times(x)
        left = float(torch.linalg.vector_norm(r)) / size
        if not left < 0.5 * least:  # rounding lets it fall no further
            break
        best, least = x, left
        if (left <= enough[1] and steps) or left <= enough[0] or steps >= STEPS:
            break
        step, taken = _steps(times, r, near, enough[0] * size, STEPS - steps)
        x, steps = x + step, steps + taken
    return Found(best, least, least > enough[1] and steps >= STEPS)


def _steps(
    times: Product, r: Tensor, near: Product, enough: float, most: int
) -> tuple[Tensor, int]:
    """Conjugate gradients from zero, until the residual that they carry is enough."""
    x, z, taken = torch.zeros_like(r), near(r), 0
    p, rho = z.clone(), torch.dot(r, z)
    while taken < most:
        taken += 1
        q = times(p)
        a = rho / torch.dot(p, q)
        x.addcmul_(a, p)
        r = torch.addcmul(r, -a, q)
        if not float(torch.linalg.vector_norm(r)) > enough:
            break
        z = near(r)
        new = torch.dot(r, z)
        p = torch.addcmul(z, new / rho, p)
        rho = new
    return x, taken


class LowRank(NamedTuple):
    """(BBᵀ + D)⁻¹ = E − E^½ C Cᵀ E^½ with E = D⁻¹ and CCᵀ = E^½B(I + BᵀEB)⁻¹BᵀE^½."""

    root: Tensor
    C: Tensor

    @classmethod
    def of(cls, K: Tensor, added: Tensor, some: int) -> "LowRank | None":
        """With BBᵀ the approximation of K by some of its rows; None if that fails."""
        n = len(K)
        places = torch.arange(some, device=K.device) * n // some
        columns = K[places].T
        own = columns[places].clone()
        own.diagonal().mul_(1.0 + JITTER)
        factor, failed = torch.linalg.cholesky_ex(own)
        if int(failed):
            return None
        root = added.rsqrt()
        B = torch.linalg.solve_triangular(factor.T, columns, upper=True, left=False)
        B.mul_(root[:, None])
        inner = B.T @ B
        inner.diagonal().add_(1.0)
        factor, failed = torch.linalg.cholesky_ex(inner)
        if int(failed):
            return None
        C = torch.linalg.solve_triangular(factor.T, B, upper=True, left=False)
        return cls(root, C)

    def at(self, kept: Tensor, added: Tensor) -> Product:
        """For some kept rows, whatever is added to the diagonal there."""

        def near(v: Tensor) -> Tensor:
            u = self.root * v
            u -= torch.mv(self.C, torch.mv(self.C.T, u))
            return u.mul_(self.root).mul_(kept)

        return near


class Ordered:
    """The inverse over the kept rows, for sets of these that differ in late rows only.

    With LLᵀ = K + D where late rows come last, L's last corner T has the rest of K + D
    on late rows once the others are known, TTᵀ. A part of it is all that a set of kept
    rows is solved with besides the triangle of the others. Where some of these are left
    out it is nearly the inverse.

    Parameters
    ----------
    K : tensor of shape (n, n)
    added : tensor of shape (n,)
        D's diagonal.
    late : tensor of shape (n,)
        Which rows come last.
    """

    def __init__(self, K: Tensor, added: Tensor, late: Tensor) -> None:
        self._order = torch.argsort(late.to(torch.int8), stable=True)
        n, self._early = len(K), int((~late).sum())
        P = torch.empty_like(K)
        for rows in stretches(n, n, K.device):
            P[rows] = K[self._order[rows]].index_select(1, self._order)
        P.diagonal().add_(added[self._order])
        L, failed = torch.linalg.cholesky_ex(P)
        del P
        if int(failed):
            rule = "large enough to make K + alpha·p positive definite"
            remedy = "raise alpha, or check that the kernel is positive definite"
            raise ValueError(refused("lrisk", "alpha", rule, "too small", remedy))
        self._L, self._below = L, L[self._early :, : self._early]
        corner = L[self._early :, self._early :]
        self._rest, self._added = corner @ corner.T, added
        self._blocks = []
        for start in range(0, self._early, BLOCK):
            here = slice(start, min(start + BLOCK, self._early))
            own = L[here, here]
            unit = torch.eye(len(own), dtype=own.dtype, device=own.device)
            inverse = torch.linalg.solve_triangular(own, unit, upper=False)
            self._blocks.append((here, inverse))

    def at(self, kept: Tensor, added: Tensor) -> Product:
        """For some kept rows and what is added to the diagonal there."""
        late = self._order[self._early :]
        places = kept[late].nonzero()[:, 0]
        rest = self._rest[places].index_select(1, places)
        rest.diagonal().add_((added - self._added)[late[places]])
        factor, failed = torch.linalg.cholesky_ex(rest)
        if int(failed):  # less is added to these rows: near enough without that
            factor = torch.linalg.cholesky(self._rest[places][:, places])

        def near(v: Tensor) -> Tensor:
            u = v[self._order]
            x, t = u[: self._early], u[self._early :]
            for here, inverse in self._blocks:
                known = slice(0, here.start)
                x[here] = inverse @ (x[here] - self._L[here, known] @ x[known])
            right = (t - self._below @ x)[places]
            t.zero_()
            t[places] = torch.cholesky_solve(right[:, None], factor)[:, 0]
            x -= self._below.T @ t
            for here, inverse in reversed(self._blocks):
                known = slice(here.stop, self._early)
                x[here] = inverse.T @ (x[here] - self._L[known, here].T @ x[known])
            found = torch.empty_like(u)
            found[self._order] = u
            return found.mul_(kept)

        return near

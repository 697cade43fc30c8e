"""Many steps of algorithm 1 at once, while the kept rows stay the same.

For squared loss and kept weights λ the steps are linear: with ρ = 1 − ημ and
v = λ^{−½}w over the kept rows S, A = λ^½K_SSλ^½ = QΓQᵀ, in the basis Q

    v(t+1) = (ρ − ηΓ) v(t) + η(c − ρ^t b),     c = Qᵀλ^½y_S,   b = Qᵀλ^½K_SO w_O,

and w_O(t) = ρ^t w_O. So v(t) is a sum of geometric series. A jump is taken only if no
row can enter or leave on the way: mode by mode, v strays from the straight line between
the two ends by a bounded amount. The iterates are therefore those of the plain steps,
up to rounding.
"""

from typing import NamedTuple

import numpy as np

from ..._typing import Bools, Floats, Indices
from ...objective import Objective
from ...spaces.capabilities import kernel_matrix


class Modes(NamedTuple):
    """The dynamics of one kept set."""

    kept: Indices
    left: Indices
    root: Floats  # λ^½ over the kept rows
    basis: Floats  # Q
    rates: Floats  # Γ
    target: Floats  # c
    reach: Floats  # K_:S λ^½ Q: residuals of all rows by mode
    spread: Floats  # its absolute values


class FastForward:
    """Skips steps of `SubquantileGradient` with constant step η.

    Parameters
    ----------
    objective : Objective
        Squared loss over a kernel space.
    rate : float
        η.
    """

    #: Kept sets whose dynamics are remembered; the iterates often return to one.
    most_remembered = 3

    def __init__(self, objective: Objective, rate: float) -> None:
        self.objective = objective
        self.rate = rate
        self.decay = 1.0 - rate * objective.mu
        self._last: bytes = b""
        self._stable = 0
        self._rest, self._pause = 0, 1
        self._memory: dict[bytes, Modes | None] = {}

    def advance(
        self, theta: Floats, losses: Floats, weights: Floats, limit: int
    ) -> int:
        """Move θ on by as many steps as are safe, at most `limit`; how many."""
        key = weights.tobytes()
        self._stable = self._stable + 1 if key == self._last else 0
        self._last = key
        # Diagonalising costs about as much as this many steps: wait that long first,
        # and no more than twice the best possible time is spent.
        patience = len(theta)
        if key not in self._memory and self._stable < patience:
            return 0
        if key not in self._memory:
            if len(self._memory) >= self.most_remembered:
                self._memory.pop(next(iter(self._memory)))
            self._memory[key] = self._modes(weights)
        modes = self._memory[key]
        if modes is None or limit < 2:
            return 0
        if self._rest > 0:
            self._rest -= 1
            return 0
        jump = self._run(modes, theta, losses, weights, limit)
        # Near a change of rows no jump is certain: plain steps get there, and asking
        # less and less often keeps the asking cheap.
        self._pause = 1 if jump else min(2 * self._pause, 256)
        self._rest = 0 if jump else self._pause
        return jump

    def _modes(self, weights: Floats) -> Modes | None:
        K = kernel_matrix(self.objective.space).matrix()
        kept, left = np.flatnonzero(weights > 0), np.flatnonzero(weights == 0)
        root = np.sqrt(weights[kept])
        columns = K[:, kept]
        columns *= root
        rates, basis = np.linalg.eigh(columns[kept] * root[:, None])
        rates = np.maximum(rates, 0.0)
        if np.any(self.decay - self.rate * rates < -1e-9):
            return None  # the step is too long for the series to be monotone
        target = basis.T @ (root * self.objective.y[kept])
        reach = columns @ basis
        return Modes(kept, left, root, basis, rates, target, reach, np.abs(reach))

    def _run(
        self,
        modes: Modes,
        theta: Floats,
        losses: Floats,
        weights: Floats,
        limit: int,
    ) -> int:
        """Jump after jump while each is certain."""
        space, y = self.objective.space, self.objective.y
        v = modes.basis.T @ (theta[modes.kept] / modes.root)
        outside = np.zeros_like(theta)
        outside[modes.left] = theta[modes.left]
        frozen = space.scores(outside)
        push = modes.basis.T @ (modes.root * frozen[modes.kept])
        kept = weights > 0
        full = weights >= weights.max() * (1.0 - 1e-12)
        edge = kept & ~full if self._fractional(weights) else None
        if edge is not None and not _twins(modes.reach[edge], y[edge]):
            return 0  # rows tied by chance do not stay tied
        now = modes.reach @ v + frozen - y
        done, shrink = 0, 1.0
        while done < limit:
            size, best = min(limit - done, 64), None
            while True:
                series = _Series(self, modes.rates, size)
                after = series.after(v, modes.target, push * shrink)
                fade = shrink * self.decay**size
                then = modes.reach @ after + frozen * fade - y
                bend = modes.spread @ series.bend(v, modes.target, push * shrink)
                bend += np.abs(frozen) * (shrink - fade)
                if _certain(now, then, bend, kept, edge):
                    best = (size, after, fade, then)
                    if size == limit - done:
                        break
                    size = min(2 * size, limit - done)
                elif best is None and size > 4:
                    size //= 4
                else:
                    break
            if best is None:
                break
            size, v, shrink, now = best
            done += size
        if done:
            theta[modes.kept] = modes.root * (modes.basis @ v)
            theta[modes.left] *= shrink
        return done

    def _fractional(self, weights: Floats) -> bool:
        """Whether one row has a part of its weight only."""
        share = weights / self.objective.ranking.mass
        return bool(np.any((share > 0) & (share < share.max() * (1.0 - 1e-9))))


def _twins(reach: Floats, targets: Floats) -> bool:
    """Whether rows that share the boundary are copies, whose losses stay the same."""
    apart = np.abs(reach - reach[0]).max() if len(reach) > 1 else 0.0
    return bool(apart <= 1e-12 * np.abs(reach[0]).max() and np.ptp(targets) == 0.0)


def _certain(
    now: Floats, then: Floats, bend: Floats, kept: Bools, edge: Bools | None
) -> bool:
    """Whether no row can enter, leave or take the boundary's place meanwhile.

    Between the two ends a residual stays within `bend` of the straight line.
    """
    highest = np.maximum(np.abs(now), np.abs(then)) + bend
    lowest = np.minimum(np.abs(now), np.abs(then)) - bend
    lowest[np.sign(now) != np.sign(then)] = -np.inf
    left = ~kept
    outside = float(lowest[left].min()) if left.any() else np.inf
    if edge is None:
        return float(highest[kept].max()) < outside
    inside = kept & ~edge
    below = float(highest[inside].max()) if inside.any() else -np.inf
    return below < float(lowest[edge].min()) and float(highest[edge].max()) < outside


class _Series:
    """Sums of geometric series over a number of steps, mode by mode."""

    def __init__(self, forward: FastForward, rates: Floats, steps: int) -> None:
        rate, decay = forward.rate, forward.decay
        self.rate, self.decay, self.steps = rate, decay, steps
        self.rates = rates
        shrink = rate * forward.objective.mu + rate * rates  # 1 − m
        self.shrink = shrink
        with np.errstate(divide="ignore"):
            self.power = np.exp(steps * np.log1p(-np.minimum(shrink, 1.0)))  # m^t
        # Σ_{s<t} m^s, and Σ_{s<t} ρ^{t−1−s} m^s.
        self.own = _geometric(shrink, steps)
        relative = np.minimum(rate * rates / decay, 1.0) if decay > 0 else shrink
        self.pushed = decay ** (steps - 1) * _geometric(relative, steps)

    def after(self, v: Floats, target: Floats, push: Floats) -> Floats:
        """State v(t)."""
        return np.asarray(
            self.power * v + self.rate * (target * self.own - push * self.pushed)
        )

    def bend(self, v: Floats, target: Floats, push: Floats) -> Floats:
        """Bound on how far each mode strays from the straight line on the way.

        A sequence with second differences of at most B strays by B·t²/8 from its chord,
        and never by more than the sum of its steps.
        """
        first = np.abs(self.rate * (target - push) - self.shrink * v)
        fading = self.rate * np.abs(push) * (1.0 - self.decay)
        steps = first + fading * np.minimum(self.steps, self.own)
        path = (first + fading * self.steps) * self.own
        second = self.shrink * steps + fading
        return np.asarray(np.minimum(path, second * self.steps**2 / 8.0))


def _geometric(shrink: Floats, steps: int) -> Floats:
    """Σ_{s<t} (1 − shrink)^s, accurate for small shrink."""
    safe = np.where(shrink > 0, np.minimum(shrink, 1.0), 1.0)
    with np.errstate(divide="ignore"):
        total = -np.expm1(steps * np.log1p(-safe)) / safe
    return np.where(shrink > 0, total, float(steps))

"""The line of the majority, and how much each row counts in it.

It begins with the half of the rows nearest to a line of its own. Rows near in x are
then weighed by their residuals, and rows far out let in last, each in units of what the
line can know of its place.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..._typing import Bools, Floats
from .._robust.scales import (
    COMPRESSED_BEYOND,
    USABLE,
    Columns,
    compress,
    half_scale,
    mean_log_distance,
    prevailing_value,
    spread,
)
from .constants import CONSTANTS as C
from .gaps import alone
from .least_trimmed_squares import least_trimmed_half
from .linear_fit import LINEAR_ALPHAS, MOST_SORTED, SQUARED, UNKNOWN, LinearFit
from .populations import split
from .residuals import Rows


class Line(NamedTuple):
    """A line, and what it says of all rows.

    fit : its values, and over standardised columns its leverage
    u : residuals in scales; each is divided by what its own place adds to the noise
    scale : of the residuals, in units of y
    factors : weight of every row in the fit, 1 for an ordinary one, 0 for none
    near : rows near in x, which settled it
    ruling : rows that know more of their direction than all of those together
    """

    fit: LinearFit
    u: Floats
    scale: float
    factors: Floats
    near: Bools
    ruling: Bools

    @property
    def left_out(self) -> int:
        """Rows without weight."""
        return int(np.sum(self.factors == 0.0))

    def over(self, columns: Columns) -> "Line":
        """The same over columns as they were before these standardised them."""
        coef = self.fit.coef / columns.scale
        intercept = self.fit.intercept - float(coef @ columns.center)
        return self._replace(fit=self.fit._replace(coef=coef, intercept=intercept))

    def about(self, rows: Bools) -> float:
        """Scale of these rows, as far as they have weight, about the line."""
        own = rows & (self.factors > 0.0)
        return self.scale * max(half_scale(self.u[own]), 1e-12)


def majority_line(
    X: Floats,
    y: Floats,
    weights: Floats,
    usual: Bools,
    known: Bools,
    alpha: float | None,
    rng: np.random.Generator,
    intercept: bool = True,
) -> Line:
    """The line through most rows, and the factors of all of them in it.

    1. The half of the `usual` rows that lies nearest to a line of its own says which
       rows are near in x. Rows that are `known` to agree with others round them, and
       not far out in most columns, may be near as well: curved relations bend there.
    2. Lines are settled among the near ones, with and without those: some begin with
       all rows, some with that half. Another than the first counts if the rows are so
       much tighter about it that those it leaves out are worth it.
    3. Rows far out are let in unless the line of the near ones contradicts them. They
       have no say in who is near: many of them would agree on a line of their own.

    Of too few rows, or where a quarter of the targets are equal and a half would fit
    exactly by a constant, a line is settled from all rows not far out as a whole.

    Beside rows 10⁸ scales out in a column arithmetic loses the others. They are left
    out, or the scale of the column is that of those rows: most of its values may be
    rounding, and these its only ones. What is worth most decides here, too.
    """
    unit = float(np.mean(weights))  # that of a row whose noise is the noise
    own = slice(None) if usual.all() else usual  # no copy of a large table
    columns, weights = Columns.of(X[own]), weights / unit
    alpha = None if alpha is None else alpha / unit

    def over(columns: Columns) -> Rows:
        origin = None if intercept else -columns.center / columns.scale
        return Rows(columns.bounded(X), y, weights, alpha, origin)

    rows = over(columns)
    usable = np.maximum(rows.Z.max(axis=1), -rows.Z.min(axis=1)) <= USABLE
    if np.all(usable):
        return _majority_line(rows, usual, usable, known, rng).over(columns)
    far = np.any(np.abs(rows.Z) > USABLE, axis=0)
    held = np.clip(X, -SQUARED, SQUARED)
    wide = columns._replace(scale=np.where(far, held.std(axis=0), columns.scale))
    all_rows = np.ones(len(y), dtype=bool)
    line = _majority_line(over(wide), usual, all_rows, known, rng).over(wide)
    if 2 * np.sum(usual & usable) < np.sum(usual):
        return line
    without = _majority_line(rows, usual, usable, known, rng).over(columns)
    return _worth_most([line, without], usual & usable, ~all_rows)


def _majority_line(
    rows: Rows, usual: Bools, usable: Bools, known: Bools, rng: np.random.Generator
) -> Line:
    """The line of some standardised rows; those that are not usable stay out of it."""
    Z, y, weights = rows[:3]
    usual = usual & usable
    own = slice(None) if usual.all() else usual  # no copy of a large table
    distance, far = mean_log_distance(Z, weights, usual)
    few = np.sum(usual) < C.rows_a_parameter * rows.parameters
    mass = prevailing_value(y[usual])
    if few or mass is not None:
        near = (distance <= far) & usable
        line = _settled(rows, _sane(y, near & usual), near, usual, mass)
        return _with_far_rows(rows, line, usual, usable)
    plain = _without_shrinkage(rows)
    half = usual.copy()
    part = plain._replace(Z=Z[own], y=y[own], weights=weights[own])
    half[usual] = least_trimmed_half(part, rng)
    places = compress(Z, COMPRESSED_BEYOND)
    near, unknown = _near(plain, half)
    near = near & (usual | ~unknown)
    known = known & usual & (distance <= far) & ~alone(places, near)
    del places  # as large as the table
    wide = near | known
    lines = [
        _settled(rows, start & among, among, usual)
        for among in ([near] if np.array_equal(wide, near) else [wide, near])
        for start in (usual, half)
    ]
    line = _worth_most(lines, near & usual, known)
    return _with_far_rows(rows, line, usual, usable)


def _sane(y: Floats, rows: Bools) -> Bools:
    """Those of some rows whose targets are not absurdly far from their median.

    Others may rule the first line of a few rows, and so the scale of all.
    """
    away = np.abs(y - np.median(y[rows]))
    return rows & (away <= C.absurd * spread(y[rows]))


def _worth_most(lines: list[Line], rows: Bools, known: Bools) -> Line:
    """The line about which the rows are tightest for what it leaves out.

    The first counts unless another pays for the rows, at least one, that it leaves out
    and the first does not. If most of those are known to agree with others round them,
    a line may fit them badly, but nothing else says that they are wrong.
    """
    best, most, n = lines[0], 0.0, float(np.sum(rows))
    for line in lines[1:]:
        out = (line.factors == 0.0) & (lines[0].factors > 0.0)
        price = C.cost_of_a_row * max(line.left_out - lines[0].left_out, 1)
        if 2 * np.sum(out & known) > np.sum(out):
            price = max(price, n * np.log(C.tighter))
        gain = n * np.log(lines[0].about(rows) / line.about(rows)) - price
        if gain > most:
            best, most = line, gain
    return best


def _without_shrinkage(rows: Rows) -> Rows:
    """The same with the smallest penalty.

    Shrinkage bends a line most where rows are far out, and what is chosen for some rows
    may be chosen by those.
    """
    return rows._replace(alpha=float(LINEAR_ALPHAS[0]))


def _near(rows: Rows, half: Bools) -> tuple[Bools, Bools]:
    """Rows of usual leverage, measured from those of the half that have it.

    And rows with a direction that the half does not have.
    """
    core, near = half, half
    for _ in range(C.rounds):
        factors = core.astype(np.float64)
        g = rows.residuals(rows.line(factors), factors).leverage
        near = g <= C.usual_leverage * rows.parameters / np.sum(factors * rows.weights)
        again = half & near
        if np.array_equal(again, core) or np.sum(again) < 2 * rows.parameters:
            break
        core = again
    near = near | half if np.sum(half & near) < 2 * rows.parameters else near
    return near, g >= UNKNOWN


def _settled(
    rows: Rows, start: Bools, among: Bools, usual: Bools, mass: float | None = None
) -> Line:
    """Fit some rows, weigh the usual ones among the near, and again until that settles.

    Rows of a population apart, or beyond what a single one reaches, have no weight; the
    others are held. Rows of a direction that no other has are let in on trial. Of
    targets of which very many are equal, `mass`, the others tell the scale, and who of
    them is apart.
    """
    near = among & usual
    telling = near if mass is None else near & (rows.y != mass)
    telling = telling if telling.any() else near
    factors, counted, trial = start.astype(np.float64), telling, np.zeros_like(near)
    line: Line | None = None
    for _ in range(C.rounds):
        fit = rows.line(factors)
        residuals = rows.residuals(fit, factors)
        scale = max(half_scale(residuals.u[counted]), _rounding(rows, fit, near))
        with np.errstate(over="ignore"):
            u = residuals.u / scale
        held = C.held_beyond * _heavier_tail(u[near & (factors > 0.0)])
        again = residuals.factors(scale, held)
        again[~near] = 0.0
        again[telling] *= ~outlying(u[telling])
        size = np.abs(u)
        spared = trial & (size <= _worst_first(size, trial, held))
        again[spared & (again == 0.0)] = 1.0
        trial = (trial & (again > 0.0)) | (near & (residuals.leverage >= UNKNOWN))
        line = Line(fit, u, scale, again, among, np.zeros_like(near))
        if np.max(np.abs(again - factors)) < 0.01 or not np.any(again):
            break
        factors, counted = again, telling & (again > 0.0)
        if not counted.any():
            break
    assert line is not None
    return line


def _worst_first(size: Floats, rows: Bools, limit: float) -> float:
    """The limit, or one that only the worst of these rows are beyond.

    Rows that share a direction with nobody else, as those of a rare category, are let
    in together; if some are wrong, none of them fits. So those twice as far off as half
    of them go first (one wrong row of four is three times as far off as the others);
    where there are none, the limit is that of all rows.
    """
    if not rows.any():
        return limit
    worst = 2.0 * float(np.median(size[rows]))
    return worst if worst > limit and np.any(size[rows] > worst) else limit


def _heavier_tail(u: Floats) -> float:
    """How much farther than a Gaussian's the tails of these residuals reach; 1 to 1.5.

    By the quantile of one in a hundred, less the standard error of that share.
    """
    share = C.tail + np.sqrt(C.tail / len(u))
    gaussian = float(ndtri(1.0 - 0.5 * C.tail))
    tail = float(np.quantile(np.abs(u), 1.0 - share)) / gaussian
    return min(max(tail, 1.0), C.heaviest_tail)


def _with_far_rows(rows: Rows, line: Line, usual: Bools, usable: Bools) -> Line:
    """The line with the rows far out that it does not contradict.

    One that the near rows contradict is out for good; if that is half of them, none is
    believed. So is one that other far ones contradict, the worst of them first: they
    spoil what is foreseen for the others. The noise is measured by the root mean square
    of the near ones, which varies less than a median.

    Rows judged wrong before (not `usual`) are let in only if the line has foreseen
    their values within a third, or those of some of them and contradicts none; or if
    they have a direction to themselves, as a rare category has, where they harm nobody.
    """
    own = line.factors > 0.0
    near = line.near | ~usable  # what is said of these stands
    if near.all():
        return line
    tail = _heavier_tail(line.u[own])
    u = np.minimum(np.abs(line.u[own]), C.held_beyond * tail)
    scale = line.scale * float(np.sqrt(np.mean(u * u)))
    scale = max(scale, _rounding(rows, line.fit, own))
    middle = float(np.median(rows.y[own]))
    if np.sum(own) > 2 * rows.parameters:
        rows = _without_shrinkage(rows)
    factors, contradicted, doubted = line.factors, near, ~near & ~usual
    ruling: Bools | None = None
    for _ in range(C.rounds):
        fit = rows.line(factors)
        residuals = rows.residuals(fit, factors)
        away, limit = np.abs(residuals.u) / scale, C.contradicted_beyond * tail
        if ruling is None:
            ruling = ~near & (residuals.leverage > 1.0)
            own_direction = residuals.leverage >= UNKNOWN
        else:
            limit = _worst_first(away, ~contradicted & (factors > 0.0), limit)
        contradicted = contradicted | (away > limit)
        with np.errstate(over="ignore"):
            error = scale * np.sqrt(1.0 + residuals.leverage)
            value = np.abs(rows.y - residuals.left_out - middle)
        foreseen = value > C.held_beyond * tail * error
        if np.any(foreseen & doubted) and not np.any(contradicted & doubted):
            foreseen = foreseen | doubted
        foreseen |= own_direction
        again = residuals.factors(scale, C.held_beyond * tail)
        again[contradicted | ~(usual | foreseen)] = 0.0
        if 2 * np.sum(contradicted & ~near) >= np.sum(~near):
            again[:] = 0.0
        again[near] = line.factors[near]
        if np.max(np.abs(again - factors)) < 0.01:
            break
        factors = again
    assert ruling is not None
    return Line(fit, residuals.u / scale, scale, factors, line.near, ruling)


def _rounding(rows: Rows, fit: LinearFit, near: Bools) -> float:
    """What is left of residuals that should vanish, as of exact data.

    64 units in the last place of the terms, or 1e-9 of the targets' spread, which is
    more than the smallest penalty bends a line; of some thousand rows.
    """
    own = np.flatnonzero(near)
    own = own[np.linspace(0, len(own) - 1, min(len(own), MOST_SORTED)).astype(int)]
    Z, y = rows.Z[own], rows.y[own]
    size = np.abs(y) + np.abs(Z) @ np.abs(fit.coef) + abs(fit.intercept)
    least = 64.0 * np.finfo(float).eps * float(np.median(size))
    return max(least, 1e-9 * half_scale(y - np.median(y)), 1e-300)


def outlying(u: Floats) -> Bools:
    """Rows of a second population; those far out have no weight in any case."""
    if np.any(np.abs(u) > C.held_beyond + 1.0):
        held = compress(u, C.far_residual)
        found = split(held)
        if found.found and found.populations is not None:
            return found.populations.outlier_probability(held) > 0.5
    return np.zeros(len(u), dtype=bool)

"""Slips that, undone, make rows fit: exchanged columns, factors, signs."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from ...._typing import Bools, Floats, Indices
from ....tables import Table
from ..crossfit import CrossFit, Fits
from ..facts import Change, Finding
from ..models import expect
from ..numbers import counted
from ..tails import MOST, NoiseTail, noise_tail
from .base import Context, first_rows
from .evidence import Evidence, FarRows
from .repairs import DEGREES, INCHES, POINTS, POUNDS, Repair, either_way, repair_of

#: What is tried: decimal and unit slips, degrees, and a sign.
REPAIRS = (*either_way(*POINTS, POUNDS, INCHES), *DEGREES, Repair(-1.0))
#: Scales beyond which a row does not fit, and within which a repaired one does.
MISFIT, FITS = 4.0, 2.0
#: Least rows of a slip; least chance of each of them, of a slip of the target.
FEWEST, LIKELY = 3, 0.5
#: Noise of rows of which too few fit to tell.
PLAIN_NOISE = NoiseTail(4.0, 1.0, 0.0)
#: Rows whose values stand in for a row's own, to see what fits by chance.
DONORS = 5
#: Rows by which slips are proven, and columns tried.
MOST_ROWS, MOST_COLUMNS = 400, 30


class Slips:
    """Changes of one kind that make rows fit.

    Exchanged columns come first and keep their rows. Then come features of flagged
    rows: a factor, a sign or another scale of degrees is stated if more rows fit by it
    than by chance: of the m rows that it may concern, k fit although only a share q
    does with another row's value, and P(Binomial(m, q) ≥ k) is less than the level.
    Then targets of all rows that do not fit, flagged or not: see `evidence`. Half of
    the section's level is divided among the slips of the target, half among those of
    features. Of two that explain the same rows, as pounds and inches may, the likelier
    is stated.
    """

    name, title = "slips", "Slips that would explain rows"
    kinds = ("swap", "factor", "sign", "degrees")
    advice = "Compare the slips with their source before you change anything."

    def find(self, context: Context) -> list[Finding]:
        """What was found before rows were flagged: rows of slips are flagged."""
        return list(context.slips)

    def words(self, finding: Finding) -> str:
        """How many rows fit, and after which change."""
        names = [column[:60] for column in finding.columns]
        if finding.kind == "swap":
            rows = counted(finding.count, "row")
            return f"{' and '.join(names)} look exchanged in {rows}."
        rows = f"{finding.count} rows fit if"
        if finding.kind == "sign":
            return f"{rows} the sign of {names[0]} is turned."
        repair = repair_of(finding.numbers)
        return f"{rows} {names[0]} is {repair.words() if repair else 'changed'}."


class Slipped(NamedTuple):
    """Slips of numbers, and each used row's chance to be one of the target's."""

    findings: list[Finding]
    chance: Floats


def slipped_numbers(
    table: Table,
    found: CrossFit,
    flags: Bools,
    swaps: tuple[Finding, ...],
    level: float,
) -> Slipped:
    """Slips of features and of the target; no row is explained twice.

    Features first: what is expected of rows with a wrong value is wrong as well, and
    another factor of the target may undo that, too. Where rows were judged by another
    model only flagged ones are looked at.

    Parameters
    ----------
    table : Table
    found : CrossFit
    flags : array of bool of shape (m,)
    swaps : tuple of Finding
        Rows of which nothing more is said.
    level : float
    """
    slipped = Slipped([], np.zeros(len(found.rows)))
    if table.task != "regression":
        return slipped
    told = [row - 1 for finding in swaps for row in finding.rows]
    free = ~np.isin(found.rows, told)
    free &= _of_features(table, found, flags & free, flags, 0.5 * level, slipped)
    if found.own_label:
        free &= flags
    _of_target(table, found, free, 0.5 * level, slipped)
    return slipped


def _of_target(
    table: Table, found: CrossFit, free: Bools, level: float, slipped: Slipped
) -> None:
    """Slips of the targets of the free rows, the likeliest first."""
    y, rng = table.y[found.rows], np.random.default_rng(0)
    expected, scale = _expected(found, free, rng)
    with np.errstate(over="ignore"):
        sizes = np.abs(y - expected) / scale
    noise = noise_tail(sizes[np.isfinite(sizes)], MISFIT) or PLAIN_NOISE
    at = np.flatnonzero(free & (sizes > MISFIT) & (sizes < np.inf))
    some = rng.permutation(len(at)) < MOST_ROWS
    tries = list(REPAIRS)
    while tries and np.sum(some) >= FEWEST:
        rows = FarRows(y[at], expected[at], scale[at], noise, MISFIT)
        proofs = [Evidence.of(rows.of(some), repair) for repair in tries]
        best = int(np.argmax([proof.gain for proof in proofs]))
        repair, proof = tries.pop(best), proofs[best]
        if proof.gain < np.log(len(REPAIRS) / level):
            return
        chance = proof.chances(rows, repair)
        fits = chance >= LIKELY
        if np.sum(fits) >= FEWEST:
            slipped.findings.append(
                _finding(found.rows[at[fits]], table.target.name, repair, y[at[fits]])
            )
            slipped.chance[at] = np.maximum(slipped.chance[at], chance)
            at, some = at[~fits], some[~fits]


class _Try(NamedTuple):
    """A change of one feature, and how well its rows then fit.

    tried : rows that it may concern
    misfit : of each row once changed, in noise scales
    by_chance : share of the tried rows that would fit by accident
    before : values as they are
    level : chance of a false claim that this one may have
    """

    column: str
    repair: Repair
    tried: Bools
    misfit: Floats
    by_chance: float
    before: Floats
    level: float

    @property
    def fits(self) -> Bools:
        """Which rows fit once changed."""
        return self.tried & (self.misfit < FITS)

    def merit(self, free: Bools) -> float:
        """How well it explains the free rows: Σ (FITS² − misfit²) of those that fit."""
        own = self.misfit[self.fits & free]
        return float(np.sum(FITS**2 - own**2))

    def is_proven(self, free: Bools) -> bool:
        """Whether as many of the free rows would hardly fit by accident."""
        k = int(np.sum(self.fits & free))
        m = int(np.sum(self.tried & free))
        return k >= FEWEST and binom.sf(k - 1, m, self.by_chance) < self.level


def _of_features(
    table: Table,
    found: CrossFit,
    tried: Bools,
    flags: Bools,
    level: float,
    slipped: Slipped,
) -> Bools:
    """Slips of features of the rows to be tried; which rows nothing is said of."""
    free_rows = np.ones(len(flags), dtype=bool)
    flagged = np.flatnonzero(tried)
    worst = np.argsort(-found.scores[flagged], kind="stable")[:MOST_ROWS]
    at = np.sort(flagged[worst])
    if len(at) < FEWEST:
        return free_rows
    tries = list(_feature_slips(table, found, at, flags, level))
    free = np.ones(len(at), dtype=bool)
    while tries:
        best = max(tries, key=lambda t: t.merit(free))
        tries = [t for t in tries if t is not best]
        if best.is_proven(free):
            fits = best.fits & free
            rows = found.rows[at[fits]]
            slipped.findings.append(
                _finding(rows, best.column, best.repair, best.before[fits])
            )
            free &= ~fits
    free_rows[at] = free
    return free_rows


def _expected(
    found: CrossFit, free: Bools, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """What is expected of rows, and noise scales, by fits that resist wrong rows.

    Predictions from elsewhere may have learnt from rows with the very slip, and are
    off where these are many: there the audit's own fits are asked, about the free rows
    and as many as tell the noise.
    """
    if not found.own_label:
        return found.expected, found.scale
    expected, scale = np.full((2, len(free)), np.nan)
    asked = free | (rng.permutation(len(free)) < MOST)
    for k, fold in enumerate(found.folds):
        own = np.flatnonzero(asked & (found.fold == k))
        if len(own):
            X = fold.preparation.transform(found.rows[own])
            expected[own], scale[own] = expect(fold.robust, X, found.least_scale)
    return expected, scale


def _finding(rows: Indices, column: str, repair: Repair, before: Floats) -> Finding:
    shown = first_rows(rows)
    after = repair.of(before).tolist()
    changes = [
        Change(row, column, f"{old:.6g}", f"{new:.6g}")
        for row, old, new in zip(shown, before.tolist(), after, strict=False)
    ]
    return Finding("slips", repair.kind, [column], shown, len(rows),
                   repair.numbers, {}, changes)  # fmt: skip


def _feature_slips(
    table: Table,
    found: CrossFit,
    at: Indices,
    flags: Bools,
    level: float,
) -> Iterator[_Try]:
    """Values outside the usual range that are inside once repaired, and then fit."""
    numeric = [
        j for j, column in enumerate(table.features) if column.kind == "numeric"
    ][:MOST_COLUMNS]
    rng, y = np.random.default_rng(0), table.y[found.rows[at]]
    level /= max(len(numeric), 1) * len(REPAIRS)
    for j in numeric:
        column = table.features[j]
        usual = column.values[found.rows[~flags]]
        usual = usual[~np.isnan(usual)]
        if not len(usual):
            continue
        low, high = np.quantile(usual, [0.02, 0.98])
        cells = column.values[found.rows[at]]
        outside = (cells < low) | (cells > high)
        donors = [
            _misfit_with(found, at, y, j, rng.choice(usual, len(at)), outside)
            for _ in range(DONORS)
        ]
        chance = np.mean(np.array(donors) < FITS, axis=0)
        for repair in REPAIRS:
            new = repair.of(cells)
            tried = outside & (new >= low) & (new <= high)
            misfit = _misfit_with(found, at, y, j, new, tried)
            by_chance = float(chance[tried].mean()) if tried.any() else 1.0
            yield _Try(column.name, repair, tried, misfit, by_chance, cells, level)


def _misfit_with(
    found: CrossFit, at: Indices, y: Floats, j: int, values: Floats, tried: Bools
) -> Floats:
    """Misfits of the tried rows with these values of the j-th feature; infinite else.

    Too few rows are not worth asking the models.
    """
    misfit = np.full(len(at), np.inf)
    if tried.sum() < FEWEST:
        return misfit
    for k, fold in enumerate(found.folds):
        own = np.flatnonzero(tried & (found.fold[at] == k))
        if len(own):
            X = _changed(fold, found.rows[at[own]], j, values[own])
            expected, scale = expect(fold.robust, X, found.least_scale)
            misfit[own] = np.abs(y[own] - expected) / scale
    return misfit


def _changed(fold: Fits, rows: Indices, j: int, values: Floats) -> Floats:
    X = fold.preparation.transform(rows)
    scaling, p = fold.preparation.scaling_, fold.preparation.position(j)
    X[:, p] = (values - scaling.centre[p]) / scaling.scale[p]
    return X

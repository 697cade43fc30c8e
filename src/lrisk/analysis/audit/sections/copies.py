"""Rows that were entered more than once, alone or in blocks.

Equal rows prove nothing where rows are equal by chance. Three ways are allowed for:

- *Few values.* All columns follow, in any way and up to the last digit, from some of
  them, a key. Rows equal in all of the key but one column are then equal in that, too,
  as often as they nearly are. Of all keys that tell the different rows apart, the least
  telling one is taken.
- *A list*, as of products, whose entries rows are drawn from, each with a chance of its
  own. How often entries occur then varies at least as much as a Poisson number that is
  not zero; rows that were pasted occur all the same number of times. That rows are
  equal is said all the same, but for tables most of whose rows repeat others.
- *An order*, as of hours: after two equal rows the next two are equal more often.

A *design*, as of an experiment that tries every combination once, is the opposite: far
fewer rows are equal than by chance, so that hardly any was to be, and those that are
equal in every column are named.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import comb
from scipy.stats import chi2, poisson

from ...._typing import AnyArray, Floats, Indices
from ....tables import Column, Table
from ..facts import Finding
from .base import Context, first_rows

#: Rows that follow each other, as their copies do, from which on they are a block.
FEWEST_OF_BLOCK = 3
#: Share of the rows up to which copies are few: named although they may come from a
#: list, for one that a table shows so little of twice is five times as long as the
#: table; and in a design.
FEW_COPIES = 0.1
#: Columns that follow from a key which may tell rows apart by luck alone, at most: of a
#: wide table some two columns always do.
MOST_FOLLOWING = 4
#: Share of the distance between quartiles within which a density is taken as even.
EVEN = 0.05
#: Parts of a column's median size: below the first two numbers are taken as equal;
#: beyond the second, where that is less than their rounding, numbers are cut off.
ROUNDING, ABSURD = 1e-11, 1e4


class Copies:
    """Rows equal to an earlier one in every column, or in all but identifiers.

    And different rows of one identifier, if a person said that it tells rows apart and
    it does so for nearly all: of visits, say, that it shares, nothing is said.
    """

    name, title = "copies", "Rows that occur more than once"
    kinds = ("block", "copy", "list", "same id")
    advice = "Find out whether the repeated rows were entered twice."

    def find(self, context: Context) -> list[Finding]:
        """Blocks that no order explains, and single rows that nothing does.

        With λ pairs of equal rows expected, the number of different rows that occur
        again is at most Poisson, and blocks of L rows are expected λ·q^(L − 1) times,
        q being the chance that the next two rows are equal as well.
        """
        shared = _same_id(context.table)
        every = [*context.table.columns, context.table.target]
        others = [c for c in every if c.kind != "identifier"]
        if len(others) == len(every):
            return _copies(every, context.level) + shared
        # Copies may have new identifiers, or repeat those that others have, which then
        # leave no room for chance.
        both = [_copies(own, context.level / 2.0) for own in (others, every)]
        sure = [sum(f.count for f in found if f.kind != "list") for found in both]
        return both[int(np.argmax(sure))] + shared

    def words(self, finding: Finding) -> str:
        """How many rows, and of which."""
        if finding.kind == "block":
            first, source = finding.rows[0], int(finding.numbers["from row"])
            to, last = (row + finding.count - 1 for row in (first, source))
            return (
                f"Rows {first} to {to} repeat rows {source} to {last} in every column."
            )
        if finding.kind == "same id":
            rows = "1 row has" if finding.count == 1 else f"{finding.count} rows have"
            return (
                f"{rows} the {finding.columns[0][:60]} of an earlier one and differ"
                f"{'s' * (finding.count == 1)} from it in other columns."
            )
        rows = "1 row is" if finding.count == 1 else f"{finding.count} rows are"
        equal = f"{rows} equal to an earlier one in every column"
        if finding.kind == "copy":
            return f"{equal}."
        return (
            f"{equal}, as often as if all were drawn from a list; whether they were "
            "entered twice or are really equal, the table does not say."
        )


def _same_id(table: Table) -> list[Finding]:
    """Rows that differ from an earlier one of the same identifier, if they are few."""
    if not table.id_given:
        return []
    cells = _cells([*table.columns, table.target]).sum(axis=0)
    different = np.sort(np.unique(cells, return_index=True)[1])
    ids = np.array(table.ids)[different]
    again = np.setdiff1d(np.arange(len(ids)), np.unique(ids, return_index=True)[1])
    rows = different[again[ids[again] != ""]]
    if not 0 < len(rows) <= FEW_COPIES * table.n_rows:
        return []
    named = [table.id_column]
    return [Finding("copies", "same id", named, first_rows(rows), len(rows))]


def _cells(columns: list[Column]) -> Indices:
    """Random numbers in the place of values, shape (n_columns, n_rows).

    Their sums tell rows apart: of a million different ones two agree with a chance of
    5·10⁻⁸.
    """
    rng = np.random.default_rng(0)
    codes = [np.unique(c.values, return_inverse=True)[1] for c in columns]
    return np.array([rng.integers(2**63, size=len(own))[own] for own in codes])


def _copies(columns: list[Column], level: float) -> list[Finding]:
    """Rows that are equal to an earlier one in all of these columns."""
    if len(columns) < 2:
        return []
    cells = _cells(columns)
    _, firsts, rows = np.unique(cells.sum(axis=0), return_index=True,
                                return_inverse=True)  # fmt: skip
    copies = np.setdiff1d(np.arange(len(rows)), firsts)
    if not len(copies):
        return []
    by_key = _by_chance(columns, cells, np.sort(firsts), level)
    chance, again = by_key.most, by_key.again
    equal = _same(rows)
    likely, again = max(chance, equal * comb(len(rows), 2)), max(again, equal)
    blocks = _blocks(copies, firsts[rows[copies]])
    sure = [b for b in blocks if likely * again ** (len(b) - 1) < level]
    outside = np.setdiff1d(np.arange(len(rows)), [row for b in sure for row in b])
    often = np.unique(rows[outside], return_counts=True)[1]
    unlikely = poisson.sf(np.sum(often > 1) - 1, chance) < level
    few = len(outside) - len(often) <= FEW_COPIES * len(outside)
    fewer = poisson.cdf(np.sum(comb(often, 2)), by_key.least) < level
    is_list = not few and _is_list(often, level)
    named = (few and fewer) or (unlikely and not is_list)
    found, single = [], copies
    for block in blocks if named else sure:
        source = {"from row": firsts[rows[block[0]]] + 1.0}
        shown, single = first_rows(block), np.setdiff1d(single, block)
        found.append(Finding("copies", "block", [], shown, len(block), source))
    drawn = unlikely and 2 * len(single) < len(rows)
    if (named or drawn) and len(single):
        kind = "copy" if named else "list"
        found.append(Finding("copies", kind, [], first_rows(single), len(single)))
    return found


class _ByChance(NamedTuple):
    """Equal rows by chance.

    most, least : pairs that are expected, by the columns of a key
    again : the chance that after two equal rows the next two are equal
    """

    most: float
    least: float
    again: float


def _by_chance(
    columns: list[Column], cells: Indices, firsts: Indices, level: float
) -> _ByChance:
    """By the least telling key."""

    def groups(*chosen: int) -> Indices:
        sums = cells[list(chosen)][:, firsts].sum(axis=0)
        return np.asarray(np.unique(sums, return_inverse=True)[1])

    d, different = len(columns), max(float(comb(len(firsts), 2)), 1.0)
    agree = [_agreeing(c, firsts, groups()) / different for c in columns]
    key, left_out = set(range(d)), []
    for j in sorted(key, key=lambda j: agree[j]):
        if len(key) > 1 and _follows(columns[j], firsts, groups(*key - {j})):
            key.remove(j)
            left_out.append(j)
    pairs = float(comb(cells.shape[1], 2)) / different
    by_column = {j: _agreeing(columns[j], firsts, groups(*key - {j})) for j in key}
    free = max(key, key=lambda j: by_column[j])
    chance = least = pairs * by_column[free]
    for j in key - {free}:
        # Columns that tell a factor of a design together nearly follow from each other,
        # but not from the column that is the most free of all others.
        alone, others, both = (
            _equal_pairs(groups(*key - out)) for out in ({j}, {free}, {j, free})
        )
        least = min(least, pairs * max(by_column[j], alone * others / max(both, 1.0)))
    if comb(d, len(key)) * np.exp(-chance) > level:
        for j in left_out[::-1][: max(d - MOST_FOLLOWING - len(key), 0)]:
            key.add(j)
            chance *= agree[j]
    moves = (_same(np.round(np.diff(_in_steps(columns[j])))) for j in key)
    again = min(map(max, moves, (agree[j] for j in key)))
    return _ByChance(chance, least, again)


def _follows(column: Column, rows: Indices, groups: Indices) -> bool:
    """Whether values of each group agree: numbers up to their last digit."""
    if groups.max() + 1 == len(rows):
        return True
    values = _in_steps(column)[rows]
    if _even_for(column, values) < 1.0:
        return False
    order = np.lexsort((values, groups))
    first = np.flatnonzero(np.r_[True, np.diff(groups[order]) > 0])
    last = np.r_[first[1:], len(rows)] - 1
    return bool(np.all(values[order[last]] - values[order[first]] < 1.5))


def _even_for(column: Column, values: Floats) -> float:
    """Over how many steps a density may be taken as even; 0 of levels."""
    known = values[~np.isnan(values)]
    if column.has_levels or not len(known):
        return 0.0
    low, high = np.quantile(known, [0.25, 0.75])
    return float(EVEN * (high - low) // 1.0)


def _agreeing(column: Column, rows: Indices, groups: Indices) -> float:
    """Expected pairs of rows of the same group with the same value.

    By how often values agree; or, as numbers are multiples of a step, by how often they
    miss each other by k steps at most, which is 2k times as often: for k = 1, √m and m,
    if a density may be taken as even over m steps, the most that any of them says.
    """
    values = _in_steps(column)[rows]
    agreeing = _same(values) * _equal_pairs(groups)
    known = np.flatnonzero(~np.isnan(values))
    if column.has_levels or not len(known):
        return agreeing
    most = max(_even_for(column, values), 1.0)
    values = values[known] - values[known].min()
    at = np.sort(values + groups[known] * (values.max() + 2.0 * most + 1.0))
    equal = np.searchsorted(at, at, "right")
    for k in np.unique(np.round(np.geomspace(1.0, most, 3))):
        near = np.searchsorted(at, at + k + 0.5) - equal
        agreeing = max(agreeing, float(near.sum()) / (2.0 * k))
    return agreeing


def _same(values: AnyArray) -> float:
    """The share of pairs that are equal."""
    return _equal_pairs(values) / max(float(comb(len(values), 2)), 1.0)


def _equal_pairs(values: AnyArray) -> float:
    """How many pairs are equal; all of them where there is nothing to compare."""
    return float(np.sum(comb(np.unique(values, return_counts=True)[1], 2)))


def _in_steps(column: Column) -> Floats:
    """Numbers in units of what all their differences are multiples of (Euclid)."""
    values, known = column.values + 0.0, ~np.isnan(column.values + 0.0)
    sizes = np.abs(values[known & (values != 0.0)])
    if len(sizes):
        values = np.clip(values / np.median(sizes), -ABSURD, ABSURD)
    gaps, step = np.unique(np.diff(np.unique(values[known]))), 1.0
    while len(gaps) and not column.has_levels:
        step = max(float(gaps[0]), ROUNDING)
        rests = np.unique(np.abs(gaps - step * np.round(gaps / step)))
        gaps = rests[rests > ROUNDING]
        gaps = np.append(gaps, step) if len(gaps) else gaps
    return np.asarray(values / step)


def _is_list(often: Indices, level: float) -> bool:
    """Whether rows occur as often as the entries of a list do.

    A Poisson number with mean r that is not zero has mean m = r/(1 − e^−r) and variance
    m(1 + r − m); entries of unequal chances have more.
    """
    mean = float(often.mean())
    rate = brentq(lambda r: r / -np.expm1(-r) - mean, 1e-9, mean)
    scatter = float(np.sum((often - mean) ** 2)) / (mean * (1.0 + rate - mean))
    return bool(chi2.cdf(scatter, len(often) - 1) > level)


def _blocks(copies: Indices, sources: Indices) -> list[Indices]:
    """Runs of copies whose sources follow each other as they do."""
    broken = (np.diff(copies) != 1) | (np.diff(sources) != 1)
    runs = np.split(copies, np.flatnonzero(broken) + 1)
    return [run for run in runs if len(run) >= FEWEST_OF_BLOCK]

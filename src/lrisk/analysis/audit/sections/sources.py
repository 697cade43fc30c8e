"""Levels of a column whose rows fit worse than the others, or lie apart: a bad source.

A model that knows where rows come from learns that those of a bad source say nothing,
or by how much they are off, and they do not stand out. So the column is left out of
models of quantities. Of classes it is not: labels that were given at random stay
unexpected for a model that knows where, and those that merely follow from the column
do not.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import mannwhitneyu, rankdata, spearmanr

from ...._typing import Bools, Floats, Indices
from ....estimators import OutlierDetector
from ....procedures._robust.scales import COMPRESSED_BEYOND, compress, spread
from ....procedures.outliers.linear_fit import fit_linear
from ....tables import Column, Preparation, Table
from ..facts import Finding
from ..numbers import number, percent
from .base import Context, first_rows

#: Rows of a level, and of the others, below which nothing is said of it.
FEWEST = 20
#: Levels of a column, and rows looked at, at most.
MOST_LEVELS, MOST_ROWS = 50, 5000
#: How many times as large as elsewhere errors are, or as often labels are unexpected;
#: and how many times as large as such errors an offset is, at least.
LEAST_RATIO = 2.0
#: Levels of a column from which on one can be said to lie apart: the others need a
#: majority that agrees; and how many times as far from their middle as any of them.
FEWEST_LEVELS, APART = 4, 3.0
#: Spreads from the median within which targets of a level are held for its own line.
HELD = 4.0
#: Rank correlation of targets and what is expected, as a share of that elsewhere, below
#: which targets do not follow the other columns.
UNRELATED = 0.3


class Sources:
    """Levels of categorical columns whose targets fit worse than those of the others.

    Errors of a level, about its own median, are compared with those of all other rows
    by ranks (Mann and Whitney): about the reference of `OutlierDetector` without any
    such column, which follows curves and resists the source itself, and where that says
    so, about one without this column alone. Levels may well have targets of their own,
    which is what such columns are for: an offset is told only of a level that lies
    apart from others which agree. Of classes, how unexpected labels are is compared
    with other rows of the same labels.
    """

    name, title = "sources", "Sources whose rows fit worse, or lie apart"
    kinds = ("noisier", "unrelated", "offset", "labels")
    advice = "Ask the sources that stand out how they measure and record."

    def find(self, context: Context) -> list[Finding]:
        """Every level of every categorical column, each at an equal part."""
        table = context.table
        rows = np.flatnonzero(table.used)
        if table.task == "regression" and len(rows) > MOST_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, False))
        asked = [(c, levels) for c in table.columns if (levels := _levels(c, rows))]
        level = context.level / max(sum(len(levels) for _, levels in asked), 1)
        found: list[Finding] = []
        if asked and table.task != "regression":
            for column, levels in asked:
                found += _of_labels(context, column, levels, level)
            return found
        telling = {c.name: _telling(c, table, rows) for c, _ in asked}
        left_out = [c for columns in telling.values() for c in columns]
        judge = _Judge.without(left_out, table, rows) if asked else None
        if judge is not None:
            for column, levels in asked:
                own = _Asked(column, levels, telling[column.name])
                # Half of it for larger errors, half for offsets.
                found += _of_column(table, rows, own, 0.5 * level, judge)
        return found

    def words(self, finding: Finding) -> str:
        """Which level, how much worse, and what that may mean."""
        name, numbers = finding.columns[0][:60], finding.numbers
        where = f"{name}={finding.values['level']}" if finding.values else \
            f"one value of {name}"  # fmt: skip
        text = f"{where}: {finding.count} rows"
        if finding.kind == "labels":
            return (
                f"{text}, of which {percent(numbers['share'])} have another label than "
                f"expected; elsewhere {percent(numbers['elsewhere'])} of such rows do."
            )
        without = "by models that do not know the column"
        if finding.kind == "offset":
            side = "above" if numbers["offset"] > 0.0 else "below"
            return (
                f"{text} whose targets lie {number(abs(numbers['offset']))} {side} "
                f"what is expected, {without}, while its other values differ by "
                f"{number(numbers['others'])} at most: real, or measured in another "
                "way."
            )
        text += (
            f" whose errors are {number(numbers['ratio'], 2)} times as large as "
            f"elsewhere, {without}"
        )
        if finding.kind == "unrelated":
            return f"{text}; their targets hardly follow the other columns: shuffled?"
        return f"{text}."


class Errors(NamedTuple):
    """Sizes of errors about the median of their level, and what was expected."""

    size: Floats
    expected: Floats

    @classmethod
    def of(cls, y: Floats, expected: Floats, codes: Indices, scale: Floats) -> "Errors":
        """Of rows with these levels: an offset of a level is no error of its rows.

        In noise `scale`s: larger noise where x is large is no matter of the level.
        """
        away = (y - expected) / scale
        for code in np.unique(codes):
            away[codes == code] -= np.median(away[codes == code])
        return cls(np.abs(away), expected)

    def worse(self, inside: Bools, level: float) -> float | None:
        """Ratio of median errors, if larger inside beyond chance; else None."""
        own, other = self.size[inside], self.size[~inside]
        ratio = float(np.median(own) / max(np.median(other), 1e-300))
        if not ratio >= LEAST_RATIO:
            return None
        chance = mannwhitneyu(own, other, alternative="greater").pvalue
        return ratio if chance < level else None


def _levels(column: Column, rows: Indices) -> list[int]:
    """Codes of levels with enough rows, inside and outside."""
    if not column.has_levels or column.kind not in ("categorical", "group"):
        return []
    codes = column.values[rows]
    counts = np.bincount(codes[codes >= 0], minlength=len(column.levels))
    enough = (counts >= FEWEST) & (counts <= len(rows) // 2)
    return [int(code) for code in np.flatnonzero(enough)[:MOST_LEVELS]]


class _Asked(NamedTuple):
    """A column, those of its levels that are asked about, and columns that tell it."""

    column: Column
    levels: list[int]
    telling: list[Column]


def _telling(column: Column, table: Table, rows: Indices) -> list[Column]:
    """The column itself, and others from which it follows, as its number or its ward.

    A model that knows one of them knows the source.
    """
    codes, found = column.values[rows], [column]
    for other in table.features:
        values = np.unique(other.values[rows], return_inverse=True)[1]
        if other is column or values.max() >= MOST_LEVELS:
            continue
        pairs = np.unique(np.column_stack([values, codes]), axis=0)
        if len(pairs) == values.max() + 1:
            found.append(other)
    return found


class _Judge(NamedTuple):
    """What is expected by a model without some columns, over the others."""

    X: Floats
    y: Floats
    expected: Floats
    scale: Floats

    @classmethod
    def without(
        cls, columns: list[Column], table: Table, rows: Indices
    ) -> "_Judge | None":
        """The reference of `OutlierDetector`; None if no column is left."""
        y = table.y[rows]
        names = {column.name for column in columns}
        others = [other for other in table.features if other.name not in names]
        if not others:
            return None
        X = Preparation(others).fit(rows).transform(rows)
        detector: Any = OutlierDetector(random_state=0).fit(X, y)
        return cls(X, y, detector.expected_, detector.noise_scale_)


def _of_column(
    table: Table, rows: Indices, asked: _Asked, level: float, judge: _Judge
) -> Iterator[Finding]:
    """Levels that stand out without any such column, and without this one alone."""
    column, levels = asked.column, asked.levels
    codes, y = column.values[rows], judge.y
    first = Errors.of(y, judge.expected, codes, judge.scale)
    noisier = [code for code in levels if first.worse(codes == code, level)]
    apart = _apart(y, judge, codes, levels, level)
    if not noisier and apart is None:
        return
    own = _Judge.without(asked.telling, table, rows)
    if own is None:
        return
    errors = Errors.of(y, own.expected, codes, own.scale)
    plain = Errors.of(y, own.expected, codes, np.ones(len(y)))
    for code in noisier:
        inside = codes == code
        ratio = plain.worse(inside, level) if errors.worse(inside, level) else None
        if ratio is None or _follows_its_own_line(own.X, y, inside, plain.size):
            continue
        kind = "unrelated" if _unrelated(own.expected, y, inside) else "noisier"
        yield _finding(column, kind, code, {"ratio": ratio})
    again = _apart(y, own, codes, levels, level)
    if apart is not None and again is not None and again.code == apart.code:
        offsets = {"offset": again.offset, "others": again.others}
        yield _finding(column, "offset", again.code, offsets)


def _finding(
    column: Column, kind: str, code: int, numbers: dict[str, float]
) -> Finding:
    where = np.flatnonzero(column.values == code)
    shown = {"level": column.levels[code][:60]}
    return Finding("sources", kind, [column.name], first_rows(where), len(where),
                   numbers, shown)  # fmt: skip


class _Apart(NamedTuple):
    """A level that lies apart.

    offset : how far from what the others let expect, in units of the target
    others : by how much the other levels differ, at most
    """

    code: int
    offset: float
    others: float


def _apart(
    y: Floats, judge: _Judge, codes: Indices, levels: list[int], level: float
) -> _Apart | None:
    """The one level whose rows lie off, where all other levels agree.

    It lies APART times as far from the middle of the others' medians as any of them,
    by LEAST_RATIO median errors at least, and beyond chance (Mann and Whitney).
    """
    if len(levels) < FEWEST_LEVELS:
        return None
    away = y - judge.expected
    medians = np.array([np.median(away[codes == code]) for code in levels])
    farthest = int(np.argmax(np.abs(medians - np.median(medians))))
    others, code = np.delete(medians, farthest), levels[farthest]
    offset = float(medians[farthest] - np.median(others))
    inside, near = codes == code, float(np.abs(others - np.median(others)).max())
    error = float(np.median(np.abs(away[~inside] - np.median(away[~inside]))))
    if abs(offset) < max(APART * near, LEAST_RATIO * error):
        return None
    chance = mannwhitneyu(away[inside], away[~inside]).pvalue
    return _Apart(code, offset, float(np.ptp(others))) if chance < level else None


def _of_labels(
    context: Context, column: Column, levels: list[int], level: float
) -> Iterator[Finding]:
    """Levels whose labels are unexpected more often than the same labels elsewhere.

    Rows are ranked by the probability of their label among those of the same label:
    that a level has more of a class which is hard to tell is not its fault.
    """
    found = context.found
    if found is None:
        return
    codes, labels = column.values[found.rows], context.table.y[found.rows]
    surprise, wrong = found.losses["robust"], ~found.right["robust"]
    ranks = np.zeros(len(labels))
    for label in np.unique(labels):
        own = labels == label
        ranks[own] = rankdata(surprise[own]) / (own.sum() + 1.0)
    for code in levels:
        inside = codes == code
        if not inside.any() or inside.all():
            continue
        share, elsewhere = float(wrong[inside].mean()), 0.0
        for label in np.unique(labels[inside]):
            others = wrong[~inside & (labels == label)]
            rate = (others.sum() + 1.0) / (len(others) + 2.0)  # Laplace: of few rows
            elsewhere += float(np.mean(labels[inside] == label) * rate)
        chance = mannwhitneyu(ranks[inside], ranks[~inside], alternative="greater")
        if share >= LEAST_RATIO * elsewhere and chance.pvalue < level:
            numbers = {"share": share, "elsewhere": elsewhere}
            yield _finding(column, "labels", code, numbers)


def _follows_its_own_line(X: Floats, y: Floats, inside: Bools, size: Floats) -> bool:
    """Whether rows of a level fit a line of their own nearly as well as others fit.

    Then slopes differ by level, and the column simply matters. Nearly: their errors are
    nearer to those of the others than to their own about the reference.
    """
    own = int(inside.sum())
    if own < 3 * (X.shape[1] + 1):
        return False
    reach = HELD * spread(y[inside])
    middle = float(np.median(y[inside]))
    held = np.clip(y[inside], middle - reach, middle + reach)
    line = fit_linear(compress(X[inside], COMPRESSED_BEYOND), held, np.ones(own))
    away = np.abs(line.left_out - np.median(line.left_out))
    limit = np.median(size[inside]) * np.median(size[~inside])
    return bool(np.median(away) ** 2 < limit)


def _unrelated(expected: Floats, y: Floats, inside: Bools) -> bool:
    """Whether targets inside follow what is expected far less than elsewhere do.

    Beyond two standard errors of a rank correlation, 1/√(m − 3).
    """
    own, other = (
        float(spearmanr(expected[part], y[part]).statistic)
        for part in (inside, ~inside)
    )
    error = 1.0 / np.sqrt(max(int(inside.sum()) - 3, 1))
    return bool(own + 2.0 * error < other and own < UNRELATED * other + error)

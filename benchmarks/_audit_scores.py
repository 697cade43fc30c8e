"""What an audit said of a table, held against the truth."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import poisson

from benchmarks._audit_errors import Planted
from benchmarks._audit_tables import Known

#: Part of the rows of a finding that must be wrong for it to be true.
MOSTLY = 0.5
#: Part of a factor by which another is taken for the same.
SAME_FACTOR = 0.01
#: Chance that a right expectation of false alarms is called wrong, on either side.
EITHER_SIDE = 0.025


class Count(NamedTuple):
    """Rows named, those of them that are wrong, all wrong ones; and of visible ones."""

    named: int = 0
    right: int = 0
    wrong: int = 0
    visible_right: int = 0
    visible: int = 0

    @property
    def precision(self) -> float:
        """Of the rows named, how many are wrong; NaN if none is named."""
        return self.right / self.named if self.named else float("nan")

    @property
    def recall(self) -> float:
        """Of the wrong rows, how many are named."""
        return self.right / self.wrong if self.wrong else float("nan")

    @property
    def visible_recall(self) -> float:
        """Of those that a good model could tell, how many are named."""
        return self.visible_right / self.visible if self.visible else float("nan")


def total(counts: Iterable[Count]) -> Count:
    """Of several tables together."""
    return Count(*(sum(column) for column in zip(*counts, strict=True)))


def counted(named: Any, planted: Planted, spared: Any) -> Count:
    """Of rows named; those that nobody is wrong to name count for nothing."""
    wrong = planted.wrong
    visible = wrong if planted.visible is None else planted.visible
    named = named & (wrong | ~spared)
    sums = (named, named & wrong, wrong, named & visible, visible)
    return Count(*(int(np.sum(part)) for part in sums))


def is_known(finding: Any, known: tuple[Known, ...]) -> bool:
    """Whether it is among the peculiarities that were listed of the table."""
    return any(
        finding.section == own.section
        and (not own.columns or bool(set(own.columns) & set(finding.columns)))
        for own in known
    )


def is_true(finding: Any, planted: Planted) -> bool:
    """Whether a finding names what was planted, and nothing else."""
    if finding.section == "slips":
        return _is_the_slip(finding, planted)
    if finding.section == "noise":
        return False
    if finding.kind == "stretch" and not planted.in_order:
        return False
    if finding.columns and not set(finding.columns) & set(planted.columns):
        return False
    if finding.section == "sources" or (planted.level and "site" in finding.columns):
        return _names_the_source(finding, planted)
    bad = planted.wrong if planted.spared is None else planted.wrong | planted.spared
    rows = np.asarray(finding.rows, dtype=int) - 1
    return float(np.mean(bad[rows])) >= MOSTLY


def names_cause(finding: Any, planted: Planted) -> bool:
    """Whether a true finding also says which source is bad, if one is."""
    return not planted.level or _names_the_source(finding, planted)


def _names_the_source(finding: Any, planted: Planted) -> bool:
    said = (finding.values.get("level"), finding.values.get("value"))
    return bool(planted.level) and planted.level in said


def _is_the_slip(finding: Any, planted: Planted) -> bool:
    if planted.slip is None or set(finding.columns) != set(planted.columns):
        return False
    kind, factor = planted.slip
    if finding.kind != kind:
        return False
    return kind != "factor" or bool(
        abs(finding.numbers["factor"] / factor - 1.0) < SAME_FACTOR
    )


def by_section(findings: Any, planted: Planted) -> Any:
    """Rows that the section says so of whose matter the errors are; shape (n,)."""
    named = np.zeros(len(planted.wrong), dtype=bool)
    for finding in findings:
        own = not planted.columns or set(finding.columns) & set(planted.columns)
        if finding.section == planted.section and own:
            named[np.asarray(finding.rows, dtype=int) - 1] = True
    return named


class Alarms(NamedTuple):
    """Rows flagged falsely, and how many the audits expected."""

    actual: int
    expected: float

    @property
    def interval(self) -> tuple[int, int]:
        """Counts that half to twice the expected number may well give (Poisson)."""
        low = poisson.ppf(EITHER_SIDE, self.expected / 2.0)
        high = poisson.ppf(1.0 - EITHER_SIDE, 2.0 * self.expected)
        return int(max(low, 0.0)), int(high)

    @property
    def fits(self) -> bool:
        """Whether the actual number is inside."""
        low, high = self.interval
        return low <= self.actual <= high

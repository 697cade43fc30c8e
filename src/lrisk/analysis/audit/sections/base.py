"""What a section of an audit is: it finds facts, and puts them into words.

Facts are rows, columns and numbers. Words are made of them where they are shown, so
that a report without values is made of the same facts without values.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np

from ...._typing import Bools, Indices
from ....tables import Table
from ..crossfit import CrossFit
from ..facts import Finding

#: Expected number of false claims of all sections together on a clean table: one table
#: in ten has one. Sections have equal parts, each of which divides its own among all
#: that it tries.
FALSE_CLAIMS = 0.1
#: Kinds of values of columns that are probably wrong; others may well be real.
ODD_VALUES = ("far above", "far below", "above its row", "below its row", "code")


class Context(NamedTuple):
    """What sections look at.

    Attributes
    ----------
    table : Table
        As it was read.
    level : float
        The false claims that a section may make of a clean table, on average.
    found : CrossFit or None
        What the fits say of the rows whose target is known.
    flags : array of bool of shape (m,) or None
        Which of those are flagged.
    slips : tuple of Finding
        Exchanged columns, factors and signs; their rows are flagged.
    earlier : tuple of Finding
        What the sections before this one found.
    """

    table: Table
    level: float
    found: CrossFit | None = None
    flags: Bools | None = None
    slips: tuple[Finding, ...] = ()
    earlier: tuple[Finding, ...] = ()


class Section(Protocol):
    """One part of an audit; `SECTIONS` holds one of each.

    Attributes
    ----------
    name, title : str
        Its name in findings, and its heading.
    advice : str
        What to do about its findings, a sentence that tells no value.
    """

    name: str
    title: str
    advice: str

    @property
    def kinds(self) -> tuple[str, ...]:
        """What its findings may be."""

    def find(self, context: Context) -> list[Finding]:
        """What there is to say; nothing of most clean tables."""

    def words(self, finding: Finding) -> str:
        """One sentence, also of a finding whose values were left out."""


def first_rows(rows: Iterable[int], most: int = 1000) -> list[int]:
    """Rows counted from 1, of positions in the table; the first of very many."""
    return [int(row) + 1 for _, row in zip(range(most), rows, strict=False)]


def explained(findings: Iterable[Finding]) -> Indices:
    """Positions of rows that a slip, or an odd value of a column, explains.

    They have been tested, and are hardly false alarms, whatever the noise brings.
    """
    proven = [f for f in findings if f.section == "slips" or f.kind in ODD_VALUES]
    return np.array([row - 1 for f in proven for row in f.rows], dtype=np.intp)

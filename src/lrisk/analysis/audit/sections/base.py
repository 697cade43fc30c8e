"""What a section of an audit is: it finds facts, and puts them into words.

Facts are rows, columns and numbers. Words are made of them where they are shown, so
that a report without values is made of the same facts without values.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from ....tables import Table
from ..result import Finding

#: Expected number of false claims of one section on a clean table: one table in twenty
#: has one. Each section divides it among all that it tries.
FALSE_CLAIMS = 0.05


class Context(NamedTuple):
    """What sections look at: the table as it was read."""

    table: Table


class Section(Protocol):
    """One part of an audit; `SECTIONS` holds one of each."""

    name: str
    title: str

    def find(self, context: Context) -> list[Finding]:
        """What there is to say; nothing of most clean tables."""

    def words(self, finding: Finding) -> str:
        """One sentence, also of a finding whose values were left out."""


def first_rows(rows: Iterable[int], most: int = 1000) -> list[int]:
    """Rows counted from 1, of positions in the table; the first of very many."""
    return [int(row) + 1 for _, row in zip(range(most), rows, strict=False)]

"""Words that may quote cells: those of somebody else's code, and of some refusals."""

from typing import Any

from .._params import refused


class QuotesCells(ValueError):
    """A refusal that quotes cells, or words of somebody else's code that may.

    Attributes
    ----------
    bare : str
        The same without them.
    """

    def __init__(self, message: str, bare: str) -> None:
        super().__init__(message)
        self.bare = bare

    def __reduce__(self) -> tuple[Any, ...]:
        return QuotesCells, (str(self), self.bare)


class RefusedCell(QuotesCells):
    """A refusal of a column that names one of its cells, and the row of it.

    Parameters
    ----------
    column, rule, got, remedy : str
        Of the message; none of them tells a cell.
    cell : str
    row : int
        Counted from 0.
    """

    def __init__(
        self, column: str, rule: str, got: str, remedy: str, cell: str, row: int
    ) -> None:
        self._about = column, rule, got, remedy, cell
        self.row = row
        told, bare = (
            refused("table", f"column {column[:60]}", rule, words, remedy)
            for words in (f"{got}, first {cell[:40]!r} in row {row + 1}", got)
        )
        super().__init__(told, bare)

    def __reduce__(self) -> tuple[Any, ...]:
        return RefusedCell, (*self._about, self.row)

    def at(self, row: int) -> "RefusedCell":
        """The same, of the row's place in the table that this is a part of."""
        return RefusedCell(*self._about, row)

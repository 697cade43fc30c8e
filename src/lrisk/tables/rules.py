"""How a column was read, to read the same column of other tables so."""

from typing import NamedTuple

import numpy as np

from .._typing import AnyArray, Bools, Floats
from .cells import cells_as_text
from .columns import FALSE, MARKS, MISSING, TRUE, Column, first_of, levels_of
from .dates import days
from .quoting import RefusedCell
from .text import DATES, MOSTLY, POINT, Mixed, read_again


class ColumnRule(NamedTuple):
    """How a column was read, to read the same column of another table so."""

    name: str
    kind: str
    levels: list[str] | None
    way: str
    unit: str

    @classmethod
    def of(cls, column: Column) -> "ColumnRule":
        """The rule by which a column was read."""
        levels = list(column.levels) if column.has_levels else None
        return cls(column.name, column.kind, levels, column.way, column.unit)

    def read(self, raw: AnyArray) -> Column:
        """The cells of another table; ValueError if too many are of another kind."""
        if self.levels is not None:
            place = {level: code for code, level in enumerate(self.levels)}
            place.update(
                dict.fromkeys(filter(_says_missing, set(cells_as_text(raw))), -1)
            )
            codes = [place.get(word, len(self.levels)) for word in cells_as_text(raw)]
            return Column(self.name, self.kind, np.array(codes), [*self.levels, ""])
        values, known = self._numbers(raw)
        unread = known & np.isnan(values)
        if unread.sum() > (1.0 - MOSTLY) * known.sum():
            what = "dates" if self.way in DATES else "numbers"
            row = int(np.flatnonzero(unread)[0])
            cell = cells_as_text(raw[row : row + 1])[0]
            rule, remedy = f"{what}, as in training", "correct it, or fit anew"
            raise RefusedCell(self.name, rule, "others", remedy, cell, row)
        return Column(self.name, self.kind, values, [], way=self.way, unit=self.unit)

    def _numbers(self, raw: AnyArray) -> tuple[Floats, Bools]:
        """Numbers, NaN where unknown or unreadable; and which cells are known."""
        kind = raw.dtype.kind
        dates = self.way in DATES
        if kind == "M":
            known = ~np.isnat(raw)
            return (days(raw) if dates else np.full(len(raw), np.nan)), known
        if kind in "biuf":
            values = raw.astype(np.float64)
            values = np.where(np.isinf(values), np.nan, values)
            known = ~np.isnan(values)
            return (np.full(len(raw), np.nan) if dates else values), known
        codes, levels = levels_of(raw, MISSING | MARKS)
        if self.kind == "boolean":
            flags = {**dict.fromkeys(TRUE, 1.0), **dict.fromkeys(FALSE, 0.0)}
            numbers = np.array([flags.get(w.strip().lower(), np.nan) for w in levels])
        else:
            try:
                numbers = read_again(levels, self.way or POINT, self.unit)
            except Mixed as mixed:
                about = self.name, mixed.rule, mixed.got, mixed.remedy
                raise first_of(mixed.rarest, *about, codes, levels) from None
        return np.append(numbers, np.nan)[codes], codes >= 0


def _says_missing(word: str) -> bool:
    return word.strip().lower() in MISSING

"""A printed table of the subquantile paper, and its numbers beside ours."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments._experiment import Record
from experiments._subquantile import EXACT

#: How far from the printed number, up or down, still counts as reproduced. Twice
#: `CLEAR` is no more: a cell of large error cannot be reproduced by its error.
ROOM = 0.15
#: Largest standard error, over the printed number, of a mean that says anything.
CLEAR = 0.075

#: A printed number's place: data set and column of the table.
Place = tuple[str, str]
#: A printed mean and its standard deviation.
Number = tuple[float, float]
#: (method, data set) → the printed numbers in the order of the columns.
Printed = Mapping[tuple[str, str], Sequence[Number | None]]

#: Names on the page that differ from those in the records.
LABELS = {EXACT: "trimmed (lrisk)"}

TITLES = {
    "concrete": "Concrete",
    "wine_quality_red": "Wine quality (red)",
    "boston": "Boston housing",
    "drug_qsar": "Drug",
    "heart_cleveland": "Heart disease",
    "breast_cancer": "Breast cancer",
    "iris": "Iris",
    "glass": "Glass",
    "wine": "Wine",
    "satimage": "Satimage",
}


class Table(NamedTuple):
    """A printed table: its columns (noise and share of wrong rows) and its numbers."""

    columns: Mapping[str, tuple[str, float]]
    methods: tuple[str, ...]
    printed: Printed
    accuracy: bool
    #: Data sets that count apart, since they train on a small part of the rows.
    apart: tuple[str, ...] = ()

    @property
    def sets(self) -> list[str]:
        return list(dict.fromkeys(data for _, data in self.printed))

    def number(self, method: str, place: Place) -> Number | None:
        """The printed mean and standard deviation; None where the paper has none."""
        row = self.printed.get((method, place[0]))
        return None if row is None else row[list(self.columns).index(place[1])]

    def paper(self, method: str, place: Place) -> float | None:
        """The printed mean."""
        number = self.number(method, place)
        return None if number is None else number[0]

    def quoted(self, method: str, place: Place) -> str:
        """The printed number as the page shows it."""
        number = self.number(method, place)
        return "–" if number is None else f"{number[0]:.3f} ± {number[1]:.3f}"

    def places(self, records: Iterable[Record]) -> list[Place]:
        """Those that were run, in the printed order."""
        found = {(r["cell"]["data"], self._column(r)) for r in records}
        every = [(data, column) for data in self.sets for column in self.columns]
        return [place for place in every if place in found]

    def _column(self, record: Record) -> str:
        key = (record["cell"]["noise"], record["cell"]["share"])
        return next(name for name, own in self.columns.items() if own == key)

    def at(self, records: Iterable[Record], place: Place) -> list[Record]:
        """Records of one place."""
        return [
            r for r in records if (r["cell"]["data"], self._column(r)) == tuple(place)
        ]

    def values(
        self, records: Iterable[Record], method: str, place: Place
    ) -> list[float]:
        """A method's results over the seeds."""
        own = self.at(records, place)
        return [r["error"][method] for r in own if method in r["error"]]

    def better(self, one: float, other: float) -> bool:
        return one > other if self.accuracy else one < other

    def verdict(self, values: Sequence[float], paper: float) -> str:
        """``"agrees"``, ``"better"``, ``"worse"`` or ``"unclear"``, two-sided.

        The mean agrees that is within `ROOM` of the printed number or, where its
        standard error is at most `CLEAR` of that number, within two standard errors. A
        mean of a larger error that is further off, but not by two of them, is unclear.
        """
        mean, far = float(np.mean(values)), abs(float(np.mean(values)) - paper)
        error = 0.0
        if len(values) > 1:
            error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
        size = abs(paper)
        if far <= ROOM * size or (error <= CLEAR * size and far <= 2.0 * error):
            return "agrees"
        if far <= 2.0 * error:
            return "unclear"
        return "better" if self.better(mean, paper) else "worse"

    def reproduced(self, ours: float, paper: float) -> bool:
        """Whether ours reaches the printed number: better, or worse by `ROOM` at most.

        For what a variant can reach; cells are counted by `verdict`.
        """
        if self.accuracy:
            return ours >= paper * (1 - ROOM)
        return ours <= paper * (1 + ROOM)


def shown(method: str) -> str:
    """A method's name on the page."""
    return LABELS.get(method, method)


def named(place: Place) -> str:
    return f"{TITLES.get(place[0], place[0])}, {place[1]}"


def means(table: Table, records: list[Record], place: Place) -> dict[str, float]:
    """Mean result of every method that was run at a place."""
    found = {m: table.values(records, m, place) for m in table.methods}
    return {m: float(np.mean(values)) for m, values in found.items() if values}

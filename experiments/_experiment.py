"""What an experiment is: cells, how one is run, and the page made of all records."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, NamedTuple

from experiments._page import Page

#: What is varied in one run; its values go into JSON, so plain ones only.
Cell = dict[str, Any]
#: A cell with what its run found.
Record = dict[str, Any]

#: ``full`` is what docs/results shows; ``quick`` the same in minutes with fewer seeds
#: or steps; ``tiny`` takes seconds, for the tests.
Size = Literal["full", "quick", "tiny"]


class Settings(NamedTuple):
    """How large a run is to be."""

    size: Size
    seeds: int

    def choose(self, full: Any, quick: Any, tiny: Any) -> Any:
        """The value for this size."""
        return {"full": full, "quick": quick, "tiny": tiny}[self.size]


@dataclass(frozen=True)
class Experiment:
    """One table or figure (or a group of figures of the same runs).

    Attributes
    ----------
    name : str
        As on the command line, and of the page: ``docs/results/NAME.md``.
    paper : {"spectral", "subquantile", "noisy"}
    title : str
    cells : callable
        Settings → cells, cheapest to understand first.
    run : callable
        Cell → what was found, as plain JSON values. Runs in a process of its own with
        one BLAS thread; CPU seconds are added to the record as ``cpu``.
    report : callable
        (records, page) → None; writes words, tables and figures into the page.
    seeds : int, default=5
        Of a full run that is not told how many.
    """

    name: str
    paper: str
    title: str
    cells: Callable[[Settings], Iterable[Cell]]
    run: Callable[[Cell], Record]
    report: Callable[[list[Record], Page], None]
    seeds: int = 5


#: Modules of the experiments, in the order in which they run.
MODULES: tuple[str, ...] = (
    "spectra",
    "suboptimality",
    "runtime",
    "sorting",
    "classification",
    "quantiles",
    "smoothing",
    "clustering",
    "halving",
    "proven",
    "regret",
    "worlds",
    "impossible",
    "noisy_settings",
    "printed_correction",
    "table1",
    "table2",
    "table3",
    "table4",
    "figure1",
    "claims",
)


def all_experiments() -> dict[str, Experiment]:
    """Every experiment by its name; a module has one (EXPERIMENT)."""
    found = (import_module(f"experiments.{name}").EXPERIMENT for name in MODULES)
    return {experiment.name: experiment for experiment in found}

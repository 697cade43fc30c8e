"""Every experiment in miniature, run once for all tests of its page."""

import functools
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

# The folder is beside the package, not in it.
sys.path.insert(0, str(Path(__file__).parents[2]))


class Miniature(NamedTuple):
    """Records and page of a tiny run."""

    records: list[dict[str, Any]]
    text: str
    figures: list[Path]

    def tables(self) -> list[list[list[str]]]:
        """Cells of every table of the page, header first."""
        found: list[list[list[str]]] = []
        former = ""
        for line in self.text.splitlines():
            if line.startswith("|") and not line.startswith("|---"):
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                if not former.startswith("|"):
                    found.append([])
                found[-1].append(cells)
            former = line
        return found


@pytest.fixture(scope="session")
def miniature(tmp_path_factory):
    """A function: name of an experiment → its tiny run (each is run once)."""
    from experiments._experiment import Settings, all_experiments
    from experiments._page import Page
    from experiments._store import run_cell

    shared = os.environ.get("LRISK_SHARED")
    if not shared:
        pytest.skip("LRISK_SHARED is not set: it holds the papers' data sets")

    @functools.cache
    def make(name: str) -> Miniature:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LRISK_DATA", str(Path(shared).resolve() / "data"))
            experiment = all_experiments()[name]
            cells = list(experiment.cells(Settings("tiny", 2)))
            records = [run_cell(name, cell) for cell in cells]
            page = Page(tmp_path_factory.mktemp(name), name, experiment.title, "tiny")
            experiment.report(records, page)
            path = page.write("tiny", 0.0, 2)
        return Miniature(records, path.read_text(), page.figures)

    return make

"""What the tables of the subquantile paper come to, counted from the records."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from experiments._store import read
from experiments._subquantile import PAPERS
from experiments._subquantile_page import counted, verdicts

TABLES = ("table1", "table2", "table3", "table4")


def summary(folder: Path) -> Iterator[str]:
    """One line for each table, two-sided (see `Table.verdict`).

    Records of side studies (which have a ``study``) do not count, and sets that train
    on a small part of their rows count apart.
    """
    for name in TABLES:
        kept = read(folder / f"{name}.jsonl")
        records = [r for r in kept.values() if not r["cell"].get("study")]
        if not records:
            yield f"{name}: not run; python -m experiments {name}"
            continue
        table = import_module(f"experiments.{name}").TABLE
        found = verdicts(table, records)
        for apart in (False, True):
            own = {p: v for p, v in found.items() if (p[0] in table.apart) == apart}
            if own:
                words = " (a part of the rows)" if apart else ""
                yield f"{name}{words}: {PAPERS} agrees in {counted(own)}."

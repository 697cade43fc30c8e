"""The audit on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..analysis.audit import AuditResult
from ..analysis.audit.curves import tail_level
from ..analysis.audit.reasons import number, percent

#: Rows, causes and repairs printed.
WORST, MOST = 10, 5


def print_audit(result: AuditResult, console: Console, redact: bool = False) -> None:
    """What was found, from the whole to single rows."""
    say = console.print
    columns = len(result.columns)
    missing = (
        f"{result.n_missing} missing cells" if result.n_missing else "none missing"
    )
    say(
        f"[bold]{escape(result.source)}[/]: {result.n_rows} rows, {columns} columns, "
        f"{missing}; {result.task} of {escape(result.target)}"
    )
    unknown = result.n_rows - result.n_used
    if unknown:
        say(f"{unknown} rows have no usable target and were not judged.")
    for column in result.columns:
        if column.note:
            say(f"  {escape(column.name)}: {escape(column.note)}", style="dim")
    if result.sampling:
        say(result.sampling)
    say(f"\n[bold]{escape(result.summary)}[/]\n")
    say(_losses(result))
    if result.tail_note:
        say(escape(result.tail_note))
    _print_rows(result, console, redact)
    if not redact:
        for title, entries in (
            ("What flagged rows share", result.causes),
            ("Slips that would explain rows", result.repairs),
        ):
            if entries:
                say(f"\n[bold]{title}[/]")
                for entry in entries[:MOST]:
                    say(f"  {escape(entry.text)}")
    if result.verdicts:
        say("\n[bold]Your verdicts[/]\n  " + _verdicts(result.verdicts))
    if result.comparison:
        say(f"\n[bold]Since the earlier audit[/]\n  {result.comparison['text']}")
    say("\n[bold]What to do next[/]")
    for step in result.next_steps:
        if not (redact and "flagged rows" in step):
            say(f"  • {escape(step)}")


def _losses(result: AuditResult) -> Table:
    unit = "|error|" if result.task == "regression" else "log loss"
    level = tail_level(str(result.options["spectrum"]))
    table = Table(title=f"Held-out {unit} of rows that the fit has not seen",
                  title_justify="left", title_style="")  # fmt: skip
    table.add_column("")
    worst = f"worst {100 * (1 - level):.3g} %"
    for name in ("mean", "median", "95 %", worst):
        table.add_column(name, justify="right")
    for curve in result.losses:
        numbers = (curve.mean, curve.median, curve.q95, curve.superquantile)
        table.add_row(escape(curve.label), *map(number, numbers))
    return table


def _print_rows(result: AuditResult, console: Console, redact: bool) -> None:
    if result.flagged:
        rows = [(row.row, row.reasons) for row in result.flagged[:WORST]]
        title = "The least fitting rows"
    else:
        told = [i for i, reasons in enumerate(result.reasons) if reasons]
        told.sort(key=lambda i: -abs(np.nan_to_num(result.residuals[i])))
        rows = [(i + 1, result.reasons[i]) for i in told[:WORST]]
        title = "The least fitting rows (none of them flagged)"
    console.print(f"\n[bold]{title}[/]")
    for row, reasons in rows:
        words = "" if redact else escape(" ".join(reasons))
        console.print(f"  row {row}: {words}" if words else f"  row {row}")


def _verdicts(verdicts: dict[str, float]) -> str:
    judged, hits = int(verdicts["judged_flagged"]), int(verdicts["confirmed"])
    if not judged:
        return f"{int(verdicts['judged'])} rows judged, none of them was flagged."
    return (
        f"{hits} of {judged} judged flagged rows are wrong: precision "
        f"{percent(verdicts['precision'])} (between {percent(verdicts['low'])} and "
        f"{percent(verdicts['high'])})."
    )


@contextmanager
def progress_bar(console: Console) -> Iterator[Callable[[str, float], None]]:
    """A bar that knows the share of the work done; nothing where nobody watches."""
    bar: Any = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("reading", total=1.0)

        def told(step: str, share: float) -> None:
            bar.update(task, description=step, completed=share)

        yield told

"""The audit on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..analysis.audit import AuditResult, Finding
from ..analysis.audit.curves import tail_level
from ..analysis.audit.numbers import counted, number, percent
from ..analysis.audit.sections import by_section, in_words
from ..analysis.audit.wording import (
    COUNTING,
    NOISE_SCALE,
    beside_constant_words,
    loss_groups,
    sampling,
    tail_note,
    tail_words,
)
from ..report.text import printable
from ..tables.table import own_name

#: Rows, and findings of a section, printed.
WORST, MOST = 10, 5


class _Terminal(Console):
    """A console that says when nobody reads: rich alone would exit with status 1."""

    def on_broken_pipe(self) -> None:
        raise  # it is called where the error is being handled


def terminal(*, stderr: bool = False) -> Console:
    """Where an audit is printed, or its progress shown."""
    return _Terminal(stderr=stderr, soft_wrap=not stderr, highlight=False)


def plain(text: object, limit: int = 2000) -> str:
    """Words from data as a terminal may show them: no control codes, no markup."""
    return escape(printable(text, limit))


def print_audit(result: AuditResult, console: Console) -> None:
    """What was found, from the whole to single rows.

    Words are shown as `result` holds them: give a redacted one to tell no value.
    """
    say = console.print
    columns = counted(len(result.columns), "column")
    missing = (
        counted(result.n_missing, "missing cell")
        if result.n_missing
        else "none missing"
    )
    say(
        f"[bold]{plain(result.source, 200)}[/]: {counted(result.n_rows, 'row')}, "
        f"{columns}, {missing}; {result.task} of {plain(result.target, 80)}"
    )
    unknown = result.n_rows - result.n_used
    if unknown:
        have = counted(unknown, "row has", "rows have")
        say(f"{have} no usable target and could not be judged.")
    for names, remark in _remarks(result):
        say(f"  {plain(names)}: {plain(remark)}", style="dim")
    if words := sampling(result):
        say(words)
    say(f"\n[bold]{plain(result.summary)}[/]\n")
    say(_losses(result))
    if result.beside_constant is not None:
        own = plain(result.beside_constant.label, 80)
        say(f"{own}: {plain(beside_constant_words(result.beside_constant))}")
    if words := tail_note(result):
        say(plain(words))
    _print_rows(result, console)
    for section, findings in by_section(result.findings):
        say(f"\n[bold]{section.title}[/]")
        for finding in findings[:MOST]:
            say(f"  {plain(in_words(finding))}{_where(finding)}")
        if (more := len(findings) - MOST) > 0:
            say(f"  {more} more in the report.", style="dim")
    if result.verdicts:
        say("\n[bold]Your verdicts[/]\n  " + _verdicts(result.verdicts))
    if result.comparison and "text" in result.comparison:
        say("\n[bold]Since the earlier audit[/]")
        say(f"  {plain(result.comparison['text'])}")
    if result.next_steps:
        say("\n[bold]What to do next[/]")
    for step in result.next_steps:
        say(f"  • {plain(step)}")


def _remarks(result: AuditResult) -> Iterator[tuple[str, str]]:
    """What is to be known of columns, and of which: the same of many is told once."""
    told: dict[str, list[str]] = {}
    for column in result.columns:
        if column.note:
            told.setdefault(column.remark, []).append(column.name[:80])
    for remark, names in told.items():
        more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
        yield ", ".join(names[:MOST]) + more, remark


def _where(finding: Finding) -> str:
    """The first rows of a finding, counted from 1."""
    rows = ", ".join(str(row) for row in finding.rows[:MOST])
    more = " …" if finding.count > MOST else ""
    return f" (rows {rows}{more})" if finding.count > 1 else f" (row {rows})"


def _losses(result: AuditResult) -> Table:
    """Losses over all rows and, where some are flagged, over the others."""
    classes = result.task == "classification"
    unit = "log loss, and accuracy," if classes else "|error|"
    level = tail_level(str(result.options["spectrum"]))
    table = Table(title=f"Held-out {unit} of rows that the fit has not seen",
                  title_justify="left", title_style="")  # fmt: skip
    table.add_column("")
    names = ["mean", "median", "95 %", f"worst {percent(1.0 - level)}"]
    for name in [*names, "accuracy"] if classes else names:
        table.add_column(name, justify="right")
    for words, curves in loss_groups(result):
        table.add_row(f"[bold]{words}[/]")
        for curve in curves:
            numbers = map(number, (curve.mean, curve.median, curve.q95))
            right = [percent(curve.accuracy, 3)] if classes else []
            label = f"  {plain(curve.label, 80)}"
            table.add_row(label, *numbers, tail_words(curve), *right)
        table.add_section()
    return table


def _print_rows(result: AuditResult, console: Console) -> None:
    if result.flagged:
        rows = _unlike(result)[:WORST]
        title = "The least fitting rows"
    else:
        rows = result.least_fitting[:WORST]
        title = "The least fitting rows (none of them flagged)"
    console.print(f"\n[bold]{title}[/]")
    for row in rows:
        words = plain(" ".join(result.reason_words(row)))
        name = own_name(result.ids, row)
        own = f" ({plain(name, 40)})" if name else ""
        console.print(f"  row {row}{own}: {words}" if words else f"  row {row}{own}")
    note = f"{COUNTING} {NOISE_SCALE}" if result.task == "regression" else COUNTING
    console.print(f"  ({note})", style="dim")


def _unlike(result: AuditResult) -> list[int]:
    """Flagged rows, worst first; of those that one slip explains only the first."""
    slips = [set(f.rows) for f in result.findings if f.section == "slips"]
    shown, told = [], set[int]()
    for row in (flagged.row for flagged in result.flagged):
        if row not in told:
            shown.append(row)
        told = told.union(*(slip for slip in slips if row in slip))
    return shown


def _verdicts(verdicts: dict[str, float]) -> str:
    judged, hits = int(verdicts["judged_flagged"]), int(verdicts["confirmed"])
    if not judged:
        told = counted(int(verdicts["judged"]), "row")
        return f"{told} judged, none of them flagged by the fits."
    are = "flagged row is" if judged == 1 else "flagged rows are"
    return (
        f"{hits} of {judged} judged {are} wrong: precision "
        f"{percent(verdicts['precision'])} (between {percent(verdicts['low'])} and "
        f"{percent(verdicts['high'])})."
    )


@contextmanager
def progress_bar(
    console: Console, wanted: bool = True
) -> Iterator[Callable[[str, float], None]]:
    """A bar that knows the share of the work done; nothing where nobody watches."""
    bar: Any = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not (wanted and console.is_terminal),
    )
    with bar:
        task = bar.add_task("reading", total=1.0)

        def told(step: str, share: float) -> None:
            bar.update(task, description=step, completed=share)

        yield told

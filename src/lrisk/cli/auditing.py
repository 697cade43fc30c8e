"""An audit on the command line: what it is given, and what it shows and writes."""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from .errors import one_line


def audited(
    data: Any,
    target: str,
    source: str,
    options: dict[str, Any],
    out: Path,
    redact: bool,
    shown: str = "words",
    notes: Sequence[str] = (),
    parquet: bool = False,
) -> Any:
    """Audit, write, and print words, JSON or nothing; the result.

    `notes` are what is to be known of how the file was read.
    """
    from ..analysis.audit import audit as run_audit
    from ..report import redacted, write_audit
    from ..report.writing import earlier_verdicts
    from .printing import plain, print_audit, progress_bar, terminal
    from .reading import check_same_table

    given = options.pop("verdicts", None)
    words = given.words if given else None
    told = shown != "nothing"
    with (
        warnings_told(told, redact),
        progress_bar(terminal(stderr=True), told) as progress,
    ):
        options |= {"source": source, "progress": progress, "verdicts": words}
        result = run_audit(data, target, **options)
    result = replace(result, notes=list(notes))
    if given:
        check_same_table(given, result)
    earlier = earlier_verdicts(out, result)
    written = write_audit(result, out, redact, parquet)
    if shown == "json":
        click.echo((out / "audit.json").read_text("utf-8"))
    if shown != "words":
        return result
    console = terminal()
    print_audit(redacted(result) if redact else result, console)
    console.print("\nWritten: " + ", ".join(plain(path) for path in written))
    if earlier.saved:
        console.print(f"The verdicts of another table were saved in {earlier.saved}.")
    elif set(earlier.kept) - set(result.judgements):
        console.print(
            "Verdicts that stood in rows.csv were kept; give the file back "
            "(--verdicts) to have them respected."
        )
    return result


@contextmanager
def refusals_told(redact: bool) -> Iterator[None]:
    """Refusals as they are, or without the cells that they quote."""
    from ..tables.quoting import QuotesCells

    try:
        yield
    except QuotesCells as error:
        raise ValueError(error.bare if redact else str(error)) from error


@contextmanager
def warnings_told(told: bool, redact: bool) -> Iterator[None]:
    """Warnings as notes of one line each, if anything is to be told.

    Somebody else's code may quote cells in them: where these must not be told, only
    what kind a warning is of. Processes that such code starts write to the same
    terminal, and their environment keeps them from it.
    """
    quiet = {"PYTHONWARNINGS": "ignore"} if redact or not told else {}
    before = {name: os.environ.get(name, "") for name in quiet}
    os.environ.update(quiet)
    try:
        with warnings.catch_warnings(record=True) as caught:
            yield
    finally:
        os.environ.update(before)
    for words in dict.fromkeys(_in_words(warning, redact) for warning in caught):
        if told:
            click.echo(f"lrisk: note: {one_line(words)}", err=True)


def _in_words(warning: warnings.WarningMessage, redact: bool) -> str:
    kind = warning.category.__name__
    what = "its words are left out, for they may quote cells"
    return f"{kind} ({what})" if redact else f"{kind}: {warning.message}"


def open_report(report: Path) -> None:
    """Show the report; where there is no browser, say so and go on."""
    import webbrowser

    if not webbrowser.open(report.resolve().as_uri()):
        click.echo(f"lrisk: no browser was found to open {report}", err=True)


def estimator_at(place: str | None) -> Any:
    """The user's own estimator; importing its module runs its code, as asked for."""
    from .registry import imported_estimator

    return None if place is None else imported_estimator(place)


def predictions_at(given: str | None, frame: Any) -> Any:
    """The name of a column of the table, or what a file holds, one column or more."""
    from ..tables.beside import frame_beside

    if given is None or given in frame or not Path(given).is_file():
        return given  # a name that is none is refused with the nearest one
    return frame_beside(Path(given), len(frame))

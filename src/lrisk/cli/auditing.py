"""An audit on the command line: what it is given, and what it shows and writes."""

from pathlib import Path
from typing import Any

import click


def audited(
    data: Any,
    target: str,
    source: str,
    options: dict[str, Any],
    out: Path,
    redact: bool,
    shown: str = "words",
) -> Any:
    """Audit, write, and print words, JSON or nothing; the result."""
    from ..analysis.audit import audit as run_audit
    from ..analysis.audit.quoting import QuotesCells
    from ..report import redacted, write_audit
    from ..report.writing import earlier_verdicts
    from .printing import plain, print_audit, progress_bar, terminal
    from .reading import check_same_table

    given = options.pop("verdicts", None)
    words = given.words if given else None
    with progress_bar(terminal(stderr=True), shown != "nothing") as progress:
        options |= {"source": source, "progress": progress, "verdicts": words}
        try:
            result = run_audit(data, target, **options)
        except QuotesCells as error:
            raise ValueError(error.bare if redact else str(error)) from error
    if given:
        check_same_table(given, result)
    earlier = earlier_verdicts(out, result)
    written = write_audit(result, out, redact)
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

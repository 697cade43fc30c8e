"""An audit in a notebook: the summary, the worst rows, and what sections found."""

from html import escape

from .result import AuditResult
from .sections import by_section, in_words

#: Rows, and findings of a section, that are shown.
MOST_ROWS, MOST_FINDINGS = 10, 5


def as_html(result: AuditResult) -> str:
    """Plain elements without style or script; all words from data are escaped."""
    parts = [f"<p><b>{_cell(result.summary, 2000)}</b></p>"]
    if result.flagged:
        parts.append(_rows(result))
    for section, findings in by_section(result.findings):
        items = "".join(
            f"<li>{_cell(in_words(finding), 400)}</li>"
            for finding in findings[:MOST_FINDINGS]
        )
        parts.append(f"<p><b>{_cell(section.title)}</b></p><ul>{items}</ul>")
    steps = "".join(f"<li>{_cell(step, 400)}</li>" for step in result.next_steps)
    if steps:
        parts.append(f"<p><b>What to do next</b></p><ol>{steps}</ol>")
    parts.append(
        "<p><code>lrisk.write_audit(result, folder)</code> writes the whole report.</p>"
    )
    return f"<div>{''.join(parts)}</div>"


def _rows(result: AuditResult) -> str:
    named = any(row.id for row in result.flagged[:MOST_ROWS])
    names = ["row", *(["id"] if named else []), "score", "observed", "expected"]
    lines = []
    for row in result.flagged[:MOST_ROWS]:
        own = [row.id] if named else []
        cells = [str(row.row), *own, f"{row.score:.2f}", row.observed, row.expected]
        cells.append(" ".join(result.reason_words(row.row)))
        lines.append("".join(f"<td>{_cell(cell)}</td>" for cell in cells))
    head = "".join(f"<th>{name}</th>" for name in [*names, "why"])
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    more = len(result.flagged) - MOST_ROWS
    rest = f"<p>and {more} more</p>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _cell(text: str, most: int = 200) -> str:
    return escape(text if len(text) <= most else f"{text[: most - 1]}…")

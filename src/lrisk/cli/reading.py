"""Reading what earlier audits wrote: verdicts in a rows.csv, and an audit.json."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from ..analysis.audit import AuditResult
from ..analysis.audit.comparing import check_comparable
from ..analysis.audit.verdicts import rows_of
from ..tables.numbers import plain_number
from ..tables.sources import Source

#: Rows and rank correlation of residuals from which on two audits are of one table.
FEWEST_COMPARED, ALIKE = 10, 0.3


class GivenVerdicts(NamedTuple):
    """Words and residuals by row of a filled rows.csv."""

    words: dict[int, str]
    residuals: dict[int, float]


def read_verdicts(path: Path, n_rows: int) -> GivenVerdicts:
    """What a rows.csv of a table of so many rows says; other files are refused."""
    with Source.of(path).text() as file:
        text = file.read()
    try:
        lines = rows_of(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if [row for row, _, _ in lines] != list(range(1, n_rows + 1)):
        raise ValueError(
            f"{path} has {len(lines)} rows where the table has {n_rows}, or other "
            "numbers; give the rows.csv of an audit of this table, all of it"
        )
    words = {row: word for row, word, _ in lines if word}
    residuals = {}
    for row, _, residual in lines:
        value = plain_number(residual)
        if value == value:
            residuals[row] = value
    return GivenVerdicts(words, residuals)


def check_same_table(given: GivenVerdicts, result: AuditResult) -> None:
    """Refuse verdicts on another table: its residuals have another order."""
    import numpy as np
    from scipy.stats import spearmanr

    now = {row: result.residuals[row - 1] for row in given.residuals}
    both = [row for row, value in now.items() if np.isfinite(value)]
    if len(both) < FEWEST_COMPARED:
        return
    told = spearmanr([given.residuals[row] for row in both], [now[row] for row in both])
    if not told.statistic > ALIKE:
        raise ValueError(
            "--verdicts is the rows.csv of another table (its residuals are others); "
            "give that of an earlier audit of this one"
        )


def read_audit(path: Path) -> dict[str, Any]:
    """An earlier audit.json."""
    try:
        plain = json.loads(path.read_text("utf-8"))
        check_comparable(plain)
    except (ValueError, RecursionError):
        raise ValueError(f"{path} is not an audit.json of lrisk") from None
    return dict(plain)

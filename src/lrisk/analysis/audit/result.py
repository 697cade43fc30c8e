"""What an audit found: rows, columns and numbers; words are made of them elsewhere."""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

import numpy as np

from ..._extras import optional
from ..._typing import Bools, Floats
from ...tables import ColumnSummary
from .facts import (
    BesideConstant,
    Change,
    CoefficientShift,
    Finding,
    FlaggedRow,
    GroupRate,
    LossCurve,
    Reason,
    Sensitivity,
)
from .numbers import counted

_Record = TypeVar("_Record")


@dataclass(frozen=True, repr=False)
class AuditResult:
    """Everything an audit found: rows, columns and numbers.

    `lrisk.audit` makes it. `summary`, `next_steps` and `looks_clean` are made of its
    fields when they are asked for. Rows that are named by a number count from 1.

    Parameters
    ----------
    source : str
        Name of the data.
    task : {"regression", "classification"}
        What the target is.
    target : str
        Name of the target.
    n_rows, n_used : int
        Rows of the table, and those of them that have a target.
    columns : list of ColumnSummary
        What each column holds.
    n_missing : int
        Empty cells of the table.
    contamination : float
        Estimated share of rows that do not fit.
    interval : (float, float)
        Where that share lies; it holds the share of rows that are flagged less the
        expected false flags.
    expected_false_flags : float
        How many of the flagged rows are expected to fit after all.
    threshold : float
        Score above which rows are flagged.
    scores, residuals : array of shape (n_rows,)
        Of every row in input order; NaN where the target is missing.
    flags : array of bool of shape (n_rows,)
        Which rows do not fit.
    reasons : dict of int to list of Reason
        Why rows do not fit.
    losses : list of LossCurve
        Of the fits, over all rows that could be judged.
    flagged, nearly : list of FlaggedRow
        The worst of the flagged rows, and the rows that come next.
    sensitivity : list of Sensitivity
        Held-out losses when more and more of the worst rows are left out of training.
    coefficients : list of CoefficientShift
        Coefficients of the fits that are compared.
    groups, times : list of GroupRate
        How well the rows of each group, and of each stretch of time, fit.
    verdicts : dict or None
        How often the fits' flags were right, where a person has looked at rows.
    comparison : dict or None
        What has changed since an earlier audit.
    options, versions : dict
        What was asked for, and of which versions.
    random_state : int
        Where random numbers began.
    seconds : float
        How long the audit took.
    n_training : int
        Rows the fits were trained on.
    tail_spectrum : str
        The spectrum of the tail-risk fit.
    whole_share, whole_interval : float and (float, float)
        `contamination` and `interval` by the fit to all rows together.
    far_rows, tail_rows : int
        Rows farther out than the noise of the others explains, and rows more than six
        noise scales out that a heavy tail of the noise explains.
    judgements : dict of int to str
        What a person said of rows, "wrong" or "right".
    fingerprint : str
        Tells tables apart.
    least_fitting : list of int
        The rows that fit least, flagged or not, the worst first.
    unflagged_losses : list of LossCurve
        The same, over those of them that are neither flagged nor have a slip or an
        odd value of a column.
    tail_gain, tail_gain_error : float
        The share by which the tail-risk fit lowers the tail of the best of the other
        fits on rows that nobody doubts, and its standard error; NaN where there is too
        little to tell.
    findings : list of Finding
        What the sections found.
    classes : list of str
        The classes; empty for numbers.
    noise_matrix : list of list of float
        The probability that a row of one class (by row) is labelled another.
    id_column : str
        Which column says what rows are called; empty if none does.
    ids, observed, expected : list of str
        What the table calls its rows, and targets as text; one for each row, or none
        where they are not known or must not be told.
    beside_constant : BesideConstant or None
        The user's own model, if rows were judged by one, beside a constant.
    notes : list of str
        What was left out of a file, or decided about it, when it was read.

    See Also
    --------
    lrisk.audit : Makes it.
    lrisk.write_audit : Writes it as a page and as tables.

    Examples
    --------
    >>> import numpy as np
    >>> import lrisk
    >>> x = np.linspace(0.0, 1.0, 80)
    >>> y = 50 + 10 * x + np.sin(1000 * x)
    >>> y[:4] *= 10
    >>> result = lrisk.audit({"x": x, "y": y}, target="y")
    >>> int(result.flags.sum()), sorted(result.least_fitting[:4])
    (4, [1, 2, 3, 4])
    """

    source: str
    task: str
    target: str
    n_rows: int
    n_used: int
    columns: list[ColumnSummary]
    n_missing: int
    contamination: float
    interval: tuple[float, float]
    expected_false_flags: float
    threshold: float
    scores: Floats
    residuals: Floats
    flags: Bools
    reasons: dict[int, list[Reason]]
    losses: list[LossCurve]
    flagged: list[FlaggedRow]
    nearly: list[FlaggedRow]
    sensitivity: list[Sensitivity]
    coefficients: list[CoefficientShift]
    groups: list[GroupRate]
    times: list[GroupRate]
    verdicts: dict[str, float] | None
    comparison: dict[str, Any] | None
    options: dict[str, Any]
    versions: dict[str, str]
    random_state: int
    seconds: float
    n_training: int = 0
    tail_spectrum: str = ""
    whole_share: float = math.nan
    whole_interval: tuple[float, float] = (math.nan, math.nan)
    far_rows: int = 0
    tail_rows: int = 0
    judgements: dict[int, str] = field(default_factory=dict)
    fingerprint: str = ""
    least_fitting: list[int] = field(default_factory=list)
    unflagged_losses: list[LossCurve] = field(default_factory=list)
    tail_gain: float = math.nan
    tail_gain_error: float = math.nan
    findings: list[Finding] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    noise_matrix: list[list[float]] = field(default_factory=list)
    id_column: str = ""
    ids: list[str] = field(default_factory=list)
    observed: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    beside_constant: BesideConstant | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """A few sentences on what was found."""
        from .wording import summary

        return summary(self)

    @property
    def next_steps(self) -> list[str]:
        """What a person would do now."""
        from .wording import next_steps

        return next_steps(self)

    @property
    def looks_clean(self) -> bool:
        """Whether no row is flagged and no section found anything."""
        from .wording import looks_clean

        return looks_clean(self)

    @property
    def suggested(self) -> dict[int, str]:
        """By row, counted from 1, what would make it fit: the target, or columns."""
        found: dict[int, list[str]] = {}
        for change in (c for finding in self.findings for c in finding.changes):
            own = "" if change.column == self.target else f"{change.column} = "
            found.setdefault(change.row, []).append(f"{own}{change.after}")
        return {row: "; ".join(words) for row, words in found.items()}

    def reason_words(self, row: int) -> list[str]:
        """Why a row, counted from 1, does not fit: one sentence for each reason."""
        from .reasons import reason_words

        return [reason_words(reason) for reason in self.reasons.get(row, [])]

    def __repr__(self) -> str:
        """What it is of, how much was found, and where to look."""
        flagged, name = int(np.sum(self.flags)), f"{self.source[:60]!r}, "
        return (
            f"<AuditResult of {name if self.source else ''}target {self.target[:60]!r}:"
            f" {flagged} of {self.n_used} rows flagged, "
            f"{counted(len(self.findings), 'finding')}; "
            "see summary, next_steps, rows_frame(), lrisk.write_audit>"
        )

    def _repr_html_(self) -> str:
        """A few lines for a notebook; `lrisk.write_audit` writes the whole page."""
        from .notebook import as_html

        return as_html(self)

    @property
    def flagged_by_fits(self) -> int:
        """Rows that the fits flag, whatever a person said of them."""
        said = self.verdicts or {}
        confirmed = said.get("confirmed", 0.0)
        added = said.get("wrong", 0.0) - confirmed
        taken = said.get("judged_flagged", 0.0) - confirmed
        return int(np.sum(self.flags)) - round(added) + round(taken)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON holds it, with its sentences.

        NaN is null, arrays are lists; findings and reasons have their ``text``.
        """
        from .sections import in_words

        plain = {
            entry.name: _jsonable(getattr(self, entry.name))
            for entry in dataclasses.fields(self)
        }
        for finding, entry in zip(self.findings, plain["findings"], strict=True):
            entry["text"] = in_words(finding)
        for row in self.reasons:
            told = zip(plain["reasons"][str(row)], self.reason_words(row), strict=True)
            for entry, text in told:
                entry["text"] = text
        if self.beside_constant is not None:
            plain["beside_constant"]["worse"] = self.beside_constant.worse
        words = {"summary": self.summary, "next_steps": self.next_steps}
        return {**plain, **words, "looks_clean": self.looks_clean}

    def rows_frame(self) -> Any:
        """Every row in input order as a pandas frame: what ``rows.csv`` holds."""
        pd = optional("pandas", "AuditResult.rows_frame")
        return pd.DataFrame(dict(self.row_table()))

    def row_table(self) -> Iterator[tuple[str, Any]]:
        """Names and cells of the columns of ``rows.csv``."""
        n, suggested = self.n_rows, self.suggested
        rows = range(1, n + 1)
        yield "row", np.arange(1, n + 1)
        yield "id", self.ids or [""] * n
        yield "score", self.scores
        yield "flag", self.flags
        yield "observed", self.observed or [""] * n
        yield "expected", self.expected or [""] * n
        yield "suggested", [suggested.get(row, "") for row in rows]
        yield "residual", self.residuals
        why = {row: " ".join(self.reason_words(row)) for row in self.reasons}
        yield "reasons", [why.get(row, "") for row in rows]
        yield "verdict", [self.judgements.get(row, "") for row in rows]

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Self:
        """The result that `to_dict` described."""
        records = {
            "columns": ColumnSummary, "losses": LossCurve, "flagged": FlaggedRow,
            "nearly": FlaggedRow, "sensitivity": Sensitivity,
            "coefficients": CoefficientShift, "groups": GroupRate, "times": GroupRate,
            "unflagged_losses": LossCurve, "findings": Finding,
        }  # fmt: skip
        known = {"unflagged_losses": [], "findings": [], "nearly": [], **plain}
        for name, record in records.items():
            known[name] = [_record(record, entry) for entry in known[name]]
        known["findings"] = [
            replace(finding, changes=[_record(Change, c) for c in finding.changes])
            for finding in known["findings"]
        ]
        known["reasons"] = {
            int(row): [_record(Reason, entry) for entry in entries]
            for row, entries in plain["reasons"].items()
        }
        for name in ("scores", "residuals"):
            known[name] = np.array(plain[name], dtype=np.float64)
        known["flags"] = np.array(plain["flags"], dtype=bool)
        for name in ("interval", "whole_interval"):
            low, high = plain.get(name, (None, None))
            known[name] = (_number(low), _number(high))
        if compared := plain.get("beside_constant"):
            known["beside_constant"] = _record(BesideConstant, compared)
        said = plain.get("judgements", {})
        known["judgements"] = {int(row): str(word) for row, word in said.items()}
        return _record(cls, known)


def _record(record: type[_Record], entry: dict[str, Any]) -> _Record:
    """A dataclass from a JSON object: null stands for NaN where a number belongs."""
    fields = dataclasses.fields(record)  # type: ignore[arg-type]
    # What an earlier version did not write has its default.
    values = {each.name: entry[each.name] for each in fields if each.name in entry}
    for each in fields:
        if each.name in values and each.type is float:
            values[each.name] = _number(values[each.name])
        elif each.name in values and each.type == list[float]:
            values[each.name] = [_number(value) for value in values[each.name]]
    return record(**values)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _jsonable(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            known = np.isfinite(value)
            return [float(v) if k else None for v, k in zip(value.tolist(), known)]
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): _jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

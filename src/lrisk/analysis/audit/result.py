"""What an audit found: rows, columns and numbers; words are made of them elsewhere."""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

import numpy as np

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

    `summary`, `next_steps` and `looks_clean` are made of them when they are asked for.

    `scores`, `residuals` and `flags` have one entry per input row, in input order;
    scores and residuals are NaN where the target is missing. `reasons` are by row,
    counted from 1, of the rows that do not fit. `flagged` are the worst of the flagged
    rows, `nearly` those that come next. `findings` are what the sections found.

    `contamination` and `interval` are reconciled with the flags: the interval holds the
    share of rows that are flagged less the expected false flags. What the fit to all
    rows together says is in `whole_share` and `whole_interval`. `far_rows` counts rows
    farther out than the noise of the others explains, `tail_rows` those that are more
    than six noise scales out and that a heavy tail of the noise explains.
    `judgements` holds what a person said ("wrong" or "right") by row, counted from 1,
    and `fingerprint` tells tables apart. `least_fitting` are the rows, counted from 1,
    that fit least, flagged or not, the worst first. `losses` are over all rows that
    could be judged, `unflagged_losses` over those of them that are not flagged.
    `tail_spectrum` is the spectrum of the tail-risk fit, and `n_training` how many rows
    the fits were trained on. `tail_gain` is the share by which the tail-risk fit lowers
    the tail of the best of the other fits on rows that nobody doubts, `tail_gain_error`
    its standard error; NaN where there is too little to tell. `noise_matrix` holds, for
    `classes`, the probability that a row of one (by row) is labelled another. `ids`,
    from `id_column`, are what the table itself calls its rows, `observed` and
    `expected` are targets as text; one for each row, or none where they are not known
    or must not be told. `beside_constant` compares the user's own model, if rows were
    judged by one, with a constant. `notes` say what was left out of a file, or decided
    about it, when it was read.
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
    seed: int
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
        import pandas as pd

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

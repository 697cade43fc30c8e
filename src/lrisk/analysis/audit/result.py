"""What an audit found: plain numbers and words, ready to be written or drawn."""

import dataclasses
import math
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

import numpy as np

from ..._typing import Bools, Floats

_Record = TypeVar("_Record")


@dataclass(frozen=True)
class ColumnSummary:
    """One column of the table as the audit read it.

    Attributes
    ----------
    name : str
    kind : str
        "numeric", "categorical", "boolean", "date", "identifier", "constant", "text",
        "target", "group" or "time".
    missing, distinct : int
    note : str
        Empty, or plain sentences that tell no value.
    example : str
        Empty, or values that the note speaks of.
    """

    name: str
    kind: str
    missing: int
    distinct: int
    note: str
    example: str = ""

    @property
    def remark(self) -> str:
        """The note with its example."""
        return remark(self.note, self.example)


def remark(note: str, example: str) -> str:
    """A note, and the values that it speaks of."""
    return f"{note} For example: {example}." if note and example else note


@dataclass(frozen=True)
class LossCurve:
    """Held-out losses of one fit: |residual| in units of y, or log loss.

    Attributes
    ----------
    name : str
        "ordinary", "robust" or "tail".
    label : str
        Words for people, e.g. "tail-risk fit (superquantile 0.9)".
    mean, median, q95, superquantile : float
    levels, values : list of float
        The quantile curve, at most 101 points.
    accuracy : float
        Share of rows whose class the fit predicts; NaN for quantities.
    """

    name: str
    label: str
    mean: float
    median: float
    q95: float
    superquantile: float
    levels: list[float]
    values: list[float]
    accuracy: float = math.nan


@dataclass(frozen=True)
class FlaggedRow:
    """One row that does not fit.

    Attributes
    ----------
    row : int
        Row of the input, counted from 1, the header not counted.
    score, residual : float
    observed, expected : str
    reasons : list of str
    values : dict of str to str
        Shown value by column, cut to 80 characters.
    id : str
        What the table itself calls the row; empty if nothing.
    """

    row: int
    score: float
    residual: float
    observed: str
    expected: str
    reasons: list[str]
    values: dict[str, str]
    id: str = ""


@dataclass(frozen=True)
class GroupRate:
    """How well the rows of one group, or of one stretch of time, fit."""

    group: str
    rows: int
    flag_rate: float
    mean_loss: float
    q95_loss: float


@dataclass(frozen=True)
class Cause:
    """What many flagged rows, and few others, have in common."""

    text: str
    flagged_with: int
    flagged: int
    rows_with: int
    rows: int


@dataclass(frozen=True)
class Repair:
    """A change of one kind that makes rows fit; `rows` are counted from 1."""

    text: str
    column: str
    kind: str
    rows: list[int]


@dataclass(frozen=True)
class Finding:
    """One thing that a section found.

    Attributes
    ----------
    section, kind : str
        Which section found it, and what it is.
    columns : list of str
    rows : list of int
        Counted from 1, the header left out; of very many the first.
    count : int
        How many rows it concerns.
    numbers : dict of str to float
        Counts, shares and factors, by name: nothing that a cell holds.
    values : dict of str to str
        What cells hold, by name; empty in a report that tells no value.
    """

    section: str
    kind: str
    columns: list[str]
    rows: list[int]
    count: int
    numbers: dict[str, float] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)

    def redacted(self) -> "Finding":
        """The same without what cells hold."""
        return replace(self, values={})


@dataclass(frozen=True)
class Sensitivity:
    """Held-out loss when a share of the worst rows is left out of training."""

    share: float
    mean_loss: float
    median_loss: float


@dataclass(frozen=True)
class CoefficientShift:
    """One coefficient, of a standardised feature, in the three fits."""

    name: str
    ordinary: float
    robust: float
    tail: float


@dataclass(frozen=True, repr=False)
class AuditResult:
    """Everything an audit found.

    `scores`, `residuals`, `flags` and `reasons` have one entry per input row, in input
    order; scores and residuals are NaN where the target is missing.

    `contamination` and `interval` are reconciled with the flags: the interval holds the
    share of rows that are flagged less the expected false flags. What the fit to all
    rows together says is in `whole_share` and `whole_interval`. `far_rows` counts rows
    farther out than the noise of the others explains, `tail_rows` those that are more
    than six noise scales out and that a heavy tail of the noise explains; `noisy_rows`
    counts flagged rows in a part (`noisy_range`) of `noisy_column`, where the noise may
    be larger.
    `judgements` holds what a person said ("wrong" or "right") by row, counted from 1,
    and `fingerprint` tells tables apart. `least_fitting` are the rows, counted from 1,
    that fit least, flagged or not, the worst first. `losses` are over all rows that
    could be judged, `unflagged_losses` over those of them that are not flagged.
    `tail_gain` is the share by which the tail-risk fit lowers the tail of the better of
    the other two fits on rows that nobody doubts, `tail_gain_error` its standard error;
    NaN where there is too little to tell. `findings` are what the `sections` found.
    `ids`, from `id_column`, are what the table itself calls its rows, `observed` and
    `expected` are targets as text; one for each row, or none where they are not known
    or must not be told.
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
    looks_clean: bool
    summary: str
    scores: Floats
    residuals: Floats
    flags: Bools
    reasons: list[list[str]]
    losses: list[LossCurve]
    tail_note: str
    flagged: list[FlaggedRow]
    sensitivity: list[Sensitivity]
    coefficients: list[CoefficientShift]
    groups: list[GroupRate]
    times: list[GroupRate]
    causes: list[Cause]
    repairs: list[Repair]
    verdicts: dict[str, float] | None
    comparison: dict[str, Any] | None
    next_steps: list[str]
    sampling: str
    options: dict[str, Any]
    versions: dict[str, str]
    seed: int
    seconds: float
    whole_share: float = math.nan
    whole_interval: tuple[float, float] = (math.nan, math.nan)
    far_rows: int = 0
    tail_rows: int = 0
    noisy_column: str = ""
    noisy_range: str = ""
    noisy_rows: int = 0
    judgements: dict[int, str] = field(default_factory=dict)
    fingerprint: str = ""
    least_fitting: list[int] = field(default_factory=list)
    unflagged_losses: list[LossCurve] = field(default_factory=list)
    tail_gain: float = math.nan
    tail_gain_error: float = math.nan
    findings: list[Finding] = field(default_factory=list)
    id_column: str = ""
    ids: list[str] = field(default_factory=list)
    observed: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        """What it is of, how much was found, and where to look."""
        flagged, name = int(np.sum(self.flags)), f"{self.source[:60]!r}, "
        return (
            f"<AuditResult of {name if self.source else ''}target {self.target[:60]!r}:"
            f" {flagged} of {self.n_used} rows flagged, {len(self.findings)} findings; "
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
        """The result as JSON holds it: NaN is null, arrays are lists.

        Most rows have no reasons: they are kept by position, as in ``{"12": [...]}``.
        """
        plain: dict[str, Any] = {}
        for entry in dataclasses.fields(self):
            value = getattr(self, entry.name)
            if entry.name == "reasons":
                value = {str(i): list(r) for i, r in enumerate(value) if r}
            plain[entry.name] = _jsonable(value)
        return plain

    def rows_frame(self) -> Any:
        """Every row in input order as a pandas frame: what ``rows.csv`` holds."""
        import pandas as pd

        return pd.DataFrame(
            {
                "row": np.arange(1, self.n_rows + 1),
                "id": self.ids or [""] * self.n_rows,
                "score": self.scores,
                "flag": self.flags,
                "observed": self.observed or [""] * self.n_rows,
                "expected": self.expected or [""] * self.n_rows,
                "residual": self.residuals,
                "reasons": [" ".join(words) for words in self.reasons],
                "verdict": [self.judgements.get(i + 1, "") for i in range(self.n_rows)],
            }
        )

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Self:
        """The result that `to_dict` described."""
        records = {
            "columns": ColumnSummary, "losses": LossCurve, "flagged": FlaggedRow,
            "sensitivity": Sensitivity, "coefficients": CoefficientShift,
            "groups": GroupRate, "times": GroupRate, "causes": Cause,
            "repairs": Repair, "unflagged_losses": LossCurve, "findings": Finding,
        }  # fmt: skip
        known = {"unflagged_losses": [], "findings": [], **plain}
        for name, record in records.items():
            known[name] = [_record(record, entry) for entry in known[name]]
        for name in ("scores", "residuals"):
            known[name] = np.array(plain[name], dtype=np.float64)
        known["flags"] = np.array(plain["flags"], dtype=bool)
        reasons: list[list[str]] = [[] for _ in range(len(known["flags"]))]
        for position, words in plain["reasons"].items():
            reasons[int(position)] = list(words)
        known["reasons"] = reasons
        for name in ("interval", "whole_interval"):
            low, high = plain.get(name, (None, None))
            known[name] = (_number(low), _number(high))
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

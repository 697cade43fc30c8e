"""The facts of an audit: rows, columns and numbers, each kind a record.

What cells hold is kept apart (`values`, `changes`, `example`), so that it can be left
out; words are made of facts where they are shown.
"""

import math
from dataclasses import dataclass, field, replace


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
    superquantile_low, superquantile_high : float
        Ends of its 95 % interval on new rows; NaN where the tail is too few rows to
        say, or rows are so many that it would take long.
    rows : int
        How many rows it is over; 0 in what an earlier version wrote.
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
    superquantile_low: float = math.nan
    superquantile_high: float = math.nan
    rows: int = 0


@dataclass(frozen=True)
class BesideConstant:
    """How good the user's own model is on held-out rows, beside a constant.

    Attributes
    ----------
    label : str
        What the model is called where fits are compared.
    constant : str
        "mean" of a quantity, "most frequent class".
    measure : str
        "mean |error|" or "accuracy".
    by_model, by_constant : float
        That measure, over the same rows.
    rows : int
        How many: those that are neither flagged nor have a slip or an odd value, or
        all where there are none.
    offset : float
        What was added to all predictions of a quantity before rows were judged, since
        they lie that much too low as a rule; 0 for classes.
    noise_scale : float
        The median of the rows' noise scales; 1 for classes.
    """

    label: str
    constant: str
    measure: str
    by_model: float
    by_constant: float
    rows: int
    offset: float = 0.0
    noise_scale: float = 1.0

    @property
    def gain(self) -> float:
        """By how much the model is better."""
        sign = 1.0 if self.measure == "accuracy" else -1.0
        return sign * (self.by_model - self.by_constant)

    @property
    def worse(self) -> bool:
        """Whether a constant would do better."""
        return self.gain < 0.0


@dataclass(frozen=True)
class Reason:
    """One thing about a row that does not fit.

    Attributes
    ----------
    kind : str
        "above" or "below" what is expected, "label" (another is likelier), "label
        fits", "unusual" or "missing" (of a column beside the others), "other class" (of
        a column that speaks for it), "exchanged", or "far" (out, in all columns).
    columns : list of str
    numbers : dict of str to float
        "scales" or "chance": nothing that a cell holds.
    values : dict of str to str
        What cells hold; empty in a report that tells no value.
    """

    kind: str
    columns: list[str]
    numbers: dict[str, float] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FlaggedRow:
    """One row that does not fit, or nearly.

    Attributes
    ----------
    row : int
        Row of the input, counted from 1, the header not counted.
    score, residual : float
    observed, expected : str
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
class Change:
    """What would make a row, counted from 1, fit: another value of one column."""

    row: int
    column: str
    before: str
    after: str


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
    changes : list of Change
        Values that would make its rows fit; empty in a report that tells no value.
    """

    section: str
    kind: str
    columns: list[str]
    rows: list[int]
    count: int
    numbers: dict[str, float] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    def redacted(self) -> "Finding":
        """The same without what cells hold."""
        return replace(self, values={}, changes=[])


@dataclass(frozen=True)
class Sensitivity:
    """Held-out loss when a share of the worst rows is left out of training."""

    share: float
    mean_loss: float
    median_loss: float


@dataclass(frozen=True)
class CoefficientShift:
    """One coefficient, of a standardised feature of a column, in the three fits."""

    name: str
    ordinary: float
    robust: float
    tail: float
    column: str = ""

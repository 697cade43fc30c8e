"""The audit itself: read a table, cross-fit, and have the result made of it."""

import time as clock
from collections.abc import Sequence
from typing import Any

from ..._params import check_choice, check_count, check_real, refused
from ...spectra import parse_spectrum
from ...tables import table_of
from ...tables.table import without
from .assembly import assemble
from .comparing import check_comparable, check_same_target
from .crossfit import Progress, cross_fit
from .models import Recipe
from .own_model import own_model, taken_out
from .result import AuditResult
from .verdicts import parse_verdicts


def _silent(step: str, share: float) -> None:
    """Tell nobody."""


def audit(
    data: Any,
    target: Any,
    *,
    task: str = "auto",
    estimator: Any = None,
    predictions: Any = None,
    kernel: str = "linear",
    spectrum: str = "superquantile:0.9",
    contamination: str | float = "auto",
    group: str | None = None,
    time: str | None = None,
    id: str | None = None,
    drop: str | Sequence[str] = (),
    random_state: int = 0,
    verdicts: Any = None,
    compare: dict[str, Any] | None = None,
    source: str = "",
    progress: Progress = _silent,
) -> AuditResult:
    """Find the rows of a table that do not fit, and say what changes without them.

    Five times the fits are made without a fifth of the rows, preparation included, and
    judge that fifth (of classes with thousands of rows it is twice, and a half): no row
    is judged by a model that has seen it, and losses are compared on held-out rows.
    Only three things are decided on all rows together: the share of rows that do not
    fit and whether there are any; the spectrum of the tail fit, if the one asked for
    collapses; and, where a fold's fit contradicts that share, which of its training
    rows it is fitted to.

    False discoveries are controlled twice. Rows are flagged, worst first, for as long
    as at most a fifth of them is expected to fit after all (the mean of 1 − score).
    Whatever else is claimed (slips, odd columns, copies, sources, what flagged rows
    share) is tested, with Bonferroni's correction over all that is tried and over all
    sections: at most one clean table in ten gets a false claim.

    Parameters
    ----------
    data : pandas or polars DataFrame, dict of columns, or array of shape (n, d)
        The table, one row for each thing that was seen.
    target : str or array-like of shape (n,)
        Name of the column to be predicted, or its values.
    task : {"auto", "regression", "classification"}, default="auto"
        By default text, booleans and targets of two values are classes.
    estimator : scikit-learn estimator or None, default=None
        Rows are judged by this model instead of lrisk's robust fit: a regressor, or a
        classifier with or without ``predict_proba``. A clone is fitted without each
        fifth of the rows in turn and predicts that fifth, so it is never asked about a
        row it has seen; a regressor a second time, without the rows that the first
        time flagged. A pipeline (or what holds one) is given the columns of `data` as
        they are, less target and `id` if it is given; any other model numbers: text
        one-hot encoded, missing cells filled in, columns standardised. What shows which
        columns to look at, and the slips of single columns, are lrisk's own fits still.
    predictions : str or array-like of shape (n,) or (n, n_classes), or None, \
            default=None
        Predictions of a model that lives elsewhere, used as those of `estimator` are;
        or the name of the column that holds them, which is then not learnt from. They
        may be written as a target may, with units, say; what ``lrisk predict`` writes
        is known by its column "prediction". For classes: labels, probabilities of the
        classes in sorted order (or, in a data frame, by name), or of two classes those
        of the second. They must be out of
        fold, each by a model that was not fitted to its row, as those of
        ``cross_val_predict`` are: a model that has seen a wrong target has learnt it,
        agrees with it, and the row does not stand out. The folds are yours to choose;
        rows that belong together, such as visits of one patient, share one. Wrong rows
        in training also move predictions for rows like them: predict once more without
        the flagged rows, as is done with an `estimator`, and audit again.
    kernel : {"linear", "rbf"}, default="linear"
        Of the fits that are compared; rows are judged by a flexible one in any case.
    spectrum : str, default="superquantile:0.9"
        Of the tail-risk fit.
    contamination : "auto" or float in [0, 0.5), default="auto"
        A number is taken at its word: so many rows are flagged.
    group, time : str or None, default=None
        Columns by which rates of flagged rows and losses are told. Rows of one group
        are left out together of what an `estimator` is fitted to.
    id : str or None, default=None
        Column that says which row is which, shown beside row numbers and not learnt
        from. By default a frame's own index, or the first column in which (nearly)
        every row has a value of its own.
    drop : str or sequence of str, default=()
        Columns of a frame or dict that are left out as if they were not there: a model
        of your own is not given them, nothing is said of them, and what cannot be read
        of them, such as two units in one column, does not matter.
    random_state : int, default=0
        Where random numbers begin: the same seed gives the same result.
    verdicts : mapping of row to word, sequence of words, or None, default=None
        "wrong" or "right" for rows that a person has looked at; rows count from 1.
        Wrong rows are flagged and right ones are not, whatever the fits say; and it is
        measured how often the fits' own flags are right.
    compare : dict or None, default=None
        An earlier result's `to_dict()`.
    source : str, default=""
        Name of the data, for the report.
    progress : callable, default: nothing is called
        Told the name of each step and the share of the work done.

    Returns
    -------
    AuditResult
        Scores and flags of all rows, reasons, findings, and words made of them.

    See Also
    --------
    write_audit : Writes the result as a page and as tables.
    OutlierDetector, LabelErrorDetector : The judgement of rows alone, for your code.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import audit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 2))
    >>> y = 50 + 10 * X[:, 0] + rng.normal(size=120)
    >>> y[:8] *= 10
    >>> result = audit({"a": X[:, 0], "b": X[:, 1], "y": y}, target="y")
    >>> sorted(row.row for row in result.flagged)
    [1, 2, 3, 4, 5, 6, 7, 8]

    By a model of your own, and by predictions of a model that lives elsewhere:

    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn.model_selection import cross_val_predict
    >>> forest = RandomForestRegressor(30, random_state=0)
    >>> bool(audit(X, y, estimator=forest).flags[:8].all())
    True
    >>> outside = cross_val_predict(forest, X, y)
    >>> bool(audit(X, y, predictions=outside).flags[:8].all())
    True
    """
    start = clock.perf_counter()
    check_options(task, kernel, contamination, random_state)
    parse_spectrum(spectrum)
    if compare is not None:
        check_comparable(compare)
    drop = [drop] if isinstance(drop, str) else list(drop)
    data = dropped(data, drop, (target, group, time, id, predictions))
    if isinstance(predictions, str):
        data, predictions = taken_out(data, predictions, target)
    table = table_of(data, target, task, group, time, id)
    if compare is not None:
        check_same_target(compare, table.target.name, table.task)
    said = parse_verdicts(verdicts, table.n_rows)
    own = own_model(table, data, target, id, estimator, predictions, random_state)
    recipe = Recipe(table.task, kernel, spectrum, contamination, random_state, own=own,
                    classes=len(table.classes))  # fmt: skip
    found = cross_fit(table, recipe, progress)
    options = {
        "task": task, "kernel": kernel, "spectrum": spectrum,
        "contamination": contamination, "group": group, "time": time, "id": id,
        "drop": drop, "judged by": own.label if own else "lrisk",
    }  # fmt: skip
    result = assemble(table, recipe, found, said, compare, source, options, start)
    progress("done", 1.0)
    return result


def check_options(
    task: str, kernel: str, contamination: Any, random_state: Any
) -> None:
    """Refuse options that no audit can have."""
    check_choice("audit", "task", task, ("auto", "regression", "classification"))
    check_choice("audit", "kernel", kernel, ("linear", "rbf"))
    check_count("audit", "random_state", random_state, low=0)
    if not (isinstance(contamination, str) and contamination == "auto"):
        check_real("audit", "contamination", contamination, low=0, high=0.5,
                   high_open=True, remedy="or 'auto'")  # fmt: skip


def dropped(data: Any, drop: Sequence[str], used: Sequence[Any]) -> Any:
    """The table less some columns; those that are used otherwise are refused."""
    for name in used:
        if isinstance(name, str) and name in drop:
            rule, remedy = "a column with no other role", "choose one role for it"
            raise ValueError(refused("audit", "drop", rule, name[:80], remedy))
    return without(data, drop)

"""The audit itself: read, cross-fit, flag, explain."""

import importlib.metadata
import platform
import time as clock
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._params import check_choice, check_count, check_real, refused
from ..._typing import Bools, Floats, Indices
from ..._version import __version__
from ...spectra import parse_spectrum
from ...tables import Table, table_of
from ...tables.table import own_name, without
from .comparing import check_comparable, check_same_target, comparison
from .crossfit import CrossFit, Progress, cross_fit
from .curves import (
    beside_constant,
    coefficient_shifts,
    loss_curves,
    sensitivity,
    tail_level,
)
from .facts import Finding, FlaggedRow, GroupRate, Reason
from .gains import tail_gain
from .models import Recipe
from .own_model import own_model, taken_out
from .rates import group_rates, time_rates
from .reasons import expected_of, explain
from .result import AuditResult
from .sections import Context, find_all, part_of_false_claims
from .sections.base import explained
from .sections.noise import LargerNoise
from .sections.slips import slipped_numbers
from .sections.swaps import swapped_columns
from .share import MOST_FALSE, cut_for_false_share, expected_false, reconciled
from .tails import FAR_OUT, far_rows
from .verdicts import in_words, measured, parse_verdicts

#: Score above which a row is flagged; of labels, more likely wrong than right, as the
#: classifier's own flags.
THRESHOLD, LABEL_THRESHOLD = 0.7, 0.5
#: Score of a row whose columns look exchanged, at least: most of them, and more than by
#: chance, are usual and fit once exchanged.
SWAPPED = 0.9
#: Rows in the table of flagged rows, and columns of it.
MOST_ROWS, MOST_VALUES = 500, 30
#: Rows that are listed although they are not flagged, and those named first.
NEARLY, WORST = 50, 10


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


def _flags(
    found: CrossFit, recipe: Recipe, misfit: Floats, said: Indices
) -> tuple[Bools, Bools, float]:
    """Rows that the fits flag, rows flagged in the end, and above which score."""
    if recipe.contamination == "auto":
        least = THRESHOLD if recipe.regression else LABEL_THRESHOLD
        threshold = cut_for_false_share(found.scores, least, MOST_FALSE)
        flags = found.scores > threshold
    else:
        count = int(float(recipe.contamination) * len(found.rows))
        worst = np.lexsort((-misfit, -found.scores))[:count]
        flags = np.zeros(len(found.rows), dtype=bool)
        flags[worst] = True
        threshold = float(found.scores[worst].min()) if count else 1.0
    own = said[found.rows]
    return flags, np.asarray((flags | (own > 0)) & (own >= 0)), threshold


def assemble(
    table: Table,
    recipe: Recipe,
    found: CrossFit,
    said: Indices,
    compare: dict[str, Any] | None,
    source: str,
    options: dict[str, Any],
    start: float,
) -> AuditResult:
    """The result of fits that were made: flags, findings, and what is told of them."""
    n, rows, judged = table.n_rows, found.rows, said[found.rows]
    residual, misfit = _residuals(table, found)
    raw, flags, threshold = _flags(found, recipe, misfit, said)
    level = part_of_false_claims()
    swaps = swapped_columns(table, found, flags, level)
    if swaps and recipe.contamination == "auto":
        exchanged = [row - 1 for finding in swaps for row in finding.rows]
        at = np.flatnonzero(np.isin(rows, exchanged))
        found.scores[at] = np.maximum(found.scores[at], SWAPPED)
        raw, flags, threshold = _flags(found, recipe, misfit, said)
    slips, chance = slipped_numbers(table, found, flags, swaps, level)
    if slips and recipe.contamination == "auto":
        found.scores[:] = np.maximum(found.scores, chance)
        raw, flags, threshold = _flags(found, recipe, misfit, said)
    findings = find_all(Context(table, level, found, flags, (*swaps, *slips)))
    noisy = sum(f.count for f in findings if f.section == LargerNoise.name)
    order = np.lexsort((-misfit, -found.scores))
    worst, nearly = order[flags[order]], order[~flags[order]][:NEARLY]
    sizes = misfit if recipe.regression else None
    proven = np.isin(rows, explained(findings))
    fine = ~flags & ~(proven & (judged >= 0))
    doubtful = flags & (judged == 0) & ~proven
    slipped = flags & (judged == 0) & (chance > 0.5)
    false_flags = expected_false(found.scores, sizes, doubtful)
    false_flags += float(np.sum(1.0 - found.scores[slipped & ~doubtful]))
    far, mere = np.zeros(len(rows), dtype=bool), 0
    if sizes is not None:
        far = far_rows(np.copysign(sizes, residual))
        mere = int(np.sum((sizes >= FAR_OUT) & ~far & ~flags))
    share, interval = found.share, found.interval
    if recipe.contamination == "auto":
        share, interval = reconciled(
            share, interval, int(flags.sum()), false_flags, len(rows),
            noisy=noisy, wrong=int(np.sum(judged > 0)),
            proven=int(np.sum(slipped)),
        )  # fmt: skip
    gain, error = _tail_gain(table, recipe, found, fine & ~far)
    by_row, by_fits = np.zeros((2, n), dtype=bool)
    by_row[rows[flags]], by_fits[rows[raw]] = True, True
    everybody = np.ones(len(rows), dtype=bool)
    curves = loss_curves(found, recipe, everybody)
    return AuditResult(
        source=source,
        task=table.task,
        target=table.target.name,
        n_rows=n,
        n_used=len(rows),
        columns=table.summaries(),
        n_missing=int(
            sum(column.missing.sum() for column in [*table.columns, table.target])
        ),
        contamination=share,
        interval=interval,
        expected_false_flags=false_flags,
        threshold=threshold,
        scores=_spread(n, rows, found.scores),
        residuals=_spread(n, rows, residual),
        flags=by_row,
        reasons=_reasons(table, found, np.r_[worst, nearly], swaps),
        losses=curves,
        flagged=_rows(table, found, residual, worst[:MOST_ROWS]),
        nearly=_rows(table, found, residual, nearly),
        sensitivity=sensitivity(found),
        coefficients=coefficient_shifts(found),
        groups=_rates("group", table, found, flags),
        times=_rates("time", table, found, flags),
        verdicts=measured(said, by_fits),
        comparison=None
        if compare is None
        else comparison(compare, share, interval, by_row, curves),
        options=options,
        versions=_versions(),
        random_state=recipe.random_state,
        seconds=clock.perf_counter() - start,
        n_training=found.n_training,
        tail_spectrum=found.whole.tail_spectrum,
        whole_share=found.share,
        whole_interval=found.interval,
        far_rows=int(np.sum(far & (judged >= 0))),
        tail_rows=mere,
        judgements=in_words(said),
        fingerprint=table.fingerprint(),
        least_fitting=[int(row) + 1 for row in rows[order[:WORST]]],
        unflagged_losses=loss_curves(found, recipe, fine),
        tail_gain=gain,
        tail_gain_error=error,
        findings=findings,
        classes=list(table.classes),
        noise_matrix=found.noise.tolist(),
        id_column=table.id_column,
        ids=table.ids,
        observed=table.target.as_text(),
        expected=_expected(table, found),
        beside_constant=beside_constant(found, table.y[rows], recipe, fine),
    )


def _reasons(
    table: Table, found: CrossFit, at: Indices, swaps: tuple[Finding, ...]
) -> dict[int, list[Reason]]:
    """Why rows do not fit; exchanged columns come first."""
    reasons = explain(table, found, at)
    for finding in swaps:
        for row in finding.rows:
            exchanged = Reason("exchanged", finding.columns)
            reasons[row] = [exchanged, *reasons.get(row, [])]
    return reasons


def _residuals(table: Table, found: CrossFit) -> tuple[Floats, Floats]:
    """Residuals in units of y (or deviance residuals), and the order of misfit."""
    if table.task == "regression":
        away = table.y[found.rows] - found.expected
        return away, np.abs(away) / found.scale
    surprise = np.sqrt(-2.0 * np.log(np.maximum(found.expected, 1e-300)))
    return surprise, surprise


def _tail_gain(
    table: Table, recipe: Recipe, found: CrossFit, fine: Bools
) -> tuple[float, float]:
    """What the tail-risk fit gains in the tail, on rows that nobody doubts."""
    losses = {name: own[fine] for name, own in found.losses.items()}
    unit = float(np.std(table.y[found.rows[fine]])) if recipe.regression else 1.0
    return tail_gain(losses, tail_level(recipe.spectrum), unit)


def _spread(n: int, rows: Indices, values: Floats) -> Floats:
    whole = np.full(n, np.nan)
    whole[rows] = values
    return whole


def _rows(
    table: Table, found: CrossFit, residual: Floats, at: Indices
) -> list[FlaggedRow]:
    shown = []
    for i in at:
        row = int(found.rows[i])
        shown.append(
            FlaggedRow(
                row=row + 1,
                score=float(found.scores[i]),
                residual=float(residual[i]),
                observed=table.target_shown(row),
                expected=expected_of(table, found, int(i)),
                values={c.name: c.shown(row) for c in table.columns[:MOST_VALUES]},
                id=own_name(table.ids, row + 1),
            )
        )
    return shown


def _expected(table: Table, found: CrossFit) -> list[str]:
    """What was expected of every row, as text; nothing of rows that were not used."""
    told = [""] * table.n_rows
    for i, row in enumerate(found.rows.tolist()):
        told[row] = expected_of(table, found, i)
    return told


def _rates(role: str, table: Table, found: CrossFit, flags: Bools) -> list[GroupRate]:
    columns = [column for column in table.columns if column.kind == role]
    rate = group_rates if role == "group" else time_rates
    losses = found.losses["robust"]
    return rate(columns[0], found.rows, flags, losses) if columns else []


def _versions() -> dict[str, str]:
    names = ("numpy", "scipy", "scikit-learn", "numba")
    found = {name: importlib.metadata.version(name) for name in names}
    return {"lrisk": __version__, "python": platform.python_version(), **found}

"""The result of an audit from its fits: who is flagged, and what is told of it."""

import importlib.metadata
import platform
import time as clock
from typing import Any

import numpy as np

from ..._typing import Bools, Floats, Indices
from ..._version import __version__
from ...tables import Table
from ...tables.table import own_name
from .comparing import comparison
from .crossfit import CrossFit
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
from .verdicts import in_words, measured

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

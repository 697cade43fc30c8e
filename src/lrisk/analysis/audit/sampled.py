"""The audit of a table larger than memory: fits to a sample, every row judged.

A sample that is stratified by place is audited like any table. Then every row is
judged by the fits to all rows of the sample, a batch at a time, and counted; what was
flagged is written where it is said, and the report is that of the sample.
"""

import time as clock
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..._params import check_count
from ..._typing import AnyArray, Bools, Floats, Indices
from ...procedures.outliers.constants import CONSTANTS
from ...spectra import parse_spectrum
from ...tables import table_of
from ...tables.cells import raw_columns
from ...tables.parquet_folder import Batch, ParquetFolder, spread_over
from ...tables.quoting import RefusedCell
from ...tables.rules import ColumnRule
from .assembly import assemble
from .crossfit import MOST, CrossFit, Fits, Progress, contradicted, cross_fit
from .models import RANKED_UNDER, Recipe, expect
from .numbers import counted, percent
from .result import AuditResult
from .run import check_options, dropped

#: Rows of the sample: ten times those that fits are trained on.
SAMPLE = 200_000


class Judged(NamedTuple):
    """What is said of the rows of a batch.

    Attributes
    ----------
    row : array of int of shape (m,)
        Numbers, counted from 1 in the whole table.
    score, residual : arrays of shape (m,)
        NaN where the target is missing.
    flag : array of bool of shape (m,)
    observed, expected : arrays of shape (m,)
        Numbers, or labels; of labels that the sample has not, none.
    """

    row: Indices
    score: Floats
    flag: Bools
    observed: AnyArray
    expected: AnyArray
    residual: Floats


@dataclass
class Totals:
    """What was counted over all rows."""

    rows: int = 0
    used: int = 0
    flagged: int = 0
    false_flags: float = 0.0

    def add(self, judged: Judged) -> None:
        """Count a batch."""
        self.rows += len(judged.row)
        self.used += int(np.sum(np.isfinite(judged.score)))
        self.flagged += int(judged.flag.sum())
        self.false_flags += float(np.sum(1.0 - judged.score[judged.flag]))


class SampledAudit:
    """The audit of a sample, and the judgement of every row.

    Parameters
    ----------
    folder : ParquetFolder
    target : str
    sample : int or None
        Rows of the sample, at most; None means 200,000.
    options : keyword arguments
        As of `lrisk.audit`; own models, predictions, verdicts and comparisons with
        other audits need the whole table in memory.

    Attributes
    ----------
    result : AuditResult
        Of the sample; `ids` are the numbers of its rows in the whole.
    totals : Totals
        Over the rows judged so far.
    """

    def __init__(
        self,
        folder: ParquetFolder,
        target: str,
        *,
        sample: int | None = None,
        progress: Progress,
        source: str = "",
        random_state: int = 0,
        task: str = "auto",
        kernel: str = "linear",
        spectrum: str = "superquantile:0.9",
        contamination: str | float = "auto",
        group: str | None = None,
        time: str | None = None,
        id: str | None = None,
        drop: Sequence[str] = (),
    ) -> None:
        start = clock.perf_counter()
        check_options(task, kernel, contamination, random_state)
        sample = SAMPLE if sample is None else sample
        check_count("audit", "sample", sample)
        parse_spectrum(spectrum)
        self.folder, self.totals = folder, Totals()
        self._places = spread_over(folder.n_rows, sample, random_state)
        frame = folder.take(self._places)
        frame = dropped(frame, drop, (target, group, time, id))
        try:
            table = table_of(frame, target, task, group, time, id)
        except RefusedCell as refusal:
            raise refusal.at(int(self._places[refusal.row])) from None
        recipe = Recipe(table.task, kernel, spectrum, contamination, random_state,
                        classes=len(table.classes))  # fmt: skip
        found = cross_fit(table, recipe, progress)
        options = {
            "task": task, "kernel": kernel, "spectrum": spectrum,
            "contamination": contamination, "group": group, "time": time, "id": id,
            "drop": list(drop),
            "judged by": "lrisk", "sample": len(self._places),
        }  # fmt: skip
        said = np.zeros(table.n_rows, dtype=np.int64)
        result = assemble(table, recipe, found, said, None, source, options, start)
        self.result, self._recipe, self._found = result, recipe, found
        self._numbered = id is None
        self._rule = ColumnRule.of(table.target)
        self._scores, self._residuals = result.scores, result.residuals
        self._codes = None
        self._expected = np.full(table.n_rows, np.nan)
        self._expected[found.rows] = found.expected
        if not recipe.regression:
            # Of each value that the target has in the sample, the code of its class.
            self._values, at = np.unique(table.target.values, return_index=True)
            self._codes = table.y[at]
            self._words = np.array([*table.classes, None], dtype=object)
            likeliest = np.full(table.n_rows, -1)
            likeliest[found.rows] = found.likeliest
            self._expected = self._words[likeliest]

    def judged(self, n_threads: int = 1) -> Iterator[Judged]:
        """Judge all rows, in order; counted in `totals`."""
        if n_threads == 1:
            for batch in self.folder.batches():
                yield self._counted(self._judge(batch))
            return
        with ThreadPoolExecutor(n_threads) as pool:
            waiting: list[Any] = []
            for batch in self.folder.batches():
                waiting.append(pool.submit(self._judge, batch))
                if len(waiting) > n_threads:
                    yield self._counted(waiting.pop(0).result())
            for job in waiting:
                yield self._counted(job.result())

    def told(self) -> AuditResult:
        """The result with what was counted over all rows."""
        totals, shown = self.totals, self.result
        files = counted(self.folder.n_files, "file")
        share = percent(totals.flagged / max(totals.used, 1), 2)
        notes = [
            f"This is the audit of a sample of {shown.n_rows:,} of the "
            f"{totals.rows:,} rows of {files}, one drawn from each stretch of "
            f"{totals.rows / shown.n_rows:.3g}.",
            "Numbers of rows are those in the sample."
            + (" The id of a row is its number among all." if self._numbered else ""),
            f"The fits to the sample judged all {totals.used:,} rows whose target is "
            f"known: {totals.flagged:,} are flagged ({share}; "
            f"{totals.false_flags:,.0f} may be false alarms), see rows.parquet.",
            "A sample may miss what few rows share, such as copies, small groups and "
            "rare slips: for these audit some of the files.",
        ]
        return replace(shown, notes=[*shown.notes, *notes])

    # -- inner -------------------------------------------------------------------------

    def _counted(self, judged: Judged) -> Judged:
        self.totals.add(judged)
        return judged

    def _judge(self, batch: Batch) -> Judged:
        try:
            return self._judge_rows(batch)
        except RefusedCell as refusal:
            raise refusal.at(batch.start + refusal.row) from None

    def _judge_rows(self, batch: Batch) -> Judged:
        found, recipe, n = self._found, self._recipe, len(batch.frame)
        names, raw = raw_columns(batch.frame)
        target = self._rule.read(raw[names.index(self._rule.name)])
        y = self._targets(target.values)
        known = np.flatnonzero(y >= 0 if self._codes is not None else ~np.isnan(y))
        score, residual = np.full((2, n), np.nan)
        expected = (
            np.full(n, np.nan) if self._codes is None else np.full(n, None, object)
        )
        if len(known):
            fits = found.whole
            X = fits.preparation.table.transform(batch.frame)[known]
            told = judge_new(found, recipe, fits, X, y[known])
            score[known], expected[known] = told.score, self._shown(told.expected)
            residual[known] = told.residual
        first, last = np.searchsorted(self._places, [batch.start, batch.start + n])
        own, sample = self._places[first:last] - batch.start, slice(first, last)
        score[own], residual[own] = self._scores[sample], self._residuals[sample]
        expected[own] = self._expected[sample]
        rows = np.arange(batch.start + 1, batch.start + n + 1)
        flag = score > self.result.threshold
        flag[own] = self.result.flags[sample]
        observed = y if self._codes is None else self._words[y]
        return Judged(rows, score, flag, observed, expected, residual)

    def _shown(self, expected: AnyArray) -> AnyArray:
        return expected if self._codes is None else self._words[expected]

    def _targets(self, values: AnyArray) -> AnyArray:
        """Numbers, or codes of the sample's classes; −1 of others."""
        if self._codes is None:
            return values
        at = np.searchsorted(self._values, values).clip(max=len(self._values) - 1)
        return np.where(self._values[at] == values, self._codes[at], -1)


class _Told(NamedTuple):
    """What a fit says of rows that it has not seen."""

    score: Floats
    residual: Floats
    expected: AnyArray


def judge_new(
    found: CrossFit, recipe: Recipe, fits: Fits, X: Floats, y: AnyArray
) -> _Told:
    """Scores of rows beyond the table, as rows of a fold are judged by `crossfit`."""
    robust = fits.robust
    if recipe.regression:
        expected, _ = expect(robust, X, found.least_scale)
        score = np.zeros(len(y))
        if found.certain:
            share = min(found.share, MOST)
            score = robust.score_outliers(X, y, contamination=share)
            if recipe.contamination == "auto":
                odd = contradicted(fits, robust, X, y, score)
                score[odd] = CONSTANTS.wrong_value_chance
        return _Told(score, y - expected, expected)
    under = None if robust.contamination_ > 0.0 else RANKED_UNDER
    score = robust.score_outliers(X, y, contamination=under)
    loss = recipe.losses(robust, X, y)
    sure = 1.0 if found.certain else 0.5
    return _Told(sure * score, np.sqrt(2.0 * loss), robust.predict(X))

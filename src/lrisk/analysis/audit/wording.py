"""The audit in sentences: its summary, what to do next, what changed since before."""

from typing import Any

import numpy as np

from .columns import FAR_WORDS
from .crossfit import CrossFit
from .reasons import percent
from .result import Cause, LossCurve, Repair
from .tables import Table

#: A table looks clean if no more of its rows are flagged than this.
CLEAN_SHARE = 0.02
#: Rows below which nothing is judged.
FEWEST_JUDGED = {"regression": 40, "classification": 50}


def looks_clean(flagged: int, n_used: int, interval: tuple[float, float]) -> bool:
    """Nothing, or next to nothing that may be nothing, is flagged."""
    return flagged == 0 or (flagged <= CLEAN_SHARE * n_used and interval[0] == 0.0)


def exchanged(repairs: list[Repair]) -> list[Repair]:
    """Repairs that exchange columns: they concern rows that are not flagged, too."""
    return [repair for repair in repairs if repair.kind == "swap"]


def summary(
    found: CrossFit,
    table: Table,
    flagged: int,
    false_flags: float,
    told: bool,
    repairs: list[Repair],
) -> str:
    """Two or three sentences on how many rows do not fit."""
    said = _judged(found, table, flagged, false_flags, told)
    swaps = exchanged(repairs)
    for repair in swaps:
        said += (
            f" In {len(repair.rows)} rows {repair.column[:120]} look exchanged, "
            "flagged or not."
        )
    if swaps:
        said = said.replace("The data looks clean: no row", "No row", 1)
        said = said.replace("The data looks clean: only", "Only", 1)
    return said


def _judged(
    found: CrossFit, table: Table, flagged: int, false_flags: float, told: bool
) -> str:
    m = len(found.rows)
    low, high = found.interval
    if m < FEWEST_JUDGED[table.task] and not told:
        return (
            f"Too few rows to judge: {m}, where at least "
            f"{FEWEST_JUDGED[table.task]} are needed. Nothing was flagged."
        )
    if told:
        return (
            f"As asked, the {flagged} least fitting of {m} rows are flagged "
            f"({percent(flagged / m)}); whether they are wrong was not judged."
        )
    may = f"between {percent(low)} and {percent(high)}"
    if looks_clean(flagged, m, found.interval):
        start = "The data looks clean: no row clearly does not fit."
        if flagged:
            start = f"The data looks clean: only {flagged} of {m} rows do not fit, " \
                "which may be chance."  # fmt: skip
        return (
            f"{start} Wrong rows that do not show cannot be excluded: at most "
            f"{percent(high)} of the table."
        )
    return (
        f"{flagged} of {m} rows do not fit ({percent(flagged / m)}), of which about "
        f"{false_flags:.0f} may be false alarms. Estimated share of rows that do not "
        f"belong: {percent(found.share)}, {may}."
    )


def next_steps(
    table: Table,
    flagged: int,
    clean: bool,
    curves: list[LossCurve],
    causes: list[Cause],
    repairs: list[Repair],
    sampled: bool,
) -> list[str]:
    """What a person would do now."""
    steps = []
    robust = "RobustRegressor" if table.task == "regression" else "RobustClassifier"
    risk = "RiskRegressor" if table.task == "regression" else "RiskClassifier"
    far = [
        f"Check the column {column.name[:60]}: {column.note}"
        for column in table.columns
        if column.kind == "numeric" and FAR_WORDS in column.note
    ]
    steps += far
    swaps = exchanged(repairs)
    if clean:
        steps += [_check_first(repair) for repair in swaps[:2]]
    if clean and not far and not swaps:
        steps.append("Train as usual: nothing suggests leaving rows out.")
    if not clean:
        steps += [
            f"Check where these values come from: {cause.text}" for cause in causes[:2]
        ]
        steps += [_check_first(repair) for repair in repairs[:2]]
        steps.append(
            f"Look at the {min(flagged, 20)} worst rows first, write 'wrong' or "
            "'right' into the verdict column of rows.csv, and give the file back "
            "(--verdicts rows.csv): it measures how often the flags are right."
        )
        steps.append(
            f"Until the rows are checked, train lrisk.{robust}() on all rows rather "
            "than deleting the flagged ones."
        )
    ordinary, tail = curves[0], curves[2]
    if tail.superquantile < 0.9 * ordinary.superquantile:
        steps.append(
            f"If the worst cases matter, train lrisk.{risk}: on held-out rows its "
            f"tail loss is {percent(1 - tail.superquantile / ordinary.superquantile)} "
            "lower than the ordinary fit's."
        )
    dropped = [c.name for c in table.columns if c.kind in ("identifier", "text")]
    if dropped:
        names = ", ".join(name[:40] for name in dropped[:5])
        steps.append(f"Columns left out as identifiers or text: {names}.")
    if sampled:
        steps.append("For more certainty audit parts of the table separately.")
    return [*table.notes, *steps]


def _check_first(repair: Repair) -> str:
    return f"Check this slip at its source before changing anything: {repair.text}"


def comparison(
    before: dict[str, Any],
    contamination: float,
    interval: tuple[float, float],
    flags: Any,
    curves: list[LossCurve],
) -> dict[str, Any]:
    """What changed since an earlier audit (its audit.json)."""
    then, now = int(np.sum(before["flags"])), int(np.sum(flags))
    changed: dict[str, Any] = {
        "source": before["source"],
        "rows": [int(before["n_rows"]), len(flags)],
        "contamination": [before["contamination"], contamination],
        "interval": [list(before["interval"]), list(interval)],
        "flagged": [then, now],
    }
    earlier = {curve["name"]: curve for curve in before["losses"]}
    changed["losses"] = {
        curve.name: {
            key: [earlier[curve.name][key], getattr(curve, key)]
            for key in ("mean", "median", "q95", "superquantile")
        }
        for curve in curves
        if curve.name in earlier
    }
    apart = interval[0] > before["interval"][1] or interval[1] < before["interval"][0]
    word = "more" if now > then else "fewer" if now < then else "as many"
    text = f"{word} rows flagged than before ({then} then, {now} now)"
    text = text.replace("as many rows flagged than", "as many rows flagged as")
    clear = "clearly differ" if apart else "do not clearly differ"
    changed["text"] = f"{text}; the estimated shares {clear}."
    changed["text"] = changed["text"][0].upper() + changed["text"][1:]
    if len(before["flags"]) == len(flags):
        old, new = np.array(before["flags"], dtype=bool), np.asarray(flags)
        for key, moved in (
            ("newly_flagged", new & ~old),
            ("no_longer_flagged", old & ~new),
        ):
            changed[key] = [int(i) + 1 for i in np.flatnonzero(moved)][:500]
    return changed

"""What the page says: the audit in words and short lists, ready for the template."""

import math
from typing import Any

import numpy as np

from ..analysis.audit import AuditResult, Change, GroupRate, LossCurve
from ..analysis.audit.numbers import number, percent
from ..analysis.audit.sections import by_section, in_words
from ..analysis.audit.wording import (
    COUNTING,
    FALSE_ALARMS,
    GLOSSARY,
    NOISE_SCALE,
    beside_constant_words,
    loss_groups,
    sampling,
    tail_note,
    tail_words,
)
from ..analysis.scores import ThresholdCurve, threshold_curve
from ..tables.table import own_name
from . import figures
from .rows import row_groups, shown_rows
from .text import count, printable

#: Entries of a list shown at most; the rest is counted.
MOST = 20
MOST_COLUMNS = 60


def page(result: AuditResult, *, redact: bool, budget: int) -> dict[str, Any]:
    """Everything the template names."""
    flagged = int(np.sum(result.flags))
    curve = threshold_curve(result.scores, result.threshold)
    cut = float(curve.levels[curve.chosen])
    groups, times = _listed(result.groups), result.times[-figures.MOST_GROUPS :]
    shifts = figures.largest_shifts(result.coefficients)
    rows, loss = shown_rows(result, budget), figures.loss_name(result)
    return {
        "title": printable(result.source or "table", 80),
        "target": printable(result.target, 80),
        "task": result.task,
        "redact": redact,
        "clean": result.looks_clean,
        "summary": printable(result.summary, 1500),
        "noise_scale": NOISE_SCALE,
        "counting": COUNTING,
        "false_alarms": FALSE_ALARMS,
        "glossary": GLOSSARY,
        "key_figures": _facts(result, flagged),
        "losses": _losses(result),
        "loss_name": loss,
        "tail_note": printable(tail_note(result), 600),
        "rows": rows,
        "row_groups": row_groups(result, rows),
        "any_suggested": any(row.suggested for row in rows),
        "least": [] if rows else _least(result),
        "n_flagged": flagged,
        "flagged": count(flagged),
        "agrees": int(curve.flagged[curve.chosen]) == flagged,
        "chosen": curve.chosen,
        "last": len(curve.levels) - 1,
        "threshold": f"{cut:.2f}",
        "data": _slider(result, curve, flagged),
        "figures": {
            "losses": figures.loss_curves(result.losses, loss),
            "observed": figures.observed_expected(result),
            "scores": figures.score_bars(result),
            "sensitivity": figures.sensitivity_curve(result)
            if result.sensitivity
            else "",
            "coefficients": figures.coefficient_shifts(shifts) if shifts else "",
            "groups": _bars(groups, loss, "group"),
            "times": _bars(times, loss, "time"),
        },
        "more_groups": len(result.groups) - len(groups),
        "more_times": len(result.times) - len(times),
        "more_shifts": len(result.coefficients) - len(shifts),
        **_lists(result),
        **_provenance(result),
    }


def _least(result: AuditResult) -> list[tuple[int, str, str]]:
    """Rows that fit least, their names, and why, where none is flagged."""
    return [
        (
            row,
            printable(own_name(result.ids, row), 40),
            printable(" ".join(result.reason_words(row)), 400),
        )
        for row in result.least_fitting[:MOST]
    ]


def _slider(result: AuditResult, curve: ThresholdCurve, flagged: int) -> dict[str, Any]:
    """What the slider tells; at the audit's own threshold, what the audit itself says.

    A given share or verdicts may flag other rows than the score alone.
    """
    counts = [int(v) for v in curve.flagged]
    expected = [round(float(v), 2) for v in curve.expected_false]
    if math.isfinite(result.expected_false_flags):
        # What the scores are too sure of is shared out among the rows they flag.
        more = result.expected_false_flags - float(curve.expected_false[curve.chosen])
        each = max(more, 0.0) / max(counts[curve.chosen], 1)
        expected = [
            round(min(float(false) + each * rows, float(rows)), 2)
            for false, rows in zip(curve.expected_false, counts)
        ]
        expected[curve.chosen] = round(result.expected_false_flags, 2)
    counts[curve.chosen] = flagged
    return {
        "levels": [round(float(v), 6) for v in curve.levels],
        "flagged": counts,
        "expected": expected,
        "chosen": curve.chosen,
        "scored": int(np.sum(np.isfinite(result.scores))),
    }


def _bars(rates: list[GroupRate], loss: str, what: str) -> str:
    return figures.group_bars(rates, loss, what=what) if rates else ""


def _listed(groups: list[GroupRate]) -> list[GroupRate]:
    """The groups with most flags; those of the same rate by their size."""

    def standing(rate: GroupRate) -> tuple[float, int]:
        known = rate.flag_rate if math.isfinite(rate.flag_rate) else -1.0
        return -known, -rate.rows

    return sorted(groups, key=standing)[: figures.MOST_GROUPS]


def _facts(result: AuditResult, flagged: int) -> list[tuple[str, str, str]]:
    low, high = result.interval
    used = f"{count(result.n_used)} could be judged"
    share = percent(flagged / result.n_used) if result.n_used else "–"
    return [
        ("rows", count(result.n_rows), used),
        ("do not fit", count(flagged), f"{share} of the rows judged"),
        ("estimated share", percent(result.contamination),
         f"likely between {percent(low)} and {percent(high)}"),
        ("expected false flags", _false_flags(result, flagged),
         f"of the {count(flagged)} flagged"),
        ("columns", count(len(result.columns)),
         f"target: {printable(result.target, 40)}"),
        ("missing cells", count(result.n_missing), "in the whole table"),
        *_of_own_model(result),
    ]  # fmt: skip


def _of_own_model(result: AuditResult) -> list[tuple[str, str, str]]:
    """Whether the user's own model is better than a constant, if there is one."""
    compared = result.beside_constant
    if compared is None:
        return []
    how = (
        "worse" if compared.worse else "better" if compared.gain > 0.0 else "no better"
    )
    figures = printable(beside_constant_words(compared), 120)
    return [(printable(compared.label, 80), f"{how} than a constant", figures)]


def _false_flags(result: AuditResult, flagged: int) -> str:
    expected = result.expected_false_flags
    if flagged and expected < 0.5:
        return "fewer than 1"
    return number(round(expected, 1))


def _losses(result: AuditResult) -> dict[str, Any]:
    """Names of the columns, and rows of cells by group of rows."""
    names = {"mean": "mean", "median": "median", "q95": "95 %",
             "superquantile": "tail mean"}  # fmt: skip
    if result.task == "classification":
        names["accuracy"] = "accuracy"
    groups = [
        {"words": words, "fits": _fits(curves, list(names))}
        for words, curves in loss_groups(result)
    ]
    return {"names": list(names.values()), "groups": groups}


def _fits(curves: list[LossCurve], measures: list[str]) -> list[dict[str, Any]]:
    best = {}
    for measure in measures:
        known = [v for c in curves if (v := getattr(c, measure)) == v]
        choose = max if measure == "accuracy" else min
        best[measure] = choose(known, default=math.nan)
    return [
        {
            "name": curve.name,
            "label": printable(curve.label, 80),
            "cells": [_shown(curve, m, best[m]) for m in measures],
        }
        for curve in curves
    ]


def _shown(curve: LossCurve, measure: str, best: float) -> tuple[str, bool]:
    value = getattr(curve, measure)
    words = percent(value, 3) if measure == "accuracy" else number(value, 4)
    if measure == "superquantile":
        words = tail_words(curve, 4)
    return words, value == best


def _lists(result: AuditResult) -> dict[str, Any]:
    sections = [
        {
            "title": section.title,
            "entries": [
                {
                    "text": printable(in_words(finding), 400),
                    "rows": ", ".join(str(row) for row in finding.rows[:MOST]),
                    "more": max(finding.count - MOST, 0),
                    "changes": [_change(change) for change in finding.changes[:MOST]],
                }
                for finding in found[:MOST]
            ],
            "more": max(len(found) - MOST, 0),
        }
        for section, found in by_section(result.findings)
    ]
    columns = [
        {
            "name": printable(column.name, 80),
            "kind": printable(column.kind, 20),
            "missing": count(column.missing),
            "distinct": count(column.distinct),
            "note": printable(column.remark, 300),
        }
        for column in result.columns[:MOST_COLUMNS]
    ]
    return {
        "sections": sections,
        "steps": [printable(step, 400) for step in result.next_steps[:MOST]],
        "columns": columns,
        "more_columns": count(max(len(result.columns) - MOST_COLUMNS, 0)),
    }


def _change(change: Change) -> dict[str, Any]:
    shown = {name: printable(getattr(change, name), 60)
             for name in ("column", "before", "after")}  # fmt: skip
    return {"row": change.row, **shown}


def _provenance(result: AuditResult) -> dict[str, Any]:
    return {
        "sampling": printable(sampling(result), 600),
        "notes": [printable(note, 200) for note in result.notes[:MOST]],
        "verdicts": _pairs(result.verdicts),
        "comparison": _pairs(result.comparison),
        "options": _pairs(result.options),
        "versions": _pairs(result.versions),
        "seed": result.random_state,
        "seconds": number(result.seconds),
    }


def _pairs(entries: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Names and values in words."""
    listed = list((entries or {}).items())[:MOST]
    return [
        (printable(name, 60), printable(_words(value), 200)) for name, value in listed
    ]


def _words(value: Any) -> str:
    """A value of a JSON object; of a long list only its length."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value, 4)
    if isinstance(value, list | tuple | dict) and len(value) > 8:
        return f"{count(len(value))} entries"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_words(entry)}" for name, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return str(value)

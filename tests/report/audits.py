"""Audits to show: ordinary, clean, large, hostile, and at the edges."""

import numpy as np

from lrisk.analysis.audit import (
    AuditResult,
    Change,
    CoefficientShift,
    ColumnSummary,
    Finding,
    FlaggedRow,
    GroupRate,
    LossCurve,
    Reason,
    Sensitivity,
)

#: Strings that break pages, shells, spreadsheets and layouts.
HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "'; alert(3); '",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd",
    "-2+3+cmd",
    "+1;=1+1",
    "\t=1+1",
    "</script><script>alert(4)</script>",
    "<!--<script>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(5)",
    "מחיר שגוי \u202eevil\u202c",
    "السعر خطأ",
    "👩‍🔬🏳️‍🌈 ünïcödé",
    "\x00\x07\x1b[31m",
    "line one\nline two\u2028three\r",
    "lone \ud83d surrogate",
    "&lt;b&gt; &amp; <b>",
    "x" * 10_000,
]  # fmt: skip

NAMES = ["mileage", "engine size", "price.in.eur", "unit", "sold on", "fuel", "colour"]


def flagged_rows(n, rng, *, columns=NAMES, cell=None):
    scores = np.sort(rng.uniform(0.7, 1.0, n))[::-1]
    places = rng.permutation(5 * n + 10)[:n] + 1
    rows = []
    for i in range(n):
        residual = float(rng.normal() * 4000)
        values = {
            name: cell(i, j) if cell else f"{rng.normal() * 100:.4g}"
            for j, name in enumerate(columns)
        }
        rows.append(
            FlaggedRow(
                row=int(places[i]),
                score=float(scores[i]),
                residual=residual,
                observed=cell(i, 90) if cell else f"{9000 + residual:.0f}",
                expected="9000",
                values=values,
            )
        )
    return rows


def reasons_of(row):
    """Two: of the target, and of one of the row's columns."""
    side = "above" if row.residual > 0 else "below"
    scales = {"scales": abs(row.residual) / 400}
    told = {"value": row.observed, "expected": row.expected}
    reasons = [Reason(side, ["price.in.eur"], scales, told)]
    if row.values:
        name = list(row.values)[row.row % len(row.values)]
        reasons.append(Reason("unusual", [name], {}, {"value": row.values[name]}))
    return reasons


def slip(rows, column="mileage"):
    """A factor of ten in some rows."""
    changes = [Change(row, column, f"{10 * row}", f"{row}") for row in rows]
    return Finding("slips", "factor", [column], list(rows), len(rows),
                   {"factor": 0.1}, {}, changes)  # fmt: skip


def shared(column, value, rows):
    """Something that flagged rows share."""
    numbers = {"flagged": 97.0, "rows with": 120.0, "rows": 2000.0}
    told = {"value": value}
    return Finding("shared", "level", [column], list(rows), len(rows), numbers, told)


def curve(name, label, scale, rng):
    losses = np.sort(scale * rng.exponential(size=3000) ** 1.2)
    levels = np.linspace(0, 1, 101)
    return LossCurve(
        name=name,
        label=label,
        mean=float(losses.mean()),
        median=float(np.median(losses)),
        q95=float(np.quantile(losses, 0.95)),
        superquantile=float(losses[2700:].mean()),
        levels=levels.tolist(),
        values=np.quantile(losses, levels).tolist(),
        accuracy=1.0 - scale / 1000,
    )


def make_audit(n_rows=2000, n_flagged=40, seed=0, rows=None, **changes):
    """A plausible audit of a table of used cars; `changes` replace fields."""
    rng = np.random.default_rng(seed)
    rows = flagged_rows(n_flagged, rng) if rows is None else rows
    scores = rng.beta(0.3, 8, n_rows) * 0.69
    residuals = rng.normal(0, 400, n_rows)
    reasons = {}
    flags = np.zeros(n_rows, dtype=bool)
    for row in rows:
        place = row.row - 1
        if place < n_rows:
            flags[place], scores[place] = True, row.score
            residuals[place], reasons[row.row] = row.residual, reasons_of(row)
    share = float(flags.mean())
    fields = {
        "source": "used_cars.csv",
        "task": "regression",
        "target": "price.in.eur",
        "n_rows": n_rows,
        "n_used": n_rows,
        "columns": [
            ColumnSummary(name, "numeric", 3 * i, 400 - i, "")
            for i, name in enumerate(NAMES)
        ]
        + [ColumnSummary("id", "identifier", 0, n_rows, "Every row has its own.")],
        "n_missing": 37,
        "contamination": share,
        "interval": (0.8 * share, 1.3 * share),
        "expected_false_flags": float(np.sum(1 - scores[flags])),
        "threshold": 0.7,
        "scores": scores,
        "residuals": residuals,
        "flags": flags,
        "reasons": reasons,
        "losses": [
            curve("ordinary", "ordinary fit", 500, rng),
            curve("robust", "robust fit", 300, rng),
            curve("tail", "tail-risk fit (superquantile 0.9)", 380, rng),
        ],
        "unflagged_losses": [
            curve("ordinary", "ordinary fit", 200, rng),
            curve("robust", "robust fit", 100, rng),
            curve("tail", "tail-risk fit (superquantile 0.9)", 150, rng),
        ],
        "tail_spectrum": "superquantile:0.7",
        "n_training": n_rows,
        "flagged": rows,
        "nearly": [],
        "sensitivity": [
            Sensitivity(s, 500 - 900 * min(s, 0.1), 412 - 1500 * min(s, 0.1))
            for s in (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
        ],
        "coefficients": [
            CoefficientShift(name, *map(float, rng.normal(size=3)), name.split("=")[0])
            for name in [*NAMES, "fuel=petrol", "fuel=electric"]
        ],
        "groups": [
            GroupRate(g, 100 + 10 * i, 0.01 * i, 300.0 + i, 900.0 + 60 * i)
            for i, g in enumerate(["Aachen", "Bergen", "Cádiz", "Delft", "Évora"])
        ],
        "times": [
            GroupRate(f"2024-{m:02d}", 160, 0.002 * m, 310.0, 900.0 + 40 * m)
            for m in range(1, 13)
        ],
        "findings": [slip(range(1003, 1034)), shared("unit", "lb", range(1, 84))]
        if rows
        else [],
        "verdicts": None,
        "comparison": None,
        "options": {"kernel": "linear", "spectrum": "superquantile:0.9", "group": None},
        "versions": {"lrisk": "0.1.0", "numpy": "2.0.0"},
        "random_state": 0,
        "seconds": 12.34,
    }  # fmt: skip
    return AuditResult(**(fields | changes))


def hostile_audit():
    """Every string that comes from data is one that means harm."""
    rng = np.random.default_rng(1)

    def nasty(k):
        return HOSTILE[k % len(HOSTILE)]

    columns = [nasty(k) for k in range(len(HOSTILE))]
    rows = flagged_rows(60, rng, columns=columns, cell=lambda i, j: nasty(i + j))
    return make_audit(
        rows=rows,
        source=nasty(0),
        target=nasty(1),
        tail_spectrum=nasty(8),
        columns=[ColumnSummary(name, "text", 0, 1, name) for name in columns],
        coefficients=[CoefficientShift(name, 1.0, -0.5, 0.2) for name in columns],
        groups=[GroupRate(name, 10, 0.1, 1.0, 2.0) for name in columns],
        times=[GroupRate(name, 10, 0.1, 1.0, 2.0) for name in columns[:5]],
        findings=[shared(name, name, [1, 2]) for name in columns]
        + [slip([1, 2], name) for name in columns],
        verdicts={nasty(0): 0.5},
        comparison={nasty(2): nasty(3), "rows": list(range(100))},
        options={nasty(0): nasty(1)},
        versions={nasty(8): nasty(9)},
    )


def edge_audit():
    """Nothing known: NaN and infinity, one group, no rows with a score."""
    unknown = np.full(30, np.nan)
    return make_audit(
        n_rows=30,
        rows=[],
        contamination=float("nan"),
        interval=(float("nan"), float("nan")),
        threshold=float("nan"),
        expected_false_flags=float("inf"),
        scores=unknown,
        residuals=unknown,
        losses=[
            LossCurve("ordinary", "ordinary fit", float("nan"), 0.0, float("inf"),
                      float("nan"), [0.0, 1.0], [0.0, float("inf")]),
        ],
        sensitivity=[Sensitivity(0.0, float("nan"), float("nan"))],
        coefficients=[CoefficientShift("a", float("nan"), 0.0, 0.0)],
        groups=[GroupRate("only", 30, float("nan"), 0.0, float("nan"))],
        times=[],
    )  # fmt: skip


def large_audit(n_rows=1_000_000):
    """A million rows, five hundred of them shown, wide and full of long cells."""
    rng = np.random.default_rng(2)
    columns = [f"column {j} with a long name" for j in range(200)]
    rows = flagged_rows(500, rng, columns=columns, cell=lambda i, j: '"<&>' * 20)
    return make_audit(
        n_rows=n_rows,
        rows=rows,
        groups=[GroupRate(f"group {k}", 10, 0.01, 1.0, 2.0) for k in range(3000)],
        times=[GroupRate(f"time {k}", 10, 0.01, 1.0, 2.0) for k in range(3000)],
        coefficients=[CoefficientShift(name, 1.0, 2.0, 3.0) for name in columns],
        columns=[ColumnSummary("&" * 300, "numeric", 0, 1, "<" * 900)] * 100_000,
        findings=[shared("<" * 900, "<" * 900, range(10**3))] * 500
        + [slip(range(10**4), "<" * 900)] * 20,
        options={f"option {k}": "<" * 10**4 for k in range(1000)},
    )

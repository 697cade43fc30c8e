"""Table 1 of the subquantile paper: regression with a Gaussian kernel, wrong labels."""

from collections.abc import Iterator

from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._page import Page
from experiments._subquantile import (
    EXACT,
    ORACLE,
    PAPERS,
    ROBUST,
    STEPS,
    run_methods,
)
from experiments._subquantile_page import write
from experiments._subquantile_table import Table

METHODS = (
    "KRR", "TERM", "SEVER", PAPERS, ORACLE, "KRR, tuned", EXACT, ROBUST[False],
)  # fmt: skip

#: Table 1 as printed, ε = .2 and .4; ∞ stands for what was not run.
TABLE = Table(
    columns={"ε = 0.2": ("label", 0.2), "ε = 0.4": ("label", 0.4)},
    methods=METHODS,
    printed={
        ("KRR", "concrete"): (1.355, 2.282),
        ("TERM", "concrete"): (0.829, 0.928),
        ("SEVER", "concrete"): (0.533, 0.592),
        (PAPERS, "concrete"): (0.396, 0.442),
        ("KRR", "wine_quality_red"): (1.437, 2.272),
        ("TERM", "wine_quality_red"): (1.854, 1.069),
        ("SEVER", "wine_quality_red"): (0.915, 0.841),
        (PAPERS, "wine_quality_red"): (0.808, 0.827),
        ("KRR", "boston"): (1.285, 2.266),
        ("TERM", "boston"): (0.879, 0.875),
        ("SEVER", "boston"): (0.526, 0.720),
        (PAPERS, "boston"): (0.446, 0.456),
        ("KRR", "drug_qsar"): (1.478, 2.381),
        ("SEVER", "drug_qsar"): (1.172, 1.215),
        (PAPERS, "drug_qsar"): (1.074, 1.132),
    },
    accuracy=False,
)

SETTING = """
Some of the training labels are drawn anew from N(5, 5²), the test rows are clean, and
what counts is the test RMSE. **Not in the paper, and taken here:** 80 % of the rows
train (at most {rows:,}); features and target are standardised before labels are made
wrong, but not the target of the drug data, whose printed errors (the oracle's in table
2) fit the raw target, of standard deviation 1.6; the noise's second 5 is a standard
deviation. The paper's algorithm (started at zero, no ridge, no radius: the printed R =
10⁴ never binds) is told the number of wrong rows. Its number of steps, which acts as a
ridge, is not printed for this table: it is taken from {steps} by the held-out error in
three folds of the training rows, without the largest errors, as many as rows are wrong.
gamma (0.05 to 1.5 over the number of features), and alpha for TERM, SEVER and the exact
trimmed fit, come from the same folds with the exact trimmed fit. KRR is scikit-learn's
with its defaults (alpha 1, gamma one over the number of features); "KRR, tuned" and the
oracle take alpha and gamma by leave-one-out error on the rows they are given.
RobustRegressor is told nothing, ε least of all.
"""


def cells(settings: Settings) -> Iterator[Cell]:
    sets = settings.choose(TABLE.sets, TABLE.sets, ["boston"])
    rows = settings.choose(800, 300, 100)
    for data in sets:
        for noise, share in TABLE.columns.values():
            for seed in range(settings.seeds):
                yield {
                    "data": data, "noise": noise, "share": share, "seed": seed,
                    "rows": rows, "methods": list(METHODS),
                }  # fmt: skip


def run(cell: Cell) -> Record:
    return run_methods(cell, kernel="rbf", classes=False, steps=STEPS)


def report(records: list[Record], page: Page) -> None:
    steps = ", ".join(f"{count:,}" for count in STEPS)
    most = max(r["cell"]["rows"] for r in records)
    page.say(" ".join(SETTING.format(steps=steps, rows=most).split()))
    write(TABLE, records, page, "Test RMSE of every method, printed and ours")


EXPERIMENT = Experiment(
    name="table1",
    paper="subquantile",
    title="Subquantile paper, table 1: kernel regression with wrong labels",
    cells=cells,
    run=run,
    report=report,
)

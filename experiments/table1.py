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
from experiments._subquantile_words import (
    NOISE,
    SCALING,
    SETS,
    SIZES,
    START,
    TRIMMED,
    joined,
)

METHODS = (
    "KRR", "TERM", "SEVER", PAPERS, ORACLE, "KRR, tuned", EXACT, ROBUST[False],
)  # fmt: skip

#: Table 1 as printed, ε = .2 and .4; ∞ stands for what was not run.
TABLE = Table(
    columns={"ε = 0.2": ("label", 0.2), "ε = 0.4": ("label", 0.4)},
    methods=METHODS,
    printed={
        ("KRR", "concrete"): ((1.355, 0.0934), (2.282, 0.2063)),
        ("TERM", "concrete"): ((0.829, 0.0422), (0.928, 0.0197)),
        ("SEVER", "concrete"): ((0.533, 0.0347), (0.592, 0.0548)),
        (PAPERS, "concrete"): ((0.396, 0.0216), (0.442, 0.0468)),
        ("KRR", "wine_quality_red"): ((1.437, 0.0979), (2.272, 0.1088)),
        ("TERM", "wine_quality_red"): ((1.854, 0.7437), (1.069, 0.1001)),
        ("SEVER", "wine_quality_red"): ((0.915, 0.0343), (0.841, 0.0413)),
        (PAPERS, "wine_quality_red"): ((0.808, 0.0389), (0.827, 0.0216)),
        ("KRR", "boston"): ((1.285, 0.0896), (2.266, 0.0686)),
        ("TERM", "boston"): ((0.879, 0.0178), (0.875, 0.0711)),
        ("SEVER", "boston"): ((0.526, 0.0287), (0.720, 0.1147)),
        (PAPERS, "boston"): ((0.446, 0.1230), (0.456, 0.1055)),
        ("KRR", "drug_qsar"): ((1.478, 0.0533), (2.381, 0.0203)),
        ("SEVER", "drug_qsar"): ((1.172, 0.0542), (1.215, 0.0536)),
        (PAPERS, "drug_qsar"): ((1.074, 0.0378), (1.132, 0.0892)),
    },
    accuracy=False,
)

SETTING = """
Some of the training labels are drawn anew from N(5, 5²), the test rows are clean, and
what counts is the test RMSE. **Not in the paper, and taken here:** 80 % of the rows
train (at most {rows:,}).
"""
ALGORITHM = """
The algorithm has no ridge and no radius (the printed R = 10⁴ never binds) and is told
the number of wrong rows. Its number of steps, which acts as a ridge, is not printed for
this table: it is taken from {steps} by the held-out error in three folds of the
training rows, without the largest errors, as many as rows are wrong.
"""
OTHERS = """
gamma of all told methods (0.05 to 1.5 over the number of features), and one alpha for
TERM, SEVER and the trimmed fit, come from the same folds with the trimmed fit: the
rivals' penalty is not searched for them. TERM has t = −2; SEVER (on kernel ridge) is
told ε. KRR is scikit-learn's with its defaults (alpha 1, gamma one over the number of
features); "KRR, tuned" and the oracle take alpha and gamma by leave-one-out error on
the rows they are given. RobustRegressor is told nothing, ε least of all.
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
    page.say(joined(SETTING.format(rows=most), SIZES, NOISE, SETS, SCALING))
    page.say(joined(START, ALGORITHM.format(steps=steps)))
    page.say(joined(TRIMMED, OTHERS))
    write(TABLE, records, page, "Test RMSE of every method, printed and ours")


EXPERIMENT = Experiment(
    name="table1",
    paper="subquantile",
    title="Subquantile paper, table 1: kernel regression with wrong labels",
    cells=cells,
    run=run,
    report=report,
    seeds=10,
)

"""Table 2 of the subquantile paper: linear regression, wrong labels and wrong rows."""

from collections.abc import Iterator

from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._page import Page, mean_sd
from experiments._subquantile import EXACT, ORACLE, PAPERS, ROBUST, run_methods
from experiments._subquantile_page import write
from experiments._subquantile_table import Table

METHODS = (
    "KRR", "RANSAC", "CRR", "STIR", "SEVER", "TERM", PAPERS, ORACLE, "KRR, tuned",
    EXACT, ROBUST[False],
)  # fmt: skip

#: Share of wrong rows: not printed, .4 fits best.
SHARE = 0.4
#: Steps as printed below the table.
STATED = {"label": 100_000, "label+feature": 1_000_000}

#: Table 2 as printed: label noise, then label and feature noise.
TABLE = Table(
    columns={"label": ("label", SHARE), "label+feature": ("label+feature", SHARE)},
    methods=METHODS,
    printed={
        ("KRR", "boston"): (0.907, 90.799),
        ("RANSAC", "boston"): (1.167, 22.460),
        ("CRR", "boston"): (0.636, 88.626),
        ("STIR", "boston"): (0.562, 78.878),
        ("SEVER", "boston"): (0.601, 5.980),
        ("TERM", "boston"): (0.608, 0.569),
        (PAPERS, "boston"): (0.503, 0.548),
        (ORACLE, "boston"): (0.630, 0.665),
        ("KRR", "wine_quality_red"): (0.894, 62.913),
        ("RANSAC", "wine_quality_red"): (1.489, 39.630),
        ("CRR", "wine_quality_red"): (0.818, 58.488),
        ("STIR", "wine_quality_red"): (0.828, 58.352),
        ("SEVER", "wine_quality_red"): (0.814, 9.065),
        ("TERM", "wine_quality_red"): (0.840, 0.827),
        (PAPERS, "wine_quality_red"): (0.813, 0.821),
        (ORACLE, "wine_quality_red"): (0.838, 0.865),
        ("KRR", "concrete"): (0.825, 77.383),
        ("RANSAC", "concrete"): (0.870, 23.629),
        ("CRR", "concrete"): (0.710, 73.932),
        ("STIR", "concrete"): (0.684, 76.555),
        ("SEVER", "concrete"): (0.684, 4.119),
        ("TERM", "concrete"): (0.780, 0.808),
        (PAPERS, "concrete"): (0.632, 0.703),
        (ORACLE, "concrete"): (0.763, 0.768),
        ("KRR", "drug_qsar"): (2.679, 141.690),
        ("RANSAC", "drug_qsar"): (2.801, 117.389),
        ("CRR", "drug_qsar"): (1.887, 152.827),
        ("STIR", "drug_qsar"): (1.721, 144.975),
        ("SEVER", "drug_qsar"): (1.469, 156.043),
        ("TERM", "drug_qsar"): (1.185, 1.147),
        (PAPERS, "drug_qsar"): (1.074, 2.413),
        (ORACLE, "drug_qsar"): (0.988, 0.985),
    },
    accuracy=False,
)

SETTING = """
Label noise draws {share:.0%} of the training labels anew from N(5, 5²); label and
feature noise multiplies {share:.0%} of the rows, features by 100 and target by 10⁴. The
test rows are clean, and what counts is the test RMSE. **Not in the paper, and taken
here:** the share of wrong rows; 80 % of the rows train (at most {rows:,}); features and
target are standardised before rows are made wrong, but not the target of the drug data,
whose printed errors (the oracle's in table 2) fit the raw target, of standard deviation
1.6. The paper's algorithm takes the printed 10⁵ steps under label noise and 10⁶ under
feature noise, from zero, without ridge or radius, and is told the number of wrong rows.
KRR is scikit-learn's with a linear kernel and its default alpha 1; alpha of CRR, STIR,
SEVER, TERM and the exact trimmed fit is taken by the held-out error of trimmed fits in
three folds of the training rows, without the largest errors, as many as rows are wrong.
"KRR, tuned" is a ridge fit with an intercept on rows standardised with the wrong ones
among them, alpha by leave-one-out error; so is the oracle on the right rows.
RobustRegressor is told nothing.
"""


def cells(settings: Settings) -> Iterator[Cell]:
    sets = settings.choose(TABLE.sets, TABLE.sets, ["boston"])
    rows = settings.choose(1500, 400, 120)
    noises = settings.choose(list(STATED), list(STATED), ["label+feature"])
    for data in sets:
        for noise in noises:
            for seed in range(settings.seeds):
                yield {
                    "data": data, "noise": noise, "share": SHARE, "seed": seed,
                    "rows": rows, "methods": list(METHODS),
                }  # fmt: skip
    yield from row_cells(settings)


def row_cells(settings: Settings) -> Iterator[Cell]:
    """The drug data under label noise with other numbers of rows."""
    for rows in settings.choose((750, 2250), (200, 800), (100, 200)):
        for seed in range(min(settings.seeds, 2)):
            yield {
                "data": "drug_qsar", "noise": "label", "share": SHARE, "seed": seed,
                "rows": rows, "methods": [PAPERS, ORACLE], "study": "rows",
            }  # fmt: skip


def run(cell: Cell) -> Record:
    stated = STATED[cell["noise"]]
    steps = tuple(10**power for power in range(2, 7) if 10**power <= stated)
    return run_methods(cell, kernel="linear", classes=False, steps=steps, stated=stated)


def report_rows(records: list[Record], page: Page) -> None:
    """How the drug data's errors fall with the rows, at the printed steps."""
    page.heading("The drug data by number of rows")
    page.say(
        "It has some 400 features; 3,268 of its rows would be 80 %. Without a ridge "
        "the printed number of steps fits nearly all that can be fitted, so the rows "
        "count. Label noise, mean over seeds; after fewer steps, for comparison:"
    )
    rows = []
    for count in sorted({r["cell"]["rows"] for r in records}):
        own = [r for r in records if r["cell"]["rows"] == count]
        path = {t: [r["path"][t] for r in own] for t in own[0]["path"]}
        words = [mean_sd(values) for values in path.values()]
        oracle = mean_sd([r["error"][ORACLE] for r in own])
        rows.append((f"{count:,} rows", *words, oracle))
    steps = [f"{int(t):,} steps" for t in records[0]["path"]]
    page.table(["training rows", *steps, ORACLE], rows)


def report(records: list[Record], page: Page) -> None:
    study = [r for r in records if r["cell"].get("study")]
    records = [r for r in records if not r["cell"].get("study")]
    most = max(r["cell"]["rows"] for r in records)
    page.say(" ".join(SETTING.format(share=SHARE, rows=most).split()))
    write(TABLE, records, page, "Test RMSE of every method, printed and ours")
    chosen = ("drug_qsar", "label")
    report_rows(study + TABLE.at(records, chosen), page)


EXPERIMENT = Experiment(
    name="table2",
    paper="subquantile",
    title="Subquantile paper, table 2: linear regression with wrong rows",
    cells=cells,
    run=run,
    report=report,
)

"""Table 2 of the subquantile paper: linear regression, wrong labels and wrong rows."""

from collections.abc import Iterator

import numpy as np

from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._page import Page, difference, mean_sd
from experiments._subquantile import EXACT, ORACLE, PAPERS, ROBUST, run_methods
from experiments._subquantile_page import write
from experiments._subquantile_table import TITLES, Table
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
    "KRR", "RANSAC", "CRR", "STIR", "SEVER", "TERM", PAPERS, ORACLE, "KRR, tuned",
    EXACT, ROBUST[False],
)  # fmt: skip

#: Share of wrong rows: not printed, .4 fits the printed test errors best.
SHARE = 0.4
#: Steps as printed below the table.
STATED = {"label": 100_000, "label+feature": 1_000_000}

#: Table 2 as printed: label noise, then label and feature noise.
TABLE = Table(
    columns={"label": ("label", SHARE), "label+feature": ("label+feature", SHARE)},
    methods=METHODS,
    printed={
        ("KRR", "boston"): ((0.907, 0.2724), (90.799, 5.7170)),
        ("RANSAC", "boston"): ((1.167, 0.6710), (22.460, 19.1987)),
        ("CRR", "boston"): ((0.636, 0.0905), (88.626, 5.7380)),
        ("STIR", "boston"): ((0.562, 0.0626), (78.878, 8.0164)),
        ("SEVER", "boston"): ((0.601, 0.0979), (5.980, 8.2603)),
        ("TERM", "boston"): ((0.608, 0.1357), (0.569, 0.0620)),
        (PAPERS, "boston"): ((0.503, 0.0470), (0.548, 0.0286)),
        (ORACLE, "boston"): ((0.630, 0.1015), (0.665, 0.1134)),
        ("KRR", "wine_quality_red"): ((0.894, 0.0404), (62.913, 7.4959)),
        ("RANSAC", "wine_quality_red"): ((1.489, 0.2730), (39.630, 13.0294)),
        ("CRR", "wine_quality_red"): ((0.818, 0.0224), (58.488, 3.5612)),
        ("STIR", "wine_quality_red"): ((0.828, 0.0293), (58.352, 4.6700)),
        ("SEVER", "wine_quality_red"): ((0.814, 0.0207), (9.065, 13.7632)),
        ("TERM", "wine_quality_red"): ((0.840, 0.0563), (0.827, 0.0255)),
        (PAPERS, "wine_quality_red"): ((0.813, 0.0357), (0.821, 0.0305)),
        (ORACLE, "wine_quality_red"): ((0.838, 0.0130), (0.865, 0.0222)),
        ("KRR", "concrete"): ((0.825, 0.0943), (77.383, 5.5692)),
        ("RANSAC", "concrete"): ((0.870, 0.2308), (23.629, 16.1023)),
        ("CRR", "concrete"): ((0.710, 0.0919), (73.932, 4.7867)),
        ("STIR", "concrete"): ((0.684, 0.0245), (76.555, 4.5927)),
        ("SEVER", "concrete"): ((0.684, 0.0438), (4.119, 8.2436)),
        ("TERM", "concrete"): ((0.780, 0.0734), (0.808, 0.0726)),
        (PAPERS, "concrete"): ((0.632, 0.0275), (0.703, 0.0427)),
        (ORACLE, "concrete"): ((0.763, 0.0390), (0.768, 0.0181)),
        ("KRR", "drug_qsar"): ((2.679, 0.1286), (141.690, 3.5297)),
        ("RANSAC", "drug_qsar"): ((2.801, 0.2004), (117.389, 8.3915)),
        ("CRR", "drug_qsar"): ((1.887, 0.1463), (152.827, 6.6038)),
        ("STIR", "drug_qsar"): ((1.721, 0.1520), (144.975, 5.4953)),
        ("SEVER", "drug_qsar"): ((1.469, 0.1162), (156.043, 4.5543)),
        ("TERM", "drug_qsar"): ((1.185, 0.1077), (1.147, 0.1258)),
        (PAPERS, "drug_qsar"): ((1.074, 0.1848), (2.413, 0.6737)),
        (ORACLE, "drug_qsar"): ((0.988, 0.0823), (0.985, 0.0838)),
    },
    accuracy=False,
)

SETTING = """
Label noise draws {share:.0%} of the training labels anew from N(5, 5²); label and
feature noise multiplies {share:.0%} of the rows, features by 100 and target by 10⁴. The
test rows are clean, and what counts is the test RMSE. **Not in the paper, and taken
here:** the share of wrong rows, which is not printed for this table; {share:.0%} was
inferred from the printed test errors, which it fits best, so that it is a setting taken
by looking at test errors. 80 % of the rows train (at most {rows:,}).
"""
ALGORITHM = """
The algorithm takes the printed 10⁵ steps under label noise and 10⁶ under feature noise,
without ridge or radius, and is told the number of wrong rows.
"""
OTHERS = """
KRR is scikit-learn's with a linear kernel and its default alpha 1, RANSAC
scikit-learn's with its defaults. SEVER (on ridge) and CRR are told ε, STIR is not; TERM
has t = −2. One alpha for these four and the trimmed fit is taken by the held-out error
of trimmed fits in three folds of the training rows, without the largest errors, as many
as rows are wrong: the rivals' penalty is not searched for them. "KRR, tuned" is a ridge
fit with an intercept, alpha by leave-one-out error; so is the oracle on the right rows.
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
        "It has some 400 features; 3,268 of its rows would be 80 %. Label noise, mean "
        "over the seeds named, at the printed steps and, for comparison, after fewer:"
    )
    rows, last = [], {}
    for count in sorted({r["cell"]["rows"] for r in records}):
        own = [r for r in records if r["cell"]["rows"] == count]
        path = {t: [r["path"][t] for r in own] for t in own[0]["path"]}
        words = [mean_sd(values) for values in path.values()]
        oracle = mean_sd([r["error"][ORACLE] for r in own])
        seeds = ", ".join(str(s) for s in sorted(r["cell"]["seed"] for r in own))
        rows.append((f"{count:,} rows", seeds, *words, oracle))
        last[count] = float(np.mean(list(path.values())[-1]))
    steps = [f"{int(t):,} steps" for t in records[0]["path"]]
    page.table(["training rows", "seeds", *steps, ORACLE], rows)
    fewest, most = min(last), max(last)
    page.say(
        f"At the printed steps the error is {last[fewest]:.3f} with {fewest:,} rows "
        f"and {last[most]:.3f} with {most:,} ({difference(last[most], last[fewest])})."
    )


#: Samples that scikit-learn's RANSAC draws, and features that vary (of the drug data
#: up to two less, by the split).
DRAWS = 100
FEATURES = {"boston": 13, "wine_quality_red": 11, "concrete": 8, "drug_qsar": 400}


def clean_draw(share: float, count: int, draws: int) -> float:
    """Chance that one of so many samples of `count` rows has no wrong row."""
    return float(1.0 - (1.0 - (1.0 - share) ** count) ** draws)


def report_ransac(records: list[Record], page: Page) -> None:
    """Why RANSAC is far from print, and from one seed to the next."""
    sets = list(dict.fromkeys(r["cell"]["data"] for r in records))
    chances = ", ".join(
        f"{clean_draw(SHARE, FEATURES[name] + 1, DRAWS):.0%} on {TITLES[name]} "
        f"({FEATURES[name]} features)"
        for name in sets
    )
    page.heading("RANSAC")
    page.say(
        f"By its defaults RANSAC draws {DRAWS} samples of one row more than there are "
        "features, and fits each by least squares. The chance that any of them is free "
        f"of wrong rows is {chances}. Where it is small all samples hold wrong rows, "
        "and which one fits most rows is luck: hence the deviations. How many samples "
        "the paper drew, and of how many rows, is not printed."
    )


def report(records: list[Record], page: Page) -> None:
    study = [r for r in records if r["cell"].get("study")]
    records = [r for r in records if not r["cell"].get("study")]
    most = max(r["cell"]["rows"] for r in records)
    setting = SETTING.format(share=SHARE, rows=most)
    page.say(joined(setting, SIZES, NOISE, SETS, SCALING))
    page.say(joined(START, ALGORITHM))
    page.say(joined(TRIMMED, OTHERS))
    write(TABLE, records, page, "Test RMSE of every method, printed and ours")
    report_ransac(records, page)
    chosen = ("drug_qsar", "label")
    report_rows(study + TABLE.at(records, chosen), page)


EXPERIMENT = Experiment(
    name="table2",
    paper="subquantile",
    title="Subquantile paper, table 2: linear regression with wrong rows",
    cells=cells,
    run=run,
    report=report,
    seeds=10,
)

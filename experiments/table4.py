"""Table 4 of the subquantile paper: several classes, Gaussian kernel, wrong labels."""

from collections.abc import Iterator

from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._page import Page
from experiments._subquantile import (
    CLASS_STEPS,
    EXACT,
    ORACLE,
    PAPERS,
    ROBUST,
    run_methods,
)
from experiments._subquantile_page import write
from experiments._subquantile_table import Table
from experiments._subquantile_words import CLASS_SCALING, START, TRIMMED, joined

METHODS = ("SVC", "TERM", "SEVER", PAPERS, ORACLE, EXACT, ROBUST[True])
#: Methods that share a search run together, the dearest one apart.
GROUPS = (METHODS[:-1], METHODS[-1:])
#: R of the caption.
RADIUS = {"iris": 1.0, "glass": 10.0, "wine": 100.0, "satimage": 1e4}

#: Table 4 as printed, ε = .2 and .4; ∞ stands for what was not run.
TABLE = Table(
    columns={"ε = 0.2": ("label", 0.2), "ε = 0.4": ("label", 0.4)},
    methods=METHODS,
    printed={
        ("SVC", "iris"): ((0.977, 0.0300), (0.757, 0.1155)),
        (PAPERS, "iris"): ((0.987, 0.0163), (0.820, 0.1720)),
        ("SVC", "glass"): ((0.553, 0.0969), (0.435, 0.0721)),
        (PAPERS, "glass"): ((0.656, 0.0804), (0.598, 0.0889)),
        ("SVC", "wine"): ((0.928, 0.0484), (0.678, 0.1368)),
        (PAPERS, "wine"): ((0.975, 0.0262), (0.867, 0.1971)),
        ("SVC", "satimage"): ((0.882, 0.0056), (0.732, 0.0168)),
        (PAPERS, "satimage"): ((0.899, 0.0076), (0.861, 0.0297)),
    },
    accuracy=True,
    apart=("satimage",),
)

SETTING = """
Some of the training rows get another class, drawn at random; the test rows are clean,
and what counts is the test accuracy. **Not in the paper, and taken here:** 80 % of the
rows train (of satimage {rows} instead of 5,148; it counts apart below. With 5,148 a
step of the algorithm took 0.1 s of one core: 10⁴ steps and those of the folds are some
40 minutes for one cell and seed, and the rivals are not in that).
"""
ALGORITHM = """
The algorithm (softmax loss, no ridge, R as printed: 1 for iris, 10 for glass, 100 for
wine, 10⁴ for satimage) is told the number of wrong rows; its number of steps is taken
from {steps} by the held-out log-loss in three folds of the training rows, without the
largest losses, as many as rows are wrong.
"""
OTHERS = """
SVC is scikit-learn's with its defaults, stopped after 200,000 iterations. SEVER (on
kernel logistic regression) is told ε, TERM has t = −2. gamma of all told methods (0.05
to 1.5 over the number of features), and one penalty for both and the trimmed fit, come
from the same folds with kernel logistic fits, likewise without the largest losses; none
is searched for a rival, and the oracle's are found on the right rows. RobustClassifier
is told nothing. The rows of the paper for TERM, SEVER and the oracle were not finished;
ours fill them in.
"""


def cells(settings: Settings) -> Iterator[Cell]:
    sets = settings.choose(TABLE.sets, TABLE.sets, ["wine"])
    shares = settings.choose((0.2, 0.4), (0.4,), (0.2,))
    columns = [column for column in TABLE.columns.values() if column[1] in shares]
    for data in sets:
        many = data == "satimage"
        rows = settings.choose(200 if many else None, 100 if many else None, 60)
        short = data == "satimage" and settings.size != "full"
        groups = GROUPS[:1] if short else GROUPS
        for noise, share in columns:
            for seed in range(settings.seeds):
                for group in groups:
                    yield {
                        "data": data, "noise": noise, "share": share, "seed": seed,
                        "rows": rows, "methods": list(group),
                        "last": settings.choose(CLASS_STEPS[-1], 1_000, 1_000),
                    }  # fmt: skip


def run(cell: Cell) -> Record:
    radius = RADIUS[cell["data"]]
    steps = tuple(count for count in CLASS_STEPS if count <= cell["last"])
    return run_methods(cell, kernel="rbf", classes=True, steps=steps, radius=radius)


def report(records: list[Record], page: Page) -> None:
    last = max(r["cell"]["last"] for r in records)
    steps = ", ".join(f"{count:,}" for count in CLASS_STEPS if count <= last)
    limits = {r["cell"]["rows"] for r in records if r["cell"]["rows"]}
    rows = f"at most {max(limits)}" if limits else "a part"
    page.say(joined(SETTING.format(rows=rows), CLASS_SCALING))
    page.say(joined(START, ALGORITHM.format(steps=steps)))
    page.say(joined(TRIMMED, OTHERS))
    write(TABLE, records, page, "Test accuracy of every method, printed and ours")


EXPERIMENT = Experiment(
    name="table4",
    paper="subquantile",
    title="Subquantile paper, table 4: several classes with wrong labels",
    cells=cells,
    run=run,
    report=report,
    seeds=10,
)

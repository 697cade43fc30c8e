"""Figure 1 of the subquantile paper: test RMSE over the steps of its algorithm."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks._robust_data import Rows
from benchmarks._robust_tuning import keeping

import lrisk
from experiments._drawing import grid, shared_legend, style
from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._page import Page, mean_sd
from experiments._subquantile import along, corrupted, error
from experiments._subquantile_words import NOISE, START, joined
from lrisk.datasets import corrupt_labels

SETS = {"concrete": "Concrete", "boston": "Boston housing", "polynomial": "Polynomial"}
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)

SETTING = """
The paper's algorithm, without ridge or radius, told the number of wrong rows: test RMSE
(clean rows) and the share of wrong rows among those it keeps, over its steps. Labels
are wrong as in table 1 (drawn from N(5, 5²)). Concrete and Boston as there, features
standardised by the right training rows, whose mask is known here and not to a user,
with the Gaussian kernel and gamma one over the number of features. The
polynomial data are those of table 1's caption: 1,000 rows, x ~ N(0, 1), y a cubic with
coefficients from N(0, 1) plus noise of variance 0.01, kernel (1 + x·x')³; degree 3 is
taken from the kernel, since the caption leaves the sum's end open. The paper prints no
numbers and no noise levels for this figure, so there is none to compare with; its text
claims that far fewer of the kept rows are wrong in the end than of all rows, and that
the decrease is greater the more are wrong.
"""


def polynomial(seed: int, share: float, count: int) -> Rows:
    """Table 1's synthetic rows; 80 % train."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(count)
    y = np.polynomial.polynomial.polyval(x, rng.standard_normal(4))
    y += 0.1 * rng.standard_normal(count)
    n = int(0.8 * count)
    X = x[:, None]
    bad = corrupt_labels(X[:n], y[:n], fraction=share, random_state=seed)
    return Rows(bad.X, bad.y, bad.mask, (), X[n:], y[n:])


def cells(settings: Settings) -> Iterator[Cell]:
    sets = settings.choose(list(SETS), list(SETS), ["boston", "polynomial"])
    last = settings.choose(5, 5, 3)
    for data in sets:
        for share in settings.choose(SHARES, SHARES, (0.2, 0.4)):
            for seed in range(settings.seeds):
                yield {
                    "data": data, "noise": "label", "share": share, "seed": seed,
                    "rows": settings.choose(1000, 500, 200), "last": last,
                }  # fmt: skip


def run(cell: Cell) -> Record:
    kernel: dict[str, Any]
    if cell["data"] == "polynomial":
        rows = polynomial(cell["seed"], cell["share"], cell["rows"])
        kernel = {"kernel": "poly", "degree": 3, "coef0": 1, "gamma": 1.0}
    else:
        rows = corrupted(cell, classes=False)
        rows = rows.scaled(~rows.mask)
        kernel = {"kernel": "rbf", "gamma": 1.0 / rows.X.shape[1]}
    n = len(rows.y)
    # Without wrong rows nothing is trimmed; the subquantile of all rows is the mean.
    spectrum = keeping(n - rows.wrong, n)
    model = lrisk.KernelRiskRegressor(spectrum, alpha=0.0, **kernel)
    # Three to a decade.
    steps = np.unique(np.round(np.logspace(0, cell["last"], 3 * cell["last"] + 1)))
    errors, wrong = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for now in along(model, steps.astype(int).tolist(), rows.X, rows.y):
            errors.append(error(now.predict(rows.test_X), rows.test_y, False))
            kept = getattr(now, "inlier_mask_", np.ones(n, dtype=bool))
            wrong.append(float(rows.mask[kept].mean()))
    return {"steps": steps.tolist(), "rmse": errors, "wrong": wrong}


def of(records: list[Record], data: str, share: float) -> list[Record]:
    """Runs of one curve."""
    return [
        r for r in records if r["cell"]["data"] == data and r["cell"]["share"] == share
    ]


def report(records: list[Record], page: Page) -> None:
    page.say(joined(SETTING, NOISE))
    page.say(joined(START))
    sets = list(dict.fromkeys(r["cell"]["data"] for r in records))
    shares = sorted({r["cell"]["share"] for r in records})
    _draw(records, sets, shares, page)
    page.heading("Numbers")
    rows, cleaner, greater = [], 0, 0
    for data in sets:
        decrease = []
        for share in shares:
            own = of(records, data, share)
            curve = np.mean([r["rmse"] for r in own], axis=0)
            steps = own[0]["steps"]
            left = float(np.mean([r["wrong"][-1] for r in own]))
            rows.append(
                (
                    f"{SETS[data]}, ε = {share:g}",
                    mean_sd([r["rmse"][0] for r in own]),
                    f"{curve.min():.3f} after {int(steps[int(curve.argmin())]):,}",
                    mean_sd([r["rmse"][-1] for r in own]),
                    f"{share:.1%}",
                    f"{left:.1%}",
                )
            )
            if share > 0:
                cleaner += left < share / 2
                decrease.append(share - left)
        greater += decrease == sorted(decrease)
    last = int(records[0]["steps"][-1])
    columns = [
        "curve", "RMSE after 1 step", "least, of the mean curve", f"after {last:,}",
        "wrong of all rows", "wrong of the kept rows",
    ]  # fmt: skip
    page.table(columns, rows)
    noisy = sum(share > 0 for share in shares) * len(sets)
    page.say(
        f"At the end less than half the original share of wrong rows is left among the "
        f"kept ones in {cleaner} of {noisy} curves with wrong rows; the decrease grows "
        f"with ε throughout in {greater} of {len(sets)} data sets."
    )
    page.say(_overfitting(records, sets, shares))
    if "polynomial" in sets:
        page.say(_stuck(records, shares))


def _overfitting(records: list[Record], sets: list[str], shares: list[float]) -> str:
    """Where more steps made it worse."""
    found = []
    for data in sets:
        for share in shares:
            curve = np.mean([r["rmse"] for r in of(records, data, share)], axis=0)
            if curve[-1] > 1.05 * curve.min():
                found.append(f"{SETS[data]} at ε = {share:g}")
    count = len(sets) * len(shares)
    text = f"The last error is more than 5 % above the least in {len(found)} of {count}"
    return text + (f" curves: {'; '.join(found)}." if found else " curves.")


def _stuck(records: list[Record], shares: list[float]) -> str:
    """How often the cubic is not found, by share of wrong rows."""
    counts = []
    for share in shares:
        own = of(records, "polynomial", share)
        lost = sum(r["rmse"][-1] > 0.2 for r in own)
        counts.append(f"{lost} of {len(own)} at ε = {share:g}")
    return (
        "Runs on the polynomial data that end above twice the noise (0.2): "
        f"{', '.join(counts)}."
    )


def _draw(
    records: list[Record], sets: list[str], shares: list[float], page: Page
) -> None:
    figure, axes = grid(2, len(sets), width=3.2, height=2.3)
    for column, data in enumerate(sets):
        for index, share in enumerate(shares):
            own = of(records, data, share)
            steps, label = own[0]["steps"], f"ε = {share:g}"
            for ax, name in zip(axes[:, column], ("rmse", "wrong")):
                curves = np.array([r[name] for r in own])
                ax.plot(steps, curves.mean(axis=0), label=label, **style(index))
                low, high = curves.min(axis=0), curves.max(axis=0)
                colour = style(index)["color"]
                ax.fill_between(steps, low, high, color=colour, alpha=0.12, lw=0)
        for ax in axes[:, column]:
            ax.set_xscale("log")
            ax.set_xlabel("steps")
        axes[0, column].set_yscale("log")
        axes[0, column].set_title(SETS[data])
    axes[0, 0].set_ylabel("test RMSE")
    axes[1, 0].set_ylabel("wrong rows among the kept")
    shared_legend(figure, axes)
    words = "Test RMSE and share of wrong rows kept over the steps; bands: all seeds"
    page.figure(figure, words)


EXPERIMENT = Experiment(
    name="figure1",
    paper="subquantile",
    title="Subquantile paper, figure 1: test error over the steps",
    cells=cells,
    run=run,
    report=report,
)

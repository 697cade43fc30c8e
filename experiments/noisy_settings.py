"""Noisy-data paper: its three settings on one synthetic and two real data sets."""

import warnings
from typing import Any

import numpy as np

from experiments._drawing import COLOURS, grid
from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._noisy import SIGMA, noisy_rows, rmse
from experiments._page import Page, mean_sd
from lrisk import (
    NoiseCorrectedKernelRegressor,
    NoiseCorrectedRegressor,
    NoiseMismatchWarning,
)
from lrisk.noise import Exact, GaussianNoise, KnownCovariance

DATA = ("synthetic", "diabetes", "concrete")
#: Squared widths that are tried; the corrected loss on noisy rows chooses.
WIDTHS = (1.0, 2.0, 4.0, 8.0, 16.0)

#: Words of the methods, in the order of the table.
METHODS = {
    "clean": "clean rows (nobody has them)",
    "naive": "one noisy copy, not corrected",
    "naive mean": "mean of two noisy copies, not corrected",
    "setting 1": "setting 1: two copies, nothing known of the noise",
    "setting 2": "setting 2: one copy, covariance known",
    "kernel clean": "kernel, clean rows (nobody has them)",
    "kernel naive": "kernel, one noisy copy, not corrected",
    "kernel naive mean": "kernel, mean of two noisy copies, not corrected",
    "setting 3": "setting 3: kernel, two copies, Gaussian noise",
}


def cells(settings: Settings) -> list[Cell]:
    rows = settings.choose(None, None, 400)
    widths = settings.choose(WIDTHS, WIDTHS, (2.0, 8.0))
    return [
        {"data": name, "seed": seed, "rows": rows, "widths": list(widths)}
        for name in DATA
        for seed in range(settings.seeds)
    ]


def run(cell: Cell) -> Record:
    rows = noisy_rows(cell["data"], cell["seed"], cell["rows"])
    known, gaussian = KnownCovariance(SIGMA**2), GaussianNoise(SIGMA**2)
    middle = 0.5 * (rows.first + rows.second)
    linear: dict[str, tuple[Any, Any, Any]] = {
        "clean": (Exact(), rows.X, None),
        "naive": (Exact(), rows.first, None),
        "naive mean": (Exact(), middle, None),
        "setting 1": (None, rows.first, rows.second),
        "setting 2": (known, rows.first, None),
    }
    curved: dict[str, tuple[Any, Any, Any]] = {
        "kernel clean": (Exact(), rows.X, None),
        "kernel naive": (Exact(), rows.first, None),
        "kernel naive mean": (Exact(), middle, None),
        "setting 3": (gaussian, rows.first, rows.second),
    }
    found: Record = {}
    for way in ("fit", "partial_fit"):
        for name, (noise, X, X2) in linear.items():
            model = NoiseCorrectedRegressor(noise)
            getattr(model, way)(X, rows.y, X2=X2)
            found[f"{name}|{way}"] = rmse(model.predict(rows.test_X), rows.test_y)
    corrected = {}
    for name, (noise, X, X2) in curved.items():
        own = NoiseCorrectedKernelRegressor(noise, random_state=cell["seed"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseMismatchWarning)
            own.fit(X, rows.y, X2=X2)
        found[f"{name}|fit"] = rmse(own.predict(rows.test_X), rows.test_y)
        corrected[name] = own.correction_ > 0.0
        tried = [
            NoiseCorrectedKernelRegressor(
                noise,
                gamma=1.0 / width,
                n_components=300,
                random_features=True,
                random_state=cell["seed"],
            ).partial_fit(X, rows.y, X2=X2)
            for width in cell["widths"]
        ]
        best = min(tried, key=lambda model: model.progressive_loss_)
        found[f"{name}|partial_fit"] = rmse(best.predict(rows.test_X), rows.test_y)
    return {"rmse": found, "corrected": corrected}


def values(records: list[Record], data: str, method: str, way: str) -> list[float]:
    """Errors over seeds; empty where a method has no such way."""
    return [
        record["rmse"][f"{method}|{way}"]
        for record in records
        if record["cell"]["data"] == data and f"{method}|{way}" in record["rmse"]
    ]


def report(records: list[Record], page: Page) -> None:
    page.say(
        "The paper has no experiments, so there are no printed numbers. Features and "
        f"target are standardised, Gaussian noise of σ = {SIGMA} is added to every "
        "feature of the training rows, twice independently; the test rows are clean. "
        "RMSE on them, in standard deviations of the target (predicting the mean costs "
        "1). Batch is `fit`, one pass is `partial_fit`, every row seen once. Kernel "
        "fits in batch have every parameter at its default; in one pass the width is "
        "chosen. Steps, penalties and widths come from the noisy rows alone. What a "
        "setting "
        "wins back is measured against an uncorrected fit to as many copies. The "
        "figure shows linear fits in batch and kernel fits in one pass."
    )
    for way, title in (("fit", "Batch"), ("partial_fit", "One pass")):
        page.heading(title)
        rows = []
        for method, words in METHODS.items():
            by_data = [values(records, name, method, way) for name in DATA]
            if any(by_data):
                rows.append((words, *(mean_sd(found) for found in by_data)))
        page.table(("method", *DATA), rows)
    page.heading("What it says")
    for name in DATA:
        page.say(_verdict(records, name))
    taken = {
        name: [
            r["corrected"]["setting 3"] for r in records if r["cell"]["data"] == name
        ]
        for name in DATA
    }
    told = ", ".join(f"{name} {sum(v)} of {len(v)}" for name, v in taken.items())
    page.say(
        "In batch setting 3 takes a corrected fit only where its corrected risk on "
        f"held-out rows shows that it is better (`correction_`): {told}. Elsewhere "
        "it is "
        "the uncorrected fit to the mean of the copies, with the width that the noise "
        "asks for."
    )
    page.figure(_drawn(records), "Error on clean rows by method and data set.")


def closed(records: list[Record], name: str, method: str, way: str) -> str:
    """How much of what the noise costs an uncorrected fit is won back, in words."""
    # Two copies are compared with what the mean of two would give without correction.
    prefix = "kernel " if method == "setting 3" else ""
    rival = prefix + ("naive" if method == "setting 2" else "naive mean")
    naive, clean, ours = (
        np.array(values(records, name, one, way))
        for one in (rival, prefix + "clean", method)
    )
    cost = naive - clean
    error = np.std(cost, ddof=1) / np.sqrt(len(cost)) if len(cost) > 1 else 0.0
    words = {"fit": "in batch", "partial_fit": "in one pass"}[way]
    if cost.mean() <= 2.0 * error:
        return (
            f"{method} {words}: the noise costs {cost.mean():.3f} ± {error:.3f}, too "
            "little to say what was won back"
        )
    share = (naive - ours).mean() / cost.mean()
    if share < 0.0:
        return (
            f"{method} {words} is worse than the uncorrected fit, by "
            f"{(ours - naive).mean():.3f} where the noise costs {cost.mean():.3f}"
        )
    return (
        f"{method} {words} wins back {100 * share:.0f} % of the {cost.mean():.3f} that "
        "the noise costs"
    )


def _verdict(records: list[Record], name: str) -> str:
    ways = [(m, w) for m in ("setting 1", "setting 2") for w in ("fit", "partial_fit")]
    ways += [("setting 3", way) for way in ("fit", "partial_fit")]
    told = "; ".join(closed(records, name, method, way) for method, way in ways)
    return f"**{name}**: {told}."


def _drawn(records: list[Record]):
    figure, axes = grid(1, len(DATA), width=3.4, height=2.8)
    for ax, name in zip(axes[0], DATA):
        for place, method in enumerate(METHODS):
            way = "partial_fit" if "kernel" in METHODS[method] else "fit"
            found = values(records, name, method, way)
            colour = COLOURS[0] if method.startswith("setting") else "0.6"
            ax.barh(place, np.mean(found), xerr=np.std(found, ddof=1), color=colour)
        ax.set_yticks(range(len(METHODS)), list(METHODS) if ax is axes[0, 0] else [])
        ax.invert_yaxis()
        ax.set_title(name)
        ax.set_xlabel("RMSE on clean rows")
        ax.grid(axis="y", visible=False)
    return figure


EXPERIMENT = Experiment(
    name="noisy-settings",
    paper="noisy",
    title="Noisy-data paper: the three settings on synthetic and real data",
    cells=cells,
    run=run,
    report=report,
)

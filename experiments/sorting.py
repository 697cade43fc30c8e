"""Spectral paper, figure 3: whether the order of the losses settles under LSVRG."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments._curves import panels
from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._page import Page
from experiments._spectral import halves, problem, spectra, tuned, whole
from lrisk.solvers import LSVRG

#: Bands of ranks in a heat map.
BANDS = 80
#: The order counts as settled where at most this share of the ranks changes hands.
SETTLED = 0.05


class Watched(LSVRG):
    """LSVRG whose history has the order of the losses at the start of each epoch."""

    def noted(self, state: Any) -> dict[str, Any]:
        """The order that was used in the last epoch."""
        return {"order": state.order}


def cells(settings: Settings) -> Iterator[Cell]:
    for risk, spectrum in spectra().items():
        for seed in range(1, settings.seeds + 1):
            yield {"risk": risk, "spectrum": spectrum, "seed": seed, "epochs": 64}


def run(cell: Cell) -> Record:
    """Share of ranks that change hands in an epoch, in per cent, by band of ranks."""
    data = halves("simulated")
    objective = problem(data.X, data.y, cell["spectrum"])
    solver = Watched(max_epochs=cell["epochs"])
    rate = tuned(solver, objective, (1, 2, 3))
    solver.set_params(learning_rate=rate)
    rng = np.random.default_rng(cell["seed"])
    found = whole(solver.run(objective, rng=rng, proof=False))
    orders = np.array([entry["order"] for entry in found.history])
    moved = orders[1:] != orders[:-1]
    bands = moved.reshape(len(moved), BANDS, -1).mean(axis=2)
    return {
        "rate": rate,
        "moved": [round(float(share), 4) for share in moved.mean(axis=1)],
        "bands": np.rint(100 * bands).astype(int).tolist(),
    }


def settled(moved: list[float]) -> int | None:
    """First epoch from which the order stays settled; None if it never does."""
    restless = np.flatnonzero(np.asarray(moved) > SETTLED)
    epoch = int(restless[-1]) + 1 if len(restless) else 0
    return epoch + 1 if epoch < len(moved) else None


def _rows(records: list[Record]) -> Iterator[list[str]]:
    for risk in dict.fromkeys(r["cell"]["risk"] for r in records):
        among = [r for r in records if r["cell"]["risk"] == risk]
        when = [settled(r["moved"]) for r in among]
        known = [epoch for epoch in when if epoch is not None]
        first = np.mean([r["moved"][0] for r in among])
        last = np.mean([np.mean(r["moved"][-8:]) for r in among])
        after = f"{np.median(known):.0f}" if known else "–"
        count = f"{len(known)} of {len(when)}"
        spectrum = among[0]["cell"]["spectrum"]
        yield [spectrum, f"{first:.1%}", f"{last:.2%}", count, after]


def report(records: list[Record], page: Page) -> None:
    page.say(
        "LSVRG sorts the losses once an epoch and trusts that order until the next. "
        "Shown is how many ranks another row holds at the next sort: simulated data, "
        "800 rows, μ = 1/n, learning rate by the paper's rule over three seeds. The "
        f"order counts as settled from the epoch on after which at most {SETTLED:.0%} "
        "of the ranks change hands in any epoch."
    )
    columns = ["risk", "changed, first epoch", "changed, last 8", "runs that settle"]
    page.table([*columns, "from epoch (median)"], _rows(records))
    risks = list(dict.fromkeys(r["cell"]["risk"] for r in records))
    smooth = [r for r in records if r["cell"]["risk"] != "superquantile"]
    sharp = [r for r in records if r["cell"]["risk"] == "superquantile"]
    calm = sum(settled(r["moved"]) is not None for r in smooth)
    still = sum(settled(r["moved"]) is not None for r in sharp)
    page.say(
        "The paper sees a phase change after which disagreements cannot be seen, for "
        f"every risk but the superquantile. Ours: the order settles in {calm} of "
        f"{len(smooth)} runs of the other risks and in {still} of {len(sharp)} of the "
        "superquantile: the statement "
        f"{'holds' if calm == len(smooth) and not still else 'does not hold in full'}."
    )
    figure, axes = panels(["simulated"], risks, "epoch", "rank of the loss")
    image = None
    for ax, risk in zip(axes[0], risks):
        bands = next(r["bands"] for r in records if r["cell"]["risk"] == risk)
        extent = (1, len(bands) + 1, 0, 800)
        image = ax.imshow(
            np.array(bands).T,
            origin="lower",
            aspect="auto",
            extent=extent,
            vmin=0,
            vmax=100,
            cmap="cividis",
            interpolation="nearest",
        )
        ax.grid(False)
    figure.colorbar(image, ax=axes, label="% of ranks changed")
    page.heading("Figure 3")
    page.say("First seed; bands of ten ranks, the largest losses at the top.")
    page.figure(figure, "ranks that change hands, by epoch")


EXPERIMENT = Experiment(
    name="sorting",
    paper="spectral",
    title="Does the order of the losses settle? (spectral paper, figure 3)",
    cells=cells,
    run=run,
    report=report,
)

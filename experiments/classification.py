"""Spectral paper, figures 4 and 5: multinomial regression on images and on text."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.integrate import trapezoid

from experiments._classifying import LEVELS, LONG, NAMES, SETS, SHORT, run
from experiments._curves import draw, final, finish, panels
from experiments._drawing import style
from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._page import Page
from experiments._spectral import spectra
from lrisk.solvers.stochastic.tuning import GRID

RISKS = tuple(spectra())
#: Ranges of the levels p: the lower half, the middle, the far tail.
SPANS = ((0.0, 0.5), (0.5, 0.95), (0.95, 1.0))
#: Means over a range that are at most so far apart, in mean losses, count as similar.
SIMILAR = 0.1
#: Gradients of an epoch on the axis of the paper's figure 4.
PAPER_UNIT = 6400


def cells(settings: Settings) -> Iterator[Cell]:
    for data in settings.choose(tuple(SETS), tuple(SETS), ("emotion",)):
        full = SETS[data][3]
        passes = settings.choose(full, full // 8, 8)
        rows = settings.choose(None, None, 1000)
        yield {"kind": "quantiles", "data": data, "rows": None}
        for risk, spectrum in spectra().items():
            for name in NAMES:
                yield {
                    "kind": "curves",
                    "data": data,
                    "rows": rows,
                    "risk": risk,
                    "spectrum": spectrum,
                    "method": name,
                    "passes": passes,
                    "rates": settings.choose(GRID, GRID[2::2], GRID[2::2]),
                    "seeds": settings.seeds,
                }


def _at(line: list[float], low: float, high: float) -> float:
    """Mean difference over p from low to high, by the trapezoidal rule.

    The levels lie closer to each other above 0.9; the first of them stands for zero.
    """
    low = max(low, LEVELS[0])
    inside = LEVELS[(low < LEVELS) & (high > LEVELS)]
    p = np.r_[low, inside, high]
    return float(trapezoid(np.interp(p, LEVELS, line), p) / (high - low))


def _tail(page: Page, record: Record) -> None:
    """Table and statement of the upper row of a figure."""
    lines = record["differences"]
    means = {risk: [_at(line, *span) for span in SPANS] for risk, line in lines.items()}
    rows = [
        [risk, *(f"{mean:+.3f}" for mean in found), *_fit(record, risk)]
        for risk, found in means.items()
    ]
    rows.append(["mean (ERM)", "0", "0", "0", *_fit(record, "mean")])
    columns = ["risk", "p ≤ 0.5", "0.5 < p ≤ 0.95", "p > 0.95", "test accuracy"]
    page.table([*columns, "certified gap", "its CPU s", "its passes"], rows)
    higher = [risk for risk, line in lines.items() if _at(line, 0.5, 1.0) > 0]
    page.say(
        "Quantiles of the test losses of ERM less those of the certified minimiser of "
        "the risk, over the mean test loss of ERM: above zero means better than ERM; "
        "means over p in each range. The paper: for p > 0.5 ERM can have much higher "
        "losses. Ours, lower than ERM in the mean over p > 0.5: "
        f"{_listed(higher)}."
    )
    page.say(STATEMENTS[record["cell"]["data"]](means))


def images(means: dict[str, list[float]]) -> str:
    """What the paper says of the risks on iWildCam, and what was found."""
    through = [risk for risk, found in means.items() if min(found) > 0]
    only = [risk for risk, (_, mid, far) in means.items() if far > 0 >= mid]
    return (
        "The paper, on iWildCam: the superquantile controls the tail at p > 0.95 but "
        "generally does worse in the rest; the extremile and the ESRM are generally "
        f"better than ERM throughout. Ours, better in all three ranges: "
        f"{_listed(through)}; better for p > 0.95 and not between 0.5 and 0.95: "
        f"{_listed(only)}."
    )


def texts(means: dict[str, list[float]]) -> str:
    """What the paper says of the risks on emotion, and what was found."""
    apart = [max(found) - min(found) for found in zip(*means.values())]
    better = [risk for risk, (_, _, far) in means.items() if far > 0]
    alike = "similar" if max(apart) <= SIMILAR else "not similar"
    return (
        "The paper, on emotion: ERM has large losses in the upper tail; superquantile, "
        "extremile and ESRM behave alike, and stably. Ours, better than ERM for p > "
        f"0.95: {_listed(better)}; the means of the three are at most "
        f"{', '.join(f'{gap:.3f}' for gap in apart)} mean losses apart in the three "
        f"ranges, so {alike} (we take {SIMILAR} for the limit); the lowest of all "
        f"these means is {min(min(found) for found in means.values()):+.3f}."
    )


#: The paper says another thing of each set.
STATEMENTS = {"iwildcam": images, "emotion": texts}


def _fit(record: Record, risk: str) -> list[str]:
    """Accuracy on the test rows, and what the certified fit proved and took."""
    fit = record["certified"][risk]
    spent = [f"{fit['seconds'][-1]:.1f}", f"{fit['passes'][-1]:.0f}"]
    return [f"{record['accuracy'][risk]:.3f}", f"{fit['gap']:.0e}", *spent]


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _methods(page: Page, found: dict[str, dict[str, Any]]) -> None:
    """Table and statement of the lower row of a figure."""
    rows, first = [], dict.fromkeys(NAMES, 0)
    better: list[str] = []
    shorter: list[str] = []
    for risk, runs in found.items():
        ends = {name: final(runs[name]["curves"]) for name in NAMES}
        shown = [f"{ends[name]:.2f} ({runs[name]['rate']:g})" for name in NAMES]
        rows.append([risk, *shown])
        first[min(ends, key=lambda name: ends[name])] += 1
        if ends[SHORT] < min(ends["SGD"], ends["SRDA"]):
            better.append(risk)
        if ends[SHORT] < ends[LONG]:
            shorter.append(risk)
    page.table(["risk", *NAMES], rows)
    wins = ", ".join(f"{name} {count}" for name, count in first.items() if count)
    page.say(
        "log10 of the suboptimality after these passes, median over the seeds "
        f"(learning rate). Lowest, of {len(rows)} risks: {wins}. The paper: SGD and "
        "SRDA fail to converge, LSVRG does better, and with an epoch of n steps its "
        "bias is worse. Ours, at equal numbers of new gradients, the full ones of "
        f"LSVRG counted: LSVRG with the paper's N ends below SGD and SRDA for "
        f"{_listed(better)}, and below LSVRG with N = n for {_listed(shorter)}."
    )


def report(records: list[Record], page: Page) -> None:
    seeds = next(r["cell"]["seeds"] for r in records if r["cell"]["kind"] == "curves")
    page.say(
        "Multinomial logistic regression, μ = 1/n, features standardised, no "
        "intercept. *iwildcam* is a stand-in: the paper's 20,000 training rows of 157 "
        "ResNet-50 features could not be had, and we take an earlier cut of the same "
        "authors with ResNet-18 features. *emotion* is the text set with BERT features "
        "tuned on other rows. LSVRG sorts every N = 100 (iwildcam) or 1,000 (emotion) "
        "steps as in the paper; also shown is N = n. The paper does not say how long "
        "it ran; learning rates are from its grid by its rule, but with the first of "
        f"the {seeds} seeds only, to save time. F* is certified to a relative gap of "
        "1e-6, so smaller errors are not told apart."
    )
    page.say(
        "A pass is n new gradients of single rows: a full gradient of LSVRG is one, "
        "and a step of it one n-th, because the slopes at the checkpoint are kept (by "
        "the text of the paper a step takes two gradients, the second of them at the "
        "checkpoint). The axis of the paper's figure 4 has another unit: its epochs "
        f"are 100 batches of 64, that is {PAPER_UNIT:,} gradients. Panels of curves "
        "end a little above the start: what has diverged or jumped above it leaves "
        "them at the top."
    )
    for data, (figure, _, length, _) in SETS.items():
        among = [r for r in records if r["cell"]["data"] == data]
        if not among:
            continue
        tail = next(r for r in among if r["cell"]["kind"] == "quantiles")
        found: dict[str, dict[str, Any]] = {risk: {} for risk in RISKS}
        passes = 0
        for record in among:
            if record["cell"]["kind"] == "curves":
                cell = record["cell"]
                found[cell["risk"]][cell["method"]] = record["runs"]
                passes = record["cell"]["passes"]
        n, d, k, tested = tail["shape"]
        page.heading(f"{figure}: {data}")
        page.say(
            f"{n} training rows, {d} features, {k} classes, {tested} test rows; N = "
            f"{length}, {passes} passes{_unit(records, data, n)}."
        )
        _tail(page, tail)
        _methods(page, found)
        page.figure(_drawing(tail, found), f"{figure}: {data}", data)


def _unit(records: list[Record], data: str, n: int) -> str:
    """What a pass is in the unit of figure 4, where all rows are trained on."""
    cut = any(r["cell"]["rows"] for r in records if r["cell"]["data"] == data)
    known = SETS[data][0] == "Figure 4" and not cut
    return f" (one is {n / PAPER_UNIT:.2f} of the paper's epochs)" if known else ""


def _drawing(tail: Record, found: dict[str, dict[str, Any]]) -> Any:
    figure, axes = panels(["", ""], RISKS, "passes", "log10 suboptimality")
    axes[0, 0].axis("off")
    for j, risk in enumerate(RISKS):
        draw(axes[1, j], found[risk], tail["certified"][risk])
        # The certified solver goes on far below; its end is in the table.
        runs = found[risk].values()
        longest = max(r["passes"] * (len(r["curves"][0]) - 1) for r in runs)
        low = min(min(curve) for r in runs for curve in r["curves"])
        axes[1, j].set(xlim=(0, 1.3 * longest), ylim=(low - 0.7, 0.1))
        if risk != "mean":
            ax = axes[0, j]
            ax.axhline(0.0, color="black", lw=0.8)
            ax.plot(LEVELS, tail["differences"][risk], color=style(6)["color"], lw=1.3)
            ax.set_xlabel("level p")
    axes[0, 1].set_ylabel("ERM − risk,\nin mean losses")
    return finish(figure, axes)


EXPERIMENT = Experiment(
    name="classification",
    paper="spectral",
    title="Images and text (spectral paper, figures 4 and 5)",
    cells=cells,
    run=run,
    report=report,
)

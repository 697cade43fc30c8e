"""Spectral paper, figure 20: suboptimality over CPU time."""

from collections.abc import Iterator

import numpy as np

from experiments._curves import draw, final, finish, median, panels
from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._page import Page
from experiments._spectral import METHODS, SETS, compare, spectra

RISKS = tuple(spectra())
BIASED = ("SGD", "SRDA")
VARIANTS = ("LSVRG", "LSVRG by rank")
#: log10 of the suboptimalities to which times are taken.
TARGETS = (-2.0, -4.0, -6.0)


def cells(settings: Settings) -> Iterator[Cell]:
    for data in settings.choose(SETS, SETS, ("yacht",)):
        for risk, spectrum in spectra().items():
            yield {
                "data": data,
                "risk": risk,
                "spectrum": spectrum,
                "alpha": 1.0,
                "seeds": settings.seeds,
                "epochs": 64,
            }


def _reached(record: Record, method: str, target: float) -> float:
    """CPU milliseconds to a suboptimality; infinite where it was not reached."""
    if method == "certified":
        certified = record["certified"]
        seconds, curve = np.array(certified["seconds"]), np.array(certified["curve"])
    else:
        runs = record["methods"][method]
        curve = median(runs["curves"])
        seconds = runs["seconds"] * np.arange(len(curve))
    below = np.flatnonzero(curve <= target)
    return 1e3 * float(seconds[below[0]]) if len(below) else np.inf


def _statement(page: Page, records: list[Record]) -> None:
    """Decades gained by LSVRG over the biased methods, and what an epoch costs."""
    rows = []
    for data in dict.fromkeys(r["cell"]["data"] for r in records):
        among = [r for r in records if r["cell"]["data"] == data]
        gains, ratios = [], []
        for record in among:
            found = record["methods"]
            best = min(final(found[name]["curves"]) for name in VARIANTS)
            gains.append(min(final(found[n]["curves"]) for n in BIASED) - best)
            slow = np.mean([found[name]["seconds"] for name in VARIANTS])
            ratios.append(slow / np.mean([found[n]["seconds"] for n in BIASED]))
        span = f"{min(gains):.1f} to {max(gains):.1f}"
        rows.append([data, span, f"{np.median(ratios):.1f}"])
    page.table(["data", "decades gained by LSVRG", "epoch of LSVRG / of SGD"], rows)
    page.say(
        "The paper says: LSVRG gains about one decade on yacht and up to four on "
        "concrete, and SGD and SRDA run about a hundred times as fast, in its Python "
        "code. Here every method is compiled, and the table has the ratio of CPU times "
        "of an epoch (median over the four risks); the decades are those of the better "
        "variant of LSVRG over the better of SGD and SRDA after 64 epochs."
    )


def _limits(records: list[Record]) -> tuple[float, float]:
    """From the shortest to the longest time of any curve."""
    ends = [r["certified"]["seconds"][0] for r in records]
    ends += [r["certified"]["seconds"][-1] for r in records]
    for record in records:
        for runs in record["methods"].values():
            ends += [2 * runs["seconds"], record["cell"]["epochs"] * runs["seconds"]]
    return 0.8 * min(ends), 1.25 * max(ends)


def report(records: list[Record], page: Page) -> None:
    page.say(
        "The runs of figure 2 (μ = 1/n, (q, r, ρ) = (0.5, 2, 1); learning rates by the "
        "paper's rule, their search not counted) over CPU time of one thread. Each "
        "epoch includes one evaluation of F, which LSVRG needs for itself. Times are "
        "of the machine that made this page: compare them with each other only."
    )
    _statement(page, records)
    for target in TARGETS:
        page.heading(f"CPU milliseconds to a suboptimality of 1e{target:.0f}")
        names = [*METHODS, "certified"]
        rows, wins = [], dict.fromkeys(names, 0)
        for record in records:
            times = {name: _reached(record, name, target) for name in names}
            cell = record["cell"]
            shown = ["–" if np.isinf(t) else f"{t:.2f}" for t in times.values()]
            rows.append([f"{cell['data']} {cell['spectrum']}", *shown])
            wins[min(times, key=lambda name: times[name])] += 1
        page.table(["problem", *names], rows)
        order = sorted(wins, key=lambda name: -wins[name])
        first = ", ".join(f"{name} {wins[name]}" for name in order if wins[name])
        page.say(f"First to arrive, of {len(records)} problems: {first}.")
    sets = list(dict.fromkeys(r["cell"]["data"] for r in records))
    limits = _limits(records)
    figure, axes = panels(sets, RISKS, "CPU seconds", "log10 suboptimality")
    for record in records:
        cell = record["cell"]
        ax = axes[sets.index(cell["data"]), RISKS.index(cell["risk"])]
        draw(ax, record["methods"], record["certified"], against="seconds")
        ax.set(xscale="log", xlim=limits)
        ax.xaxis.set_minor_formatter("")
    page.heading("Figure 20")
    page.figure(finish(figure, axes), "suboptimality over CPU time")


EXPERIMENT = Experiment(
    name="runtime",
    paper="spectral",
    title="Suboptimality over CPU time (spectral paper, figure 20)",
    cells=cells,
    run=compare,
    report=report,
)

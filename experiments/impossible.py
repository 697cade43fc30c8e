"""Noisy-data paper: one copy and no knowledge of the noise is not enough.

Two worlds give the learner rows of the same distribution, so that no learner can tell
them apart, but their best predictors differ. In a world of signal share v,

    x ~ N(0, v),   x̃ = x + N(0, 1 − v),   y = (c/v)x + N(0, s − c²/v)

x̃ has the variance 1, y the variance s, and their covariance is c, whatever v is.
"""

from typing import Any

import numpy as np

from experiments._drawing import grid, shared_legend, style
from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._page import Page, mean_sd
from lrisk import NoiseCorrectedRegressor
from lrisk.noise import Exact, KnownCovariance, Replicates

#: Shares of the signal in the two worlds, c and s.
WORLDS = {"A": 0.5, "B": 0.9}
C, S = 0.5, 0.75
#: What the learner believes; only the last one sees a second copy.
LEARNERS: dict[str, Any] = {
    "one copy, not corrected": Exact(),
    "one copy, corrected for world A": KnownCovariance(1.0 - WORLDS["A"]),
    "one copy, corrected for world B": KnownCovariance(1.0 - WORLDS["B"]),
    "two copies, nothing known": Replicates(),
}


def cells(settings: Settings) -> list[Cell]:
    last = settings.choose(64_000, 16_000, 2_000)
    rounds = [
        T for T in (500, 1000, 2000, 4000, 8000, 16000, 32000, 64000) if last >= T
    ]
    return [
        {"world": world, "learner": learner, "rounds": T, "seed": seed}
        for world in WORLDS
        for learner in LEARNERS
        for T in rounds
        for seed in range(settings.seeds)
    ]


def drawn(world: str, T: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Clean rows, two copies of them, targets."""
    v = WORLDS[world]
    x = np.sqrt(v) * rng.normal(size=(T, 1))
    copies = [x + np.sqrt(1.0 - v) * rng.normal(size=x.shape) for _ in range(2)]
    y = C / v * x[:, 0] + np.sqrt(S - C**2 / v) * rng.normal(size=T)
    return x, copies, y


def least_regret(v: float, u: float) -> float:
    """Regret a round, in the worse of two worlds, that no single w avoids.

    With w the excess is v(w − c/v)² and u(w − c/u)²; the least larger one.
    """
    gap = C / v - C / u
    return float(v * u * gap**2 / (np.sqrt(v) + np.sqrt(u)) ** 2)


def run(cell: Cell) -> Record:
    rng = np.random.default_rng(cell["seed"])
    _, (P, Q), y = drawn(cell["world"], cell["rounds"], rng)
    noise = LEARNERS[cell["learner"]]
    v = WORLDS[cell["world"]]
    model = NoiseCorrectedRegressor(noise, fit_intercept=False, radius=2.0)
    X2 = None if noise.knows_covariance else Q
    model.partial_fit(P, y, X2=X2)
    # Excess risk of the average on clean rows: E(⟨w̄ − c/v, x⟩)².
    excess = v * (float(model.coef_[0]) - C / v) ** 2
    moments = np.cov(np.column_stack([P[:, 0], y]).T)
    return {"excess": float(excess), "moments": moments.round(4).tolist()}


def report(records: list[Record], page: Page) -> None:
    page.say(
        "The paper (section 1, after its reference [3]): without knowledge of the "
        "noise "
        "and with one copy of each row learning is impossible in general. Two worlds: "
        "x ~ N(0, v), x̃ = x + N(0, 1 − v), y = (c/v)x + noise, with v = "
        + " and ".join(f"{v:g} ({name})" for name, v in WORLDS.items())
        + f", c = {C:g}, Var y = {S:g}. (x̃, y) is normal with the same moments in "
        "both, so "
        "that no learner of one copy can tell them apart, but the best coefficients "
        "are "
        + " and ".join(f"{C / v:.3f} ({name})" for name, v in WORLDS.items())
        + ". Whatever it plays, in one of the worlds its excess risk on clean rows is "
        f"at least {least_regret(*WORLDS.values()):.4f}: its regret grows linearly. "
        "Knowing the covariance, or a second copy, is what tells the worlds apart."
    )
    last = max(r["cell"]["rounds"] for r in records)
    rows, worst = [], {}
    for learner in LEARNERS:
        line, ends = [], []
        for world in WORLDS:
            own = [
                r["excess"] for r in records
                if (r["cell"]["world"], r["cell"]["learner"], r["cell"]["rounds"])
                == (world, learner, last)
            ]  # fmt: skip
            line.append(mean_sd(own, 4))
            ends.append(float(np.mean(own)))
        worst[learner] = max(ends)
        rows.append((learner, *line, f"{max(ends):.4f}"))
    page.table(
        [
            f"learner, {last:,} rows",
            *(f"excess in {w}" for w in WORLDS),
            "worse of the two",
        ],
        rows,
    )
    floor = least_regret(*WORLDS.values())
    above = [name for name, value in worst.items() if value >= 0.9 * floor]
    page.say(
        f"At or above the least possible {floor:.4f} for one copy (to a tenth): "
        f"{'; '.join(above) or 'none'}."
    )
    seen = {
        world: np.mean(
            [r["moments"] for r in records
             if r["cell"]["world"] == world and r["cell"]["rounds"] == last], axis=0)
        for world in WORLDS
    }  # fmt: skip
    gap = np.abs(seen["A"] - seen["B"]).max()
    page.say(
        "Second moments of (x̃, y) seen in the two worlds differ by at most "
        f"{gap:.3f} in these draws."
    )
    page.figure(_drawn(records), "Excess risk over rows, in both worlds.")


def _drawn(records: list[Record]) -> Any:
    figure, axes = grid(1, len(WORLDS), width=3.2, height=2.6)
    for ax, world in zip(axes[0], WORLDS):
        for index, learner in enumerate(LEARNERS):
            by_rounds: dict[int, list[float]] = {}
            for r in records:
                if (r["cell"]["world"], r["cell"]["learner"]) == (world, learner):
                    by_rounds.setdefault(r["cell"]["rounds"], []).append(r["excess"])
            line = [np.mean(own) for own in by_rounds.values()]
            ax.loglog(list(by_rounds), line, label=learner, **style(index))
        ax.set(title=f"world {world}", xlabel="rows")
    axes[0, 0].set_ylabel("excess risk, clean rows")
    shared_legend(figure, axes)
    return figure


EXPERIMENT = Experiment(
    name="noisy-impossible",
    paper="noisy",
    title="Noisy-data paper: one copy without knowledge is not enough",
    cells=cells,
    run=run,
    report=report,
)

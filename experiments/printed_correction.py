"""Noisy-data paper: what the printed −Σw of algorithm 1 costs (it must be −2Σw).

E[2(⟨w, x̃⟩ − ỹ)x̃] = 2(⟨w, x⟩ − y)x + 2Σw, so the unbiased step takes off 2Σw. Taking
off Σw, as printed, is the same as believing in half the covariance, and that is how it
is run here.
"""

import numpy as np

from experiments._drawing import grid, shared_legend, style
from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._noisy import noisy_rows, rmse
from experiments._page import Page, mean_sd
from lrisk import NoiseCorrectedRegressor
from lrisk.noise import Exact, KnownCovariance

DATA = ("line", "diabetes", "concrete")
SIGMAS = (0.25, 0.5, 1.0)
ROUNDS = (500, 1000, 2000, 4000, 8000, 16000, 32000)
#: Share of Σ that is taken off, twice over: 2Σw, Σw, nothing.
STEPS = {"-2Σw (corrected)": 1.0, "-Σw (printed)": 0.5, "nothing": 0.0}


def cells(settings: Settings) -> list[Cell]:
    last = settings.choose(32000, 8000, 2000)
    sizes = [T for T in ROUNDS if last >= T]
    lines = [
        {"data": "line", "sigma": sigma, "rounds": sizes, "seed": seed}
        for sigma in SIGMAS
        for seed in range(settings.seeds)
    ]
    real = [
        {"data": name, "sigma": 0.5, "rounds": [], "seed": seed}
        for name in DATA[1:]
        for seed in range(settings.seeds)
    ]
    return lines + real


def _model(share: float, sigma: float) -> NoiseCorrectedRegressor:
    noise = Exact() if share == 0.0 else KnownCovariance(share * sigma**2)
    return NoiseCorrectedRegressor(noise, fit_intercept=False, alpha=0.0)


def run(cell: Cell) -> Record:
    if cell["data"] != "line":
        return {"error": _on_real(cell)}
    rng = np.random.default_rng(cell["seed"])
    w = rng.normal(size=5)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(cell["rounds"][-1], 5))
    y = X @ w + 0.1 * rng.normal(size=len(X))
    noisy = X + cell["sigma"] * rng.normal(size=X.shape)
    found: Record = {}
    for name, share in STEPS.items():
        found[name] = []
        for T in cell["rounds"]:
            model = _model(share, cell["sigma"]).fit(noisy[:T], y[:T])
            # √E(⟨ŵ − w, x⟩²) of a new clean row, whose features are N(0, 1).
            found[name].append(float(np.linalg.norm(model.coef_ - w)))
    return {"error": found}


def _on_real(cell: Cell) -> Record:
    rows = noisy_rows(cell["data"], cell["seed"])
    found = {}
    for name, share in STEPS.items():
        model = _model(share, cell["sigma"]).set_params(alpha="auto")
        model.fit(rows.first, rows.y)
        found[name] = [rmse(model.predict(rows.test_X), rows.test_y)]
    return found


def biased_length(share: float, sigma: float) -> float:
    """‖ŵ − w‖ in the limit of many rows, ‖w‖ = 1 and E xxᵀ = I.

    ŵ solves (I + Σ − share·Σ)w = E xy, so ŵ = w/(1 + (1 − share)σ²).
    """
    left = (1.0 - share) * sigma**2
    return left / (1.0 + left)


def report(records: list[Record], page: Page) -> None:
    page.say(
        "Algorithm 1 (right) is printed with −Σw in its step. The step without bias "
        "has −2Σw: E[2(⟨w, x̃⟩ − ỹ)x̃] = 2(⟨w, x⟩ − y)x + 2Σw. The printed form equals "
        "the corrected one with half the covariance, so it takes off half of the "
        "gradient's bias; of the solution's, σ²/(1 + σ²) here, it leaves "
        "(σ²/2)/(1 + σ²/2), which is more than half. "
        "Here both and the uncorrected step are solved to their end (`fit`), so that "
        "what is left is bias and sampling error, not the step size."
    )
    lines = [r for r in records if r["cell"]["data"] == "line"]
    page.heading("y = ⟨w, x⟩ + noise, five features, ‖w‖ = 1: ‖ŵ − w‖")
    rows = []
    for sigma in sorted({r["cell"]["sigma"] for r in lines}):
        chosen = [r for r in lines if r["cell"]["sigma"] == sigma]
        for name, share in STEPS.items():
            last = [r["error"][name][-1] for r in chosen]
            limit = f"{biased_length(share, sigma):.3f}"
            rows.append((f"σ = {sigma}, {name}", mean_sd(last), limit))
    T = lines[0]["cell"]["rounds"][-1]
    columns = ("step", f"measured at {T} rows", "theory, infinitely many rows")
    page.table(columns, rows)
    page.heading("Real data, σ = 0.5: RMSE on clean test rows")
    real = {n: [r for r in records if r["cell"]["data"] == n] for n in DATA[1:]}
    page.table(
        ("step", *real),
        [
            (name, *(mean_sd(r["error"][name][0] for r in rs) for rs in real.values()))
            for name in STEPS
        ],
    )
    page.say(_verdict(lines))
    page.figure(_drawn(lines), "Distance to the true coefficients over rows.")


def _verdict(lines: list[Record]) -> str:
    """First and last error of every step, and how far the printed one ends."""
    told = []
    for sigma in sorted({r["cell"]["sigma"] for r in lines}):
        chosen = [r for r in lines if r["cell"]["sigma"] == sigma]
        errors = {n: np.mean([r["error"][n] for r in chosen], axis=0) for n in STEPS}
        ways = ", ".join(f"{n} {e[0]:.3f} → {e[-1]:.3f}" for n, e in errors.items())
        corrected, printed, _ = (e[-1] for e in errors.values())
        told.append(
            f"σ = {sigma}: {ways}; the printed step ends {printed / corrected:.1f} "
            "times as far from the truth as the corrected one"
        )
    rounds = lines[0]["cell"]["rounds"]
    return f"From {rounds[0]} to {rounds[-1]} rows: " + ". ".join(told) + "."


def _drawn(lines: list[Record]):
    figure, axes = grid(1, len(SIGMAS), width=2.8, height=2.5)
    for ax, sigma in zip(axes[0], SIGMAS):
        chosen = [r for r in lines if r["cell"]["sigma"] == sigma]
        rounds = chosen[0]["cell"]["rounds"]
        for index, name in enumerate(STEPS):
            mean = np.mean([r["error"][name] for r in chosen], axis=0)
            ax.loglog(rounds, mean, label=name, **style(index))
        ax.set_title(f"σ = {sigma}")
        ax.set_xticks([rounds[0], rounds[-1]], [str(rounds[0]), str(rounds[-1])])
        ax.minorticks_off()
        ax.set_xlabel("rows")
    axes[0, 0].set_ylabel("‖ŵ − w‖")
    shared_legend(figure, axes)
    return figure


EXPERIMENT = Experiment(
    name="noisy-printed-step",
    paper="noisy",
    title="Noisy-data paper: the cost of the printed −Σw",
    cells=cells,
    run=run,
    report=report,
)

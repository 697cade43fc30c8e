"""Suboptimality after 64 epochs (paper 1, equation 7), against the certified minimum.

Three tables: learning rates from the paper's grid by its rule, the automatic learning
rate, and classification. Worst of five seeds.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

from benchmarks._data import folder, simulated, standardised, table
from lrisk.losses import Logistic, Loss, Multinomial, Squared
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers import (
    LSVRG,
    SGD,
    SOREL,
    SRDA,
    Newton,
    Prospect,
    StochasticSolver,
    tune_learning_rate,
)
from lrisk.spaces import LinearSpace
from lrisk.spectra import parse_spectrum

SPECTRA = ("mean", "superquantile:0.5", "extremile:2", "esrm:1")
SOLVERS = (LSVRG(), LSVRG("spectral"), SOREL(), Prospect(), SGD(), SRDA())
NAMES = ("LSVRG", "spectral", "SOREL", "Prospect", "SGD", "SRDA")
SEEDS = range(5)


def build(X, y, loss: Loss, spectrum: str, n_scores: int = 1) -> Objective:
    ranking = Ranking(parse_spectrum(spectrum), len(y))
    space = LinearSpace(X, intercept=False, n_scores=n_scores)
    return Objective(ranking, loss, space, y.astype(float), 1.0)


def suboptimality(objective: Objective, solver: StochasticSolver, best, last) -> float:
    """Worst of the seeds, of the last iterate or of the point that is returned."""
    zero = objective.value(objective.at(np.zeros(objective.space.size)))
    worst = 0.0
    for seed in SEEDS:
        solution = solver.solve(objective, rng=np.random.default_rng(seed))
        value = solution.history[-1]["objective"] if last else solution.objective
        worst = max(worst, (value - best) / (zero - best))
    return worst


def rows(problems, tuned: bool):
    for name, objective in problems:
        best = Newton(tol=1e-12).solve(objective).dual
        cells = []
        for solver in SOLVERS:
            rate: str | float = "auto"
            if tuned:
                rate = tune_learning_rate(solver, objective).learning_rate
            solver.set_params(learning_rate=rate)
            cells.append(suboptimality(objective, solver, best, last=tuned))
        print(
            f"{name:<34}" + "".join(f"{max(c, 0.0):>10.0e}" for c in cells), flush=True
        )


def heading(title: str) -> None:
    print(f"\n{title}\n{'':<34}" + "".join(f"{name:>10}" for name in NAMES))


def regression():
    sets = {"simulated": simulated()}
    for name in ("yacht", "energy_cooling", "concrete"):
        rows = standardised(table(name))
        sets[name] = rows[:, :-1], rows[:, -1]
    for name, (X, y) in sets.items():
        for spectrum in SPECTRA:
            yield f"{name:<15} {spectrum}", build(X, y, Squared(), spectrum)


def classification():
    X, y = load_breast_cancer(return_X_y=True)
    emotion = np.load(folder() / "emotion_bert_pca45.npz")
    Z, labels = standardised(emotion["X_train"].astype(float)), emotion["y_train"]
    for spectrum in SPECTRA:
        yield (
            f"breast cancer   {spectrum}",
            build(standardised(X), y, Logistic(), spectrum),
        )
    for spectrum in SPECTRA:
        yield (
            f"emotion         {spectrum}",
            build(Z, labels, Multinomial(), spectrum, int(labels.max()) + 1),
        )


def main() -> None:
    heading("learning rate from the paper's grid by its rule, last iterate")
    rows(regression(), tuned=True)
    heading("learning_rate='auto', the point returned")
    rows(regression(), tuned=False)
    heading("classification, learning_rate='auto', the point returned")
    rows(classification(), tuned=False)


if __name__ == "__main__":
    main()

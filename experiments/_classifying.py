"""Spectral paper, figures 4 and 5: the data, and one run on them."""

from typing import Any

import numpy as np

from experiments._data import parts, standardised
from experiments._experiment import Cell, Record
from experiments._spectral import (
    certified_curve,
    curves,
    problem,
    reference,
    spectra,
    tuned,
)
from lrisk.losses import Multinomial
from lrisk.metrics import loss_quantiles
from lrisk.objective import Objective
from lrisk.solvers import LSVRG, SGD, SOREL, SRDA, Prospect, StochasticSolver
from lrisk.solvers.choice import automatic_solver

#: Figure, file, epoch length N of LSVRG (section 4.2), passes of a full run.
SETS = {
    "iwildcam": ("Figure 4", "iwildcam_resnet18_pca73", 100, 64),
    "emotion": ("Figure 5", "emotion_bert_pca45", 1000, 96),
}
SHORT = "LSVRG"
LONG = "LSVRG, N = n"
LEVELS = np.r_[np.linspace(0.02, 0.9, 45), np.linspace(0.905, 1.0, 20)]


NAMES = ("SGD", "SRDA", SHORT, LONG, "Prospect", "SOREL", "SGD, averaged")


def method(name: str, n: int, length: int, passes: int) -> StochasticSolver:
    """The solver of that name for about so many passes over n rows."""
    if name == SHORT:
        epochs = max(2, round(passes / (1.0 + length / n)))
        return LSVRG(epoch_length=length, max_epochs=epochs)
    solvers: dict[str, StochasticSolver] = {
        "SGD": SGD(average=False, max_epochs=passes),
        "SGD, averaged": SGD(max_epochs=passes),
        "SRDA": SRDA(max_epochs=passes),
        LONG: LSVRG(max_epochs=passes // 2),
        "Prospect": Prospect(max_epochs=passes),
        "SOREL": SOREL(max_epochs=passes // 2),
    }
    return solvers[name]


class Split:
    """Training and test rows; classes that were not trained on are left out."""

    def __init__(self, data: str, rows: int | None) -> None:
        found = parts(SETS[data][1])
        classes, self.y = np.unique(found["y_train"][:rows], return_inverse=True)
        known = np.isin(found["y_test"], classes)
        self.test_y = np.searchsorted(classes, found["y_test"][known])
        X, test_X = (found[part].astype(float) for part in ("X_train", "X_test"))
        self.X, self.test_X = standardised(X[:rows], test_X[known])

    def problem(self, spectrum: str) -> Objective:
        """Multinomial loss without intercept, μ = 1/n (F.1, F.2)."""
        return problem(self.X, self.y, spectrum, 1.0, Multinomial())


def run(cell: Cell) -> Record:
    """Curves of one method, or quantiles under all risks."""
    split = Split(cell["data"], cell["rows"])
    return _quantiles(split) if cell["kind"] == "quantiles" else _curves(cell, split)


def _reference(objective: Objective) -> Any:
    return reference(objective, automatic_solver(objective)(tol=1e-6))


def _curves(cell: Cell, split: Split) -> Record:
    """Suboptimality of a method; the learning rate is sought with the first seed."""
    objective = split.problem(cell["spectrum"])
    best = _reference(objective)
    length = SETS[cell["data"]][2]
    solver = method(cell["method"], len(split.y), length, cell["passes"])
    rate = tuned(solver, objective, (1,), grid=cell["rates"])
    seeds = range(1, cell["seeds"] + 1)
    return {"runs": curves(solver, objective, best, seeds, rate), "gap": best.gap}


def _quantiles(split: Split) -> Record:
    """Quantiles of test losses: ERM less risk, over the mean test loss of ERM."""
    losses, certified, right = {}, {}, {}
    for risk, spectrum in spectra().items():
        objective = split.problem(spectrum)
        best = _reference(objective)
        scores = split.test_X @ objective.space.split(best.theta)[0]
        losses[risk] = Multinomial().value(split.test_y.astype(float), scores)
        right[risk] = float(np.mean(scores.argmax(axis=1) == split.test_y))
        solver = automatic_solver(objective)(tol=1e-6)
        certified[risk] = certified_curve(objective, solver, best)
    erm = loss_quantiles(losses["mean"], LEVELS)
    differences = {
        risk: ((erm - loss_quantiles(found, LEVELS)) / losses["mean"].mean())
        .round(4)
        .tolist()
        for risk, found in losses.items()
        if risk != "mean"
    }
    shape = [len(split.y), split.X.shape[1], int(split.y.max()) + 1]
    found = {"differences": differences, "accuracy": right, "certified": certified}
    return {"shape": [*shape, len(split.test_y)], **found}

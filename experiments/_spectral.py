"""What the experiments of the spectral paper share: data, spectra, methods, runs."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments._data import load, standardised
from lrisk.losses import Loss, Squared
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers import (
    LSVRG,
    SGD,
    SOREL,
    SRDA,
    Newton,
    Prospect,
    Solver,
    StochasticSolver,
    tune_learning_rate,
)
from lrisk.solvers.solution import Solution, Status
from lrisk.spaces import LinearSpace
from lrisk.spectra import parse_spectrum

#: Regression sets of the paper (section 4.1); ``energy`` is the cooling load.
SETS = ("simulated", "yacht", "energy_cooling", "concrete")
#: (q, r, ρ) of superquantile, extremile and ESRM (appendix G).
PARAMETERS = {"easy": (0.25, 1.5, 0.5), "medium": (0.5, 2, 1), "hard": (0.75, 2.5, 2)}
#: In the order of colours and of tables.
METHODS: dict[str, StochasticSolver] = {
    "SGD": SGD(average=False),
    "SRDA": SRDA(),
    "LSVRG": LSVRG(),
    "LSVRG by rank": LSVRG("spectral"),
    "Prospect": Prospect(),
    "SOREL": SOREL(),
    "SGD, averaged": SGD(),
}
#: log10 of the smallest suboptimality that is told from rounding, and of the largest
#: that is kept: beyond it a run has diverged.
FLOOR, CEILING = -13.0, 2.0


def spectra(level: str = "medium") -> dict[str, str]:
    """The four risks of the figures by the names of the paper."""
    q, r, rho = PARAMETERS[level]
    return {
        "mean": "mean",
        "superquantile": f"superquantile:{q}",
        "extremile": f"extremile:{r}",
        "ESRM": f"esrm:{rho}",
    }


def rows_of(name: str) -> tuple[Any, Any]:
    """All rows of a regression set."""
    if name != "simulated":
        return load(name)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 10))
    return X, X @ rng.normal(size=10) + rng.normal(size=1000)


class Halves(NamedTuple):
    """Training and test rows, standardised by the training rows."""

    X: Any
    y: Any
    test_X: Any
    test_y: Any


def halves(name: str, seed: int = 0) -> Halves:
    """80 % to train on and the rest to test, as in table 2 of the paper."""
    X, y = rows_of(name)
    order = np.random.default_rng([seed, len(y)]).permutation(len(y))
    n = int(0.8 * len(y))
    train, test = order[:n], order[n:]
    X, test_X = standardised(X[train], X[test])
    y, test_y = standardised(y[train], y[test])
    return Halves(X, y, test_X, test_y)


def problem(
    X: Any, y: Any, spectrum: str, alpha: float = 1.0, loss: Loss | None = None
) -> Objective:
    """Σσ_iℓ_(i)(w) + (α/2n)‖w‖² of a linear model without intercept (F.2)."""
    loss = Squared() if loss is None else loss
    classes = int(y.max()) + 1 if loss.per_class else 1
    space = Counted(X, intercept=False, n_scores=classes)
    ranking = Ranking(parse_spectrum(spectrum), len(y))
    return Objective(ranking, loss, space, np.asarray(y, dtype=float), alpha)


class Counted(LinearSpace):
    """Linear functions that count what is done with X, in passes.

    A pass is n gradients, that is two products with X. A Gram matrix is d of them, and
    so counts d/2 passes.
    """

    passes = 0.0

    def scores(self, theta: Any) -> Any:
        """As in the base, half a pass."""
        self.passes += 0.5
        return super().scores(theta)

    def pullback(self, theta: Any, r: Any) -> Any:
        """As in the base, half a pass."""
        self.passes += 0.5
        return super().pullback(theta, r)

    def gram(self, c: Any) -> Any:
        """As in the base, a product for every column."""
        self.passes += 0.5 * self.size
        return super().gram(c)

    def pullback_and_gram(self, theta: Any, r: Any, c: Any) -> Any:
        """One after the other, each counted."""
        return self.pullback(theta, r), self.gram(c)

    def gradient_rows(self, rows: Any, r: Any) -> Any:
        """As in the base; their Gram matrix follows."""
        self.passes += 0.5 * (1 + self.size) * len(rows) / self.n_rows
        return super().gradient_rows(rows, r)


class Reference(NamedTuple):
    """Certified minimum: suboptimality (equation 7) is measured from `low`."""

    low: float
    zero: float
    gap: float
    theta: Any

    def exponent(self, value: float) -> float:
        """log10 of the suboptimality of an objective, not below the floor."""
        left = max((value - self.low) / (self.zero - self.low), 10**FLOOR)
        return round(min(float(np.log10(left)), CEILING), 2)


def whole(found: Solution) -> Solution:
    """The solution itself; an interrupted one must not become a record.

    Stochastic solvers catch Ctrl-C and return what they have.
    """
    if found.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return found


def reference(objective: Objective, solver: Solver | None = None) -> Reference:
    """Minimise to a proven gap; `low` is the proven bound from below."""
    found = whole((solver or Newton(tol=1e-13)).solve(objective))
    zero = objective.value(objective.at(np.zeros(objective.space.size)))
    return Reference(found.dual, zero, found.gap, found.theta)


def certified_curve(objective: Objective, solver: Solver, best: Reference) -> Any:
    """Passes, CPU seconds and suboptimality of a certified solver's iterations.

    The reference was found by the same kind of solver, which by now is compiled.
    """
    space: Any = objective.space
    points: list[tuple[float, float, float]] = []
    before, began = space.passes, time.process_time()

    def note(entry: dict[str, Any]) -> None:
        spent = time.process_time() - began
        left = best.exponent(entry["objective"])
        points.append((round(space.passes - before, 1), float(f"{spent:.3g}"), left))

    found = whole(solver.solve(objective, monitor=note))
    passes, seconds, left = zip(*points)
    return {"passes": passes, "seconds": seconds, "curve": left, "gap": found.gap}


def tuned(
    solver: StochasticSolver, objective: Objective, seeds: Sequence[int], **options: Any
) -> float:
    """Learning rate by the paper's rule (F.4), seeds as in its figures."""
    return tune_learning_rate(solver, objective, seeds=seeds, **options).learning_rate


def curves(
    solver: StochasticSolver,
    objective: Objective,
    best: Reference,
    seeds: Sequence[int],
    rate: float,
) -> dict[str, Any]:
    """Suboptimality after each epoch for each seed, and what an epoch costs.

    ``curves`` are log10, the start included, and of a run that diverges at the ceiling
    from then on; ``passes`` and ``seconds`` are of an epoch, on average.
    """
    solver.set_params(learning_rate=rate)
    kept, seconds, passes = [], [], 0.0
    for seed in seeds:
        began = time.process_time()
        rng = np.random.default_rng(seed)
        run = whole(solver.run(objective, rng=rng, proof=False))
        seconds.append((time.process_time() - began) / len(run.history))
        passes = (run.history[-1]["passes"] - 1.0) / len(run.history)
        values = (entry["objective"] for entry in run.history)
        curve = [0.0, *(best.exponent(value) for value in values)]
        lost = solver.max_epochs + 1 - len(curve)
        if lost and run.status is not Status.DIVERGED:
            raise RuntimeError(f"{lost} epochs are missing: {run.status.value}")
        kept.append(curve + [CEILING] * lost)
    return {
        "rate": rate,
        "curves": kept,
        "passes": round(passes, 4),
        "seconds": float(f"{np.median(seconds):.3g}"),
    }


def compare(cell: dict[str, Any]) -> dict[str, Any]:
    """Every method on one problem: the run of figures 2, 10 to 15 and 20."""
    data = halves(cell["data"])
    objective = problem(data.X, data.y, cell["spectrum"], cell["alpha"])
    best = reference(objective)
    seeds = range(1, cell["seeds"] + 1)
    found = {}
    for name, solver in METHODS.items():
        solver.set_params(max_epochs=cell["epochs"])
        rate = tuned(solver, objective, seeds)
        found[name] = curves(solver, objective, best, seeds, rate)
    certified = certified_curve(objective, Newton(tol=1e-12), best)
    return {"n": len(data.y), "methods": found, "certified": certified}

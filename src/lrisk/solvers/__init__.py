"""Solvers: how the objective is minimised."""

from .choice import automatic_solver
from .lbfgs import LBFGS
from .lsvrg import LSVRG
from .newton import Newton
from .online import OnlineLinear, OnlineSolver
from .online_kernel import OnlineKernel
from .prospect import Prospect
from .sgd import SGD, SRDA
from .solution import Solution, Solver, Status
from .sorel import SOREL
from .stochastic import StochasticSolver
from .tuning import Tuning, tune_learning_rate

SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver for solver in (Newton, LBFGS, SGD, SRDA, LSVRG, Prospect, SOREL)
}

__all__ = [
    "LBFGS",
    "LSVRG",
    "SGD",
    "SOLVERS",
    "SOREL",
    "SRDA",
    "Newton",
    "OnlineKernel",
    "OnlineLinear",
    "OnlineSolver",
    "Prospect",
    "Solution",
    "Solver",
    "Status",
    "StochasticSolver",
    "Tuning",
    "automatic_solver",
    "tune_learning_rate",
]

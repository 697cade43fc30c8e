"""Solvers: how the objective is minimised."""

from .certified import LBFGS, Band, Newton
from .choice import automatic_solver
from .online import OnlineKernel, OnlineLinear, OnlineSolver
from .solution import Solution, Solver, Status
from .stochastic import (
    LSVRG,
    SGD,
    SOREL,
    SRDA,
    Prospect,
    StochasticSolver,
    Tuning,
    tune_learning_rate,
)
from .trimming import Concentration, SubquantileGradient

_CONVEX = (Newton, LBFGS, Band, SGD, SRDA, LSVRG, Prospect, SOREL)
_TRIMMING = (Concentration, SubquantileGradient)
SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver for solver in (*_CONVEX, *_TRIMMING)
}

__all__ = [
    "LBFGS",
    "LSVRG",
    "SGD",
    "SOLVERS",
    "SOREL",
    "SRDA",
    "Band",
    "Concentration",
    "Newton",
    "OnlineKernel",
    "OnlineLinear",
    "OnlineSolver",
    "Prospect",
    "Solution",
    "Solver",
    "Status",
    "StochasticSolver",
    "SubquantileGradient",
    "Tuning",
    "automatic_solver",
    "tune_learning_rate",
]

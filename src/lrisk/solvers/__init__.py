"""Solvers: how the objective is minimised."""

from .band import Band
from .choice import automatic_solver
from .concentration import Concentration
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
from .subquantile import SubquantileGradient
from .tuning import Tuning, tune_learning_rate

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

"""Solvers: how the objective is minimised."""

from .choice import automatic_solver
from .concentration import Concentration
from .lbfgs import LBFGS
from .newton import Newton
from .solution import Solution, Solver, Status
from .subquantile import SubquantileGradient

SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver
    for solver in (Newton, LBFGS, Concentration, SubquantileGradient)
}

__all__ = [
    "LBFGS",
    "SOLVERS",
    "Concentration",
    "Newton",
    "Solution",
    "Solver",
    "Status",
    "SubquantileGradient",
    "automatic_solver",
]

"""Solvers: how the objective is minimised."""

from .choice import automatic_solver
from .lbfgs import LBFGS
from .newton import Newton
from .online import OnlineLinear, OnlineSolver
from .online_kernel import OnlineKernel
from .solution import Solution, Solver, Status

SOLVERS: dict[str, type[Solver]] = {solver.name: solver for solver in (Newton, LBFGS)}

__all__ = [
    "LBFGS",
    "SOLVERS",
    "Newton",
    "OnlineKernel",
    "OnlineLinear",
    "OnlineSolver",
    "Solution",
    "Solver",
    "Status",
    "automatic_solver",
]

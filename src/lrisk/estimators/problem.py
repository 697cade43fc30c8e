"""What passes between the steps of a fit: prepare, solve, settle, store."""

from dataclasses import dataclass
from typing import Any

from .._typing import AnyArray, Bools, Floats
from ..objective import Objective
from ..procedures.nystroem import Kept
from ..solvers import Solution


@dataclass(frozen=True)
class Problem:
    """What is to be minimised, and what has to be remembered of the data.

    Attributes
    ----------
    objective : Objective
        Over the rows that have weight.
    kept : array of shape (n_samples,)
        Which of the given rows these are.
    classes : array of shape (n_classes,) or None
    rows : array, CSR array or None
        The rows that a kernel model is a combination of: those given, or the centres.
    centred : bool
        Whether they are centres.
    begun : Kept or None
        Which rows a pilot keeps, where a search among centres begins.
    """

    objective: Objective
    kept: Bools
    classes: AnyArray | None = None
    rows: Any = None
    centred: bool = False
    begun: Kept | None = None


@dataclass(frozen=True)
class Fit:
    """A solution, as it is to be stored.

    Attributes
    ----------
    solution : Solution
    collapsed : bool
        Whether the features are proven to be of no use.
    coefficients : array or None
        Of the rows of a kernel model.
    """

    solution: Solution
    collapsed: bool = False
    coefficients: Floats | None = None

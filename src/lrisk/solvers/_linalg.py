"""Systems with a positive semi-definite matrix, as Hessians and Gram matrices are.

The diagonal is scaled to one first, which makes the factorisation indifferent to the
units of the features; a parameter without effect, whose diagonal is zero, stays put.
Where rounding has made the matrix indefinite its diagonal is raised: the step is then
less good, and every bound made from it holds all the same.
"""

import numpy as np
import scipy.linalg

from .._typing import Bools, Floats

#: First raise of a diagonal of ones, a few units of rounding, and how it grows.
FIRST_RAISE, GROWTH = 1e-14, 10.0
#: Raises before a matrix is given up: up to 1e-14·10¹⁰, no longer a small change.
MOST_RAISES = 12


def solve_positive(matrix: Floats, right: Floats) -> Floats:
    """Solve one system; entries of parameters without effect are zero."""
    scaled, root, empty = _with_unit_diagonal(matrix)
    if empty.any():
        right = np.where(empty, 0.0, right)
        scaled[empty, empty] = 1.0
    ridge = 0.0
    for _ in range(MOST_RAISES):
        raised = scaled + ridge * np.eye(len(root)) if ridge else scaled
        # LAPACK itself, since small systems are solved by the thousand.
        _, solved, failed = scipy.linalg.lapack.dposv(raised, root * right, lower=1)
        if failed == 0 and np.all(np.isfinite(solved)):
            return np.asarray(root * solved)
        ridge = FIRST_RAISE if ridge == 0.0 else GROWTH * ridge
    return root * (root * right)


class Factor:
    """A factorised matrix, for many right-hand sides.

    Raises
    ------
    LinAlgError
        If the matrix is not finite.
    """

    def __init__(self, matrix: Floats) -> None:
        if not np.all(np.isfinite(matrix)):
            raise scipy.linalg.LinAlgError("overflow in a Hessian")
        scaled, self._root, _ = _with_unit_diagonal(matrix)
        ridge = 0.0
        while True:
            scaled[np.diag_indices_from(scaled)] = 1.0 + ridge
            try:
                self._factor = scipy.linalg.cho_factor(scaled, lower=True)
            except scipy.linalg.LinAlgError:
                ridge = max(GROWTH * ridge, FIRST_RAISE)
                continue
            break

    def solve(self, right: Floats) -> Floats:
        """The matrix's inverse times a vector."""
        solved = scipy.linalg.cho_solve(self._factor, self._root * right)
        return np.asarray(self._root * solved)


def _with_unit_diagonal(matrix: Floats) -> tuple[Floats, Floats, Bools]:
    """D⁻¹MD⁻¹, the diagonal of D⁻¹, and which diagonal entries of M are empty."""
    diagonal = np.diagonal(matrix).copy()
    empty = diagonal <= 0.0
    diagonal[empty] = 1.0
    root = 1.0 / np.sqrt(diagonal)
    scaled = matrix * root[:, None]
    scaled *= root
    return scaled, root, empty

"""Systems with positive semi-definite matrices, against exact solutions."""

import numpy as np
import pytest
import scipy.linalg

from lrisk.solvers._linalg import Factor, solve_positive


def system(units):
    """A well-conditioned matrix in other units, a solution and its right-hand side."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(20, 4))
    matrix = (A.T @ A) * np.outer(units, units)
    solution = rng.normal(size=4) / units
    return matrix, solution, matrix @ solution


@pytest.mark.parametrize("solve", [solve_positive, lambda m, r: Factor(m).solve(r)])
@pytest.mark.parametrize("units", [np.ones(4), 10.0 ** np.array([-8, 0, 5, 9])])
def test_solutions_do_not_depend_on_the_units(solve, units):
    matrix, solution, right = system(units)
    assert solve(matrix, right) * units == pytest.approx(solution * units, rel=1e-10)


def test_a_parameter_without_effect_stays_put():
    matrix, solution, right = system(np.ones(4))
    wide = np.zeros((5, 5))
    wide[:4, :4] = matrix
    found = solve_positive(wide, np.append(right, 3.0))
    assert found == pytest.approx(np.append(solution, 0.0), rel=1e-10)


@pytest.mark.parametrize("solve", [solve_positive, lambda m, r: Factor(m).solve(r)])
def test_a_singular_system_is_solved_as_well_as_it_can_be(solve):
    matrix = np.ones((3, 3))
    found = solve(matrix, np.full(3, 6.0))
    assert matrix @ found == pytest.approx(6.0, rel=1e-6)


def test_a_matrix_that_is_not_finite_is_refused():
    with pytest.raises(scipy.linalg.LinAlgError, match="overflow"):
        Factor(np.full((2, 2), np.inf))


def test_a_parameter_without_effect_does_no_harm_to_a_factor():
    matrix, solution, right = system(np.ones(4))
    wide = np.zeros((5, 5))
    wide[:4, :4] = matrix
    found = Factor(wide).solve(np.append(right, 0.0))
    assert found == pytest.approx(np.append(solution, 0.0), rel=1e-10)


def test_a_matrix_that_no_small_raise_makes_positive_gives_a_scaled_gradient():
    found = solve_positive(np.array([[4.0, 4.0], [4.0, 1.0]]), np.array([1.0, 2.0]))
    assert found == pytest.approx([0.25, 2.0])


def test_such_a_gradient_is_scaled_without_an_overflow():
    """Of classes apart, without a penalty, Hessian and gradient are 10⁻³¹⁰."""
    tiny = 1e-310
    matrix = tiny * np.array([[4.0, 4.0], [4.0, 1.0]])
    with np.errstate(over="raise"):
        found = solve_positive(matrix, tiny * np.array([1.0, 2.0]))
    assert found == pytest.approx([0.25, 2.0])


@pytest.mark.parametrize("solve", [solve_positive, lambda m, r: Factor(m).solve(r)])
def test_a_raise_is_as_small_as_it_can_be(solve):
    """Rounding that makes a matrix indefinite by 1e-9 costs a raise of 1e-8 at most."""
    matrix = np.diag([2.0, 3.0, 5.0]) + 0.0
    matrix[:2, :2] = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-9]])
    kept = matrix.copy()
    found = solve(matrix, np.array([2.0, 2.0, 10.0]))
    assert found[2] == pytest.approx(2.0, rel=1e-7)
    assert found[0] + found[1] == pytest.approx(2.0, rel=1e-6)
    np.testing.assert_array_equal(matrix, kept)


@pytest.mark.parametrize("size", [1, 2, 7, 32])
def test_units_of_the_features_do_not_matter(size):
    rng = np.random.default_rng(size)
    A = rng.normal(size=(size + 5, size)) * np.geomspace(1e-5, 1e5, size)
    matrix, right = A.T @ A, rng.normal(size=size)
    found = solve_positive(matrix, right)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-8)


def test_a_system_that_is_not_finite_has_no_finite_step():
    matrix = np.array([[np.nan, 0.0], [0.0, 1.0]])
    assert not np.all(np.isfinite(solve_positive(matrix, np.ones(2))))

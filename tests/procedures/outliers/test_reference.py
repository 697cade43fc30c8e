"""The flexible reference: what it can know of a place."""

import numpy as np
import pytest

from lrisk.procedures._robust.scales import Columns
from lrisk.procedures.outliers.kernel_ridge import SMALLEST_WEIGHT, Pairs
from lrisk.procedures.outliers.reference import ordinary_reference, robust_reference


def table(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=n)


def variance(reference, row, rows, weights):
    """k(x, x) − k_xS (K_SS + λ diag(1/w))⁻¹ k_Sx."""
    one = row[None]
    K = Pairs.of(rows, rows).kernel(reference.gamma)
    k = Pairs.of(one, rows).kernel(reference.gamma)[0]
    own = 2.0 + row @ row / len(row)
    return own - k @ np.linalg.solve(K + np.diag(reference.penalty / weights), k)


@pytest.mark.parametrize("make", [robust_reference, ordinary_reference])
def test_error_ratio_by_fits_without_the_row(make):
    X, y = table()
    y[:5] += 10.0  # some rows have no weight in the reference that resists
    reference = make(X, y, Columns.of(X))
    rows, weights = reference.rows, reference.weights
    used = weights > SMALLEST_WEIGHT
    v = []
    for i in range(len(rows)):
        others = used & (np.arange(len(rows)) != i)
        v.append(variance(reference, rows[i], rows[others], weights[others]))
    v = np.array(v)
    usual = reference.penalty + np.median(v)
    expected = np.sqrt(np.maximum((reference.penalty + v) / usual, 1.0))
    found = reference.error_ratio(rows, np.arange(len(rows)))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    new = np.array([[0.1, 0.2], [9.0, -9.0]])
    v = [variance(reference, row, rows[used], weights[used]) for row in new]
    expected = np.sqrt(np.maximum((reference.penalty + np.array(v)) / usual, 1.0))
    np.testing.assert_allclose(reference.error_ratio(new), expected, rtol=1e-6)


def test_a_prediction_far_from_all_rows_errs_more():
    X, y = table()
    reference = robust_reference(X, y, Columns.of(X))
    near, far = reference.error_ratio(np.array([[0.0, 0.0], [6.0, 6.0]]))
    assert 1.0 <= near < 1.5 < far

"""Test error over the steps, in miniature."""

import numpy as np
import pytest

from experiments import figure1


@pytest.fixture(scope="module")
def page(miniature):
    return miniature("figure1")


def test_the_page_has_a_row_for_each_curve(page):
    (numbers,) = page.tables()
    curves = {(r["cell"]["data"], r["cell"]["share"]) for r in page.records}
    assert len(numbers) == 1 + len(curves)
    assert [figure.exists() for figure in page.figures] == [True]


def test_wrong_rows_leave_the_kept_ones_and_the_error_falls(page):
    for record in page.records:
        assert record["wrong"][-1] < 0.6 * record["cell"]["share"]
        assert record["rmse"][-1] < record["rmse"][0]


def test_without_wrong_rows_the_cubic_is_that_of_least_squares():
    cell = {"data": "polynomial", "share": 0.0, "seed": 1, "rows": 300, "last": 5}
    rows = figure1.polynomial(1, 0.0, 300)
    cubic = np.polynomial.Polynomial.fit(rows.X[:, 0], rows.y, 3)
    best = np.sqrt(np.mean((cubic(rows.test_X[:, 0]) - rows.test_y) ** 2))
    assert figure1.run(cell)["rmse"][-1] == pytest.approx(best, rel=0.01)

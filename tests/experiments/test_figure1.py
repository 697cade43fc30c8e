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


def test_the_cubic_is_found_to_its_noise():
    cell = {"data": "polynomial", "share": 0.4, "seed": 1, "rows": 300, "last": 4}
    assert np.isclose(figure1.run(cell)["rmse"][-1], 0.1, rtol=0.35)

"""Linear regression with wrong rows, in miniature."""

import numpy as np
import pytest
from experiments._subquantile import ORACLE, PAPERS

from experiments import table2


@pytest.fixture(scope="module")
def page(miniature):
    return miniature("table2")


def test_the_page_has_every_method(page):
    numbers, order, by_rows = page.tables()
    assert len(numbers) == 1 + len(table2.METHODS)
    assert len(numbers[0]) == 1 + 3
    assert len(order) == 1 + 1
    assert [row[:2] for row in by_rows[1:]] == [
        ["100 rows", "0, 1"],
        ["200 rows", "0, 1"],
    ]
    assert [figure.exists() for figure in page.figures] == [True]


def test_the_printed_steps_are_taken(page):
    for record in page.records:
        assert record["steps"] == table2.STATED[record["cell"]["noise"]]


def test_gross_rows_ruin_ridge_and_leave_the_paper_s_method_alone(page):
    place = ("boston", "label+feature")
    mean = {
        name: np.mean(table2.TABLE.values(page.records, name, place))
        for name in ("KRR", PAPERS, ORACLE)
    }
    assert mean["KRR"] > 30 * mean[PAPERS]
    assert mean[PAPERS] < 1.3 * mean[ORACLE]

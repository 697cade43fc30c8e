"""Several classes with wrong labels, in miniature."""

import numpy as np
import pytest
from experiments._subquantile import ORACLE, PAPERS

from experiments import table4


@pytest.fixture(scope="module")
def page(miniature):
    return miniature("table4")


def test_the_page_has_a_table_for_each_set_and_fills_the_unfinished_rows(page):
    *numbers, order, beside = page.tables()
    sets = {r["cell"]["data"] for r in page.records}
    assert len(numbers) == len(sets)
    for table in numbers:
        assert len(table) == 1 + len(table4.METHODS)
        filled = {row[0]: row for row in table[1:]}
        for name in ("TERM", "SEVER", ORACLE):
            assert filled[name][1] == "–"
            assert "±" in filled[name][2]
    assert len(order) == len(beside) == 1 + len(sets)
    assert [figure.exists() for figure in page.figures] == [True]


def test_the_paper_s_method_finds_the_classes_behind_a_fifth_of_wrong_labels(page):
    for data in {r["cell"]["data"] for r in page.records}:
        place = (data, "ε = 0.2")
        assert np.mean(table4.TABLE.values(page.records, PAPERS, place)) > 0.8

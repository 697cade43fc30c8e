"""Two classes with wrong rows, in miniature."""

import numpy as np
import pytest
from experiments._subquantile import PAPERS

from experiments import table3


@pytest.fixture(scope="module")
def page(miniature):
    return miniature("table3")


def test_the_page_has_every_method_both_kinds_of_noise_and_the_starts(page):
    numbers, order, beside, starts = page.tables()
    assert len(numbers) == 1 + len(table3.METHODS)
    assert len(numbers[0]) == 1 + 3 * 2
    assert len(order) == len(beside) == 1 + 2
    assert len(starts) == 1 + 1
    assert [figure.exists() for figure in page.figures] == [True]


def test_flipped_labels_alone_do_not_harm_the_paper_s_method(page):
    place = ("heart_cleveland", "label, ε = 0.4")
    assert np.mean(table3.TABLE.values(page.records, PAPERS, place)) > 0.7


def test_under_feature_noise_the_start_decides(page):
    found = [r["diagnosis"] for r in page.records if "diagnosis" in r]
    zero, middle, higher = (
        np.mean([one[name] for one in found])
        for name in ("from_zero", "from_middle", "higher_objective")
    )
    assert zero < 0.5 < 0.7 < middle
    assert higher > 0.5

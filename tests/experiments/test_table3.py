"""Two classes with wrong rows, in miniature."""

import numpy as np
import pytest
from benchmarks._robust_data import Rows
from experiments._subquantile import FILTERED, PAPERS
from experiments._table3_study import RATES, by_the_middle, choices, procedure

from experiments import table3
from lrisk.datasets import corrupt_rows


def made(share):
    """Two classes by one direction; wrong rows a hundred times as far out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X @ [3.0, 2.0, 0.0, 0.0] > 0).astype(float)
    options = {"fraction": share, "random_state": 0, "about": "mean", "target": "flip"}
    bad = corrupt_rows(X[:200], y[:200], **options)
    return Rows(bad.X, bad.y, bad.mask, (), X[200:], y[200:])


@pytest.fixture(scope="module")
def rows():
    return made(0.3)


@pytest.fixture(scope="module")
def page(miniature):
    return miniature("table3")


def test_the_page_has_every_method_both_kinds_of_noise_and_the_choices(page):
    numbers, order, beside, procedure, choices = page.tables()
    assert len(numbers) == 1 + len(table3.METHODS)
    assert len(numbers[0]) == 1 + 3 * 2
    assert len(order) == len(beside) == len(procedure) == 1 + 2
    assert len(choices) == 1 + 3 * 3 * 2
    assert [figure.exists() for figure in page.figures] == [True]


def test_flipped_labels_alone_do_not_harm_the_paper_s_method(page):
    place = ("heart_cleveland", "label, ε = 0.4")
    assert np.mean(table3.TABLE.values(page.records, PAPERS, place)) > 0.7


def test_under_feature_noise_the_filter_decides(page):
    place = ("heart_cleveland", "label+feature, ε = 0.4")
    plain, filtered = (
        np.mean(table3.TABLE.values(page.records, method, place))
        for method in (PAPERS, FILTERED)
    )
    assert plain < 0.5 < 0.7 < filtered


def test_features_are_standardised_without_a_look_at_the_mask(rows):
    """The same whatever the mask says; wrong rows far out hardly move the scale."""
    scaled = by_the_middle(rows)
    blind = by_the_middle(rows._replace(mask=~rows.mask))
    np.testing.assert_array_equal(scaled.X, blind.X)
    right = scaled.X[~rows.mask]
    assert np.all(np.abs(right.mean(axis=0)) < 0.5)
    assert np.all((right.std(axis=0) > 0.9) & (right.std(axis=0) < 2.5))
    assert np.abs(scaled.X[rows.mask]).max() > 50.0


def test_every_combination_is_run(rows):
    found = choices(by_the_middle(rows), 50, 0)
    assert len(found) == len(set(found)) == 18
    assert all(0.0 <= value <= 1.0 for value in found.values())
    assert found["zero, auto, filter"] > 0.7 > found["zero, auto, no filter"]


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_the_procedure_says_what_it_chose(share):
    accuracy, chosen = procedure(made(share), (10, 100))
    assert chosen["rate"] in RATES and chosen["steps"] in (10, 100)
    assert accuracy > 0.8

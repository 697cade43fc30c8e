"""Linear regression with wrong rows, in miniature."""

import os
from pathlib import Path

import numpy as np
import pytest
from experiments._subquantile import ORACLE, PAPERS, corrupted, error
from sklearn.linear_model import RANSACRegressor

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


def test_ransac_hangs_on_how_many_samples_it_draws(page, monkeypatch):
    """On the rows of a cell of the full page, with forty times as many."""
    monkeypatch.setenv("LRISK_DATA", str(Path(os.environ["LRISK_SHARED"]) / "data"))
    cell = {"data": "boston", "noise": "label+feature", "share": table2.SHARE}
    rows = corrupted(cell | {"seed": 0, "rows": None}, classes=False)
    rows = rows.scaled(~rows.mask)
    assert rows.X.shape[1] == table2.FEATURES["boston"]
    errors = []
    for draws in (table2.DRAWS, 40 * table2.DRAWS):
        model = RANSACRegressor(max_trials=draws, random_state=0).fit(rows.X, rows.y)
        errors.append(error(model.predict(rows.test_X), rows.test_y, False))
    assert errors[0] > 10.0 and errors[1] < 0.8


def test_the_chance_of_a_clean_sample_by_counting():
    assert table2.clean_draw(0.4, 2, 1) == pytest.approx(0.36)
    rng = np.random.default_rng(0)
    wrong = rng.random((4000, 100, 9)) < table2.SHARE
    seen = np.mean(~wrong.any(axis=2).all(axis=1))
    assert table2.clean_draw(table2.SHARE, 9, 100) == pytest.approx(seen, abs=0.03)

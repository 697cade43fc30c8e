"""Predictions that were made elsewhere are read as the target is."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lrisk.analysis.audit.given import given_predictions
from lrisk.tables import table_of
from lrisk.tables.quoting import QuotesCells

N = 24
X = np.arange(float(N)) ** 1.1


def table(target, task="auto"):
    return table_of({"x": X, "y": target}, "y", task)


PRICES = 10.0 + np.arange(N) % 7
TOLD = PRICES + 0.5


@pytest.mark.parametrize(
    "written",
    [
        TOLD.tolist(),
        [f"{v} €" for v in TOLD],
        [f"{v}".replace(".", ",") for v in TOLD],
        [f"$ {v}" for v in TOLD],
        [f"{v} kg" for v in TOLD],
        [f"{v} %" for v in TOLD],
        pd.Series(TOLD, dtype="Float64"),
        pl.Series(TOLD),
        TOLD[:, None],
        pd.DataFrame({"anything": TOLD}),
        pd.DataFrame({"row": np.arange(1, N + 1), "prediction": TOLD}),
        pl.DataFrame({"prediction": TOLD, "probability": TOLD}),
    ],
)
def test_numbers_in_all_their_forms(written):
    np.testing.assert_array_equal(given_predictions(table(PRICES), written), TOLD)


@pytest.mark.parametrize("name", ["prediction", "told"])
def test_a_column_of_row_numbers_says_which_row_is_which(name):
    order = np.random.default_rng(0).permutation(N)
    written = pd.DataFrame({"row": order + 1, name: TOLD[order]})
    np.testing.assert_array_equal(given_predictions(table(PRICES), written), TOLD)


@pytest.mark.parametrize(
    ("first", "got"), [(0, "others"), (2, "one twice"), ("secret", "others")]
)
def test_other_row_numbers_are_refused_and_not_quoted(first, got):
    rows = np.array([first, *range(2, N + 1)], dtype=object)
    written = pd.DataFrame({"row": rows, "prediction": TOLD})
    words = f"each of 1 to 24 once, in the column 'row', got '{got}'"
    with pytest.raises(ValueError, match=words):
        given_predictions(table(PRICES), written)


def test_a_constant_with_a_unit_is_a_number():
    np.testing.assert_array_equal(given_predictions(table(PRICES), ["9 €"] * N), 9.0)


def test_rows_without_a_target_may_say_so():
    prices = PRICES.copy()
    prices[3] = np.nan
    told = given_predictions(table(prices), ["NA" if i == 3 else v
                                             for i, v in enumerate(TOLD)])  # fmt: skip
    np.testing.assert_array_equal(np.delete(told, 3), np.delete(TOLD, 3))


@pytest.mark.parametrize(
    ("target", "given", "words"),
    [
        (PRICES, ["high", "low"] * 12, "numbers, as the target is, got 'words'"),
        (PRICES, ["yes", "no"] * 12, "numbers, as the target is, got 'words'"),
        (PRICES, ["2020-01-02"] * N, "numbers, as the target is, got 'dates'"),
        (PRICES, pd.DataFrame({"a": TOLD, "b": TOLD}), "one called 'prediction'"),
        (PRICES, ["1.5", "NA"] * 12, "NaN or infinity in row 2"),
        ([f"{v} kg" for v in PRICES], [f"{v} lb" for v in TOLD], "in kg, as the"),
        (PRICES, {"prediction": TOLD[1:]}, "one for each row, 24, got 23"),
    ],
)
def test_numbers_that_are_none_are_refused(target, given, words):
    with pytest.raises(ValueError) as caught:
        given_predictions(table(target), given)
    assert words in str(caught.value) and str(caught.value).startswith("audit: ")


def certain(labels, classes):
    """0 and 1: what a label alone says."""
    return (np.array(labels, dtype=object)[:, None] == classes).astype(float)


@pytest.mark.parametrize(
    ("target", "given"),
    [
        (["none", "flu"], ["none", "flu"]),
        (["TRUE", "FALSE"], [True, False]),
        (["TRUE", "FALSE"], ["True", "False"]),
        ([True, False], ["TRUE", "FALSE"]),
        ([True, False], [1, 0]),
        (["Yes", "No"], ["yes ", "no"]),
        ([-1, 1], ["'-1", "1"]),
        ([1, 2], ["1", "2"]),
        ([1.0, 2.0], [1, 2]),
        (["=a", "b"], ["'=a", "b"]),
        (["2 doors", "4 doors"], ["2 doors", "4 doors"]),
    ],
)
def test_labels_in_all_their_forms(target, given):
    known = table(target * 12, "classification")
    told = given * 11 + [given[1], given[1]]
    expected = certain([0, 1] * 11 + [1, 1], [0, 1])
    if known.classes.index(known.target_shown(0)) == 1:
        expected = expected[:, ::-1]
    np.testing.assert_array_equal(given_predictions(known, told), expected)


def test_labels_that_differ_in_their_case_alone_stay_apart():
    known = table(["a", "A", "b"] * 8)
    told = given_predictions(known, ["A", "a", "b"] * 8)
    np.testing.assert_array_equal(told[:3], np.eye(3)[[0, 1, 2]])
    assert known.classes == ["A", "a", "b"]
    with pytest.raises(QuotesCells, match="got 'B'"):
        given_predictions(known, ["A", "a", "B"] * 8)


def test_what_lrisk_predict_writes_of_classes():
    known = table(["a", "b", "c"] * 8)
    told = pd.DataFrame({"row": range(1, N + 1), "prediction": ["b", "a", "c"] * 8,
                         "probability": [0.8, 0.5, 1.0] * 8})  # fmt: skip
    expected = [[0.1, 0.8, 0.1], [0.5, 0.25, 0.25], [0, 0, 1]]
    np.testing.assert_allclose(given_predictions(known, told)[:3], expected)
    bad = told.assign(probability=1.5)
    with pytest.raises(ValueError, match="within 0"):
        given_predictions(known, bad)


@pytest.mark.parametrize(
    "written",
    [
        [0.25, 0.75] * 12,
        ["0,25", "0,75"] * 12,
        ["25 %", "75 %"] * 12,
        pd.DataFrame({"b": ["25 %", "75 %"] * 12, "a": ["75 %", "25 %"] * 12}),
        pd.DataFrame({"B": [0.25, 0.75] * 12, "A": [0.75, 0.25] * 12}),
        np.array([[0.75, 0.25], [0.25, 0.75]] * 12),
    ],
)
def test_probabilities_in_all_their_forms(written):
    told = given_predictions(table(["a", "b"] * 12), written)
    np.testing.assert_allclose(told[:2], [[0.75, 0.25], [0.25, 0.75]])

"""What a target means: a quantity or classes, or a refusal."""

import numpy as np
import pytest

from lrisk.tables import table_of


@pytest.mark.parametrize(
    ("target", "task", "words"),
    [
        ("pirce", "auto", "did you mean 'price'?"),
        ("name", "regression", "numeric for regression"),
        ("empty", "auto", "known in some rows"),
        ("one", "classification", "at least two classes"),
        ("name", "auto", "classes that repeat"),
    ],
)
def test_bad_targets_are_refused_with_a_remedy(target, task, words):
    data = {
        "price": np.arange(30.0),
        "name": [f"n{i}" for i in range(30)],
        "empty": [None] * 30,
        "one": ["a"] * 30,
        "x": np.arange(30.0) % 7,
    }
    with pytest.raises(ValueError) as error:
        table_of(data, target, task)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_two_numbers_are_classes_and_few_numbers_are_told():
    x = np.arange(40.0)
    assert table_of({"x": x, "y": x % 2}, "y").task == "classification"
    table = table_of({"x": x, "y": x % 5}, "y")
    assert table.task == "regression" and "5 different numbers" in table.notes[0]


def test_labels_of_a_target_stay_as_they_are():
    x = np.arange(40.0) ** 1.1
    for words in (["yes", "no"], ["T", "F"], ["none", "flu"], ["NA", "EU"]):
        table = table_of({"x": x, "y": words * 20}, "y")
        assert table.classes == sorted(words) and table.used.all()
        assert table.target_shown(0) == words[0]
    (note,) = table.notes
    assert "missing" in note and "'NA'" in table.summaries()[-1].remark
    numbers = ["NA", *[f"{v}" for v in range(39)]]
    table = table_of({"x": x, "y": numbers}, "y")
    assert table.task == "regression" and table.used.sum() == 39
    assert table_of({"x": x, "y": ["", "a", "b", None] * 10}, "y").used.sum() == 20


def test_quantities_that_cannot_be_read_are_no_classes():
    x = np.arange(200.0) ** 1.1
    mixed = [f"{i % 70 + 1}h {i % 60}m" for i in range(200)]
    with pytest.raises(ValueError, match=r"words that begin with a number.*; write"):
        table_of({"x": x, "y": mixed}, "y")
    pounds = [f"{i % 70} {'lb' if i % 9 else 'kg'}" for i in range(200)]
    with pytest.raises(ValueError, match="in one unit"):
        table_of({"x": x, "y": pounds}, "y")
    assert table_of({"x": x, "y": [f"{i} kg" for i in range(200)]}, "y").y[7] == 7.0


def test_labels_that_differ_in_case_or_blanks_are_told():
    table = table_of({"x": np.arange(40.0), "y": ["Yes", "No", "yes ", "No"] * 10}, "y")
    assert len(table.classes) == 3
    assert "case or blanks" in table.target.note
    assert table.target.example == "'Yes' and 'yes '"


def test_classes_of_single_rows_are_refused():
    x = np.arange(40.0) ** 1.1
    for y in (x, [f"word{i}" for i in range(40)]):
        with pytest.raises(ValueError, match=r"at least two rows.*40.*; choose"):
            table_of({"x": x, "y": y}, "y", "classification")

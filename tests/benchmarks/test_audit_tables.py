"""Tables of the benchmark are as they are said to be."""

import sys
from pathlib import Path

import numpy as np
import pytest

# The folder is beside the package, not in it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks._audit_tables import KINDS, TABLES, peculiar, repeated, simulated


def test_there_are_eight_tables_of_quantities_and_several_of_classes():
    classes = [name for name, source in TABLES.items() if source.classes]
    assert len(TABLES) - len(classes) >= 8 and len(classes) >= 4


@pytest.mark.parametrize("name", TABLES)
def test_peculiarities_are_of_columns_that_are_there(name, request):
    source = TABLES[name]
    if source.shared:
        request.getfixturevalue("shared")
    data = source.load(0)
    for known in source.known:
        assert set(known.columns) <= set(data), known.why
    assert len(data["y"]) <= 400
    assert peculiar(source, data).shape == data["y"].shape
    assert (data["y"].dtype.kind == "O") == source.classes
    np.testing.assert_array_equal(source.load(0)["y"], data["y"])
    assert np.any(source.load(1)["y"] != data["y"])


def test_prices_of_boston_are_cut_off_and_recipes_of_concrete_repeat(shared):
    for name in ("boston", "concrete"):
        data = TABLES[name].load(0)
        assert 0 < peculiar(TABLES[name], data).sum() < 30
    assert TABLES["boston"].load(0)["y"].max() == 50.0


def test_repeated_rows_are_equal_to_another():
    data = {"a": np.array([1.0, 2.0, 1.0]), "y": np.array([0.0, 0.0, 0.0])}
    assert repeated(data).tolist() == [True, False, True]


@pytest.mark.parametrize("kind", KINDS)
def test_simulated_tables_have_the_size_and_no_copies(kind):
    data = simulated(kind, seed=1, n=200)
    assert {len(column) for column in data.values()} == {200}
    assert not repeated(data).any()
    assert (kind == "numeric") == all(np.asarray(v).dtype.kind == "f"
                                      for v in data.values())  # fmt: skip

"""Errors of the benchmark of the audit are what they are called."""

import sys
from pathlib import Path

import numpy as np
import pytest

# The folder is beside the package, not in it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks._audit_errors import OF_CLASSES, OF_NUMBERS, Clean, typical_error
from benchmarks._audit_tables import TABLES, simulated

ERROR = 2.0


def planted(kind, table="mixed"):
    classes = table == "classes"
    clean = Clean(simulated(table, seed=3), 0.0 if classes else ERROR)
    plant = (OF_CLASSES if classes else OF_NUMBERS)[kind]
    return clean.data, plant(clean, np.random.default_rng(0))


def changed(data, made, name):
    """Rows of the planted table whose value of a column is another than it was."""
    return np.asarray(made.data[name]) != np.asarray(data[name])[made.origin]


KINDS = [
    *((kind, "mixed") for kind in OF_NUMBERS),
    *((kind, "classes") for kind in OF_CLASSES),
]


@pytest.mark.parametrize("kind, table", KINDS)
def test_rows_called_wrong_are_those_that_were_changed(kind, table):
    """Or that are there twice; nothing else is, and no column but those named."""
    data, made = planted(kind, table)
    assert made.wrong.any() and not made.wrong.all()
    touched = np.any([changed(data, made, name) for name in data], axis=0)
    if "copied" in kind:
        assert not touched.any()
        assert len(made.wrong) - len(data["y"]) == made.wrong.sum()
    elif kind in ("cut off", "stuck stretch"):  # one row keeps its own value
        assert np.all(touched <= made.wrong)
        assert made.wrong.sum() - touched.sum() <= 1
    else:
        np.testing.assert_array_equal(touched, made.wrong)
    wrong_columns = {c for c in data if changed(data, made, c).any()}
    sources = {"y"} if "source" in kind else set()
    assert wrong_columns <= {*made.columns, *sources}


@pytest.mark.parametrize("kind", [k for k, p in KINDS if p == "mixed"])
def test_the_slip_undoes_the_error(kind):
    data, made = planted(kind)
    if made.slip is None:
        return
    name, factor = made.columns[0], made.slip[1]
    if made.slip[0] == "swap":
        other = made.columns[1]
        undone = np.where(made.wrong, made.data[other], made.data[name])
    else:
        undone = np.where(made.wrong, factor * made.data[name], made.data[name])
    np.testing.assert_allclose(undone, data[name], rtol=1e-12)


def test_features_times_ten_lie_beyond_all_clean_values():
    """Also of a column of which ten times half of the values are still usual ones."""
    values = np.geomspace(1.0, 100.0, 200)
    clean = Clean({"a": values, "y": np.arange(200.0)}, ERROR)
    made = OF_NUMBERS["feature ×10"](clean, np.random.default_rng(0))
    assert made.data["a"][made.wrong].min() > 100.0
    np.testing.assert_array_equal(made.visible, made.wrong)
    made = OF_NUMBERS["feature kg/lb"](clean, np.random.default_rng(0))
    np.testing.assert_array_equal(made.visible, made.data["a"] > 100.0)


def test_visible_errors_move_the_target_by_six_errors():
    data, made = planted("random target 20 %")
    moved = np.abs(made.data["y"] - data["y"])
    assert made.visible.any() and (made.wrong & ~made.visible).any()
    assert moved[made.visible].min() > 6.0 * ERROR
    assert moved[~made.visible].max() <= 6.0 * ERROR


def test_copies_are_the_later_of_two_equal_rows():
    for kind in ("copied rows", "copied block"):
        _, made = planted(kind)
        for row in np.flatnonzero(made.wrong):
            (first,) = np.flatnonzero(made.origin[:row] == made.origin[row])
            assert made.spared[first] and not made.wrong[first]
    assert np.all(np.diff(np.flatnonzero(made.wrong)) == 1)
    assert np.all(np.diff(made.origin[made.wrong]) == 1)


def test_a_bad_source_is_wrong_as_it_is_said_to_be():
    data, made = planted("source offset")
    inside = made.data["site"] == made.level
    np.testing.assert_array_equal(inside, made.wrong)
    away = (made.data["y"] - data["y"])[inside]
    np.testing.assert_allclose(away, 4.0 * ERROR, rtol=1e-9)
    data, made = planted("source shuffled")
    inside = made.data["site"] == made.level
    np.testing.assert_array_equal(
        np.sort(made.data["y"][inside]), np.sort(data["y"][inside])
    )
    data, made = planted("source with flips", "classes")
    inside = made.data["site"] == made.level
    assert 0.25 < made.wrong[inside].mean() < 0.55  # .4 of 98, four deviations
    np.testing.assert_array_equal(made.spared, inside & ~made.wrong)


def test_flips_have_their_share_and_direction():
    data, made = planted("flips 20 %", "classes")
    assert made.wrong.mean() == pytest.approx(0.2)
    data, made = planted("flips of a class", "classes")
    assert set(data["y"][made.wrong]) == {max("ill", "well", key=list(data["y"]).count)}


def test_a_column_of_sources_is_added_where_there_is_none():
    clean = Clean(simulated("numeric", seed=0), ERROR)
    made = OF_NUMBERS["source shuffled"](clean, np.random.default_rng(0))
    assert "site" not in clean.data
    assert len(set(made.data["site"])) == 5


def test_the_typical_error_is_that_of_the_noise():
    """Of the target's own noise, 2, and what a forest does not learn of 400 rows."""
    assert 2.0 < typical_error(simulated("mixed", seed=0)) < 4.0


@pytest.mark.parametrize("table", [t for t, s in TABLES.items() if not s.shared])
def test_every_error_fits_every_table_that_is_shipped(table):
    source = TABLES[table]
    clean = Clean(source.load(0), 0.0 if source.classes else 1.0)
    for kind, plant in (OF_CLASSES if source.classes else OF_NUMBERS).items():
        made = plant(clean, np.random.default_rng(1))
        assert made.wrong.any(), kind
        assert {len(column) for column in made.data.values()} == {len(made.wrong)}

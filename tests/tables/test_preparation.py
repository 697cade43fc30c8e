"""The preparation is learnt from training rows only, and agrees with scikit-learn."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from lrisk import TablePreparation
from lrisk.tables import Preparation
from lrisk.tables.columns import typed_column
from lrisk.tables.quoting import RefusedCell


def columns_of(data):
    return [typed_column(name, np.asarray(values)) for name, values in data.items()]


def test_numbers_are_standardised_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 2.0, size=(80, 2))
    prepared = Preparation(columns_of({"a": X[:, 0], "b": X[:, 1]}))
    rows = np.arange(60)
    expected = StandardScaler().fit(X[rows]).transform(X)
    np.testing.assert_allclose(
        prepared.fit(rows).transform(np.arange(80)), expected, atol=1e-12
    )


def test_held_out_rows_change_nothing():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=50), rng.choice(["u", "v", "w"], 50).astype(object)
    changed_a, changed_b = a.copy(), b.copy()
    changed_a[40:], changed_b[40:] = 1e9, "new"
    rows = np.arange(40)
    one = Preparation(columns_of({"a": a, "b": b})).fit(rows)
    two = Preparation(columns_of({"a": changed_a, "b": changed_b})).fit(rows)
    np.testing.assert_array_equal(one.transform(rows), two.transform(rows))


def test_rare_levels_are_pooled_and_missing_cells_marked():
    cells = np.array(["a"] * 30 + ["b"] * 20 + ["c", "d"] + [None] * 8, dtype=object)
    numbers = np.where(np.arange(60) % 10 == 0, np.nan, np.arange(60.0))
    prepared = Preparation(columns_of({"level": cells, "x": numbers}))
    prepared.fit(np.arange(60))
    assert prepared.names_ == [
        "x", "x is missing", "level=a", "level=b", "level is missing", "level=(other)",
    ]  # fmt: skip
    X = prepared.transform(np.arange(60))
    pooled = X[:, prepared.names_.index("level=(other)")]
    assert set(np.flatnonzero(pooled > 0)) == {50, 51}
    assert np.isfinite(X).all()


def flats(n=60, seed=2):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "flat_id": [f"f{i:04}" for i in range(n)],
            "size": rng.normal(60, 20, n).round(1),
            "weight": [f"{w:.1f} kg" for w in rng.uniform(1, 9, n)],
            "kind": rng.choice(["flat", "house", None], n),
            "new": rng.random(n) < 0.5,
            "sold": [f"{i % 28 + 1}/{i % 9 + 1}/2020" for i in range(n)],
            "same": "x",
        }
    )


@parametrize_with_checks([TablePreparation()])
def test_estimator_checks(estimator, check):
    check(estimator)


def test_kinds_names_and_origins():
    prepared = TablePreparation().fit(flats())
    assert prepared.kinds_ == {
        "flat_id": "identifier", "size": "numeric", "weight": "numeric",
        "kind": "categorical", "new": "boolean", "sold": "date", "same": "constant",
    }  # fmt: skip
    names = prepared.get_feature_names_out().tolist()
    assert names[:4] == ["size", "weight", "new", "sold"]
    assert set(names[4:]) == {"kind=flat", "kind=house", "kind is missing"}
    assert prepared.origin_.tolist() == [1, 2, 4, 5, 3, 3, 3]


def test_new_tables_are_read_as_the_training_table():
    prepared = TablePreparation(standardize=False).fit(flats())
    names = prepared.get_feature_names_out().tolist()
    # Alone, 3/2/2020 would be the second of March, and "yes" a boolean of any column.
    new = {"sold": ["3/2/2020"], "weight": ["2 kg"], "kind": ["unseen"],
           "size": ["50"], "new": ["yes"], "more": [1]}  # fmt: skip
    row = dict(zip(names, prepared.transform(new)[0]))
    day = (pd.Timestamp("2020-02-03") - pd.Timestamp("1970-01-01")).days
    assert row["sold"] == day and row["weight"] == 2 and row["new"] == 1
    assert row["kind=flat"] == row["kind=house"] == row["kind is missing"] == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weight": ["3 lb"]}, "must be in kg, .*lb, first '3 lb' in row 1.*convert"),
        (
            {"size": ["large"]},
            "size must be numbers, as in training, got .*, first 'large' in row 1",
        ),
        ({"sold": [3.5]}, "column sold must be dates"),
        ({"size": None}, "lacks what the model needs: 'size'"),
    ],
)
def test_new_tables_of_another_kind_are_refused(change, words):
    prepared = TablePreparation().fit(flats())
    row = {name: [cell] for name, cell in flats().iloc[0].items()} | change
    row = {name: cells for name, cells in row.items() if cells is not None}
    with pytest.raises(ValueError, match=words):
        prepared.transform(row)


@pytest.mark.parametrize("cell", ["3 lb", "30 lb"])
def test_the_first_cell_in_another_unit_is_named_with_its_row(cell):
    """Unless cells must not be told."""
    prepared, table = TablePreparation().fit(flats()), flats().head(9)
    table["weight"] = [None, "2 kg", "na", "2 kg", cell, "4 lb", "1 oz", "2 kg", "3 kg"]
    words = rf"weight must be in kg, .*, first '{cell}' in row 5.*; convert it"
    with pytest.raises(RefusedCell, match=words) as refusal:
        prepared.transform(table)
    assert "row" not in refusal.value.bare and cell not in refusal.value.bare
    table["weight"] = ["2 kg", None, "heavy", "2 kg"] + ["light"] * 5
    with pytest.raises(RefusedCell, match=r"numbers, .*, first 'heavy' in row 3"):
        prepared.transform(table)
    assert str(refusal.value.at(104)).replace("105", "5") == str(refusal.value)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas, dict])
def test_frames_give_the_same_matrix_in_any_order(frame):
    table = flats()
    expected = TablePreparation().fit_transform(table)
    prepared = TablePreparation().fit(frame(table))
    np.testing.assert_allclose(
        prepared.transform(frame(table[table.columns[::-1]])), expected, atol=1e-12
    )


def test_works_in_a_pipeline_with_pandas_output():
    table = flats()
    model = make_pipeline(TablePreparation(), Ridge())
    scores = cross_val_score(model, table, table["size"], cv=3)
    assert scores.min() > 0.95
    shown = TablePreparation().set_output(transform="pandas").fit_transform(table)
    assert list(shown.columns[:2]) == ["size", "weight"] and len(shown) == len(table)


def test_settings_are_checked_and_obeyed():
    table = {"level": list("aaaaaaaaaabbbbbbbbbbcccccccccd")}
    names = TablePreparation(min_frequency=1).fit(table).get_feature_names_out()
    assert names.tolist() == [f"level={c}" for c in "abcd"]
    names = TablePreparation(max_categories=2).fit(table).get_feature_names_out()
    assert names.tolist() == ["level=a", "level=b", "level=(other)"]
    for bad in ({"min_frequency": 1.5}, {"max_categories": 0}, {"standardize": "no"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            TablePreparation(**bad).fit(table)


@pytest.mark.parametrize("size", [1e300, -1e300, 1e200])
def test_one_absurd_cell_does_not_make_all_others_equal(size):
    X = np.random.default_rng(0).normal(size=(50, 2))
    usual = TablePreparation().fit(X).transform(X[1:])
    X[0, 0] = size
    found = TablePreparation().fit_transform(X)
    assert np.isfinite(found).all()
    assert np.std(found[1:, 0]) > 0.5 * np.std(usual[:, 0])
    np.testing.assert_allclose(found[1:, 1], usual[:, 1])


@pytest.mark.parametrize("size", [1e300, 1e200, 1e-300])
def test_a_column_that_no_square_can_hold_is_refused(size):
    X = np.random.default_rng(0).normal(size=(50, 2)) * [1.0, size]
    with pytest.raises(ValueError, match=r"column .* in size.* rescale it"):
        TablePreparation().fit(X)


def test_names_of_levels_and_of_columns_do_not_collide():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "k": rng.choice(["a", "b", "(other)", None], 80),
            "k=a": rng.normal(size=80),
            "k is missing": rng.choice([True, False], 80),
            "long": [f"{'z' * 120}{i % 2}" for i in range(80)],
        }
    )
    prepared = TablePreparation(max_categories=2).fit(table)
    names = prepared.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == prepared.transform(table).shape[1]
    assert names[:2] == ["k=a", "k is missing"]
    assert prepared.origin_[:2].tolist() == [1, 2]
    shown = prepared.set_output(transform="pandas").transform(table)
    assert shown.columns.is_unique
    two = TablePreparation().fit(table[["k", "k=a"]].dropna()[["k=a", "k"]])
    names = two.get_feature_names_out().tolist()
    assert names[0] == "k=a" and set(names[1:]) == {"k=a.1", "k=b", "k=(other)"}
    assert two.origin_.tolist() == [0, 1, 1, 1]

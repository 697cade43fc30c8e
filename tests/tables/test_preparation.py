"""The preparation is learnt from training rows only, and agrees with scikit-learn."""

import numpy as np
from sklearn.preprocessing import StandardScaler

from lrisk.tables.columns import typed_column
from lrisk.tables.preparation import Preparation


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
        "level=a", "level=b", "level=(other)", "level is missing",
        "x", "x is missing",
    ]  # fmt: skip
    X = prepared.transform(np.arange(60))
    pooled = X[:, prepared.names_.index("level=(other)")]
    assert set(np.flatnonzero(pooled > 0)) == {50, 51}
    assert np.isfinite(X).all()


def test_stored_preparation_gives_the_same_matrix():
    rng = np.random.default_rng(2)
    data = {
        "x": rng.normal(size=40),
        "level": rng.choice(["p", "q"], 40).astype(object),
        "flag": rng.random(40) < 0.5,
    }
    prepared = Preparation(columns_of(data)).fit(np.arange(40))
    again = Preparation.from_dict(prepared.to_dict(), data)
    np.testing.assert_array_equal(
        prepared.transform(np.arange(40)), again.transform(np.arange(40))
    )
    few = {"x": [0.5], "level": ["unseen"], "flag": [True]}
    row = Preparation.from_dict(prepared.to_dict(), few).transform(np.arange(1))
    assert np.isfinite(row).all()

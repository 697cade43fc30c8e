"""Predictions of rows that stay where they are."""

import os

import numpy as np
import pytest

import lrisk
from lrisk.outofcore import predict

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pandas = pytest.importorskip("pandas")


def fitted(classes=False):
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    y = X.sum(axis=1) + 0.1 * rng.normal(size=300)
    if classes:
        y = np.where(y > 0, "yes", "no")
        return lrisk.RiskClassifier("mean").fit(X, y), X
    return lrisk.RiskRegressor("mean").fit(X, y), X


@pytest.mark.parametrize("classes", [False, True])
def test_predictions_are_those_of_the_model(tmp_path, classes):
    model, X = fitted(classes)
    table = X.assign(other="x")[["c", "other", "a", "b"]]
    table.to_parquet(tmp_path / "rows.parquet")
    out = tmp_path / "out.parquet"
    assert predict(model, tmp_path / "rows.parquet", out) == out
    found = parquet.read_table(out)
    assert found.column("prediction").to_pylist() == model.predict(X).tolist()
    assert os.listdir(tmp_path).count("out.parquet") == 1
    assert len(os.listdir(tmp_path)) == 2
    if classes:
        assert found.column_names == ["prediction", "probability_no", "probability_yes"]
        expected = model.predict_proba(X)
        np.testing.assert_array_equal(found.column("probability_yes"), expected[:, 1])
    predict(model, table, out)
    assert parquet.read_table(out).equals(found)


def test_arrays_and_batches(tmp_path):
    _, frame = fitted()
    X = frame.to_numpy()
    model = lrisk.RiskRegressor("mean").fit(X, X.sum(axis=1))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "wide.npy", np.column_stack([np.ones(300), X]))
    for source, columns in [
        (tmp_path / "X.npy", None),
        (X, None),
        ([X[:100], X[100:]], None),
        (tmp_path / "wide.npy", [1, 2, 3]),
    ]:
        out = predict(model, source, tmp_path / "out.parquet", columns)
        found = parquet.read_table(out).column("prediction")
        np.testing.assert_allclose(found, model.predict(X), rtol=1e-12)


def test_what_is_refused_leaves_no_file(tmp_path):
    model, X = fitted()
    spoilt = X.assign(b=np.nan)
    for source, columns, word in [
        (X[["a", "b"]], None, "'c'"),
        (X, ["a", "b"], "3 columns"),
        (spoilt, None, "NaN"),
        ([], None, "at least one row"),
        (X[:0], None, "at least one row"),
        (X[:0].to_numpy(), None, "at least one row"),
    ]:
        with pytest.raises(ValueError, match=word):
            predict(model, source, tmp_path / "out.parquet", columns)
        assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="existing folder"):
        predict(model, X, tmp_path / "none" / "out.parquet")


def test_columns_of_batches_are_those_of_the_fit(tmp_path):
    model, X = fitted()
    turned = X.assign(other=1.0)[["c", "other", "a", "b"]]
    halves = turned[:50], turned[50:]
    for source in (
        turned,
        pyarrow.Table.from_pandas(turned),
        iter(halves),
        map(pyarrow.Table.from_pandas, halves),
    ):
        out = predict(model, source, tmp_path / "out.parquet")
        found = parquet.read_table(out).column("prediction")
        np.testing.assert_allclose(found, model.predict(X), rtol=1e-12)


def test_rows_are_not_written_over(tmp_path):
    model, X = fitted()
    folder = tmp_path / "rows"
    (folder / "below").mkdir(parents=True)
    X.to_parquet(folder / "X.parquet")
    for source, out in [
        (folder / "X.parquet", folder / "X.parquet"),
        (str(folder), folder / "new.parquet"),
        (folder, folder / "below" / "new.parquet"),
    ]:
        with pytest.raises(ValueError, match="apart from the rows that are read"):
            predict(model, source, out)
    assert len(parquet.read_table(folder / "X.parquet")) == len(X)
    with pytest.raises(ValueError, match="name a file"):
        predict(model, X, folder)
    assert sorted(os.listdir(folder)) == ["X.parquet", "below"]

"""Every kind of source gives the same rows, and bad ones are refused in one line."""

import importlib.util

import numpy as np
import pytest
import scipy.sparse as sp

import lrisk
from lrisk.outofcore import fit
from lrisk.outofcore.scratch import Scratch
from lrisk.outofcore.sources import read
from lrisk.outofcore.targets import NumberTargets

N, D = 2500, 3
arrow = pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed"
)


def drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    return X, X @ [1.0, 2.0, 3.0] + rng.normal(size=N), rng.uniform(0.5, 2.0, N)


def frame():
    pandas = pytest.importorskip("pandas")
    X, y, w = drawn()
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    return table.assign(y=y, w=w, word="x")


def arrays_in(tmp_path):
    X, y, w = drawn()
    for name, array in {"X": X, "y": y, "w": w, "XF": np.asfortranarray(X)}.items():
        np.save(tmp_path / f"{name}.npy", array)
    np.save(tmp_path / "XYW.npy", np.column_stack([y, X, w]))
    raw = np.memmap(tmp_path / "raw.bin", mode="w+", shape=(N, D), offset=16)
    del raw
    mapped = np.memmap(
        tmp_path / "raw.bin", np.float64, mode="w+", shape=(N, D), offset=16
    )
    mapped[:] = X
    return X, y, w, mapped


def rows_of(source, target=None, columns=None, weight=None):
    with Scratch(None) as scratch:
        make = lambda: NumberTargets("test")  # noqa: E731
        data, _ = read(source, target, columns, weight, make, scratch)
        X = np.concatenate([block.X.copy() for block in data.rows.blocks()])
        w = None if data.weight is None else data.weight.vector(in_memory=True)
        return X, data.y.vector(in_memory=True), w, data.names


def test_arrays(tmp_path):
    X, y, w, mapped = arrays_in(tmp_path)
    path = tmp_path / "X.npy"
    places = [2, 0]
    for given, columns in [
        ((path, y, None, w), None),
        ((str(path), tmp_path / "y.npy", None, str(tmp_path / "w.npy")), None),
        ((tmp_path / "XF.npy", y, None, w), None),
        ((tmp_path / "XYW.npy", 0, None, 4), None),
        ((tmp_path / "XYW.npy", 0, [3, 1], 4), places),
        ((path, y, [2, 0], w), places),
        ((X, y, [2, 0], w), places),
        ((X.astype(object).astype(float), list(y), None, list(w)), None),
        ((mapped, y, None, w), None),
        ((mapped[:], y, None, w), None),
        ((np.asfortranarray(X), y, None, w), None),
    ]:
        found = rows_of(*given)
        np.testing.assert_array_equal(found[0], X if columns is None else X[:, columns])
        np.testing.assert_array_equal(found[1], y)
        np.testing.assert_array_equal(found[2], w)
    np.testing.assert_array_equal(rows_of(mapped[100:], y[100:])[0], X[100:])
    np.testing.assert_array_equal(rows_of(mapped.astype(np.int32), y)[0], X.astype(int))


@arrow
def test_tables(tmp_path):
    import pyarrow
    import pyarrow.dataset
    import pyarrow.parquet

    X, y, w = drawn()
    table = frame()
    names = ["a", "b", "c"]
    table.to_parquet(tmp_path / "one.parquet")
    folder = tmp_path / "many"
    folder.mkdir()
    for k in range(4):
        part = table.iloc[k * 700 : (k + 1) * 700]
        part.to_parquet(folder / f"part{k}.parquet", row_group_size=100)
    whole = pyarrow.Table.from_pandas(table)

    def batches(kind):
        for k in range(0, N, 999):
            part = table.iloc[k : k + 999]
            yield {
                "frame": lambda p: p,
                "table": pyarrow.Table.from_pandas,
                "tuple": lambda p: (
                    p[names].to_numpy(), p["y"].to_numpy(), p["w"].to_numpy(),
                ),
            }[kind](part)  # fmt: skip

    for source in (
        tmp_path / "one.parquet",
        str(folder),
        pyarrow.dataset.dataset(folder),
        whole,
        whole.to_reader(),
        table,
        batches("frame"),
        batches("table"),
    ):
        found = rows_of(source, "y", names, "w")
        assert found[3] == names
        for ours, theirs in zip(found, (X, y, w), strict=False):
            np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(rows_of(batches("tuple")), (X, y, w), strict=False):
        np.testing.assert_array_equal(ours, theirs)
    small = table[names].astype(np.float32).assign(y=y, flag=X[:, 0] > 0)
    small.to_parquet(tmp_path / "small.parquet")
    found = rows_of(tmp_path / "small.parquet", "y")
    np.testing.assert_array_equal(found[0][:, :3], X.astype(np.float32))
    assert found[3] == [*names, "flag"]


def test_what_is_wrong_with_arrays_is_said(tmp_path):
    X, y, w, _ = arrays_in(tmp_path)
    np.save(tmp_path / "object.npy", np.array([{}, 1], dtype=object))
    (tmp_path / "bad.npy").write_bytes(b"nothing")
    spoilt, missing = X.copy(), y.copy()
    spoilt[7, 1], missing[3] = np.inf, np.nan
    np.save(tmp_path / "spoilt.npy", spoilt)
    model = lrisk.RiskRegressor("mean")
    for given, word in [
        ((X, y[:-1]), "shape"),
        ((X, None), "target"),
        ((X, 7), "a column, 0 to 2"),
        ((X, 0, [0, 1]), "neither the target"),
        ((X, y, [5]), "places of columns"),
        ((X, y, [1, 1]), "different columns"),
        ((X, missing), "finite numbers"),
        ((X, y, None, -w), "finite and ≥ 0"),
        ((X, y, None, 0 * w), "at least one row"),
        ((spoilt, y), "row 7 .* inf as feature 1"),
        ((tmp_path / "spoilt.npy", y), "row 7 .* inf as feature 1"),
        ((tmp_path / "object.npy", y), "unpickled"),
        ((tmp_path / "bad.npy", y), "numpy.save"),
        ((tmp_path / "y.npy", y), "shape"),
        ((tmp_path / "X.csv", y), "an .npy file"),
        ((sp.csr_array(X), y), "sparse"),
        ((7, y), "iterable of batches"),
        (([],), "at least one row"),
        (([X],), "tuple"),
        (([(X, y[:-1])],), "shape"),
        (([(X, y), (X[:, :2], y)],), "of 3 features"),
        (([(X.astype(str), y)],), "of numbers"),
        (([(X.astype(np.float32), y), (X + 0j, y)],), "of numbers"),
        ((X, np.array(["a"] * N)), "of numbers"),
    ]:
        with pytest.raises((TypeError, ValueError), match=word):
            fit(model, *given)
        assert not hasattr(model, "coef_")
    with pytest.raises(FileNotFoundError):
        fit(model, tmp_path / "none.npy", y)


@arrow
def test_what_is_wrong_with_tables_is_said(tmp_path):
    table = frame()
    spoilt = table.assign(a=table["a"].where(table.index != 9))
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    model = lrisk.RiskRegressor("mean")
    names = ["a", "b", "c"]
    for given, word in [
        ((table, "z", names), "the name of a column among 'a', 'b'"),
        ((table, "y", ["a", "q"]), "columns must be the name"),
        ((table, "y", ["a", "y"]), "neither the target"),
        ((table, "y", []), "at least one"),
        ((table, "y"), "'word' must be of numbers"),
        ((spoilt, "y", names), "row 9 .* nan as feature 0"),
        ((table, None, names), "target"),
        ((tmp_path / "empty", "y"), "without Parquet files"),
        ((tmp_path / "bad.parquet", "y"), "no Parquet file"),
    ]:
        with pytest.raises((TypeError, ValueError), match=word):
            fit(model, *given)
    for given, word in [
        ((spoilt, "y", names), "row 9 .* nan as feature 0"),
        ((table, "y"), "'word' must be of numbers"),
    ]:
        given[0].to_parquet(tmp_path / "t.parquet")
        with pytest.raises(ValueError, match=word):
            fit(model, tmp_path / "t.parquet", *given[1:])
    with pytest.raises(FileNotFoundError):
        fit(model, tmp_path / "none.parquet", "y")

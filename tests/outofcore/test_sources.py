"""Every kind of source gives the same rows, and bad ones are refused in one line."""

import errno
import importlib.util

import numpy as np
import pytest
import scipy.sparse as sp

import lrisk
from lrisk.outofcore import fit
from lrisk.outofcore.scratch import Scratch
from lrisk.outofcore.sources import read
from lrisk.outofcore.targets import NumberTargets
from lrisk.partitions.files import Storage

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
    large = X.copy()
    large[7, 1] = 1e50
    np.save(tmp_path / "large.npy", large)
    whole = (tmp_path / "X.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[:40_000])
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
        ((X * 1e200, y), "row 0 .* rescale that column"),
        ((tmp_path / "large.npy", y), "row 7 .* 1e.50 as feature 1; .* at most"),
        (([(X, y), (X * 1e200, y)],), f"row {N} .* rescale that column"),
        ((X, y, None, 1e300 * w), "sample_weight must be at most"),
        ((X, y, None, 1e-320 * w), "sample_weight must be at least"),
        (([(X, y), (X, y, w)],), "without weights, as the first"),
        (([(X, y, w), (X, y)],), "with weights, as the first"),
        (([(X, None)],), "one number or label for each row"),
        ((np.ma.masked_array(X, X > 1.0), y), "nan as feature"),
        ((X, np.ma.masked_array(y, y > 1.0)), "finite numbers"),
        (([(np.ma.masked_array(X, X > 1.0), y)],), "nan as feature"),
        ((tmp_path / "cut.npy", y), "cut.npy of 40000 bytes"),
        ((X, tmp_path / "cut.npy"), "cut.npy of 40000 bytes"),
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
        ((table, "y", "a"), r"pass \['a'\]"),
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


def frames(**changes):
    """Two of the same columns, the second with some of them changed."""
    table = frame().drop(columns="word")
    first, second = table.iloc[:999], table.iloc[999:]
    for name, change in changes.items():
        second = second.assign(**{name: change})
    return first, second


@arrow
@pytest.mark.parametrize("kind", ["frames", "tables", "folder"])
def test_columns_are_found_by_name(tmp_path, kind):
    X, y, _ = drawn()
    first, second = frames()
    found = rows_of(sources(kind, tmp_path, first, second[["w", "c", "a", "y", "b"]]),
                    "y", None, "w")  # fmt: skip
    np.testing.assert_array_equal(found[0], X)
    np.testing.assert_array_equal(found[1], y)
    assert found[3] == ["a", "b", "c"]


def sources(kind, tmp_path, *tables):
    """The same tables as batches, or as files of a folder."""
    import pyarrow

    if kind == "frames":
        return iter(tables)
    if kind == "tables":
        return (pyarrow.Table.from_pandas(own) for own in tables)
    for k, own in enumerate(tables):
        own.to_parquet(tmp_path / f"part{k}.parquet")
    return tmp_path


@arrow
@pytest.mark.parametrize("kind", ["frames", "tables", "folder"])
@pytest.mark.parametrize("turn", [False, True])
def test_no_column_is_lost_or_taken_for_another(tmp_path, kind, turn):
    first, second = frames()
    for other in (
        second.drop(columns="b"),
        second.rename(columns={"b": "q"}),
        second.assign(z=1.0),
    ):
        tables = (other, first) if turn else (first, other)
        with pytest.raises(ValueError, match=r"columns of the first|nan as feat"):
            rows_of(sources(kind, tmp_path, *tables), "y", None, "w")
        rows = rows_of(sources(kind, tmp_path, *tables), "y", ["a", "c"], "w")[0]
        assert rows.shape == (N, 2)


@arrow
def test_files_of_a_folder_hold_what_all_of_them_have(tmp_path):
    X, y, _ = drawn()
    first, second = frames(a=np.arange(N - 999), b=np.float32(0.1))
    for name, tables in {"up": (second, first), "down": (first, second)}.items():
        folder = tmp_path / name
        (folder / "below").mkdir(parents=True)
        tables[0].to_parquet(folder / "below" / "0.parquet")
        tables[1].to_parquet(folder / "1.parquet")
        first.iloc[:0].to_parquet(folder / "2.parquet")
        (folder / "README.txt").write_text("notes")
        (folder / "_SUCCESS").write_text("")
        (folder / ".1.parquet.crc").write_text("bits")
        (folder / "_metadata.parquet").write_text("none")
        rows = rows_of(folder, "y", None, "w")
        assert rows[0].dtype == np.float64 and len(rows[0]) == N
        whole = np.sort(np.concatenate([X[:999, 0], np.arange(N - 999)]))
        np.testing.assert_array_equal(np.sort(rows[0][:, 0]), whole)
        np.testing.assert_array_equal(np.sort(rows[1]), np.sort(y))
    second.assign(a="x").to_parquet(tmp_path / "up" / "3.parquet")
    with pytest.raises(ValueError, match="do not fit together"):
        rows_of(tmp_path / "up", "y", None, "w")
    (tmp_path / "down" / "3.parquet").write_bytes(b"")
    with pytest.raises(ValueError, match=r"no Parquet file, or damaged.*3\.parquet"):
        rows_of(tmp_path / "down", "y", None, "w")


@arrow
def test_frames_of_polars():
    polars = pytest.importorskip("polars")
    X, y, w = drawn()
    table = polars.DataFrame(frame().drop(columns="word"))
    for source in (table, iter([table[:999], table[999:]])):
        found = rows_of(source, "y", None, "w")
        for ours, theirs in zip(found, (X, y, w), strict=False):
            np.testing.assert_array_equal(ours, theirs)


def test_a_full_scratch_folder_is_named(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Storage, "_write", full)
    X, y, _ = drawn()
    with pytest.raises(OSError, match="scratch files") as caught:
        fit(lrisk.RiskRegressor("mean"), iter([(X, y)]), scratch=tmp_path)
    assert caught.value.errno == errno.ENOSPC and str(tmp_path) in str(caught.value)

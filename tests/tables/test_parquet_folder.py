"""Folders of Parquet files: rows in order, and samples from every stretch of them."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow", reason="needs pyarrow (lrisk[parquet])")

from lrisk.tables.parquet_folder import ParquetFolder, spread_over


def folder_of(path, sizes):
    start = 0
    for k, size in enumerate(sizes):
        frame = pd.DataFrame({"a": np.arange(start, start + size), "b": "word"})
        frame.to_parquet(path / f"{k:03d}.parquet", row_group_size=7)
        start += size
    return ParquetFolder(path)


def test_rows_come_in_the_order_of_the_files(tmp_path):
    folder = folder_of(tmp_path, [10, 0, 3, 20])
    assert folder.n_rows == 33 and folder.n_files == 4
    assert folder.names == ["a", "b"]
    seen = []
    for batch in folder.batches():
        assert batch.start == len(seen)
        seen += batch.frame["a"].tolist()
    assert seen == list(range(33))


def test_rows_by_their_places(tmp_path):
    folder = folder_of(tmp_path, [10, 3, 20])
    places = np.array([0, 9, 10, 32])
    frame = folder.take(places)
    assert frame["a"].tolist() == places.tolist()
    assert frame.index.tolist() == [1, 10, 11, 33]


@pytest.mark.parametrize(("n", "count"), [(10, 10), (10, 20), (1000, 7), (10**7, 999)])
def test_samples_have_one_row_of_each_stretch(n, count):
    for seed in range(5):
        places = spread_over(n, count, seed)
        assert len(places) == min(n, count)
        assert np.all(np.diff(places) > 0) or count > n
        assert places[0] >= 0 and places[-1] < n
        stretch = np.floor(places * (min(count, n) / n) + 1e-9).astype(int)
        assert len(np.unique(stretch)) >= 0.99 * min(n, count)


def test_what_is_no_parquet_is_refused(tmp_path):
    (tmp_path / "a.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="no Parquet file, or damaged"):
        ParquetFolder(tmp_path)


def test_files_have_the_columns_and_types_of_all(tmp_path):
    first = pd.DataFrame({"a": [1, 2], "c": [None, None]})
    second = pd.DataFrame({"c": ["x", "y"], "a": [0.5, 1.0], "b": [3.0, 4.0]})
    (tmp_path / "README.txt").write_text("notes")
    for name, frames in {"up": (first, second), "down": (second, first)}.items():
        (tmp_path / name).mkdir()
        for k, frame in enumerate(frames):
            frame.to_parquet(tmp_path / name / f"{k}.parquet")
        folder = ParquetFolder(tmp_path / name)
        found = folder.take(np.arange(4))
        assert sorted(folder.names) == ["a", "b", "c"] and folder.n_files == 2
        assert sorted(found["a"]) == [0.5, 1.0, 1.0, 2.0]
        assert found["b"].isna().sum() == found["c"].isna().sum() == 2
    assert ParquetFolder(tmp_path).n_rows == 8

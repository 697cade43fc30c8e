"""Folders of very many rows on the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

pytest.importorskip("pyarrow", reason="needs pyarrow (lrisk[parquet])")

from lrisk.cli.commands import lrisk


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("lrisk.cli.folders.MANY", 500)
    monkeypatch.setattr("lrisk.analysis.audit.sampled.SAMPLE", 300)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    y = 50 + X @ [3.0, 1.0, -1.0] + 0.3 * rng.normal(size=1000)
    y[::20] += 30.0
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    place = tmp_path / "rows"
    place.mkdir()
    frame[:600].to_parquet(place / "1.parquet")
    frame[600:].to_parquet(place / "2.parquet")
    return place


def run(*args):
    return CliRunner().invoke(lrisk, ["audit", *map(str, args)])


def test_a_large_folder_is_audited_by_a_sample(folder, tmp_path):
    out = tmp_path / "out"
    result = run(folder, "--target", "y", "--out", out)
    assert result.exit_code == 0, result.output
    assert "sample of 300 of the 1,000 rows of 2 files" in result.output
    names = {path.name for path in out.iterdir()}
    assert names == {"report.html", "rows.csv", "audit.json", "rows.parquet"}
    rows = pd.read_parquet(out / "rows.parquet")
    assert rows.columns.tolist() == [
        "row", "score", "flag", "observed", "expected", "residual",
    ]  # fmt: skip
    assert rows["row"].tolist() == list(range(1, 1001))
    assert rows["flag"][::20].all() and rows["flag"].sum() <= 60
    told = json.loads((out / "audit.json").read_text("utf-8"))
    assert told["n_rows"] == 300 and "1,000" in " ".join(told["notes"])
    assert "sample of 300" in (out / "report.html").read_text("utf-8")


def test_values_are_left_out_where_that_is_asked(folder, tmp_path):
    result = run(folder, "--target", "y", "--out", tmp_path / "out", "--redact", "-q")
    assert result.exit_code == 0 and result.output == ""
    rows = pd.read_parquet(tmp_path / "out" / "rows.parquet")
    assert rows.columns.tolist() == ["row", "score", "flag", "residual"]


def test_columns_are_left_out(folder, tmp_path):
    out = tmp_path / "out"
    args = ("--target", "y", "--out", out, "-q", "--drop", "b", "--drop", "c")
    assert run(folder, *args).exit_code == 0
    told = json.loads((out / "audit.json").read_text("utf-8"))
    assert [column["name"] for column in told["columns"]] == ["a", "y"]
    refused = run(folder, *args, "--drop", "no")
    assert refused.exit_code == 2 and "drop must be the name" in refused.output


def test_too_many_rows_that_do_not_fit_fail(folder, tmp_path):
    args = ("--target", "y", "--out", tmp_path / "out", "-q", "--fail-above", "0.0")
    assert run(folder, *args).exit_code == 1


def test_options_that_need_all_rows_at_once_are_refused(folder, tmp_path):
    args = ("--target", "y", "--out", tmp_path / "out", "--predictions", "a")
    result = run(folder, *args)
    assert result.exit_code == 2
    assert "--predictions is for tables that are read at once" in result.output
    assert not (tmp_path / "out").exists()


def test_a_small_folder_is_read_at_once(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("lrisk.cli.folders.MANY", 1000)
    result = run(folder, "--target", "y", "--out", tmp_path / "out", "-q")
    assert result.exit_code == 0, result.output
    told = json.loads((tmp_path / "out" / "audit.json").read_text("utf-8"))
    assert told["n_rows"] == 1000

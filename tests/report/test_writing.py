"""Files of an audit: all or none, and harmless in a spreadsheet."""

import csv
import json
import os
import pathlib
import re
import stat
import sys
from dataclasses import replace

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from audits import HOSTILE, hostile_audit, make_audit

from lrisk.analysis.audit import AuditResult, Reason
from lrisk.report import render, write_audit

pytest.importorskip("jinja2")

NAMES = {"report.html", "rows.csv", "audit.json"}


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_three_files_that_agree_with_the_audit(tmp_path):
    audit = make_audit()
    audit.scores[5] = audit.residuals[5] = np.nan
    written = write_audit(audit, tmp_path / "new" / "out")
    assert [path.name for path in written] == ["report.html", "rows.csv", "audit.json"]
    folder = tmp_path / "new" / "out"
    assert names(folder) == NAMES
    assert (folder / "report.html").read_text("utf-8") == render(audit)
    again = AuditResult.from_dict(
        json.loads((folder / "audit.json").read_text("utf-8"))
    )
    np.testing.assert_array_equal(again.scores, audit.scores)
    assert replace(again, scores=0, residuals=0, flags=0) == replace(
        audit, scores=0, residuals=0, flags=0
    )
    pd = pytest.importorskip("pandas")
    table = pd.read_csv(folder / "rows.csv", keep_default_na=True)
    assert list(table) == ["row", "id", "score", "flag", "observed", "expected",
                           "suggested", "residual", "reasons", "verdict"]  # fmt: skip
    np.testing.assert_array_equal(table["row"], np.arange(1, 2001))
    np.testing.assert_allclose(table["score"], audit.scores, rtol=1e-7)
    np.testing.assert_allclose(table["residual"], audit.residuals, rtol=1e-7)
    np.testing.assert_array_equal(table["flag"], audit.flags)
    assert table["flag"].dtype == bool and table["verdict"].isna().all()
    marked = table["reasons"].notna()
    assert sorted(table["row"][marked]) == sorted(audit.reasons)


def test_files_can_be_read_by_whoever_the_system_lets(tmp_path):
    before = os.umask(0o022)
    try:
        for path in write_audit(make_audit(n_rows=50, rows=[]), tmp_path):
            assert stat.S_IMODE(path.stat().st_mode) == 0o644
    finally:
        os.umask(before)


def test_rows_as_parquet_have_types_and_nothing_where_nothing_is_known(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    told = [f"{row / 8:g}" for row in range(2000)]
    told[5] = ""
    audit = make_audit(observed=told, expected=told)
    audit.scores[5] = audit.residuals[5] = np.nan
    written = write_audit(audit, tmp_path, parquet=True)
    assert [path.name for path in written][-1] == "rows.parquet"
    table = parquet.read_table(tmp_path / "rows.parquet")
    with (tmp_path / "rows.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert table.column_names == list(lines[0]) and len(table) == len(lines)
    kinds = {name: str(table.schema.field(name).type) for name in table.column_names}
    numbers = {"score", "residual", "observed", "expected"}
    assert {name for name in kinds if kinds[name] == "double"} == numbers
    assert kinds["row"] == "int64" and kinds["flag"] == "bool"
    assert kinds["reasons"] == kinds["verdict"] == "string"
    for own, line in zip(table.to_pylist(), lines, strict=True):
        assert str(own["row"]) == line["row"]
        assert (own["reasons"] or "") == line["reasons"]
        assert (own["score"] is None) == (line["score"] == "")
        if line["observed"]:
            assert own["observed"] == float(line["observed"])
    assert table["observed"][5].as_py() is None


def test_an_earlier_parquet_file_is_replaced_too(tmp_path):
    """It must not stand beside the rows of another audit, or of a redacted one."""
    parquet = pytest.importorskip("pyarrow.parquet")
    write_audit(hostile_audit(), tmp_path, parquet=True)
    assert parquet.read_table(tmp_path / "rows.parquet").num_rows > 0
    write_audit(make_audit(n_rows=60, rows=[]), tmp_path, redact=True)
    assert names(tmp_path) == NAMES | {"rows.parquet"}
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.num_rows == 60 and table["observed"].null_count == 60


def test_without_pyarrow_the_extra_is_named_and_nothing_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'lrisk\[parquet\]'"):
        write_audit(make_audit(n_rows=60, rows=[]), tmp_path, parquet=True)
    assert names(tmp_path) == set()


def test_no_cell_is_a_formula(tmp_path):
    audit = hostile_audit()
    reasons = {k + 1: [Reason("missing", [word])] for k, word in enumerate(HOSTILE)}
    for k, word in enumerate(HOSTILE):
        reasons[k + 31] = [Reason("unusual", [word], {}, {"value": word})]
    words = [HOSTILE[k % len(HOSTILE)] for k in range(audit.n_rows)]
    told = {"ids": words, "observed": words, "expected": words}
    write_audit(replace(audit, reasons=reasons, **told), tmp_path)
    with open(tmp_path / "rows.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == audit.n_rows + 1 and {len(row) for row in rows} == {10}
    for row in rows[1:]:
        for cell in row:
            if cell[:1] in tuple("=+-@\t\r"):
                float(cell)  # a negative number, and nothing else
            assert not re.search(r"[\x00-\x1f]", cell)
    # Where semicolons separate cells, the same file splits elsewhere.
    with open(tmp_path / "rows.csv", encoding="utf-8", newline="") as file:
        for row in csv.reader(file, delimiter=";"):
            for cell in row[1:]:
                assert not cell.strip().startswith(tuple("=+-@"))


def test_redacted_files_tell_no_value(tmp_path):
    audit = make_audit()
    write_audit(audit, tmp_path / "open")
    write_audit(audit, tmp_path / "shut", redact=True)
    for name in NAMES:
        told = (tmp_path / "shut" / name).read_text("utf-8")
        for word in ("Aachen", "2024-05", "unit=lb", "expected, 9000", "petrol"):
            assert word not in told, (name, word)
    assert "mileage" in (tmp_path / "shut" / "rows.csv").read_text("utf-8")
    assert "petrol" in (tmp_path / "open" / "audit.json").read_text("utf-8")


def test_an_earlier_audit_is_replaced(tmp_path):
    write_audit(make_audit(), tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    write_audit(make_audit(n_rows=60, rows=[]), tmp_path)
    assert names(tmp_path) == NAMES | {"notes.txt"}
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 61


@pytest.mark.parametrize("failing", ["write", "rename"])
@pytest.mark.parametrize("place", ["new/folder", "."])
def test_nothing_is_left_after_a_failure(tmp_path, monkeypatch, failing, place):
    audit = make_audit(n_rows=50, rows=[])
    calls = []

    def fail_the_third_time(*arguments, original, **options):
        calls.append(arguments)
        if len(calls) == 3:
            raise OSError("no space left")
        return original(*arguments, **options)

    owner, name = (
        (pathlib.Path, "write_bytes") if failing == "write" else (os, "replace")
    )
    original = getattr(owner, name)

    def patched(*arguments, **options):
        return fail_the_third_time(*arguments, original=original, **options)

    monkeypatch.setattr(owner, name, patched)
    with pytest.raises(OSError, match="no space left"):
        write_audit(audit, tmp_path / place)
    assert names(tmp_path) == set()


def test_what_is_in_the_way_is_named_and_kept(tmp_path):
    audit = make_audit(n_rows=50, rows=[])
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OSError):
        write_audit(audit, tmp_path / "file")
    (tmp_path / "out" / "audit.json").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match=r"audit\.json is a folder"):
        write_audit(audit, tmp_path / "out")
    assert names(tmp_path) == {"file", "out"}
    assert names(tmp_path / "out") == {"audit.json"}
    assert (tmp_path / "file").read_text() == "mine"


def filled(folder, words):
    """Write verdicts into a folder's rows.csv as a person would."""
    with (folder / "rows.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    for row, word in words.items():
        lines[row][-1] = word
    with (folder / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows(lines)


def verdicts_in(path):
    with path.open(newline="") as file:
        return {int(r["row"]): r["verdict"] for r in csv.DictReader(file)
                if r["verdict"]}  # fmt: skip


def test_verdicts_of_the_result_are_written(tmp_path):
    audit = make_audit(n_rows=60, rows=[], judgements={3: "wrong", 9: "right"})
    write_audit(audit, tmp_path)
    assert verdicts_in(tmp_path / "rows.csv") == {3: "wrong", 9: "right"}
    plain = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    assert AuditResult.from_dict(plain).judgements == {3: "wrong", 9: "right"}


def test_verdicts_survive_the_next_audit_of_the_same_table(tmp_path):
    audit = make_audit(n_rows=60, rows=[], fingerprint="one")
    write_audit(audit, tmp_path)
    filled(tmp_path, {4: "wrong", 5: "OK"})
    write_audit(replace(audit, judgements={5: "wrong", 6: "right"}), tmp_path)
    assert names(tmp_path) == NAMES
    assert verdicts_in(tmp_path / "rows.csv") == {4: "wrong", 5: "wrong", 6: "right"}


@pytest.mark.parametrize("word", ["wrong", "who knows"])
def test_verdicts_on_another_table_are_saved(tmp_path, word):
    for k, mark in enumerate(["one", "two", "three"]):
        write_audit(make_audit(n_rows=60, rows=[], fingerprint=mark), tmp_path)
        assert verdicts_in(tmp_path / "rows.csv") == {}
        assert len(names(tmp_path)) == len(NAMES) + k
        filled(tmp_path, {4: word})
    assert verdicts_in(tmp_path / "rows-1.csv") == {4: word}
    assert verdicts_in(tmp_path / "rows-2.csv") == {4: word}


def test_an_earlier_audit_survives_a_failure(tmp_path, monkeypatch):
    write_audit(make_audit(n_rows=60, rows=[]), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    original, calls = os.replace, []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise OSError("no space left")
        return original(*arguments)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="no space left"):
        write_audit(make_audit(n_rows=50, rows=[]), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before

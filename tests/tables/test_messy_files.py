"""Files as people have them: read rightly, or refused in one line that helps."""

import gzip
import io
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openpyxl
import pandas as pd
import pytest

from lrisk.cli import main
from lrisk.tables import table_of
from lrisk.tables.files import read_table

N = 40
SIZES = [41.5 + 2 * i for i in range(N)]
KINDS = [("flat", "house", "loft")[i % 3] for i in range(N)]
RENTS = [float(500 + (i * 37) % 400) for i in range(N)]
FRAME = pd.DataFrame({"size": SIZES, "kind": KINDS, "rent": RENTS})
#: What one file may take.
SECONDS = 5.0


class Read(NamedTuple):
    """A file that is read: its content, what was said, and cells that were checked."""

    name: str
    content: Any
    notes: str = ""
    header: bool = True
    names: tuple[str, str, str] = ("size", "kind", "rent")
    sizes: list[float] = SIZES
    kinds: list[str] = KINDS


class Refused(NamedTuple):
    """A file that is refused, and words of the line that says why and what to do."""

    name: str
    content: Any
    words: str
    target: str = "rent"


def lines(separator=",", size="{}", rent="{}", header="size,kind,rent", decimal="."):
    """The table as text, with numbers as people write them."""
    rows = [header.replace(",", separator)] if header else []
    for a, kind, y in zip(SIZES, KINDS, RENTS):
        shown = size.format(f"{a}".replace(".", decimal))
        rows.append(separator.join([shown, kind, rent.format(f"{y:g}")]))
    return rows


def text(*args, end="\n", **kwargs):
    return end.join(lines(*args, **kwargs)) + end


def excel(path, *, header=True, above=(), sheets=(), rows=FRAME):
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        for name in sheets:
            pd.DataFrame().to_excel(book, sheet_name=name)
        rows.to_excel(book, sheet_name="data", index=False, header=header,
                      startrow=len(above))  # fmt: skip
        for i, title in enumerate(above):
            book.sheets["data"].cell(i + 1, 1, title)


def two_sheets(path):
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        pd.DataFrame({"made": ["by me"], "on": ["Monday"]}).to_excel(book, index=False)
        FRAME.to_excel(book, sheet_name="data", index=False)


def stray_cell(path):
    """A blank in the last cell that Excel has: a rectangle of 17 billion cells."""
    excel(path)
    book = openpyxl.load_workbook(path)
    book["data"]["XFD1048576"] = ""
    book["data"]["XFD1048576"].number_format = "0.00"
    book.save(path)


def parquet_folder(path):
    for part, rows in (("a", FRAME[:15]), ("b", FRAME[15:])):
        folder = path / f"part={part}"
        folder.mkdir(parents=True)
        rows.to_parquet(folder / "rows.parquet")


RECORDS = FRAME.to_dict("records")
TOTALS = f"Total,,{sum(RENTS):g}\n"
EURO = text(separator=";", decimal=",", rent="{} €")
HALF = text().splitlines(keepends=True)
JOINED = "".join([*HALF[:20], "\ufeff", HALF[0], *HALF[20:]])

READ = {
    "plain": Read("a.csv", text()),
    "semicolons and decimal commas": Read("a.csv", text(";", decimal=",")),
    "tabs in a .csv": Read("a.csv", text("\t")),
    "tabs in a .tsv": Read("a.tsv", text("\t")),
    "bars": Read("a.txt", text("|")),
    "gzipped": Read("a.csv.gz", gzip.compress(text().encode())),
    "gzipped without saying so": Read("a.csv", gzip.compress(text().encode())),
    "UTF-8 with a mark": Read("a.csv", text().encode("utf-8-sig")),
    "UTF-16 with a mark": Read("a.csv", text().encode("utf-16")),
    "UTF-16 without a mark": Read("a.csv", text().encode("utf-16-le")),
    "Windows": Read("a.csv", EURO.encode("cp1252"), "cp1252"),
    "Latin-1": Read("a.csv", text(header="größe,kind,rent").encode("latin-1"), "cp1252",
                    names=("größe", "kind", "rent")),
    "old Mac line ends": Read("a.csv", text(end="\r")),
    "Windows line ends": Read("a.csv", text(end="\r\n")),
    "quoted cells with commas and line breaks": Read(
        "a.csv", '"the\nsize",kind,rent\n' + "\n".join(lines()[1:]),
        names=("the\nsize", "kind", "rent")),
    "blank lines": Read("a.csv", "\n\n" + text(end="\n\n")),
    "no last line end": Read("a.csv", text().rstrip("\n")),
    "no header": Read("a.csv", text(header=""), header=False, names=("c1", "c2", "c3")),
    "title above the header": Read(
        "a.csv", "Rents of 2024\n\n" + text(), "1 line above"),
    "title with a comma": Read(
        "a.csv", "Rents, 2024\n" + text(header="size,kind,rent,a,b").replace(
            "\n", ",1,2\n").replace("b,1,2", "b"), "1 line above"),
    "remarks above the header": Read(
        "a.csv", "# made by hand,,\n# twice,,\n" + text(), "2 lines above"),
    "years as names": Read("a.csv", text(header="2019,kind,2020"),
                           names=("2019", "kind", "2020")),
    "units": Read("a.csv", text(size="{} m2", rent="{} EUR")),
    "percent": Read("a.csv", text(size="{}%", rent="{} %")),
    "currency": Read("a.csv", text(rent="${}")),
    "thousands": Read(
        "a.csv", "\n".join(["size,kind,rent",
                            *(f'{a},{k},"1,{y:03.0f}"' for a, k, y in
                              zip(SIZES, KINDS, RENTS))])),
    "spaces around cells": Read("a.csv", text(size="  {} ", rent=" {}  ")),
    "repeated header": Read("a.csv", "".join(HALF[:20] + HALF[:1] + HALF[20:]),
                            "1 repeated header line"),
    "two files joined": Read(
        "a.csv", JOINED.encode("utf-8-sig"),
        "1 repeated header line"),
    "totals": Read("a.csv", text() + TOTALS, "1 totals row"),
    "totals in a column of numbers": Read(
        "a.csv", text() + f"Sum,all,{sum(RENTS):g}\n", "1 totals row"),
    "totals of decimal commas": Read(
        "a.csv", text(";", decimal=",") + "Summe;;5000,25\n", "1 totals row"),
    "totals of numbers with units": Read(
        "a.csv", text(size="{} m2", rent="{} m") + "Total:,,9 m\n", "1 totals row"),
    "spreadsheet": Read("a.xlsx", excel),
    "spreadsheet with a title and an empty sheet": Read(
        "a.xlsx", lambda p: excel(p, above=["Rents", ""], sheets=["notes"]), "1 line"),
    "spreadsheet without header": Read(
        "a.xlsx", lambda p: excel(p, header=False), header=False,
        names=("c1", "c2", "c3")),
    "spreadsheet of text": Read("a.xlsx", lambda p: excel(p, rows=FRAME.astype(str))),
    "spreadsheet with a stray cell at the end": Read("a.xlsx", stray_cell),
    "JSON records": Read("a.json", json.dumps(RECORDS)),
    "JSON columns": Read("a.json", FRAME.to_json()),
    "JSON split": Read("a.json", FRAME.to_json(orient="split")),
    "JSON in an object": Read("a.json", json.dumps({"rows": RECORDS})),
    "JSON of a service": Read("a.json", json.dumps({"count": N, "rows": RECORDS})),
    "spreadsheet of several sheets": Read(
        "a.xlsx", two_sheets, "Of 2 sheets that of the target, number 2, was read."),
    "JSON lines": Read("a.jsonl", "\n".join(map(json.dumps, RECORDS))),
    "Parquet": Read("a.parquet", FRAME.to_parquet()),
    "Parquet folder": Read("parts", parquet_folder),
}  # fmt: skip

MIXED = "\n".join(
    ["size,kind,rent", *(f"{a},{k},{y:g} {'lb' if i % 4 else 'kg'}" for i, (a, k, y) in
                         enumerate(zip(SIZES, KINDS, RENTS)))])  # fmt: skip
DATED = "\n".join(
    ["size,day,rent", *(f"{a},{'13/02/2020' if i % 2 else '02/13/2020'},{y:g}"
                        for i, (a, y) in enumerate(zip(SIZES, RENTS)))])  # fmt: skip
REFUSED = {
    "empty": Refused("a.csv", "", "is empty"),
    "only line ends": Refused("a.csv", "\n\n\n", "no header line; write one"),
    "only a header": Refused("a.csv", "size,kind,rent\n", "a header but no rows"),
    "only headers": Refused("a.csv", "a,b\n" * 5, "a header but no rows"),
    "no header, and not said": Refused("a.csv", text(header=""), "pass --no-header"),
    "no words in the header": Refused("a.csv", ",,\n5,7,1\n", "pass --no-header"),
    "a cell too many": Refused("a.csv", text() + "1,2,3,4\n", "line 42 has 4 cells"),
    "a cell too few": Refused("a.csv", text() + "1,2\n", "line 42 has 2 cells"),
    "words between blanks": Refused("a.csv", text(" "), "parts the first line"),
    "a quote that opens the header": Refused(
        "a.csv", '"' + text(), "is a quote missing in its first line?"),
    "an open quote": Refused("a.csv", text() + '1,"a,3\n1,b,3\n', "quote missing"),
    "NUL bytes": Refused("a.csv", text().encode() + b"1,\0,3\n", "NUL bytes"),
    "a picture": Refused("a.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "NUL bytes"),
    "half a gzip file": Refused("a.csv.gz", gzip.compress(text().encode())[:90],
                                "not a whole gzip"),
    "no gzip file": Refused("a.csv.gz", text(), "not a gzip file"),
    "no workbook": Refused("a.xlsx", "hello", "not an Excel workbook"),
    "an empty workbook": Refused(
        "a.xlsx", lambda p: excel(p, rows=pd.DataFrame()), "has no rows"),
    "an old workbook": Refused("a.xls", "hello", "save it as .xlsx"),
    "broken JSON": Refused("a.json", '[{"a": 1}', "is not JSON"),
    "JSON without rows": Refused("a.json", "[1, 2]", "write a list of records"),
    "JSON of uneven columns": Refused("a.json", '{"a": [1], "b": [1, 2]}',
                                      "different lengths"),
    "JSON split, a number for a row": Refused(
        "a.json", '{"columns": ["x", "y"], "data": [[0, 0], 3]}', "holds no table"
    ),
    "JSON split, null for a row": Refused(
        "a.json", '{"columns": ["x", "y"], "data": [[0, 0], null]}', "holds no table"
    ),
    "JSON split, names in lists": Refused(
        "a.json", '{"columns": [["x"], "y"], "data": [[0, 0]]}', "holds no table"
    ),
    "JSON that splits nothing": Refused("a.json", '{"columns": 3, "data": [1]}',
                                        "write a list of records"),
    "JSON of broken characters": Refused("a.json", '[{"a": "\\ud800"}]', "characters"),
    "broken JSON lines": Refused("a.jsonl", '{"a": 1}\nb', "in each line"),
    "deep JSON": Refused("a.json", "[" * 100_000, "is not JSON"),
    "no Parquet file": Refused("a.parquet", "hello", "not a Parquet file"),
    "a folder of nothing": Refused("parts", lambda p: p.mkdir(), "without Parquet"),
    "another kind": Refused("a.docx", "hello", "unknown ending; use one of"),
    "nothing there": Refused("a.csv", None, "no such file"),
    "mixed units": Refused("a.csv", MIXED, "convert it to one unit"),
    "mixed order of dates": Refused("a.csv", DATED, "write all as 2024-12-31"),
    "two targets": Refused("a.csv", "rent,a,rent\n1,2,3\n", "rename all but one"),
    "a wide header": Refused("a.csv", ",".join(f"c{i}" for i in range(10**5)) + "\n",
                             "at most 2000"),
    "a text for a name": Refused("a.csv", text(header=f"a,{'b' * 10**6},rent"),
                                 "of at most 1000 characters"),
    "one column": Refused("a.csv", "rent\n1\n2\n", "at least one column beside"),
    "quantities as words": Refused(
        "a.csv", "a,rent\n" + "".join(f"{i},{i % 30}h {i % 7}m\n" for i in range(99)),
        "begin with a number, as in row 1'; write"),
}  # fmt: skip


def write(folder, name, content):
    path = folder / name
    if callable(content):
        content(path)
    elif content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("case", READ)
def test_messy_files_are_read_rightly(case, tmp_path):
    told = READ[case]
    path = write(tmp_path, told.name, told.content)
    start = time.perf_counter()
    size, kind, rent = told.names
    frame, notes = read_table(path, rent, header=told.header)
    table = table_of(frame, rent)
    assert time.perf_counter() - start < SECONDS
    assert table.n_rows == N and table.task == "regression"
    np.testing.assert_allclose(table.named(size).values, told.sizes)
    found = table.named(kind)
    assert [found.levels[code] for code in found.values] == told.kinds
    expected = np.array(RENTS) + (1000 if case == "thousands" else 0)
    np.testing.assert_allclose(table.y, expected)
    assert told.notes in " ".join(notes) and bool(told.notes) == bool(notes)


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_line(case, tmp_path):
    told = REFUSED[case]
    path = write(tmp_path, told.name, told.content)
    start = time.perf_counter()
    with pytest.raises(ValueError) as error:
        table_of(read_table(path, told.target).frame, told.target)
    assert time.perf_counter() - start < SECONDS
    assert told.words in str(error.value) and "\n" not in str(error.value)


def started(*arguments):
    """The command line in a new Python, which imports what it needs by itself."""
    command = [sys.executable, "-m", "lrisk", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_standard_input_is_read_whatever_it_is(shell, tmp_path, capsys, monkeypatch):
    (tmp_path / "a.csv").write_text(text())
    model, book = tmp_path / "m.skops", tmp_path / "a.xlsx"
    excel(book)
    arguments = ["fit", "-", "--target", "rent", "--estimator", "RiskRegressor"]
    arguments += ["--out", str(model)]
    predictions = []

    def predict():
        capsys.readouterr()
        assert main(["predict", str(model), str(tmp_path / "a.csv")]) == 0
        predictions.append(capsys.readouterr().out)

    run = shell(*arguments, stdin=tmp_path / "a.csv")
    assert run.returncode == 0, run.stderr
    predict()
    for content in (FRAME.to_parquet(), json.dumps(RECORDS).encode(),
                    gzip.compress(text("|").encode()), book.read_bytes()):  # fmt: skip
        given = io.TextIOWrapper(io.BytesIO(content))
        monkeypatch.setattr(sys, "stdin", given)
        assert main(arguments) == 0
        predict()
    assert len(set(predictions)) == 1 and predictions[0].count("\n") == N + 1


@pytest.mark.parametrize("case", ["mixed units", "no header, and not said"])
def test_the_command_line_refuses_at_once(case, shell, tmp_path):
    told = REFUSED[case]
    path = write(tmp_path, told.name, told.content)
    start = time.perf_counter()
    run = shell("audit", path, "--target", "rent", cwd=tmp_path)
    assert time.perf_counter() - start < 2 * SECONDS  # Python itself starts, too
    assert run.returncode == 2 and run.stdout == ""
    assert told.words in run.stderr and run.stderr.count("\n") == 1
    assert [p.name for p in Path(tmp_path).iterdir()] == [told.name]


def test_the_command_line_says_what_was_left_out(tmp_path):
    path = write(tmp_path, "a.csv", text(header="") + TOTALS)
    model = tmp_path / "m.skops"
    fit = ["fit", path, "--target", "c3", "--no-header", "--out", model]
    run = started(*fit, "--estimator", "RiskRegressor")
    assert run.returncode == 0 and "note: 1 totals row left out (row 41)" in run.stderr
    assert f"fitted to {N} rows" in run.stdout


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    path = write(tmp_path, "a.xlsx", excel)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'lrisk\[excel\]'"):
        read_table(path)


def test_a_word_for_totals_may_be_a_value_like_any_other(tmp_path):
    cells = [f"{'total' if i % 9 == 8 else 'part'},{i % 7},{i % 5}" for i in range(40)]
    path = write(tmp_path, "a.csv", "\n".join(["kind,a,rent", *cells]))
    assert len(read_table(path).frame) == 40
    path = write(tmp_path, "a.csv", "kind,a,rent\npart,1,2\npart,2,5\ntotal,5,5\n")
    assert len(read_table(path).frame) == 3

"""The command line: what it prints and writes, and how it refuses bad input."""

import csv
import gzip
import importlib.util
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from lrisk.cli import main
from lrisk.cli.commands import lrisk


def flats(n=90, seed=1):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.uniform(20, 120, n), "age": rng.uniform(0, 9, n)})
    frame["price"] = 50 + 3 * frame["size"] - frame["age"] + rng.normal(0, 4, n)
    frame.loc[5:9, "price"] *= 10
    return frame


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    flats().to_csv(folder / "flats.csv", index=False)
    out = folder / "out"
    arguments = [str(folder / "flats.csv"), "--target", "price", "--out", str(out)]
    run = CliRunner().invoke(lrisk, ["audit", *arguments, "--fail-above", "0.001"])
    return folder, out, run


def test_audit_prints_and_writes(audited):
    _, out, run = audited
    assert run.exit_code == 1, run.output  # five of ninety rows: above --fail-above
    for words in ("90 rows", "do not fit", "ordinary fit", "tail-risk fit",
                  "worst 10 %", "all 90 rows", "rows not flagged", "row 6:",
                  "divided by 10", "What to do"):  # fmt: skip
        assert words in run.output
    with (out / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["row", "id", "score", "flag", "observed", "expected",
                           "suggested", "residual", "reasons", "verdict"]  # fmt: skip
    assert [row["row"] for row in rows] == [str(i) for i in range(1, 91)]
    flagged = {int(row["row"]) for row in rows if row["flag"] == "true"}
    assert {6, 7, 8, 9, 10} <= flagged and len(flagged) <= 6
    assert (out / "report.html").stat().st_size < 1_000_000
    assert not list(out.glob(".*"))
    text = (out / "audit.json").read_text()
    assert str(out.parent) not in text
    plain = json.loads(text)
    assert (
        plain["options"]["spectrum"] == "superquantile:0.9"
        and plain["random_state"] == 0
    )


def test_verdicts_given_back_are_kept_and_compared(audited):
    folder, out, _ = audited
    again = folder / "again"
    with (out / "rows.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    rows[6][-1] = rows[7][-1] = "wrong"
    rows[8][-1] = "right"
    with (folder / "filled.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    data = folder / "flats.csv.gz"
    data.write_bytes(gzip.compress((folder / "flats.csv").read_bytes()))
    arguments = [str(data), "--target", "price", "--out", str(again),
                 "--verdicts", str(folder / "filled.csv"),
                 "--compare", str(out / "audit.json"), "--redact"]  # fmt: skip
    run = CliRunner().invoke(lrisk, ["audit", *arguments])
    assert run.exit_code == 0, run.output
    assert "2 of 3 judged flagged rows are wrong" in run.output
    assert "Since the earlier audit" in run.output
    with (again / "rows.csv").open(newline="") as file:
        carried = list(csv.reader(file))
    assert [line[-1] for line in carried[5:9]] == ["", "wrong", "wrong", "right"]
    assert carried[8][3] == "false" and carried[6][3] == "true"


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def refusals(folder):
    good = "a,b,y\n" + "".join(f"{i},{i % 7},{i * 0.5 + 1}\n" for i in range(60))
    names = ",".join(f"c{i}" for i in range(100_000))
    file = write(folder, "good.csv", good)
    (folder / "a-file").write_text("x")
    (folder / "none").mkdir()
    words = "a,y\n" + "".join(f"{i % 5},word{i % 3}\n" for i in range(40))
    return {
        "missing file": ([str(folder / "no.csv"), "--target", "y"], "no such file"),
        "a folder": ([str(folder / "none"), "--target", "y"], "without Parquet"),
        "wrong target": ([file, "--target", "Y"], "did you mean 'y'?"),
        "no target": ([file], "--target"),
        "all missing": (
            [write(folder, "none.csv", "a,y\n1,\n2,NA\n"), "--target", "y"],
            "known in some rows",
        ),
        "one class": (
            [write(folder, "one.csv", "a,y\n1,u\n2,u\n"), "--target", "y",
             "--task", "classification"],
            "at least two classes",
        ),
        "words": (
            [write(folder, "words.csv", words), "--target", "y",
             "--task", "regression"],
            "numeric for regression",
        ),
        "empty": ([write(folder, "empty.csv", ""), "--target", "y"], "is empty"),
        "header only": ([write(folder, "h.csv", "a,y\n"), "--target", "y"], "no rows"),
        "encoding": (
            [write(folder, "odd.csv", b"a,y\n1,\0\n"), "--target", "y"],
            "holds NUL bytes",
        ),
        "long row": (
            [write(folder, "long.csv", good + "1,2,3,4\n"), "--target", "y"],
            "line 62 has 4 cells",
        ),
        "short row": (
            [write(folder, "short.csv", good + "1,2\n"), "--target", "y"],
            "line 62 has 2 cells",
        ),
        "too many columns": (
            [write(folder, "wide.csv", f"{names}\n"), "--target", "c1"],
            "100000 columns",
        ),
        "not gzip": ([write(folder, "a.csv.gz", "a,y\n"), "--target", "y"], "gzip"),
        "not parquet": (
            [write(folder, "a.parquet", "hello"), "--target", "y"], "not a Parquet",
        ),
        "ending": ([write(folder, "a.xls", "x"), "--target", "y"], "save it as .xlsx"),
        "out is a file": (
            [file, "--target", "y", "--out", str(folder / "a-file")], "is a file",
        ),
        "out below a file": (
            [file, "--target", "y", "--out", str(folder / "a-file" / "b")],
            "cannot be written",
        ),
        "share": ([file, "--target", "y", "--contamination", "0.9"], "[0, 0.5)"),
        "spectrum": ([file, "--target", "y", "--spectrum", "mode"], "spectrum must be"),
        "verdicts": ([file, "--target", "y", "--verdicts", file], "'verdict'"),
        "compare": ([file, "--target", "y", "--compare", file], "not an audit.json"),
    }  # fmt: skip


CASES = (
    "missing file", "a folder", "wrong target", "no target", "all missing",
    "one class", "words", "empty", "header only", "encoding", "long row", "short row",
    "too many columns", "not gzip", "not parquet", "ending", "out is a file",
    "out below a file", "share", "spectrum", "verdicts", "compare",
)  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_one_line_and_leaves_nothing_behind(
    case, tmp_path, capsys, monkeypatch
):
    data, work = tmp_path / "data", tmp_path / "work"
    data.mkdir()
    work.mkdir()
    arguments, words = refusals(data)[case]
    before = sorted(data.iterdir())
    monkeypatch.chdir(work)
    assert main(["audit", *arguments]) == 2
    printed = capsys.readouterr()
    assert words in printed.err and printed.err.count("\n") == 1
    assert printed.out == "" and "Traceback" not in printed.err
    assert list(work.iterdir()) == [] and sorted(data.iterdir()) == before


def test_hostile_table_is_told_and_written_inert(tmp_path):
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "a b.c": rng.normal(size=n),
            "<script>alert(1)</script>": rng.choice(["=cmd()", "@x", "ok"], n),
            'quo"te': rng.choice(["‮evil", "🙂", "[bold]x[/]"], n),
            "long": ["z" * 10_000] * (n // 2) + ["-1+1"] * (n // 2),
        }
    )
    frame["=y"] = 5 + frame["a b.c"] + 0.1 * rng.normal(size=n)
    frame.loc[:3, "=y"] = 900.0
    frame.to_csv(tmp_path / "bad.csv", index=False)
    arguments = [str(tmp_path / "bad.csv"), "--target", "=y",
                 "--out", str(tmp_path / "out")]  # fmt: skip
    run = CliRunner().invoke(lrisk, ["audit", *arguments])
    assert run.exit_code == 0, run.output
    assert "row 1: =y = 900" in run.output
    assert "<script>alert" not in (tmp_path / "out" / "report.html").read_text()
    with (tmp_path / "out" / "rows.csv").open(newline="") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    numbers = [cell for cell in cells if cell[:1] == "-"]
    assert all(np.isfinite(float(cell)) for cell in numbers)
    assert not any(cell[:1] in "=+@\t\r" and cell for cell in cells)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("RobustRegressor", []),
        ("RiskRegressor", ["--spectrum", "superquantile:0.8"]),
        ("KernelRiskRegressor", ["--kernel", "rbf", "--spectrum", "mean"]),
    ],
)
def test_fit_and_predict(name, options, tmp_path):
    frame = flats(60)
    frame["kind"] = np.where(np.arange(60) % 3, "flat", "house")
    frame.to_csv(tmp_path / "d.tsv", sep="\t", index=False)
    model, out = tmp_path / "m.skops", tmp_path / "p.csv"
    fit = ["fit", str(tmp_path / "d.tsv"), "--target", "price", "--estimator", name]
    run = CliRunner().invoke(lrisk, [*fit, *options, "--out", str(model)])
    assert run.exit_code == 0, run.output
    told = re.search(r"On 60 rows .* \|error\| (\S+) .* median: (\S+)\)", run.output)
    assert name != "RobustRegressor" or float(told[1]) < 0.1 * float(told[2])
    frame.drop(columns="price").to_parquet(tmp_path / "new.parquet")
    new = str(tmp_path / "new.parquet")
    run = CliRunner().invoke(lrisk, ["predict", str(model), new, "--out", str(out)])
    assert run.exit_code == 0, run.output
    predicted = pd.read_csv(out)["prediction"].to_numpy()
    import lrisk as package
    from lrisk.tables import table_of
    from lrisk.tables.preparation import Preparation

    X = Preparation(table_of(frame, "price").features).fit(np.arange(60))
    X = X.transform(np.arange(60))
    given = {o[2:]: v for o, v in zip(options[::2], options[1::2])}
    expected = getattr(package, name)(random_state=0).set_params(**given)
    expected = expected.fit(X, frame["price"]).predict(X)
    np.testing.assert_allclose(predicted, expected, rtol=1e-8)


def test_classifier_predicts_names_and_wrong_pairs_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    kind = np.where(x + 0.3 * rng.normal(size=80) > 0, "high", "low")
    pd.DataFrame({"x": x, "kind": kind}).to_csv(tmp_path / "d.csv", index=False)
    data, model = str(tmp_path / "d.csv"), str(tmp_path / "m.skops")
    fit = ["fit", data, "--target", "kind", "--out", model, "--estimator"]
    run = CliRunner().invoke(lrisk, [*fit, "RobustClassifier"])
    assert run.exit_code == 0, run.output
    assert re.search(r"On 80 rows that it had not seen: [89]\d\.\d% right", run.output)
    run = CliRunner().invoke(lrisk, ["predict", model, data])
    names = [line.split(",")[1] for line in run.stdout.splitlines()[1:]]
    assert np.mean(np.array(names) == kind) > 0.8
    for name, words in (
        ("RobustRegressor", "use RobustClassifier"),
        ("RobstRegressor", "did you mean RobustRegressor?"),
    ):
        run = CliRunner().invoke(lrisk, [*fit, name])
        assert run.exit_code == 2 and words in run.stderr


def test_demo_finds_the_planted_errors(tmp_path):
    run = CliRunner().invoke(lrisk, ["demo", "--out", str(tmp_path / "demo")])
    assert run.exit_code == 0, run.output
    (line,) = [x for x in run.output.splitlines() if x.startswith("Planted errors")]
    precision, recall = (float(part.split()[-1]) for part in line[:-1].split(",")[-2:])
    assert precision >= 0.8 and recall >= 0.9
    assert str(tmp_path / "demo" / "report.html") in run.output


def test_help_needs_neither_scikit_learn_nor_numba():
    code = (
        "import sys; from lrisk.cli import main; status = main(['audit', '--help']); "
        "slow = {'sklearn', 'numba', 'pandas', 'scipy', 'numpy'} & set(sys.modules); "
        "sys.exit(f'imported {slow}' if slow else status)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "--fail-above" in run.stdout


def test_module_entry_point_and_version():
    command = [sys.executable, "-m", "lrisk", "--version"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout.startswith("lrisk ")


def test_unknown_command(capsys):
    assert main(["dance"]) == 2
    assert "dance" in capsys.readouterr().err


def run_audit(folder, frame, *options, target="y", name="t.csv", out="out", **saving):
    frame.to_csv(folder / name, index=False, **saving)
    arguments = [str(folder / name), "--target", target, "--out", str(folder / out)]
    return CliRunner().invoke(lrisk, ["audit", *arguments, *options])


def line_table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame({"x": x, "y": 5 + 2 * x + 0.2 * rng.normal(size=n)}).round(4)


def test_nothing_printed_commands_the_terminal(tmp_path):
    frame = line_table()
    frame["c\x1b[31mol"] = np.where(np.arange(80) < 9, "A\x1b]0;own\x07\x1b[2J", "B")
    frame["same\x1b[2J"] = 1.0
    frame.loc[:8, "y"] = 90.0 + frame.loc[:8, "x"]
    run = run_audit(tmp_path, frame, "--group", "c\x1b[31mol")
    assert run.exit_code == 0, run.output
    assert not set(run.output) & set(map(chr, [*range(9), *range(11, 32), 127, 155]))
    assert "same␛[2J: Always the same" in run.output


def test_labels_are_shown_as_they_were_written(tmp_path):
    frame = line_table()
    high = frame["y"] + np.random.default_rng(1).normal(size=80) > 5
    for words in (("Y", "n"), ("None", "NA"), ("TRUE", "FALSE")):
        frame["y"] = np.where(high, *words)
        run = run_audit(tmp_path, frame)
        assert run.exit_code == 0, run.output
        assert "none missing; classification of y" in run.output
        assert any(f"y = {word} " in run.output for word in words), run.output
        assert "accuracy" in run.output


def test_semicolons_and_decimal_commas_are_read(tmp_path):
    frame = line_table()
    plain = run_audit(tmp_path, frame, out="a")
    local = run_audit(tmp_path, frame, name="l.csv", out="b", sep=";", decimal=",")
    assert local.exit_code == 0, local.output
    assert "Commas were read as decimal points" in local.output
    rows = [(tmp_path / k / "rows.csv").read_text() for k in "ab"]
    assert rows[0] == rows[1] and "looks clean" in plain.output


def test_verdicts_from_a_spreadsheet_and_of_another_table(tmp_path):
    frame = line_table()
    assert run_audit(tmp_path, frame).exit_code == 0
    rows = pd.read_csv(tmp_path / "out" / "rows.csv")
    rows["row"] = rows["row"].astype(float)
    rows["verdict"] = np.where(rows["row"] == 4, "wrong", "")
    given = tmp_path / "filled.csv"
    rows.to_csv(given, sep=";", index=False)
    run = run_audit(tmp_path, frame, "--verdicts", str(given), "--fail-above", "0.01")
    assert run.exit_code == 1, run.output  # a person found one of eighty wrong
    assert "You judged 1 row wrong" in run.output and "looks clean" not in run.output
    again = run_audit(tmp_path, frame)
    assert "Verdicts that stood in rows.csv were kept" in again.output
    kept = pd.read_csv(tmp_path / "out" / "rows.csv")["verdict"]
    assert kept[3] == "wrong" and kept.notna().sum() == 1
    other = run_audit(tmp_path, line_table(seed=7), "--verdicts", str(given), out="o")
    assert other.exit_code == 2 and "another table" in other.stderr
    fewer = run_audit(tmp_path, line_table(60), "--verdicts", str(given), out="o")
    assert fewer.exit_code == 2 and "80 rows where the table has 60" in fewer.stderr
    assert not (tmp_path / "o").exists()
    moved = run_audit(tmp_path, line_table(seed=7))
    assert "saved in rows-1.csv" in moved.output


def test_redacted_terminal_tells_no_value(tmp_path):
    frame = line_table()
    frame["who"] = np.where(np.arange(80) < 9, "Mallory", "Alice")
    frame["y"] = frame["y"].astype(object)
    frame.loc[20, "y"] = "SECRETTARGET"
    frame.loc[:5, "y"] = [90123.5, 91123.5, 92123.5, 93123.5, 94123.5, 95123.5]
    run = run_audit(tmp_path, frame, "--group", "who", "--redact")
    assert run.exit_code == 0, run.output
    for word in ("Mallory", "Alice", "SECRET", "9012", "9112", "9212"):
        assert word not in run.output
    shown = run_audit(tmp_path, frame, "--group", "who")
    assert "SECRETTARGET" in shown.output


def test_a_column_of_two_units_is_refused_until_it_is_dropped(tmp_path):
    frame = line_table()
    frame["weight"] = [f"{50 + i} {'lb' if i in (6, 9) else 'kg'}" for i in range(80)]
    run = run_audit(tmp_path, frame)
    assert run.exit_code == 2 and run.stderr.count("\n") == 1
    assert "2 in lb, first '56 lb' in row 7" in run.stderr and "--drop" in run.stderr
    run = run_audit(tmp_path, frame, "--redact")
    assert run.exit_code == 2 and "2 in lb" in run.stderr and "56" not in run.stderr
    for name, words in (("wieght", "did you mean 'weight'?"), ("y", "no other role")):
        run = run_audit(tmp_path, frame, "--drop", name)
        assert run.exit_code == 2 and run.stderr.count("\n") == 1
        assert "drop must be" in run.stderr and words in run.stderr
    run = run_audit(tmp_path, frame, "--drop", "weight", "--quiet")
    assert (run.exit_code, run.stdout) == (0, "")
    told = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert [column["name"] for column in told["columns"]] == ["x", "y"]
    assert told["options"]["drop"] == ["weight"]
    model = str(tmp_path / "m.skops")
    arguments = ["fit", str(tmp_path / "t.csv"), "--target", "y", "--out", model]
    assert CliRunner().invoke(lrisk, arguments).exit_code == 2
    assert CliRunner().invoke(lrisk, [*arguments, "--drop", "weight"]).exit_code == 0


def hasty(folder):
    """Refusals that must come before the table is even read."""
    (folder / "bad.json").write_text(json.dumps({
        "flags": [True], "n_rows": 1, "interval": [0], "losses": [{"x": 1}],
        "contamination": 0.1, "source": "s"}))  # fmt: skip
    return {
        "compare": (["--compare", str(folder / "bad.json")], "not an audit.json"),
        "nan": (["--fail-above", "nan"], "--fail-above must be"),
        "proc": (["--out", "/proc/nothing"], "cannot be written"),
        "input": (["--verdicts", "-"], "only one of them can be the standard input"),
    }


@pytest.mark.parametrize("case", ["compare", "nan", "proc", "input"])
def test_options_are_refused_before_the_work(case, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options, words = hasty(tmp_path)[case]
    data = "-" if case == "input" else "no-such.csv"
    assert main(["audit", data, "--target", "y", *options]) == 2
    printed = capsys.readouterr().err
    assert words in printed and printed.count("\n") == 1


def test_a_repeated_target_is_refused(tmp_path, capsys):
    path = write(tmp_path, "twice.csv", "x,y,y\n" + "1,2,3\n" * 50)
    assert main(["audit", path, "--target", "y", "--out", str(tmp_path / "o")]) == 2
    assert "several columns 'y'" in capsys.readouterr().err


def test_rows_are_named_by_a_column(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    y = 5 * x + rng.normal(size=80)
    y[3] = 400.0
    lines = [f"P{i:03d},{a},{b}" for i, (a, b) in enumerate(zip(x, y, strict=True))]
    data = write(tmp_path, "t.csv", "patient,x,y\n" + "\n".join(lines) + "\n")
    arguments = [data, "--target", "y", "--id", "patient"]
    arguments += ["--out", str(tmp_path / "out"), "--parquet"]
    run = CliRunner().invoke(lrisk, ["audit", *arguments])
    assert run.exit_code == 0, run.output
    assert "row 4 (P003)" in run.output
    rows = pd.read_parquet(tmp_path / "out" / "rows.parquet")
    assert rows.loc[3, "id"] == "P003" and rows.loc[3, "observed"] == 400.0
    with (tmp_path / "out" / "rows.csv").open(newline="") as file:
        row = list(csv.DictReader(file))[3]
    assert row["id"] == "P003" and float(row["observed"]) == 400.0
    assert abs(float(row["expected"])) < 50.0


def test_parquet_without_pyarrow_is_refused_before_the_work(capsys, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == "pyarrow" else found(name),
    )
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["audit", "no-such.csv", "--target", "y", "--parquet"]) == 2
    printed = capsys.readouterr().err
    assert "pip install 'lrisk[parquet]'" in printed and printed.count("\n") == 1


@pytest.mark.parametrize("quiet", [True, False])
def test_quiet_tells_no_notes(quiet, tmp_path, capsys):
    frame = line_table().assign(name="flat")[["name", "x", "y"]]
    total = f"Total,{frame.x.sum():.4f},{frame.y.sum():.4f}\n"
    path = write(tmp_path, "t.csv", frame.to_csv(index=False) + total)
    options = ["--out", str(tmp_path / "o"), *(["--quiet"] if quiet else [])]
    assert main(["audit", path, "--target", "y", *options]) == 0
    printed = capsys.readouterr()
    assert ("totals row left out" in printed.err) is not quiet
    assert not quiet or printed.err == printed.out == ""

"""Exit statuses, as a shell sees them: every one through a process of its own."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from lrisk.cli.errors import STATUSES

#: A command line in which something is made to happen first.
PRELUDE = "import os, signal, sys, time; from lrisk.cli import main; "


def started(*arguments, **options):
    """The command line in a new Python."""
    command = [sys.executable, "-m", "lrisk", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def prepared(code, *arguments):
    """``lrisk ARGUMENTS`` in a new Python that has run the code."""
    code = f"{PRELUDE}{code}; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("exit") / "flats.csv"
    rng = np.random.default_rng(1)
    size = rng.uniform(20, 120, 60)
    price = 50 + 3 * size + rng.normal(0, 4, 60)
    price[5:9] *= 10
    lines = [f"{a:.3f},{b:.3f}" for a, b in zip(size, price)]
    path.write_text("\n".join(["size,price", *lines]) + "\n")
    return path


def one_line(run, words):
    """Beside what an empty cache says once."""
    told = [line for line in run.stderr.splitlines() if "compiling once" not in line]
    assert words in run.stderr and len(told) == 1, run.stderr
    assert "Traceback" not in run.stderr


def test_too_many_rows_is_1(shell, table, tmp_path):
    """By the lower end of the interval; the audit itself is left out here."""
    code = (
        "import types, lrisk.cli.commands as c; c.audited = "
        "lambda *_: types.SimpleNamespace(interval=(0.02, 0.3))"
    )
    audit = ("audit", table, "--target", "price", "--out", tmp_path / "out")
    run = shell(*audit, "--fail-above", "0.01", first=code)
    assert run.returncode == 1, run.stderr
    one_line(run, "more than --fail-above 0.01")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["audit", "no.csv"], "--target"),
        (["audit", "no.csv", "--target", "y", "--fail-above", "2"], "--fail-above"),
        (["audit", "no.csv", "--tagret", "y"], "No such option"),
        (["dance"], "dance"),
    ],
)
def test_what_a_user_can_change_is_2(arguments, words, shell, tmp_path):
    run = shell(*arguments, cwd=tmp_path)
    assert run.returncode == 2 and run.stdout == ""
    one_line(run, words)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("target", "options", "bare"),
    [
        ("price", ["--estimator", "own:model"], "got 'ValueError'; a pipeline is"),
        ("kind", ["--predictions", "name"], "got 'others'; pass predictions"),
    ],
)
def test_redacted_refusals_quote_no_cell(target, options, bare, shell, table, tmp_path):
    lines = table.read_text().splitlines()
    cells = [f"{row},SECRET{i % 4},{'ab'[i % 2]}" for i, row in enumerate(lines[1:])]
    data = tmp_path / "named.csv"
    data.write_text("\n".join([f"{lines[0]},name,kind", *cells]) + "\n")
    (tmp_path / "own.py").write_text(
        "from sklearn.linear_model import Ridge\n"
        "from sklearn.pipeline import make_pipeline\n"
        "model = make_pipeline(Ridge())\n"
    )
    command = ["audit", data, "--target", target, *options]
    run = shell(*command, cwd=tmp_path)
    assert run.returncode == 2
    one_line(run, "SECRET")
    run = shell(*command, "--redact", cwd=tmp_path)
    assert run.returncode == 2 and "SECRET" not in run.stdout + run.stderr
    one_line(run, bare)


def test_unreadable_files_are_2(shell, table, tmp_path):
    torn = tmp_path / "torn.csv.gz"
    torn.write_bytes(gzip.compress(table.read_bytes())[:-20])
    run = shell("audit", torn, "--target", "price", cwd=tmp_path)
    assert run.returncode == 2
    one_line(run, "torn.csv.gz")
    if os.geteuid():  # nothing is closed to root
        closed = tmp_path / "closed.csv"
        closed.write_bytes(table.read_bytes())
        closed.chmod(0)
        run = shell("audit", closed, "--target", "price", cwd=tmp_path)
        assert run.returncode == 2
        one_line(run, "Permission denied")


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("click", ["--help"]),
        ("jinja2", ["audit", "DATA", "--target", "price"]),
        ("skops", ["fit", "DATA", "--target", "price", "--out", "m.skops"]),
    ],
)
def test_missing_extras_are_2_and_named_before_any_work(
    module, command, table, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    arguments = [str(table) if word == "DATA" else word for word in command]
    run = prepared(f"sys.modules[{module!r}] = None", *arguments)
    assert run.returncode == 2 and run.stdout == ""
    one_line(run, "pip install 'lrisk[cli]'")
    assert module in run.stderr and not list(tmp_path.iterdir())


def test_stopped_by_hand_is_130(shell, table, tmp_path):
    code = (  # a process started in the background ignores SIGINT, and its children do
        "import os, signal, time; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        "import lrisk.cli.commands as c; c.check_installed = "
        "lambda *_: os.kill(os.getpid(), signal.SIGINT) or time.sleep(9)"
    )
    arguments = ("audit", table, "--target", "price", "--out", tmp_path / "out")
    run = shell(*arguments, first=code)
    assert run.returncode == 130
    assert "lrisk: stopped" in run.stderr and "Traceback" not in run.stderr
    assert not list(tmp_path.iterdir())


def test_a_bug_is_70_with_its_traceback(shell, table):
    code = "import lrisk.cli.commands as c; c.check_installed = lambda *_: 1 / 0"
    run = shell("audit", table, "--target", "price", first=code)
    assert run.returncode == 70
    assert "ZeroDivisionError" in run.stderr and "bug in lrisk" in run.stderr


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("len(5)", "TypeError: object of type 'int' has no len()"),
        ("lrisk.audit({}, 'y', nonsense=1)", "unexpected keyword argument"),
        ("__import__('numpy').zeros('three')", "TypeError"),
    ],
)
def test_a_type_that_lrisk_got_wrong_is_a_bug(code, words, table):
    code = f"import lrisk, lrisk.cli.commands as c; c._writable = lambda *_: {code}"
    run = prepared(code, "audit", table, "--target", "price")
    assert run.returncode == 70
    assert words in run.stderr and "Traceback" in run.stderr


def test_a_type_that_lrisk_refuses_is_2(table):
    code = (
        "import lrisk, lrisk.cli.commands as c; "
        "c._writable = lambda *_: lrisk.RiskRegressor(alpha='x').fit([[1]], [1])"
    )
    run = prepared(code, "audit", table, "--target", "price")
    assert run.returncode == 2
    one_line(run, "alpha must be")


def into(stdout, code, *arguments):
    """The run of some code whose output goes to a file or pipe."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True)


#: The command line; and one that prints as an audit does, without the audit.
PLAIN = f"{PRELUDE}sys.exit(main(sys.argv[1:]))"
RICH = (
    f"{PRELUDE}import lrisk.cli.commands as c; from lrisk.cli.printing import terminal;"
    "c.audited = lambda *_: terminal().print('words'); sys.exit(main(sys.argv[1:]))"
)


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (PLAIN, ["--help"]),
        (RICH, ["audit", "DATA", "--target", "price", "--out", "OUT"]),
    ],
)
def test_a_reader_that_went_away_is_141_and_quiet(code, arguments, table, tmp_path):
    places = {"DATA": str(table), "OUT": str(tmp_path / "out")}
    read, write = os.pipe()
    os.close(read)
    run = into(write, code, *[places.get(word, word) for word in arguments])
    os.close(write)
    assert run.returncode == 141 and run.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_output_that_cannot_be_written_is_2():
    with open("/dev/full", "w") as full:
        run = into(full, PLAIN, "--version")
    assert run.returncode == 2
    one_line(run, "No space left")


def test_every_status_is_in_the_help(shell):
    run = shell("--help")
    assert run.returncode == 0
    for status, meaning in STATUSES.items():
        assert f"{status:>5}  {meaning}" in run.stdout


MODELS = """
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression

class Broken(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        raise ZeroDivisionError("in my own code")

    def predict(self, X):
        return 0

class WrongType(LinearRegression):
    def predict(self, X):
        return len(5)

line, broken, wrong, nobody = LinearRegression(), Broken(), WrongType(), None

def made():
    return LinearRegression()
"""


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (["--estimator", "my_models:line"], 0, "your LinearRegression"),
        (["--estimator", "my_models:made"], 0, "your LinearRegression"),
        (["--estimator", "sklearn.linear_model:Ridge"], 0, "your Ridge"),
        (["--predictions", "told.csv"], 0, "your predictions"),
        (
            ["--estimator", "my_models:broken"],
            2,
            "ZeroDivisionError: in my own code (line 7 of my_models)",
        ),
        (["--estimator", "my_models:wrong"], 2, "no len() (line 14 of my_models)"),
        (["--estimator", "my_models:nothing"], 2, "AttributeError"),
        (["--estimator", "my_models:nobody"], 2, "it is None"),
        (["--estimator", "a_script:model"], 2, "SystemExit: 0"),
        (["--estimator", "no_such_module:x"], 2, "ModuleNotFoundError"),
        (["--estimator", "my_models"], 2, "MODULE:OBJECT"),
        (["--predictions", "prize"], 2, "did you mean 'price'?"),
    ],
)
def test_own_models_on_the_command_line(options, status, words, shell, table, tmp_path):
    (tmp_path / "my_models.py").write_text(MODELS)
    (tmp_path / "a_script.py").write_text("import sys\nsys.exit(0)\n")
    prices = [line.split(",")[1] + "1" for line in table.read_text().split()[1:]]
    (tmp_path / "told.csv").write_text("\n".join(["told", *prices]))
    audit = ("audit", table, "--target", "price", "--out", tmp_path / "out")
    run = shell(*audit, *options, cwd=tmp_path)
    assert run.returncode == status, run.stderr
    if status:
        one_line(run, words)
        assert run.stdout == "" and not (tmp_path / "out").exists()
    else:
        assert words in run.stdout


def test_quiet_json_and_open(shell, table, tmp_path):
    audit = ("audit", table, "--target", "price", "--out", tmp_path / "out")
    run = started(*audit, "--quiet")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    run = shell(*audit, "--json", "--open", "--fail-above", "0", env=environment)
    assert run.returncode == 1, run.stderr  # four rows of sixty are wrong
    found = json.loads(run.stdout)
    assert sum(found["flags"]) == 4 and found["n_rows"] == 60
    assert opened.read_text().strip() == (tmp_path / "out" / "report.html").as_uri()


def test_completion_is_documented_and_works(shell):
    assert "_LRISK_COMPLETE=bash_source" in shell("--help").stdout
    words = {"_LRISK_COMPLETE": "bash_complete", "COMP_WORDS": "lrisk audit --fail",
             "COMP_CWORD": "2"}  # fmt: skip
    code = "import sys; from lrisk.cli import main; sys.argv[0] = 'lrisk'; main()"
    command = [sys.executable, "-c", code]
    run = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **words}
    )
    assert "--fail-above" in run.stdout


def test_a_first_line_that_looks_like_data_is_not_quoted(shell, tmp_path):
    lines = [f"SECRET{i},{4.5 * i},Town{i},{i}" for i in range(50)]
    (tmp_path / "bare.csv").write_text("\n".join(lines) + "\n")
    run = shell("audit", "bare.csv", "--target", "price", "--redact", cwd=tmp_path)
    assert run.returncode == 2 and "SECRET" not in run.stdout + run.stderr
    one_line(run, "--no-header")

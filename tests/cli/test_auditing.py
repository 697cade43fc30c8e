"""What an audit is given on the command line, in processes of their own."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from lrisk.cli.auditing import warnings_told


def started(folder, *arguments):
    """A new Python: model files must not depend on what was imported before."""
    command = [sys.executable, "-m", "lrisk", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


@pytest.fixture
def audited(shell, tmp_path):
    """A function: audits a file of the folder; the run, and what it has written."""

    def audit(data, target, *options):
        command = ("audit", data, "--target", target, "--out", "out")
        run = shell(*command, *options, cwd=tmp_path)
        assert run.returncode == 0, run.stderr
        return run, json.loads((tmp_path / "out" / "audit.json").read_text())

    return audit


def flats(n=60, seed=1):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.uniform(20, 120, n).round(1)})
    frame["price"] = (50 + 3 * frame["size"] + rng.normal(0, 4, n)).round(2)
    return frame


def by_comma(values):
    return [f"{value:.2f}".replace(".", ",") for value in values]


def test_predictions_are_read_as_the_target_is(audited, tmp_path):
    frame = flats()
    told = by_comma(50 + 3 * frame["size"])
    frame["price"] = [f"{price} €" for price in by_comma(frame["price"])]
    frame.to_csv(tmp_path / "flats.csv", sep=";", index=False)
    (tmp_path / "told.csv").write_text("\n".join(told) + "\n")
    run, plain = audited("flats.csv", "price", "--predictions", "told.csv")
    assert plain["losses"][-1]["label"] == "your predictions"
    assert plain["losses"][-1]["mean"] < 8.0, run.stdout


def test_predictions_that_lrisk_wrote(audited, shell, tmp_path):
    frame = flats()
    frame["kind"] = np.where(frame["price"] > 250, "none", "flu")
    frame = frame.drop(columns="price")
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ["fit", "t.csv", "--target", "kind", "--out", "m.skops", "--estimator"]
    assert shell(*fit, "RiskClassifier", cwd=tmp_path).returncode == 0
    predict = started(tmp_path, "predict", "m.skops", "t.csv", "--out", "p.csv")
    assert predict.returncode == 0, predict.stderr
    written = pd.read_csv(tmp_path / "p.csv", keep_default_na=False)
    _, plain = audited("t.csv", "kind", "--predictions", "p.csv")
    right = np.mean(written["prediction"] == frame["kind"])
    assert plain["losses"][-1]["accuracy"] == pytest.approx(right)


OWN = """
import warnings
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

class Loud(LinearRegression):
    def fit(self, X, y):
        warnings.warn(f"odd cell {X['name'].iloc[0]}")
        return super().fit(X[["size"]], y)

    def predict(self, X):
        return super().predict(X[["size"]])

model = make_pipeline(Loud())
"""


def test_a_redacted_audit_quotes_no_warning_and_keeps_its_notes(audited, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    frame = flats().assign(name="SECRET")
    lines = frame.to_csv(index=False).splitlines()
    lines[30:30] = [lines[0]]
    (tmp_path / "t.csv").write_text("Flats of 2024\n" + "\n".join(lines) + "\n")
    options = ["--estimator", "own:model", "--redact"]
    run, plain = audited("t.csv", "price", *options)
    assert "SECRET" not in run.stdout + run.stderr + json.dumps(plain)
    assert "note: UserWarning (its words are left out" in run.stderr
    assert plain["notes"] == [
        "1 line above the header left out.",
        "1 repeated header line left out (row 30).",
    ]
    assert not plain["beside_constant"]["worse"]
    assert "always the mean" in run.stdout
    page = (tmp_path / "out" / "report.html").read_text()
    assert "1 repeated header line left out" in page
    assert ">better than a constant<" in page and "SECRET" not in page


@pytest.mark.parametrize(
    ("told", "redact", "words"),
    [
        (True, False, "lrisk: note: UserWarning: odd cell 7\n"),
        (True, True, "lrisk: note: UserWarning (its words are left out, for they may "
         "quote cells)\n"),
        (False, False, ""),
    ],
)  # fmt: skip
def test_warnings_are_notes(told, redact, words, capsys):
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(),
        warnings_told(told, redact),
    ):
        patch.setattr(warnings, "filters", [])
        warnings.warn("odd\ncell 7", stacklevel=1)
        warnings.warn("odd\ncell 7", stacklevel=1)
    assert capsys.readouterr().err == words

"""What an audit is given on the command line, in processes of their own."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest


def lrisk(folder, *arguments):
    command = [sys.executable, "-m", "lrisk", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def audited(folder, data, target, *options):
    run = lrisk(folder, "audit", data, "--target", target, "--out", "out", *options)
    assert run.returncode == 0, run.stderr
    return run, json.loads((folder / "out" / "audit.json").read_text())


def flats(n=60, seed=1):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.uniform(20, 120, n).round(1)})
    frame["price"] = (50 + 3 * frame["size"] + rng.normal(0, 4, n)).round(2)
    return frame


def by_comma(values):
    return [f"{value:.2f}".replace(".", ",") for value in values]


def test_predictions_are_read_as_the_target_is(tmp_path):
    frame = flats()
    told = by_comma(50 + 3 * frame["size"])
    frame["price"] = [f"{price} €" for price in by_comma(frame["price"])]
    frame.to_csv(tmp_path / "flats.csv", sep=";", index=False)
    (tmp_path / "told.csv").write_text("\n".join(told) + "\n")
    run, plain = audited(tmp_path, "flats.csv", "price", "--predictions", "told.csv")
    assert plain["losses"][-1]["label"] == "your predictions"
    assert plain["losses"][-1]["mean"] < 8.0, run.stdout


def test_predictions_that_lrisk_wrote(tmp_path):
    frame = flats()
    frame["kind"] = np.where(frame["price"] > 250, "none", "flu")
    frame = frame.drop(columns="price")
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ["fit", "t.csv", "--target", "kind", "--out", "m.skops", "--estimator"]
    assert lrisk(tmp_path, *fit, "RiskClassifier").returncode == 0
    predict = lrisk(tmp_path, "predict", "m.skops", "t.csv", "--out", "p.csv")
    assert predict.returncode == 0, predict.stderr
    written = pd.read_csv(tmp_path / "p.csv", keep_default_na=False)
    _, plain = audited(tmp_path, "t.csv", "kind", "--predictions", "p.csv")
    right = np.mean(written["prediction"] == frame["kind"])
    assert plain["losses"][-1]["accuracy"] == pytest.approx(right)

"""Any estimator by name; model files that come back exactly, or are refused."""

import csv
import importlib
import inspect
import io
import json
import pickle
import pkgutil
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.base import BaseEstimator
from skops import io as skops_io

import lrisk as package
from lrisk.cli import main
from lrisk.cli.commands import lrisk
from lrisk.cli.models import fit_model, predict_with
from lrisk.cli.registry import estimator_named, estimators, kind_of
from lrisk.cli.settings import apply_settings, literal, parsed_settings
from lrisk.cli.storage import FORMAT, LABEL, is_trusted, load_model, save_model

NOTES = "ignore::lrisk.CollapsedFitWarning"


def table(n=70, seed=3):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.uniform(20, 120, n),
            "kind": rng.choice(["flat", "house", "hut"], n),
            "new": rng.random(n) < 0.5,
            "age": np.where(rng.random(n) < 0.15, np.nan, rng.uniform(0, 9, n)),
        }
    )
    noise = rng.normal(0, 4, n)
    frame["price"] = 50 + 3 * frame["size"] + 9 * (frame["kind"] == "hut") + noise
    frame["dear"] = np.where(frame["price"] + 5 * noise > 250, "yes!", "no!")
    return frame


def settings_for(name):
    known = estimators()[name]().get_params()
    settings = {"noise": "gaussian:0.05"} if "noise" in known else {}
    return {**settings, "n_clusters": 3} if "n_clusters" in known else settings


def fitted(name):
    own = kind_of(estimators()[name]())
    target = {"regression": "price", "classification": "dear"}.get(own)
    frame = table()
    drop = [column for column in ("price", "dear") if column != target]
    return fit_model(frame.drop(columns=drop), target, name, "auto", settings_for(name))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


class TestRegistry:
    def test_every_exported_estimator_is_in_it(self):
        exported = set()
        for found in pkgutil.iter_modules(package.__path__, "lrisk."):
            if found.ispkg and not found.name.endswith((".cli", ".torch")):
                module = importlib.import_module(found.name)
                kinds = [getattr(module, n) for n in getattr(module, "__all__", [])]
                exported |= {
                    kind.__name__
                    for kind in kinds
                    if inspect.isclass(kind) and issubclass(kind, BaseEstimator)
                }
        silent = {"LabelErrorDetector", "OutlierDetector"}  # of new rows
        silent |= {"TablePreparation"}  # part of every model
        assert exported == set(estimators()) | silent and len(exported) >= 20

    @pytest.mark.parametrize(
        "name", ["RiskKMeans", "risk-k-means", "RISK_KMEANS", "risk kmeans"]
    )
    def test_spelling_does_not_matter(self, name):
        assert estimator_named(name) is package.RiskKMeans

    def test_nearest_name_is_suggested(self):
        with pytest.raises(ValueError, match=r"did you mean TorrentRegressor\?$"):
            estimator_named("torent-regressor")
        with pytest.raises(ValueError, match="lrisk estimators lists them"):
            estimator_named("zzzz")

    def test_listed(self):
        run = CliRunner().invoke(lrisk, ["estimators"])
        assert run.exit_code == 0
        assert all(f"{name} (" in run.output for name in estimators())


class TestSettings:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("1e-3", 1e-3), ("3", 3), ("true", True), ("True", True), ("null", None),
            ("None", None), ("[1, 2.5]", [1, 2.5]), ("(1, 2)", (1, 2)),
            ("'a b'", "a b"), ("huber", "huber"), ('{"a": 1}', {"a": 1}),
            ("__import__('os')", "__import__('os')"), ("1 +", "1 +"),
        ],
    )  # fmt: skip
    def test_literals(self, text, value):
        assert literal(text) == value and type(literal(text)) is type(value)

    @pytest.mark.parametrize("words", [["alpha"], ["=1"], ["a=1", "a=2"]])
    def test_bad_words(self, words):
        with pytest.raises(ValueError, match="--set must be"):
            parsed_settings(words)

    def test_unknown_parameters_are_named_with_the_nearest(self):
        with pytest.raises(ValueError, match="no parameter 'alpa'; did you mean 'al"):
            apply_settings(package.RiskRegressor(), {"alpa": 1.0})

    def test_objects_by_name_and_their_own_parameters(self):
        made = apply_settings(
            package.NoiseCorrectedRegressor(),
            {"noise__cov": [0.1, 0.2], "noise": "gaussian"},
        )
        assert made.noise == package.noise.GaussianNoise([0.1, 0.2])
        sever = apply_settings(
            package.baselines.Sever(),
            {"estimator": "risk-classifier", "estimator__spectrum": "mean"},
        )
        assert kind_of(sever) == "classification" and sever.estimator.spectrum == "mean"
        with pytest.raises(ValueError, match="noise must be one of"):
            apply_settings(package.NoiseCorrectedRegressor(), {"noise": "gausian"})


@pytest.mark.filterwarnings(NOTES)
@pytest.mark.parametrize("name", sorted(estimators()))
def test_every_estimator_comes_back_exactly(name, folder):
    made, frame = fitted(name), table(n=30, seed=8)
    now = predict_with(made.model, frame)
    save_model(made.model, folder / f"{name}.skops")
    again = predict_with(load_model(folder / f"{name}.skops"), frame)
    assert list(now.columns) == list(again.columns) and now.columns
    for column, values in now.columns.items():
        np.testing.assert_array_equal(values, again.columns[column])
        assert len(values) == 30 and len(set(values.tolist())) > 1
    kind = kind_of(made.model["estimator"])
    assert ("probability" in now.columns) == (kind == "classification")


def test_a_fresh_process_reads_them_all(folder):
    """Which types are trusted does not depend on what was imported before."""
    for name in ("Sever", "RobustRegressor", "NoiseCorrectedKernelRegressor"):
        save_model(fitted(name).model, folder / f"{name}.skops")
    code = (
        "import sys; from pathlib import Path; from lrisk.cli.storage import "
        "load_model; print([type(load_model(p)['estimator']).__name__ for p in "
        "sorted(Path(sys.argv[1]).glob('*.skops'))])"
    )
    command = [sys.executable, "-c", code, str(folder)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    names = sorted(path.stem for path in folder.glob("*.skops"))
    assert run.stdout.strip() == str(names)


def call(*arguments):
    return CliRunner().invoke(lrisk, [str(argument) for argument in arguments])


class TestCommands:
    def test_predictions_are_the_estimators_to_the_last_digit(self, tmp_path):
        data, model, out = (tmp_path / n for n in ("d.csv", "m.skops", "p.csv"))
        frame = table().drop(columns="dear")
        frame.to_csv(data, index=False)
        run = call("fit", data, "--target", "price", "--estimator", "tilted-regressor",
                   "--set", "t=-0.1", "--out", model)  # fmt: skip
        assert run.exit_code == 0, run.output
        assert "TiltedRegressor fitted to 70 rows" in run.output
        run = call("predict", model, data, "--out", out)
        assert run.exit_code == 0 and "columns not used: price" in run.stderr
        loaded = load_model(model)
        assert loaded["estimator"].t == -0.1
        expected = predict_with(loaded, pd.read_csv(data)).columns["prediction"]
        with out.open(newline="") as file:
            written = list(csv.DictReader(file))
        assert [line["row"] for line in written] == [str(i) for i in range(1, 71)]
        assert [float(line["prediction"]) for line in written] == expected.tolist()
        assert not list(tmp_path.glob(".*"))

    @pytest.mark.parametrize("options", [["--target", "price"], []])
    def test_columns_that_are_left_out_are_named(self, options, tmp_path):
        data, model = tmp_path / "d.csv", tmp_path / "m.skops"
        frame = table()[["size", "price"]]
        frame["code"], frame["same"] = [f"c{i}" for i in range(len(frame))], 1
        frame["words"] = [f"nobody wrote this twice, {i:09}" for i in range(len(frame))]
        frame.to_csv(data, index=False)
        name = "RiskRegressor" if options else "RiskKMeans"
        run = call("fit", data, *options, "--estimator", name, "--out", model)
        assert run.exit_code == 0, run.output
        told = "columns left out: code (identifier), same (constant), words (text)"
        assert run.stderr.count("note:") == 1 and told in run.stderr

    def test_classifier_by_default_for_classes_and_probability(self, tmp_path):
        data, model = tmp_path / "d.csv", tmp_path / "m.skops"
        table().drop(columns="price").to_csv(data, index=False)
        run = call("fit", data, "--target", "dear", "--out", model)
        assert run.exit_code == 0 and "RobustClassifier fitted" in run.output
        run = call("predict", model, data)
        found = pd.read_csv(io.StringIO(run.stdout))
        assert list(found) == ["row", "prediction", "probability"]
        assert set(found["prediction"]) == {"yes!", "no!"}
        assert found["probability"].between(0.5, 1.0).all()

    def test_order_of_columns_does_not_matter_and_missing_ones_are_named(
        self, tmp_path
    ):
        data, model = tmp_path / "d.csv", tmp_path / "m.skops"
        frame = table().drop(columns="dear")
        frame.to_csv(data, index=False)
        call("fit", data, "--target", "price", "--estimator", "RiskRegressor",
             "--spectrum", "mean", "--out", model)  # fmt: skip
        straight = call("predict", model, data).stdout
        frame[frame.columns[::-1]].assign(extra=1).to_csv(data, index=False)
        run = call("predict", model, data)
        assert run.stdout == straight and "not used: price, extra" in run.stderr
        frame.rename(columns={"size": "sizes"}).drop(columns="kind").to_csv(
            data, index=False
        )
        out = tmp_path / "p.csv"
        run = call("predict", model, data, "--out", out)
        assert run.exit_code == 2 and not out.exists()
        assert "lacks what the model needs: 'size', 'kind'; is 'size' called" \
            " 'sizes' here?" in run.stderr.replace("\n", " ")  # fmt: skip

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--estimator", "RiskRegressor"], "pass --target"),
            (["--estimator", "RiskKMeans", "--target", "price"], "left out with"),
            (["--estimator", "Sever", "--target", "dear"], "--set estimator=NAME"),
            (["--estimator", "RiskRegressor", "--target", "dear"], "RiskClassifier"),
            (["--estimator", "Sever", "--target", "price", "--spectrum", "mean"],
             "Sever has no parameter 'spectrum'"),
            (["--estimator", "RiskRegressor", "--target", "price", "--spectrum",
              "superquantle:0.9"], "did you mean 'superquantile'?"),
            (["--target", "price", "--alpha", "1", "--set", "alpha=2"], "twice"),
            (["--target", "price", "--set", "contamination=x"], "contamination must"),
            (["--target", "price", "--estimator", "NoiseCorrectedRegressor"],
             "noise must be given"),
        ],
    )  # fmt: skip
    def test_bad_options_are_one_line_and_write_nothing(
        self, options, words, tmp_path, capsys
    ):
        data, model = tmp_path / "d.csv", tmp_path / "m.skops"
        table().to_csv(data, index=False)
        assert main(["fit", str(data), *options, "--out", str(model)]) == 2
        printed = capsys.readouterr()
        assert words in printed.err and printed.err.count("\n") == 1
        assert not model.exists() and list(tmp_path.iterdir()) == [data]


class Evil:
    def __reduce__(self):
        return (print, ("executed",))


def relabelled(content, label):
    """The same file under another label."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for member in old.namelist():
            if member != LABEL:
                new.writestr(member, old.read(member))
        if label is not None:
            new.writestr(LABEL, json.dumps(label))
    return out.getvalue()


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "m.skops"
    save_model(fitted("RiskRegressor").model, path)
    return path.read_bytes()


class TestHostileFiles:
    def refusal(self, content, tmp_path, capsys):
        model, data, out = (tmp_path / n for n in ("m.skops", "d.csv", "p.csv"))
        model.write_bytes(content)
        table().to_csv(data, index=False)
        assert main(["predict", str(model), str(data), "--out", str(out)]) == 2
        printed = capsys.readouterr()
        assert printed.err.count("\n") == 1 and "Traceback" not in printed.err
        assert not out.exists() and "executed" not in printed.out
        return printed.err

    @pytest.mark.parametrize("where", ["beside", "estimator", "parameter"])
    def test_untrusted_types_are_named(self, where, tmp_path, capsys):
        from sklearn.preprocessing import FunctionTransformer

        model = fitted("RiskRegressor").model
        evil = FunctionTransformer(subprocess.check_output)
        if where == "beside":
            model["x"] = evil
        elif where == "estimator":
            model["estimator"] = evil
        else:
            model["estimator"].solver = subprocess.check_output
        content = relabelled(
            skops_io.dumps(model), {"format": FORMAT, "lrisk": "0.0.1"}
        )
        words = self.refusal(content, tmp_path, capsys)
        assert "untrusted type subprocess.check_output" in words

    def test_saving_refuses_what_loading_would(self, tmp_path):
        model = fitted("RiskRegressor").model
        model["estimator"].solver = subprocess.check_output
        with pytest.raises(ValueError, match=r"holds subprocess\.check_output"):
            save_model(model, tmp_path / "m.skops")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        "name",
        [
            "builtins.eval", "os.system", "lrisk.estimators.path.risk_path",
            "lrisk.cli.main", "lrisk.cli.storage.zipfile",
            "lrisk.datasets.errors.np",
            "lrisk.report.page.Path", "lrisk.nowhere.Thing", "lriskx.Evil", "lrisk", "",
        ],
    )  # fmt: skip
    def test_only_kinds_of_data_are_trusted(self, name):
        assert not is_trusted(name)

    @pytest.mark.parametrize(
        "name",
        [
            "lrisk.estimators.linear.RiskRegressor", "lrisk.spectra.smooth.Extremile",
            "lrisk.estimators.robust.SelectedStage",
            "lrisk.corrections.surrogates.Surrogate",
        ],
    )  # fmt: skip
    def test_data_of_lrisk_is_trusted(self, name):
        assert is_trusted(name)

    def test_no_model_files(self, good, tmp_path, capsys):
        other = skops_io.dumps({"estimator": 1})
        for content in (
            pickle.dumps(Evil()), b"PK\x03\x04 no zip", b"", good[: len(good) // 2],
            good[:-30], other, relabelled(good, None),
            relabelled(other, {"format": FORMAT, "lrisk": "0.0.1"}),
            relabelled(good, {"format": "x", "lrisk": "0.0.1"}),
            relabelled(good, {"format": FORMAT, "lrisk": "new"}), relabelled(good, [1]),
        ):  # fmt: skip
            words = self.refusal(content, tmp_path, capsys)
            assert "is not a model file of lrisk" in words

    def test_changed_bytes_are_noticed(self, good, tmp_path, capsys):
        rng = np.random.default_rng(0)
        place = good.index(b"schema.json")  # its data follow
        broken = bytearray(good)
        for i in rng.integers(place + 20, place + 400, 20):
            broken[i] ^= 0xFF
        words = self.refusal(bytes(broken), tmp_path, capsys)
        assert "not a model file" in words or "damaged" in words

    def test_newer_versions_say_so_before_their_types_are_looked_at(
        self, tmp_path, capsys
    ):
        content = skops_io.dumps({"x": subprocess.check_output})
        for label in (
            {"format": FORMAT, "lrisk": "99.1"},
            {"format": 9, "lrisk": "0.0.1"},
        ):
            words = self.refusal(relabelled(content, label), tmp_path, capsys)
            assert f"was written by lrisk {label['lrisk']}" in words
            assert "update lrisk" in words

    def test_older_formats_say_so(self, tmp_path, capsys):
        label = {"format": FORMAT - 1, "lrisk": "0.0.1"}
        words = self.refusal(relabelled(skops_io.dumps({}), label), tmp_path, capsys)
        assert "earlier lrisk" in words and "fit the model anew" in words

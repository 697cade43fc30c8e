"""Compiling everything common at once, and saying that something is compiled."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import lrisk
from lrisk import _jit
from lrisk.cli import commands, main, warming


def signatures():
    """What is compiled, of all functions of the package."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("lrisk"):
            for value in vars(module).values():
                if isinstance(value, _jit.Compiled):
                    compiled = value.__dict__.get("dispatcher")
                    found[value.__qualname__, value.__module__] = (
                        set(compiled.signatures) if compiled is not None else set()
                    )
    return found


def test_after_a_warm_up_the_front_doors_compile_nothing():
    told = []
    warming.warm_up(told.append)
    assert told == list(warming.jobs())
    before = signatures()
    rng = np.random.default_rng(1)
    X = rng.normal(size=(700, 5))
    y = X[:, 0] + rng.normal(size=700)
    labels = (X[:, 0] + rng.logistic(size=700) > 0).astype(int)
    dirty = np.where(rng.random(700) < 0.07, -9.0, y)
    weight = rng.integers(1, 4, 700) * 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lrisk.RiskRegressor().fit(X, y)
        lrisk.RiskRegressor("esrm:1").fit(X, y, sample_weight=weight)
        lrisk.RiskClassifier().fit(X, labels)
        lrisk.RiskClassifier("mean").fit(X, rng.integers(0, 3, 700))
        lrisk.RiskRegressor("subquantile:0.9").fit(X[:80], dirty[:80])
        lrisk.RobustRegressor(kernel="linear").fit(X[:300], dirty[:300])
        lrisk.RobustClassifier().fit(X[:200], labels[:200])
        lrisk.audit({"a": X[:150, 0], "b": X[:150, 1], "y": dirty[:150]}, "y")
    after = signatures()
    new = {name: after[name] - before.get(name, set()) for name in after}
    assert not {name: kinds for name, kinds in new.items() if kinds}


def test_the_command_says_what_it_does_and_where(monkeypatch, tmp_path):
    done = []
    monkeypatch.setattr(warming, "jobs", lambda: {"a fit": lambda: done.append(1)})
    monkeypatch.setattr(_jit, "cache_folder", lambda: tmp_path)
    result = CliRunner().invoke(commands.lrisk, ["warmup"])
    assert result.exit_code == 0 and done == [1]
    assert "a fit" in result.stdout and str(tmp_path) in result.stdout


def test_without_a_cache_a_warm_up_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(_jit, "cache_folder", lambda: None)
    assert main(["warmup"]) == 2
    assert "NUMBA_CACHE_DIR" in capsys.readouterr().err


def test_compilation_is_told_on_stderr_for_the_time_of_a_command(capsys):
    before = warming.LOGGER.level
    with warming.compiling_told():
        warming.LOGGER.info("compiling once")
    warming.LOGGER.info("compiling twice")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "lrisk: compiling once\n")
    assert not warming.LOGGER.handlers and warming.LOGGER.level == before


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_quiet_commands_say_nothing_of_it(monkeypatch, capsys, tmp_path, quiet):
    data = tmp_path / "data.csv"
    data.write_text("a,y\n1,2\n")

    def refuse(*arguments, **options):
        warming.LOGGER.info("compiling once")
        raise ValueError("this far and no further")

    monkeypatch.setattr(commands, "_read", refuse)
    out = str(Path(tmp_path) / "out")
    assert main(["audit", str(data), "--target", "y", "--out", out, *quiet]) == 2
    assert ("compiling once" in capsys.readouterr().err) == (not quiet)

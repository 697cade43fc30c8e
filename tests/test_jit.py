"""Compilation: cached, never stale, never in the way."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lrisk

PACKAGE = Path(lrisk.__file__).parent
# A function that calls others; no fit, which would import and compile much more.
FIT = """
import numpy as np
from lrisk.permutahedron import _pool_l2, smoothed_risk
from lrisk.ranking import Ranking
from lrisk.spectra import Extremile
ranking = Ranking(Extremile(2.0), 10)
print(smoothed_risk(ranking, np.arange(10.0) ** 1.5, "l2", 0.1)[0])
print(sum(_pool_l2.dispatcher.stats.cache_hits.values()))
"""


def run(code, path, **env):
    environment = {**os.environ, "PYTHONPATH": str(path), **env}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def nobody(folder):
    """A user whose cache holds nothing of what other tests have compiled."""
    empty = str(folder / "nobody")
    return {"XDG_CACHE_HOME": empty, "LOCALAPPDATA": empty, "HOME": empty}


def copy_of_the_package(folder):
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "lrisk", ignore=ignore)
    return folder


def test_cache_is_used_and_an_edit_elsewhere_is_noticed(tmp_path):
    path, cache = copy_of_the_package(tmp_path / "package"), tmp_path / "cache"
    env = {"XDG_CACHE_HOME": str(cache), "NUMBA_CACHE_DIR": ""}
    first, hits = run(FIT, path, **env)
    assert hits == "0"
    again, hits = run(FIT, path, **env)
    assert float(again) == pytest.approx(float(first)) and hits == "1"
    # an edit in a file other than the compiled function's
    version = path / "lrisk" / "_version.py"
    version.write_text(version.read_text() + "# changed\n")
    _, hits = run(FIT, path, **env)
    assert hits == "0"
    # pip knows nothing of such files and would leave them behind
    assert not list(path.rglob("*.nb?")) and list(cache.rglob("*.nbi"))


def test_two_installations_do_not_take_turns(tmp_path):
    """They share the user's cache, and the names of functions, but not a folder."""
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": ""}
    one, other = (copy_of_the_package(tmp_path / name) for name in ("one", "other"))
    version = other / "lrisk" / "_version.py"
    version.write_text(version.read_text() + "# another version\n")
    assert [run(FIT, path, **env)[1] for path in (one, other, one)] == ["0", "0", "1"]


@pytest.mark.parametrize("where", ["package", "asked"])
def test_a_cache_that_cannot_be_written_is_read(tmp_path, where):
    """As of an image, whose users may have no home and write nowhere."""
    path, asked = copy_of_the_package(tmp_path / "package"), tmp_path / "asked"
    env = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null/cache"}
    env["NUMBA_CACHE_DIR"] = str(asked) if where == "asked" else ""
    assert run(FIT, path, **env)[1] == "0"
    files = sorted((asked if where == "asked" else path).rglob("*.nb?"))
    assert files
    before = [file.stat().st_mtime_ns for file in files]
    read_only = "import lrisk._jit as jit; jit.cache_folder = lambda: None\n"
    assert run(read_only + FIT, path, **env)[1] == "1"
    assert [file.stat().st_mtime_ns for file in files] == before


def test_nobodys_home(monkeypatch):
    """Where the user has no entry, the home cannot be told at all."""
    from lrisk import _jit

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(_jit, "_user_cache", homeless)
    assert _jit.cache_folders() == [PACKAGE / "__pycache__"]


LOUD = "import logging; logging.basicConfig(format='%(message)s', level=logging.INFO)\n"


def test_compilation_is_told_once_to_those_who_listen(tmp_path):
    def heard(code, **env):
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), **env}
        command = [sys.executable, "-c", code]
        result = subprocess.run(
            command, capture_output=True, text=True, env=environment
        )
        return result.stderr.splitlines()

    quiet, loud = (
        {"NUMBA_CACHE_DIR": str(tmp_path / name), **nobody(tmp_path)} for name in "ab"
    )
    assert heard(FIT, **quiet) == []
    assert heard(LOUD + FIT, **loud) == ["compiling once, which takes some seconds"]
    assert heard(LOUD + FIT, **loud) == []
    nowhere = "import lrisk._jit as jit; jit.cache_folder = lambda: None\n"
    blind = {"NUMBA_CACHE_DIR": str(tmp_path / "c"), **nobody(tmp_path)}
    (told,) = heard(LOUD + nowhere + FIT, **blind)
    assert "each new process" in told and "NUMBA_CACHE_DIR" in told


def test_a_binary_for_another_processor_is_not_used(tmp_path):
    """The cache knows the processor: NUMBA_CPU_NAME needs no folder of its own."""
    code = (
        "import numpy as np; from lrisk.ranking import _above\n"
        "print(_above(np.arange(4.0), 1.0))\n"
        "print(sum(_above.dispatcher.stats.cache_hits.values()))\n"
    )
    hits = []
    for name in ({}, {"NUMBA_CPU_NAME": "generic"}, {"NUMBA_CPU_NAME": "generic"}, {}):
        env = {"NUMBA_CACHE_DIR": str(tmp_path), **nobody(tmp_path), **name}
        total, hit = run(code, PACKAGE.parent, **env)
        assert total == "3.0"
        hits.append(int(hit))
    assert hits == [0, 0, 1, 1]


def test_nothing_writable_still_works(tmp_path):
    path = copy_of_the_package(tmp_path / "package")
    blocked = tmp_path / "a_file"
    blocked.write_text("")
    (path / "lrisk" / "__pycache__").write_text("a file where the folder would be")
    env = {
        "HOME": str(blocked),
        "XDG_CACHE_HOME": str(blocked),
        "NUMBA_CACHE_DIR": str(blocked),
    }
    _, hits = run(FIT, path, PYTHONDONTWRITEBYTECODE="1", **env)
    assert hits == "0"
    assert not list(tmp_path.rglob("*.nbi"))


def test_import_loads_nothing_optional_and_no_compiler():
    loaded = run(
        "import sys, lrisk; print(*[m for m in ('numba', 'torch', 'dask', 'matplotlib',"
        " 'jinja2', 'polars', 'click', 'cvxpy') if m in sys.modules])",
        PACKAGE.parent,
    )
    assert loaded == []  # (scikit-learn itself looks for pandas and rich)


def test_compiled_functions_call_each_other():
    import numpy as np

    from lrisk._jit import jit

    @jit
    def double(x):
        return 2.0 * x

    @jit(fastmath=False)
    def total(x):
        s = 0.0
        for i in range(x.shape[0]):
            s += double(x[i])
        return s

    assert total(np.arange(4.0)) == 12.0


def test_inner_functions_are_plain_python_from_outside():
    import numpy as np

    from lrisk._jit import jit

    @jit(inner=True)
    def double(x):
        return 2.0 * x

    @jit
    def total(x):
        s = 0.0
        for i in range(x.shape[0]):
            s += double(x[i])
        return s

    assert double(3) == 6.0 and not double.dispatcher.signatures
    assert total(np.arange(4.0)) == 12.0 and double.dispatcher.signatures


def test_without_numba_loops_run_as_they_are_written(tmp_path):
    code = """
import sys
sys.modules["numba"] = None
import numpy as np
from lrisk import risk, risk_weights
from lrisk._sorting import argsort
from lrisk.permutahedron import smoothed_risk
from lrisk.ranking import Ranking
from lrisk.spectra import parse_spectrum
losses = np.random.default_rng(0).standard_t(3, 3000).round(2) ** 2
print(np.array_equal(argsort(losses), np.argsort(losses, kind="stable")))
for name in ("superquantile:0.9", "extremile:2"):
    ranking = Ranking(parse_spectrum(name), 3000)
    print(repr(float(risk(losses, name))))
    print(repr(float(smoothed_risk(ranking, losses, "l2", 0.1)[0])))
    print(repr(float(ranking.risk_and_weights(losses)[1] @ losses)))
    print(repr(float(ranking.risk_and_weights(losses, exact=False)[1] @ losses)))
"""
    first = run(code, PACKAGE.parent)
    again = run(code.replace('sys.modules["numba"] = None', ""), PACKAGE.parent)
    assert first[0] == again[0] == "True"
    one, other = ([float(number) for number in found[1:]] for found in (first, again))
    assert one == pytest.approx(other, rel=1e-7)

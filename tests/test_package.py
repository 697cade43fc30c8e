"""The wheel: built, installed into a clean environment, used read-only."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
USE = """
import sys, numpy as np, lrisk
assert sys.argv[1] in lrisk.__file__, lrisk.__file__
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3)); y = X[:, 0] + rng.normal(size=200)
model = lrisk.RiskRegressor("superquantile:0.9", tol=1e-10).fit(X, y)
assert model.dual_gap_ <= 1e-10
try:
    open(lrisk.__file__ + ".new", "w")
except OSError:
    print("fitted, read-only")
"""


def _obey_permissions():
    """Root writes to read-only folders, too, unless it gives that capability up."""
    if os.geteuid() == 0 and sys.platform == "linux":
        drop_from_bounding_set, dac_override = 24, 1
        if ctypes.CDLL(None).prctl(drop_from_bounding_set, dac_override, 0, 0, 0):
            raise OSError("prctl failed")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A virtual environment with nothing but the wheel and its requirements."""
    folder = tmp_path_factory.mktemp("wheel")
    folder.chmod(0o755)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", folder]
    subprocess.run([*build, ROOT], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    python = folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-compile", wheel]
    subprocess.run(install, check=True, capture_output=True)
    return folder, python


def test_wheel_works_from_a_read_only_install(installed):
    folder, python = installed
    package = next((folder / "env").rglob("lrisk/__init__.py")).parent
    for path in [package, *package.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    nowhere = folder / "not-a-folder"
    nowhere.write_text("")
    (folder / "tmp").mkdir()
    env = {**os.environ, "HOME": str(nowhere), "PYTHONPATH": ""}
    env |= {"TMPDIR": str(folder / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
    before = {*folder.rglob("*")}
    for name in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        env.pop(name, None)
    run = subprocess.run(
        [python, "-c", USE, str(folder)],
        capture_output=True,
        text=True,
        env=env,
        cwd="/",
        preexec_fn=_obey_permissions if os.name == "posix" else None,
    )
    assert run.stdout.strip() == "fitted, read-only", run.stderr
    assert {*folder.rglob("*")} == before


def test_wheel_has_the_page_of_the_report(installed):
    folder, _ = installed
    templates = next((folder / "env").rglob("lrisk/report/templates"))
    names = {path.name for path in templates.iterdir()}
    assert names == {"report.html", "report.css", "report.js"}


def test_wheel_is_typed_and_has_its_licence(installed):
    folder, _ = installed
    package = next((folder / "env").rglob("lrisk/__init__.py")).parent
    assert (package / "py.typed").exists()
    assert list(package.parent.glob("lrisk-*.dist-info/licenses/LICENSE"))
    assert not list(package.parent.glob("tests"))


SPAWNED = """
import multiprocessing, numpy as np, lrisk

def gap(seed):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    return lrisk.RiskRegressor("extremile:2").fit(X, X.sum(axis=1) ** 2).dual_gap_

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(gap, [0])[0] <= 1e-6)
"""


def test_processes_that_are_spawned_can_fit(tmp_path):
    """As Windows and macOS start them: nothing is inherited."""
    script = tmp_path / "script.py"
    script.write_text(SPAWNED)
    run = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert run.stdout == "True\n", run.stderr


def test_names_of_files_are_fit_for_every_system():
    folders = ("src", "tests", "docs", "examples", "benchmarks", "experiments", "tools")
    built = {"_build", "__pycache__", "generated", "gallery"}
    names = [
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if not built & set(path.parts)
    ]
    assert len(names) > 500
    assert len({name.lower() for name in names}) == len(names)
    devices = {"con", "prn", "aux", "nul", *(f"com{i}" for i in range(10))}
    for name in names:
        assert not set(name) & set('<>:"\\|?*') and name.isascii(), name
        assert not devices & {part.partition(".")[0] for part in name.split("/")}, name

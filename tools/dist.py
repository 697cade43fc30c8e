"""Build the packages and try them where nothing else is: ``make dist``.

``python tools/dist.py 3.12 3.13`` tries them under these Pythons only.

Checked are the description and the contents. The wheel then goes into an environment of
its own for every Python that is found, with the newest libraries and, for the oldest
Python, with the oldest ones that pyproject.toml allows, too; tools/smoke.py is run in
it, away from these sources, first without any extra, and what `pip uninstall` leaves is
looked at. The sdist is unpacked and runs those of its tests that read other files than
the package's. torch, LightGBM and XGBoost are not installed: they are large.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
EXTRAS = ("cli", "plot", "parquet", "excel")
#: Tests of an sdist that need more than the package itself.
TESTS = (
    "tests/test_package_page.py", "tests/test_contributing.py", "tests/test_papers.py",
    "tests/test_extras.py", "tests/docs/test_site.py",
)  # fmt: skip


def run(*command: Any, told: bool = False, **options: Any) -> None:
    """Run a command, or end with what it said."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\n{' '.join(words)}: status {done.returncode}")
    for line in done.stdout.splitlines() if told else []:
        print(f"    {line}", flush=True)


def interpreter(version: str) -> str | None:
    """A Python of that version: this one, one of pyenv, or that of the path."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    found = [*map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python")))]
    if sys.version.startswith(f"{version}."):
        found.insert(0, sys.executable)
    if (named := shutil.which(f"python{version}")) is not None:
        found.append(named)  # a shim of pyenv may be there, and not work
    return next((p for p in found if not subprocess.call([p, "-c", ""])), None)


def oldest() -> str:
    """The oldest versions that pyproject.toml allows, as constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for e in EXTRAS for line in extras[e])]
    found = [re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", line) for line in lines]
    return "\n".join(
        f"{name}=={version}" for name, version in (m.groups() for m in found)
    )


def environment(python: str, folder: Path) -> Path:
    """A new environment; returns its Python."""
    run(python, "-m", "venv", folder)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def tried(python: str, wheel: Path, folder: Path, constraints: str) -> None:
    """Install the wheel, use it, take it away."""
    folder.mkdir()
    home, away = folder / "home", folder / "away"
    home.mkdir()
    away.mkdir()
    own = environment(python, folder / "env")
    limits = folder / "constraints.txt"
    limits.write_text(constraints)
    pip = (own, "-m", "pip", "install", "-q", "-c", limits)
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "XDG"))}
    options = {"cwd": away, "env": {**plain, "HOME": str(home)}}
    smoke = shutil.copy(ROOT / "tools" / "smoke.py", folder)
    run(*pip, wheel)
    run(own, smoke, "bare", told=True, **options)
    run(*pip, f"lrisk[{','.join(EXTRAS)}] @ {wheel.as_uri()}")
    run(own, smoke, "extras", told=True, **options)
    run(own, "-m", "pip", "check")
    run(own, "-m", "pip", "uninstall", "-q", "-y", "lrisk")
    left = [str(p) for p in (folder / "env").rglob("*lrisk*")] + list(away.iterdir())
    if left:
        sys.exit(f"pip uninstall left {left}")


def main() -> None:
    """Build, check, install, use."""
    began = time.perf_counter()
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    run(sys.executable, "-m", "build", "-o", ROOT / "dist", ROOT,
        stdin=subprocess.DEVNULL)  # fmt: skip
    (wheel,), (sdist,) = (list((ROOT / "dist").glob(e)) for e in ("*.whl", "*.tar.gz"))
    print(f"{wheel.name}, {sdist.name}")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    run(sys.executable, "-m", "check_wheel_contents", wheel)
    asked = sys.argv[1:] or PYTHONS
    tries = [(version, "") for version in asked]
    if PYTHONS[0] in asked:
        tries.insert(0, (PYTHONS[0], oldest()))
    with tempfile.TemporaryDirectory() as name:
        for number, (version, constraints) in enumerate(tries):
            which = "oldest" if constraints else "newest"
            if (python := interpreter(version)) is None:
                print(f"Python {version} is not here")
                continue
            print(f"Python {version}, {which} libraries", flush=True)
            tried(python, wheel, Path(name) / str(number), constraints)
        print("the tests of the sdist that read other files")
        with tarfile.open(sdist) as packed:
            packed.extractall(name, filter="data")
        unpacked = Path(name) / sdist.name.removesuffix(".tar.gz")
        env = {**os.environ, "PYTHONPATH": str(unpacked / "src")}
        run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS,
            cwd=unpacked, env=env, told=True)  # fmt: skip
    print(f"built and tried in {(time.perf_counter() - began) / 60:.1f} minutes")


if __name__ == "__main__":
    main()

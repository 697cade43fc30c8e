"""What a newcomer does in the first hour: ``python -m benchmarks.first_steps``.

Exit statuses as a shell sees them; models that found bad rows saved, loaded and used;
tables without any noise audited and fitted; and kernels corrected for noise from one
noisy copy of each row. One line for each group, what failed above it, and status 1 if
anything did. A few minutes on one core.
"""

import contextlib
import csv
import io
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lrisk import NoiseCorrectedKernelRegressor, RobustRegressor, audit
from lrisk.cli import main as command_line
from lrisk.cli.models import fit_model, predict_with
from lrisk.cli.storage import load_model, save_model
from lrisk.noise import GaussianNoise

#: What a check found: its name, and what is wrong (nothing if all is well).
Found = tuple[str, str]


# -- exit statuses ---------------------------------------------------------------------


def flats(n: int = 80, wrong: int = 6) -> dict:
    rng = np.random.default_rng(1)
    size, age = rng.uniform(20, 120, n), rng.uniform(0, 9, n)
    price = 50 + 3 * size - age + rng.normal(0, 4, n)
    price[:wrong] *= 10
    return {"size": size, "age": age, "price": price}


def write(table: dict, path: Path) -> None:
    columns = [np.asarray(values).tolist() for values in table.values()]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([list(table), *zip(*columns)])


START = "import os, signal, sys, time; from lrisk.cli import main; "
END = "; sys.exit(main(sys.argv[1:]))"
#: Code that runs before the command line: a signal, a bug, a package that is missing.
STOPPED = (
    f"{START}signal.signal(signal.SIGINT, signal.default_int_handler); "
    "import lrisk.tables.files as r; r.read_table = "
    f"lambda *_, **__: os.kill(os.getpid(), signal.SIGINT) or time.sleep(60){END}"
)
BROKEN = (
    f"{START}import lrisk.tables.files as r; r.read_table = lambda *_, **__: 1 / 0{END}"
)


def without(package: str) -> str:
    return f"import sys; sys.modules[{package!r}] = None; {START}pass{END}"


def exit_statuses() -> Iterator[Found]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(flats(), folder / "flats.csv")
        (folder / "noise.csv").write_bytes(bytes(range(256)) * 9)
        (folder / "empty.csv").touch()
        audit_flats = ["audit", "flats.csv", "--target", "price"]
        fit_flats = ["fit", "flats.csv", "--target", "price", "--out", "m.skops"]
        cases: list[tuple[str, int, list[str], str]] = [
            ("audit", 0, audit_flats, ""),
            ("more rows than --fail-above", 1, [*audit_flats, "--fail-above=.01"], ""),
            ("fewer than --fail-above", 0, [*audit_flats, "--fail-above=.5"], ""),
            ("fit", 0, fit_flats, ""),
            ("predict", 0, ["predict", "m.skops", "flats.csv"], ""),
            ("help", 0, ["--help"], ""),
            ("version", 0, ["--version"], ""),
            ("estimators", 0, ["estimators"], ""),
            ("unknown command", 2, ["dance"], ""),
            ("unknown option", 2, [*audit_flats, "--tail"], ""),
            ("no target", 2, ["audit", "flats.csv"], ""),
            ("wrong target", 2, ["audit", "flats.csv", "--target", "rent"], ""),
            ("no such file", 2, ["audit", "flat.csv", "--target", "price"], ""),
            ("empty file", 2, ["audit", "empty.csv", "--target", "price"], ""),
            ("unreadable file", 2, ["audit", "noise.csv", "--target", "price"], ""),
            ("no model file", 2, ["predict", "flats.csv", "flats.csv"], ""),
            ("without click", 2, audit_flats, without("click")),
            ("without jinja2", 2, audit_flats, without("jinja2")),
            ("without skops", 2, fit_flats, without("skops")),
            ("stopped", 130, audit_flats, STOPPED),
            ("a bug", 70, audit_flats, BROKEN),
        ]
        for what, status, arguments, code in cases:
            start = ["-c", code] if code else ["-m", "lrisk"]
            yield what, _ran(folder, [sys.executable, *start, *arguments], status)
        command = [sys.executable, "-m", "lrisk", "predict", "m.skops", "flats.csv"]
        yield "nobody reads", _ran(folder, command, 141, unread=True)


def _ran(folder: Path, command: list[str], status: int, unread: bool = False) -> str:
    stdout = subprocess.PIPE
    if unread:
        read, stdout = os.pipe()
        os.close(read)
    run = subprocess.run(
        command, cwd=folder, stdout=stdout, stderr=subprocess.PIPE, text=True
    )
    if unread:
        os.close(stdout)
    if run.returncode != status:
        return f"status {run.returncode} instead of {status}: {run.stderr[-200:]}"
    if "Traceback" in run.stderr and status != 70:
        return "a traceback"
    return ""


# -- models that found bad rows --------------------------------------------------------

KERNELS = ("linear", "rbf", "poly", "laplacian", "cosine")
SPOILT = ("ten times", "other unit", "far out", "missing code", "one row")


def spoilt(
    kind: str, classes: bool, seed: int, n: int = 250
) -> tuple[dict, np.ndarray]:
    """A table with wrong rows, and the targets as they should be."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    level = 20 + 4 * X[:, 0] - 2 * X[:, 1] + 0.5 * rng.normal(size=n)
    wrong = rng.random(n) < 0.1
    if classes:
        right = level > 20
        y = np.where(right ^ wrong, "high", "low")
        return {**dict(zip("abc", X.T)), "y": y}, np.where(right, "high", "low")
    if kind == "one row":
        wrong = np.arange(n) == 7
    factor = {"ten times": 10.0, "other unit": 2.2046, "one row": 1e4}.get(kind, 1.0)
    y = np.where(wrong, factor * level, level)
    if kind == "missing code":
        y = np.where(wrong, -999.0, level)
    if kind == "far out":
        X[wrong] = X[wrong] * 0.1 + 40.0
    return {**dict(zip("abc", X.T)), "y": y}, level


def models() -> Iterator[Found]:
    """Ten tables of numbers and ten of classes, two for each kernel."""
    tried = 0
    with tempfile.TemporaryDirectory() as name:
        for k in range(20):
            classes, kernel = k >= 10, KERNELS[k % 5]
            kind = "flips" if classes else SPOILT[(k + k // 5) % 5]
            table, right = spoilt(kind, classes, seed=k)
            what = f"{kind}, {kernel}, table {k}"
            made = fit_model(table, "y", None, "auto", {"kernel": kernel}).model
            own = made["estimator"]
            tried += bool(np.any(~own.inlier_mask_ | own.leverage_mask_))
            yield what, _there_and_back(made, table, right, classes, Path(name))
    few = "" if tried >= 15 else f"only in {tried} of 20 tables"
    yield "wrong rows found, else nothing is tried", few


def _there_and_back(
    made: dict, table: dict, right: np.ndarray, classes: bool, folder: Path
) -> str:
    model, data, out = folder / "m.skops", folder / "new.csv", folder / "p.csv"
    save_model(made, model)
    before = predict_with(made, table).columns["prediction"]
    after = predict_with(load_model(model), table).columns["prediction"]
    if not np.array_equal(before, after):
        return "other predictions after loading"
    write({name: v for name, v in table.items() if name != "y"}, data)
    with contextlib.redirect_stdout(io.StringIO()):
        status = command_line(["predict", str(model), str(data), "--out", str(out)])
    if status != 0:
        return f"`lrisk predict` ends with {status}"
    with out.open(newline="") as file:
        words = [line["prediction"] for line in csv.DictReader(file)]
    written = np.array(words) if classes else np.array(words, dtype=float)
    if classes:
        accuracy = np.mean(written == right)
        return "" if accuracy > 0.8 else f"accuracy {accuracy:.2f} on right labels"
    usual = np.abs(table["a"]) < 10  # the others were moved far out
    error = np.sqrt(np.mean((written - right)[usual] ** 2)) / np.std(right)
    return "" if error < 1.0 else f"error {error:.2f} target sd"


# -- tables without noise --------------------------------------------------------------

EXACT = ("weights", "integers", "copied", "constant", "few values", "levels", "line",
         "tiny", "huge", "rounded")  # fmt: skip
#: Rows of the four tables of each kind; every second one has wrong rows.
SIZES = ((60, 100, 300, 1000), (80, 120, 400, 150), (60, 200, 250, 3000))


def exact(kind: str, n: int, seed: int) -> tuple[dict, np.ndarray]:
    """Features, and a target that they tell without error."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    table = dict(zip("abc", X.T))
    y = X @ [1.0, 2.0, -1.0]
    if kind == "integers":
        whole = rng.integers(0, 50, (n, 3))
        table, y = dict(zip("abc", whole.T)), 3 * whole[:, 0] + whole[:, 1] + 7.0
    elif kind == "copied":
        y = 5 * X[:, 0] + rng.normal(size=n)
        table["copy"] = y.copy()
    elif kind == "constant":
        table["same"] = np.full(n, 3.0)
    elif kind == "few values":
        few = rng.integers(0, 3, (n, 3))
        table, y = dict(zip("abc", few.T)), few @ [1.0, 2.0, 4.0]
    elif kind == "levels":
        word = rng.integers(0, 4, n)
        table["kind"] = np.array(["p", "q", "r", "s"], dtype=object)[word]
        y = y + 5.0 * word
    elif kind == "line":
        table, y = {"x": np.arange(n) / 7.0}, 2.0 + 3.0 * np.arange(n) / 7.0
    elif kind == "tiny":
        y = 1e-9 * y
    elif kind == "huge":
        y = 1e9 + 1e6 * y
    elif kind == "rounded":
        y = np.round(100.0 + 10.0 * y, 2)
    return table, y


def noise_free() -> Iterator[Found]:
    """Forty tables: no crash, no false alarm, wrong rows found."""
    for k, kind in enumerate(EXACT):
        for j, n in enumerate(SIZES[k % 3]):
            table, y = exact(kind, n, seed=10 * k + j)
            wrong = np.zeros(n, dtype=bool)
            if j % 2:
                rng = np.random.default_rng(k)
                wrong[rng.choice(n, max(n // 25, 3), replace=False)] = True
            off = np.ptp(y) * np.random.default_rng(k).uniform(3.0, 30.0, n)
            dirty = np.where(wrong, y + off, y)
            what = f"{kind}, {n} rows, {int(wrong.sum())} wrong"
            yield f"{what}, audit", _told(_audited, table, dirty, wrong)
            yield f"{what}, fit", _told(_fitted, table, y, dirty, wrong)


def _told(check: Callable[..., str], *arguments: Any) -> str:
    """What a check says, or how it broke; numerical warnings break it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return check(*arguments)
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:150]}"


def _compared(flags: np.ndarray, wrong: np.ndarray) -> str:
    false, missed = int(np.sum(flags & ~wrong)), int(np.sum(wrong & ~flags))
    if false or missed:
        return f"{false} false flags, {missed} of {int(wrong.sum())} missed"
    return ""


def _audited(table: dict, y: np.ndarray, wrong: np.ndarray) -> str:
    result = audit({**table, "y": y}, "y", task="regression")
    if words := _compared(result.flags, wrong):
        return words
    if not wrong.any() and not result.looks_clean:
        return result.summary[:150]
    if any("If the worst cases matter" in step for step in result.next_steps):
        return "the tail-risk fit is recommended"
    return ""


def _numbers(values: np.ndarray) -> list[np.ndarray]:
    """A column of numbers as it is, one of words by its levels."""
    if values.dtype != object:
        return [values.astype(float)]
    return [(values == level).astype(float) for level in np.unique(values)]


def _fitted(table: dict, y: np.ndarray, dirty: np.ndarray, wrong: np.ndarray) -> str:
    X = np.column_stack([column for v in table.values() for column in _numbers(v)])
    model = RobustRegressor(random_state=0).fit(X, dirty)
    error = np.sqrt(np.mean((model.predict(X) - y)[~wrong] ** 2)) / np.std(y)
    words = _compared(~model.inlier_mask_, wrong)
    return words if words or error < 0.01 else f"error {error:.3f} target sd"


# -- one noisy copy --------------------------------------------------------------------


def one_copy() -> Iterator[Found]:
    """Forty-eight kernel fits, on clean rows no worse than the mean of the targets."""
    for sigma in (0.3, 0.5, 0.7):
        for seed in range(16):
            rng = np.random.default_rng(seed)
            X, clean = rng.normal(size=(400, 2)), rng.normal(size=(2000, 2))
            y = waves(X) + 0.1 * rng.normal(size=400)
            noisy = X + sigma * rng.normal(size=X.shape)
            noise = GaussianNoise(sigma**2)
            model = NoiseCorrectedKernelRegressor(noise, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that the safe fit was taken
                predicted = model.fit(noisy, y).predict(clean)
            wanted = waves(clean)
            error = np.sqrt(np.mean((predicted - wanted) ** 2))
            mean = np.sqrt(np.mean((y.mean() - wanted) ** 2))
            words = (
                "" if error <= mean else f"{error / mean:.4g} times the mean's error"
            )
            yield f"σ={sigma}, seed {seed}", words


def waves(X: np.ndarray) -> np.ndarray:
    return np.sin(2 * X[:, 0]) * np.cos(1.5 * X[:, 1])


# -- all of it -------------------------------------------------------------------------

GROUPS: dict[str, Callable[[], Iterator[Found]]] = {
    "exit statuses": exit_statuses,
    "save, load, predict": models,
    "noise-free tables": noise_free,
    "one-copy kernel fits": one_copy,
}


def main() -> int:
    """Run the groups, or those whose names begin with the words given."""
    given, failures = sys.argv[1:], 0
    for name, checks in GROUPS.items():
        if given and not any(name.startswith(word) for word in given):
            continue
        began, passed, total = time.perf_counter(), 0, 0
        for what, words in checks():
            total, passed = total + 1, passed + (not words)
            if words:
                print(f"    {what}: {words}", flush=True)
        spent = time.perf_counter() - began
        print(f"{name}: {passed} of {total} ({spent:.0f} s)", flush=True)
        failures += total - passed
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())

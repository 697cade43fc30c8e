"""What an installed lrisk must be able to do; run by tools/dist.py away from sources.

``python smoke.py bare`` in an environment without any extra, ``python smoke.py extras``
in one with the extras cli, plot, parquet and excel.
"""

import importlib.metadata
import io
import multiprocessing
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import lrisk
from lrisk._extras import EXTRAS, lacking, missing
from lrisk.cli import main as command_line
from lrisk.noise import GaussianNoise
from lrisk.utils import all_estimators

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=60)
LABELS = (Y > 0).astype(int)


def fitted(name: str, kind: type) -> object:
    """An estimator at its defaults, with what it must be given, fitted."""
    from sklearn.base import is_classifier
    from sklearn.linear_model import Ridge

    needed = {
        "RiskMeta": {"estimator": Ridge()},
        "Sever": {"estimator": Ridge()},
        "NoiseCorrectedKernelRegressor": {"noise": GaussianNoise(0.01)},
    }
    model = kind(**needed.get(name, {}))
    classes = is_classifier(model) or name == "LabelErrorDetector"
    twice = {"NoiseCorrectedRegressor", "NoiseCorrectedClassifier",
             "RegressionCalibration"}  # fmt: skip
    extra = {"X2": X + 0.1 * RNG.normal(size=X.shape)} if name in twice else {}
    return model.fit(X, LABELS if classes else Y, **extra)


def every_estimator() -> None:
    """Fit each of them, and have it say something of rows."""
    for name, kind in all_estimators():
        model = fitted(name, kind)
        answers = [
            np.asarray(getattr(model, method)(X), dtype=float)
            for method in ("predict", "transform")
            if hasattr(model, method)
        ]
        if not answers:
            answers = [model.outlier_score_]
        assert all(np.isfinite(answer).all() for answer in answers), name
    print(f"{len(all_estimators())} estimators fitted at their defaults")


def _gap(_: int) -> float:
    return lrisk.RiskRegressor("superquantile:0.9", tol=1e-8).fit(X, Y).dual_gap_


def spawned() -> None:
    """A fresh process, as Windows and macOS start them, finds what it needs."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_gap, [0])[0] <= 1e-8
    print("fitted in a spawned process")


def refusals() -> None:
    """What an extra would have brought is named in one line."""
    doors = {
        "torch": "lrisk.torch",
        "dask": "lrisk.dask",
        "distributed": "lrisk.dask",
        "river": "lrisk.river",
    }
    gone = [name for name in EXTRAS if missing(name)]
    for package in gone:
        module = doors.get(package)
        if module is not None and not (package == "distributed" and missing("dask")):
            try:
                importlib.import_module(module)
            except ImportError as error:
                assert str(error) == lacking(package, module), error
            else:
                raise AssertionError(f"{module} was imported without {package}")
    audited = lrisk.audit(X, Y)
    calls = {
        "matplotlib": lambda: lrisk.displays.SpectrumDisplay.from_spectrum("mean"),
        "jinja2": lambda: lrisk.write_audit(audited, "never"),
        "pandas": audited.rows_frame,
        "pyarrow": lambda: lrisk.outofcore.predict(lrisk.RiskRegressor().fit(X, Y),
                                                   X, "never.parquet"),
    }  # fmt: skip
    for package, call in calls.items():
        if package in gone:
            try:
                call()
            except ImportError as error:
                assert f"pip install 'lrisk[{EXTRAS[package]}]'" in str(error), error
            else:
                raise AssertionError(f"nothing needed {package}")
    if "click" in gone:
        said, sys.stderr = sys.stderr, io.StringIO()
        try:
            status, words = command_line(["demo"]), sys.stderr.getvalue()
        finally:
            sys.stderr = said
        assert status == 2 and words.count("\n") == 1, words
        assert words == f"lrisk: {lacking('click', 'the command line')}\n", words
    print(f"{len(gone)} packages of extras are missing, and named")


def commands() -> None:
    """Audit, fit and predict by the installed command, from files of each kind."""
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y)
    frame.loc[3, "y"] = 400.0
    windows = frame.to_csv(index=False).replace("\n", "\r\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "Lines Of Windows.CSV").write_bytes(windows.encode("utf-8-sig"))
        frame.to_parquet(folder / "t.parquet")
        frame.to_excel(folder / "t.xlsx", index=False)

        def run(*words: str) -> str:
            command = [str(Path(sys.executable).with_name("lrisk")), *words]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            return done.stdout

        for table in ("Lines Of Windows.CSV", "t.parquet", "t.xlsx"):
            assert "row 4" in run("audit", table, "--target", "y", "--out", "o"), table
        run("fit", "t.parquet", "--target", "y", "--out", "m.skops")
        assert run("predict", "m.skops", "t.xlsx").count("\n") == 61
        assert (folder / "o" / "report.html").stat().st_size > 10_000
    print("audited, fitted and predicted by commands")


def pictures() -> None:
    """A display draws."""
    import matplotlib

    matplotlib.use("Agg")
    assert lrisk.displays.SpectrumDisplay.from_spectrum("superquantile:0.9").ax_


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    names = ("numpy", "scipy", "scikit-learn", "numba")
    found = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    print(f"Python {sys.version.split()[0]}, {found}")
    if sys.argv[1] == "bare":
        every_estimator()
        spawned()
        refusals()
    else:
        commands()
        pictures()
        refusals()

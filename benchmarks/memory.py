"""Peak memory of fits of a million rows and five features, in multiples of the data.

Each in a process of its own. ``fit`` is what the fit needs beyond X, y and all that a
fit of a few rows has loaded before, ``process`` is the whole process: Python, imports,
compiled code, the data and the fit.

    python -m benchmarks.memory [NAME ...]
"""

import subprocess
import sys
import time
import warnings
from pathlib import Path

ROWS, FEATURES = 1_000_000, 5
#: What is fitted; data are 48 MB.
CASES = {
    "mean": ("RiskRegressor", {"spectrum": "mean"}),
    "superquantile .9": ("RiskRegressor", {"spectrum": "superquantile:0.9"}),
    "superquantile .999": ("RiskRegressor", {"spectrum": "superquantile:0.999"}),
    "weights": ("RiskRegressor", {"spectrum": "superquantile:0.999"}),
    "extremile": ("RiskRegressor", {"spectrum": "extremile:2"}),
    "absolute": (
        "RiskRegressor",
        {"spectrum": "superquantile:0.999", "loss": "absolute"},
    ),
    "trimmed": ("RiskRegressor", {"spectrum": "subquantile:0.9", "random_state": 0}),
    "classifier": ("RiskClassifier", {"spectrum": "superquantile:0.9"}),
    "robust": ("RobustRegressor", {"random_state": 0}),
}
#: Multiples of the data that `fit` may need.
LIMITS = {
    "superquantile .999": 5.0,
    "trimmed": 10 / (FEATURES + 1),  # ten numbers a row
    "robust": 8.0,
}


def measure(name: str) -> None:
    """Fit and print the two peaks and the CPU time."""
    import numpy as np

    import lrisk

    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, FEATURES))
    y = X @ np.arange(1.0, FEATURES + 1.0) + rng.standard_t(5, size=ROWS)
    kind, parameters = CASES[name]
    y = (y > 0).astype(float) if kind == "RiskClassifier" else y
    options = {}
    if name == "weights":
        options["sample_weight"] = rng.uniform(size=ROWS)
    warnings.simplefilter("ignore")  # a collapse says nothing of memory
    model = getattr(lrisk, kind)(**parameters)
    few = slice(0, 30_000)
    model.fit(X[few], y[few], **{key: value[few] for key, value in options.items()})
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    began = time.process_time()
    model.fit(X, y, **options)
    seconds = time.process_time() - began
    data = X.nbytes + y.nbytes
    print((_status("VmHWM") - before) / data, _status("VmHWM") / data, seconds)


def _status(name: str) -> int:
    """A line of Linux's account of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return 1024 * int(line.split()[1])
    raise ValueError(name)


def main() -> None:
    names = [name for name in sys.argv[1:] if name in CASES] or list(CASES)
    print(f"{'':20} {'fit':>6} {'process':>8} {'CPU s':>6}")
    for name in names:
        code = f"from benchmarks.memory import measure; measure({name!r})"
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        peak, whole, seconds = map(float, result.stdout.split())
        limit = LIMITS.get(name, float("inf"))
        verdict = "" if limit == float("inf") else f"   limit {limit:g}"
        verdict += "  EXCEEDED" if peak > limit else ""
        print(f"{name:20} {peak:6.2f} {whole:8.2f} {seconds:6.2f}{verdict}")


if __name__ == "__main__":
    main()

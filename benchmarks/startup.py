"""What a new process pays: import, compilation at first use, a first fit, predictions.

CPU times, since others may run beside it. A cold start is the first call of a job in a
new process on an empty cache, less the second call.
"""

import os
import statistics
import subprocess
import sys
import tempfile

IMPORT = """
import time; began = time.process_time()
import {module}
print(time.process_time() - began)
"""
FIRST_USE = """
import time, warnings; began = time.process_time()
import numpy as np, lrisk
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 10)); y = X[:, 0] + rng.normal(size=1000)
labels = (X[:, 0] + rng.logistic(size=1000) > 0).astype(int)
small = rng.normal(size=(400, 4)); dirty = small[:, 0] + 0.3 * rng.normal(size=400)
dirty[:20] += 9.0
table = {"a": small[:, 0], "b": small[:, 1], "c": small[:, 2], "y": dirty}
def job():
    {job}
times = [time.process_time() - began]
for _ in range(7):
    began = time.process_time(); job(); times.append(time.process_time() - began)
print(times[0], times[1], min(times[2:]))
"""
JOBS = {
    "RiskRegressor": "lrisk.RiskRegressor('superquantile:0.9').fit(X, y)",
    "RiskClassifier": "lrisk.RiskClassifier().fit(X, labels)",
    "trimmed fit": "lrisk.RiskRegressor('subquantile:0.8').fit(X, y)",
    "RobustRegressor": "lrisk.RobustRegressor().fit(small, dirty)",
    "audit": "lrisk.audit(table, 'y')",
}
#: Seconds of CPU that a cold start may take beyond a warm one.
MOST_BEYOND = 5.0
PREDICT = """
import time
import numpy as np, lrisk
from sklearn.linear_model import Ridge
rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 10)); y = X[:, 0] + rng.normal(size=1000)
models = lrisk.RiskRegressor("mean").fit(X, y), Ridge().fit(X, y)
least = [1e9, 1e9]
for _ in range(30):
    for k, model in enumerate(models):
        began = time.process_time()
        for _ in range(50):
            model.predict(X[:100])
        least[k] = min(least[k], time.process_time() - began)
print(*least)
"""
#: Times a prediction of scikit-learn's Ridge that one of a linear model may take.
MOST_PREDICT = 1.2


def run(code: str, cache: str | None = None) -> list[float]:
    environment = dict(os.environ)
    if cache:  # and none of the caches that would be read beside it
        places = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA", "HOME")
        environment |= dict.fromkeys(places, cache)
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return [float(number) for number in result.stdout.split()]


def mark(good: bool) -> str:
    return "ok" if good else "MISSED"


def main() -> None:
    ours, theirs = [], []
    for _ in range(5):  # alternating, so that noise hits both
        ours += run(IMPORT.format(module="lrisk"))
        theirs += run(IMPORT.format(module="sklearn.linear_model"))
    a, b = statistics.median(ours), statistics.median(theirs)
    print(f"import lrisk                {a:.2f} s CPU")
    print(f"import sklearn.linear_model {b:.2f} s CPU   ratio {a / b:.2f}")
    for name, job in JOBS.items():
        with tempfile.TemporaryDirectory() as cache:
            code = FIRST_USE.replace("{job}", job)
            _, cold, warm = run(code, cache)
            _, cached, _ = run(code, cache)
        good = mark(cold - warm <= MOST_BEYOND)
        print(
            f"first {name:<16} {cold - warm:5.1f} s beyond warm on an empty cache "
            f"{good}; {cached - warm:.1f} s on a full one; warm {1e3 * warm:.1f} ms",
            flush=True,
        )
    own, ridge = run(PREDICT)
    print(f"predict {own / ridge:.2f} of Ridge's {mark(own <= MOST_PREDICT * ridge)}")


if __name__ == "__main__":
    main()

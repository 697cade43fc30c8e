"""What a new process pays: import, and the first fit from a warm cache."""

import statistics
import subprocess
import sys

IMPORT = """
import time; began = time.process_time()
import {module}
print(time.process_time() - began)
"""
FIRST_FIT = """
import time; began = time.perf_counter()
import numpy as np, lrisk
rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 10)); y = X[:, 0] + rng.normal(size=1000)
imported = time.perf_counter()
model = lrisk.RiskRegressor().fit(X, y)
first = time.perf_counter()
for _ in range(5):
    again = time.perf_counter(); model.fit(X, y); again = time.perf_counter() - again
print(imported - began, first - imported, again)
"""


def run(code: str) -> list[float]:
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return [float(number) for number in result.stdout.split()]


def main() -> None:
    run(FIRST_FIT)  # fills the cache
    ours, theirs = [], []
    for _ in range(7):  # alternating, so that noise hits both
        ours += run(IMPORT.format(module="lrisk"))
        theirs += run(IMPORT.format(module="sklearn.linear_model"))
    a, b = statistics.median(ours), statistics.median(theirs)
    print(f"import lrisk                {a:.2f} s CPU")
    print(f"import sklearn.linear_model {b:.2f} s CPU   ratio {a / b:.2f}")
    imported, first, again = run(FIRST_FIT)
    print(
        f"new process: import {imported:.2f} s, first fit {first:.2f} s, "
        f"warm fit (n=1000, d=10) {1e3 * again:.1f} ms"
    )


if __name__ == "__main__":
    main()

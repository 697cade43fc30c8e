"""What the ablation of the robust regression runs on: development data only."""

import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import lrisk
from benchmarks import _robust_data as data
from benchmarks._breakdown_data import draw, smooth
from benchmarks._data import available

#: Corruptions of the real tables.
CORRUPTIONS = (
    "clean",
    "label .2",
    "label .4",
    "label+feature .2",
    "leverage .2",
    "units x1000 .1",
    "target units x10 .1",
    "second population .2",
)
#: Relations that some stages are for; each clean, and with 15 % of the targets eight of
#: their deviations off.
SHAPES = (
    "steps",
    "claims",
    "counts",
    "group",
    "categories",
    "exact",
    "two values",
    "waves",
)
#: Errors below this share of the target's deviation are alike: exact data has none.
ALIKE = 1e-3
#: Wrong rows of the synthetic lines: kind, rows, columns, and how many are wrong.
LINES = (
    ("targets", 60, 2, 7),
    ("targets", 200, 5, 60),
    ("cluster", 200, 5, 24),
    ("scattered", 200, 5, 24),
)
#: The same for curves, which kernel fits follow.
CURVES = (("targets", 200, 1, 60), ("targets", 400, 2, 120))


class Table(NamedTuple):
    """A table, which rows are wrong, and where a fit is compared with the truth."""

    name: str
    kernel: str
    X: Any
    y: Any
    bad: Any
    test_X: Any
    test_y: Any


class Outcome(NamedTuple):
    """One fit: error, |share − truth|, false flags among right rows, seconds."""

    error: float
    share: float
    false: float
    seconds: float


def tables(seeds: int) -> Iterator[Table]:
    """All tables of some seeds."""
    real = ["diabetes", *(["boston"] if available() else [])]
    for seed in range(seeds):
        for name in real:
            for corruption in CORRUPTIONS:
                rows = data.split(name, corruption, seed)
                kernels = ("linear", "rbf") if corruption == "label .2" else ("linear",)
                for kernel in kernels:
                    where = f"{name} {corruption} {kernel} {seed}"
                    yield Table(where, kernel, rows.X, rows.y, rows.mask,
                                rows.test_X, rows.test_y)  # fmt: skip
        for kind in data.AWKWARD:
            rows = data.split(f"synthetic_{kind}", "clean", seed)
            few = slice(0, 300)
            yield Table(f"{kind} {seed}", "rbf", rows.X[few], rows.y[few],
                        rows.mask[few], rows.test_X, rows.test_y)  # fmt: skip
        for shape in SHAPES:
            for share in (0.0, 0.15):
                yield _shaped(shape, share, seed)
        lines = [("linear", draw(*cell, seed), cell) for cell in LINES]
        lines += [("rbf", draw(*cell, seed, relation=smooth), cell) for cell in CURVES]
        for kernel, one, cell in lines:
            right = ~one.bad
            name = f"{cell[0]} n={cell[1]} {kernel} {seed}"
            yield Table(name, kernel, one.X, one.y, one.bad,
                        one.X[right], one.f[right])  # fmt: skip


def _shaped(shape: str, share: float, seed: int, n: int = 300) -> Table:
    """A synthetic table of a shape, and as many clean rows to test."""
    rng = np.random.default_rng([seed, SHAPES.index(shape)])
    X, noise = rng.normal(size=(2 * n, 4)), rng.normal(size=2 * n)
    y = X @ [1.0, -1.0, 0.5, 0.0]
    if shape == "steps":
        y = 3.0 * (X[:, 0] > 0.0) + 2.0 * (X[:, 1] > 0.5) + 0.3 * noise
    elif shape == "claims":
        y = np.where(rng.random(2 * n) < 0.4, 0.0, np.exp(0.5 * y + 0.3 * noise))
    elif shape == "counts":
        y = rng.poisson(np.exp(0.5 * y + 0.5)).astype(float)
    elif shape == "group":
        apart = rng.random(2 * n) < 0.12
        X[apart] = 0.5 * X[apart] + 8.0
        y = np.where(apart, -y, y) + 0.3 * noise
    elif shape == "categories":
        X = np.eye(6)[rng.choice(6, 2 * n, p=[0.3, 0.3, 0.2, 0.1, 0.07, 0.03])]
        y = X @ [0.0, 1.0, 3.0, -2.0, 5.0, 8.0] + 0.3 * noise
    elif shape == "two values":
        y = (y + noise > 0.0).astype(float)
    elif shape == "waves":
        X = np.clip(X[:, :2], -2.0, 2.0)
        y = np.sin(4.0 * X[:, 0]) * X[:, 1] ** 2 + 0.1 * noise
    bad = rng.random(n) < share
    wrong = np.where(bad, y[:n] + 8.0 * y.std(), y[:n])
    kernel = "linear" if shape in ("categories", "exact") else "rbf"
    name = f"{shape} {share} {seed}"
    return Table(name, kernel, X[:n], wrong, bad, X[n:], y[n:])


def outcome(table: Table) -> Outcome:
    """Fit a table with whatever constants there are now."""
    began = time.process_time()
    model = lrisk.RobustRegressor(table.kernel, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table.X, table.y)
    seconds = time.process_time() - began
    error = np.sqrt(np.mean((model.predict(table.test_X) - table.test_y) ** 2))
    error = np.hypot(error, ALIKE * np.std(table.test_y))
    flagged = ~model.inlier_mask_
    share = abs(float(model.contamination_) - float(np.mean(table.bad)))
    return Outcome(float(error), share, float(np.mean(flagged[~table.bad])), seconds)

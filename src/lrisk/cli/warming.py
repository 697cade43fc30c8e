"""Compiling everything common at once, and saying that something is being compiled."""

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

LOGGER = logging.getLogger("lrisk")

#: Rows of small fits, and of those that have loops of their own for many rows.
FEW, MANY = 500, 25_000


class _ToStderr(logging.Handler):
    """One line on stderr, as every other message of the command line."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(f"lrisk: {record.getMessage()}", err=True)


@contextmanager
def compiling_told() -> Iterator[None]:
    """Say on stderr what the logger of the package says, within the block."""
    handler, level = _ToStderr(), LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)


def be_quiet() -> None:
    """Say nothing of compilation until the block of `compiling_told` ends."""
    LOGGER.setLevel(logging.WARNING)


def jobs() -> dict[str, Callable[[], Any]]:
    """Small fits that between them compile what the front doors use, by name."""
    import numpy as np

    import lrisk

    rng = np.random.default_rng(0)
    X, many = rng.normal(size=(FEW, 3)), rng.normal(size=(MANY, 3))
    y, y_many = X[:, 0] + rng.normal(size=FEW), many[:, 0] + rng.normal(size=MANY)
    # Classes that can be told apart: there nothing ends early.
    classes = (X[:, 0] + 0.3 * rng.normal(size=FEW) > 0).astype(int)
    many_classes = (many[:, 0] + 0.3 * rng.normal(size=MANY) > 0).astype(int)
    dirty = np.where(rng.random(FEW) < 0.1, y + 20.0, y)
    flipped = np.where(rng.random(FEW) < 0.1, 1 - classes, classes)
    table = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}

    def risk(inputs: Any, numbers: Any, labels: Any) -> None:
        for spectrum in ("superquantile:0.9", "extremile:2"):
            lrisk.RiskRegressor(spectrum).fit(inputs, numbers)
            lrisk.RiskClassifier(spectrum).fit(inputs, labels)

    def trimmed() -> None:
        lrisk.RiskRegressor("subquantile:0.8").fit(X, dirty)
        lrisk.KernelRiskRegressor("subquantile:0.8").fit(X[:100], dirty[:100])

    def stochastic() -> None:
        for solver in ("sgd", "srda", "lsvrg", "prospect"):
            for kind, targets in (
                (lrisk.RiskRegressor, y),
                (lrisk.RiskClassifier, classes),
            ):
                kind("extremile:2", solver=solver, max_iter=1).fit(X, targets)

    return {
        "tail risk": lambda: risk(X, y, classes),
        "tail risk of many rows": lambda: risk(many, y_many, many_classes),
        "trimmed fits": trimmed,
        "stochastic solvers": stochastic,
        "robust fits": lambda: lrisk.RobustRegressor().fit(X, dirty),
        "clusters": lambda: lrisk.RiskKMeans(2).fit(X),
        "audit of numbers": lambda: lrisk.audit({**table, "y": dirty}, "y"),
        "audit of classes": lambda: lrisk.audit({**table, "y": flipped}, "y"),
    }


def warm_up(say: Callable[[str], None]) -> None:
    """Run every job once; `say` is told its name before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one epoch nothing is to be expected
        for name, job in jobs().items():
            say(name)
            job()

"""Shared fixtures: where the reference data live, and the data sets."""

import csv
import functools
import gzip
import importlib.util
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

#: Chromium without its own traffic: what is requested then is what the page asks for.
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@functools.cache
def gpus():
    """GPUs on which tensors are tried; tests/torch/test_rows.py says where none is."""
    try:
        import torch
    except ImportError:
        return []
    return ["cuda"] if torch.cuda.is_available() else []


def pytest_generate_tests(metafunc):
    """Try tensors on the processor and on GPUs; at `home` arrays, too."""
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", ["cpu", *gpus()])
    if "home" in metafunc.fixturenames:
        metafunc.parametrize("home", ["arrays", "cpu", *gpus()])


def pytest_collection_modifyitems(items):
    """Mark scikit-learn's checks that rounding could change.

    They come as parameters of one test. Stochastic solvers, in other files, have bounds
    that are far from rounding.
    """
    for item in items:
        if item.path.name == "test_sklearn.py" and "weight_equivalence" in item.name:
            item.add_marker(pytest.mark.numerics)


@pytest.fixture(scope="session")
def shared():
    """Folder of reference data; LRISK_SHARED names it (always set in CI)."""
    folder = os.environ.get("LRISK_SHARED")
    if not folder:
        pytest.skip("LRISK_SHARED is not set: no reference data")
    path = Path(folder)
    assert (path / "data").is_dir(), f"LRISK_SHARED={folder} has no data folder"
    return path


@pytest.fixture(scope="session")
def load(shared):
    """Load a CSV data set as X, y; standardised on request."""

    def _load(name, *, standardise=False):
        with gzip.open(shared / "data" / f"{name}.csv.gz", "rt") as file:
            rows = list(csv.reader(file))[1:]
        table = np.array(rows, dtype=np.float64)
        X, y = table[:, :-1], table[:, -1]
        if standardise:
            X = standardised(X)
            y = (y - y.mean()) / y.std()
        return X, y

    return _load


def standardised(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


@pytest.fixture
def standardise():
    return standardised


@pytest.fixture(scope="session")
def shell():
    """Run ``lrisk ARGUMENTS`` in a process of its own, without its two seconds."""
    place = Path(__file__).with_name("forks.py")
    spec = importlib.util.spec_from_file_location("forks", place)
    forks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(forks)
    with forks.Shell() as run:
        yield run


@pytest.fixture(scope="session")
def browser():
    """A browser for the report and the site, where there is one."""
    playwright = pytest.importorskip("playwright.sync_api")
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not found:
        pytest.skip("no chromium (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=found, args=OPTIONS)
        yield opened
        opened.close()

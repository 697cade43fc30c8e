"""What `make lint` says of docstrings: it sees all that is public, and its faults."""

import importlib.util
import inspect
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("numpydoc")
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def check():
    spec = importlib.util.spec_from_file_location(
        "docstrings", ROOT / "tools" / "docstrings.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_module_of_the_reference_is_looked_at(check):
    listed = (ROOT / "docs" / "api" / "index.rst").read_text("utf-8").split()
    seen = {module.__name__ for module in check.public_modules()}
    missing = {name for name in listed if name.startswith("lrisk")} - seen
    assert missing <= {"lrisk.torch"}  # where torch is not installed
    assert len(check.public_objects()) > 150


def test_one_thing_has_one_name(check):
    """What scikit-learn calls random_state and tol is called so everywhere."""
    others = {"seed": "random_state", "tolerance": "tol"}
    for name, value in check.public_objects().items():
        if isinstance(value, type) and issubclass(value, Warning):
            continue
        parameters = inspect.signature(value).parameters
        for other, own in others.items():
            assert other not in parameters, f"{name}: {other} must be called {own}"


def complete(x, by=2.0):
    """Give a number back.

    Parameters
    ----------
    x : float
        The number.
    by : float, default=2.0
        What is not used.

    Returns
    -------
    float
        The same.

    See Also
    --------
    lrisk.risk : Of many.

    Examples
    --------
    >>> complete(1.0)
    1.0
    """
    return x


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("Give", "Give", None),
        ("a number back.", "a number back", "SS03"),
        ("    x : float\n        The number.", "    x : float", "PR07"),
        ("        The number.", "        the number.", "PR08"),
        ("    x : float", "    z : float", "PR01"),
        ("    x : float", "    x : float, default=1.0", "x has no default"),
        (", default=2.0", "", "by has the default 2.0, which is unsaid"),
        (", default=2.0", ", default=2", "by has the default 2.0, not 2"),
        (", default=2.0", ", default=two", "by has the default 2.0, not two"),
        ("        The same.", "", "RT03"),
        ("risk : Of many.", "risks : Of many.", "which is not there"),
        ("lrisk.risk : Of many.", "lrisk.risk", "does not say why"),
        ("    See Also\n    --------\n    lrisk.risk : Of many.\n\n", "", "SA01"),
        ("    Examples\n    --------\n    >>> complete(1.0)\n    1.0\n", "", "EX01"),
    ],
)
def test_faults_are_found(check, monkeypatch, old, new, fault):
    assert old in complete.__doc__
    monkeypatch.setattr(complete, "__module__", "own_docstrings")
    home = SimpleNamespace(complete=complete)
    monkeypatch.setitem(sys.modules, "own_docstrings", home)
    monkeypatch.setattr(complete, "__doc__", complete.__doc__.replace(old, new))
    found = list(check.faults("lrisk.complete", complete))
    assert (not found) if fault is None else any(fault in line for line in found)

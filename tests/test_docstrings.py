"""What numpydoc's validation says of every public class and function.

Checked are the summary (SS), the sections and their layout (GL), parameters (PR), what
comes back (RT, YD), relatives (SA01) and an example (EX01).
"""

import importlib
import inspect
import pkgutil
from enum import Enum

import pytest

docscrape = pytest.importorskip("numpydoc.docscrape")
validate = pytest.importorskip("numpydoc.validate").validate
pytest.importorskip("river")

CHECKED = ("GL", "SS", "PR", "RT", "YD", "SA01", "EX01")
MODULES = [
    "lrisk",
    "lrisk.analysis",
    "lrisk.baselines",
    "lrisk.boosting",
    "lrisk.corrections",
    "lrisk.datasets",
    "lrisk.displays",
    "lrisk.losses",
    "lrisk.metrics",
    "lrisk.noise",
    "lrisk.outofcore",
    "lrisk.report",
    "lrisk.river",
    "lrisk.solvers",
    "lrisk.spaces",
    "lrisk.spectra",
    "lrisk.tables",
    "lrisk.utils",
]
#: What is not yet done, by object; to get shorter, never longer.
UNFINISHED: dict[str, set[str]] = {
    "lrisk.AuditResult": {"EX01", "PR01", "SA01"},
    "lrisk.audit": {"PR07", "RT03", "SA01"},
    "lrisk.outofcore.fit": {"SA01"},
    "lrisk.outofcore.predict": {"EX01", "SA01"},
    "lrisk.solvers.Concentration": {"EX01", "SA01"},
    "lrisk.solvers.SubquantileGradient": {"EX01", "PR09", "SA01"},
}


def public_objects():
    """Each public class and function once, by its first public name."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for own in module.__all__:
            value = getattr(module, own)
            if inspect.isclass(value) or inspect.isfunction(value):
                found.setdefault(value, f"{name}.{own}")
    return found


def codes(value):
    """Codes of what numpydoc finds fault with."""
    # Nobody calls these: their signatures are those of enum and typing.
    uncalled = inspect.isclass(value) and (
        issubclass(value, Enum) or getattr(value, "_is_protocol", False)
    )
    found = validate(f"{value.__module__}.{value.__qualname__}")["errors"]
    wrong = {code for code, _ in found if code.startswith(CHECKED)}
    return {code for code in wrong if not (uncalled and code == "PR01")}


def test_docstrings_are_complete():
    found = {name: codes(value) for value, name in public_objects().items()}
    assert len(found) > 150
    assert {name: own for name, own in found.items() if own} == UNFINISHED


def resolve(name, home):
    """What a name of a See Also stands for; without a dot it is of the same module."""
    if not name.startswith(("lrisk.", "sklearn.")):
        name = f"{home}.{name}"
    return pkgutil.resolve_name(name)


def test_relatives_exist_and_say_why_one_would_go_there():
    count = 0
    for value, name in public_objects().items():
        page = docscrape.NumpyDocString(inspect.getdoc(value))
        for relatives, reason in page["See Also"]:
            assert reason, f"{name}: {relatives}"
            for relative, _ in relatives:
                assert resolve(relative, name.rpartition(".")[0]) is not value, name
                count += 1
    assert count > 300

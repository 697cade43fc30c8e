"""Hold every public class and function to numpydoc's rules: part of ``make lint``.

Checked are the layout (GL), the summary (SS), parameters (PR), what comes back (RT,
YD), relatives (SA01) and an example (EX01), that what See Also names is there, and
that parameters, those of methods too, have the defaults that they are said to have.
"""

import dataclasses
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from enum import Enum
from types import ModuleType
from typing import Any

import numpy as np
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import lrisk

#: What users do not call; the reference does not list them.
INTERNAL = {"lrisk.cli", "lrisk.procedures"}
CHECKED = ("GL", "SS", "PR", "RT", "YD", "SA01", "EX01")


def public_modules() -> Iterator[ModuleType]:
    """`lrisk` and those modules of it that say what is public in them."""
    yield lrisk
    for found in pkgutil.iter_modules(lrisk.__path__, "lrisk."):
        if found.name.startswith("lrisk._") or found.name in INTERNAL:
            continue
        try:
            module = importlib.import_module(found.name)
        except ImportError as error:
            print(f"{found.name} is left out: {error}")
            continue
        if hasattr(module, "__all__"):
            yield module


def public_objects() -> dict[str, Any]:
    """Public classes and functions by their full public names."""
    named = {
        f"{module.__name__}.{own}": getattr(module, own)
        for module in public_modules()
        for own in module.__all__
    }
    return {
        name: value
        for name, value in named.items()
        if inspect.isclass(value) or inspect.isfunction(value)
    }


def faults(name: str, value: Any) -> Iterator[str]:
    """What is wrong with one object's docstring, a line each."""
    # Nobody calls these: their signatures are those of enum and typing.
    uncalled = inspect.isclass(value) and (
        issubclass(value, Enum) or getattr(value, "_is_protocol", False)
    )
    for code, words in validate(f"{value.__module__}.{value.__qualname__}")["errors"]:
        if code.startswith(CHECKED) and not (uncalled and code == "PR01"):
            yield f"{name}: {code} {words}"
    home = name.rpartition(".")[0]
    for names, reason in NumpyDocString(inspect.getdoc(value) or "")["See Also"]:
        for own, _ in names:
            known = own.startswith(("lrisk.", "sklearn."))
            try:
                relative = pkgutil.resolve_name(own if known else f"{home}.{own}")
            except (AttributeError, ImportError):
                yield f"{name}: See Also names {own}, which is not there"
                continue
            if relative is value:
                yield f"{name}: See Also names itself"
            if not reason:
                yield f"{name}: See Also does not say why one would go to {own}"
    yield from wrong_defaults(name, value)
    for own, method in inspect.getmembers(value, callable):
        if own[0] != "_" and getattr(method, "__module__", "").startswith("lrisk."):
            yield from wrong_defaults(f"{name}.{own}", method)


def wrong_defaults(name: str, value: Any) -> Iterator[str]:
    """Parameters whose described default is not the one in the signature.

    Records, whose fields only lrisk fills in, need not name defaults.
    """
    document, is_record = inspect.getdoc(value), dataclasses.is_dataclass(value)
    try:
        real = inspect.signature(value).parameters
    except ValueError:  # of a warning, whose constructor is Python's
        return
    for entry in NumpyDocString(document or "")["Parameters"]:
        _, told, said = entry.type.partition("default")
        for own in (one.strip().lstrip("*") for one in entry.name.split(",")):
            if own not in real:
                yield f"{name}: {own} is described, and not in the signature"
            elif (default := real[own].default) is inspect.Parameter.empty:
                if told:
                    yield f"{name}: {own} has no default"
            elif not told:
                if not is_record:
                    yield f"{name}: {own} has the default {default!r}, which is unsaid"
            elif said[0] == "=" and not _same(said[1:], default):
                yield f"{name}: {own} has the default {default!r}, not {said[1:]}"


def _same(said: str, default: Any) -> bool:
    """Whether an expression in a docstring has this value."""
    try:
        value = eval(said, {"np": np})
    except (NameError, SyntaxError):
        return False
    return type(value) is type(default) and bool(value == default)


def main() -> int:
    """Print all faults and their number; 0 if there are none."""
    objects = public_objects()
    found = [line for name, value in objects.items() for line in faults(name, value)]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"docstrings: {len(objects)} public objects, {len(found)} validation errors")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

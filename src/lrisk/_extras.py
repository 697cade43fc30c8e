"""Packages that come with extras: imported where they are used, or named if missing."""

import importlib
import importlib.util
from typing import Any

#: What is imported of them, and the extra that brings it.
EXTRAS = {
    "click": "cli",
    "dask": "dask",
    "distributed": "dask",
    "jinja2": "cli",
    "matplotlib": "plot",
    "openpyxl": "excel",
    "packaging": "cli",
    "pandas": "cli",
    "pyarrow": "parquet",
    "rich": "cli",
    "river": "river",
    "skops": "cli",
    "torch": "torch",
}


def optional(module: str, user: str) -> Any:
    """Import a module that an extra brings.

    Parameters
    ----------
    module : str
        The module, such as ``"pyarrow.parquet"``.
    user : str
        What needs it, for the message.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed, in one line that says how to get it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise  # it is there, but something that it needs is not
        raise ModuleNotFoundError(lacking(package, user), name=package) from None


def missing(*packages: str) -> str | None:
    """The first of the packages that is not installed; none of them is imported."""
    gone = (name for name in packages if importlib.util.find_spec(name) is None)
    return next(gone, None)


def lacking(package: str, user: str) -> str:
    """What is said where a package is missing."""
    return f"{user} needs {package}: pip install 'lrisk[{EXTRAS[package]}]'"

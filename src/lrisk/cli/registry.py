"""Estimators by name: those that lrisk exports, and the user's own by its module."""

import difflib
import importlib
import inspect
import operator
import os
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

from sklearn.base import BaseEstimator, is_classifier, is_clusterer, is_regressor

import lrisk

from .._params import refused


@cache
def estimators() -> dict[str, type[BaseEstimator]]:
    """Every estimator of `lrisk` or a public module that says something of new rows."""
    return dict(sorted(_exported()))


def _exported() -> Iterator[tuple[str, type[BaseEstimator]]]:
    for name in lrisk.__all__:
        value = getattr(lrisk, name)
        own = value.__all__ if isinstance(value, ModuleType) else [name]
        home = value if isinstance(value, ModuleType) else lrisk
        for inner in own:
            kind = getattr(home, inner)
            if not (inspect.isclass(kind) and issubclass(kind, BaseEstimator)):
                continue
            if kind is lrisk.TablePreparation:  # every model has one
                continue
            if hasattr(kind, "predict") or hasattr(kind, "transform"):
                yield inner, kind


def estimator_named(name: str) -> type[BaseEstimator]:
    """The estimator of that name; capitals, dashes and underscores do not matter."""
    known = {_plain(own): kind for own, kind in estimators().items()}
    if (plain := _plain(name)) in known:
        return known[plain]
    near = difflib.get_close_matches(plain, known, n=1)
    remedy = "lrisk estimators lists them"
    if near:
        remedy = f"did you mean {known[near[0]].__name__}?"
    rule = "the name of an estimator"
    message = refused("fit", "--estimator", rule, name[:80], remedy)
    raise ValueError(message.replace("?.", "?"))


def imported_estimator(place: str) -> Any:
    """What ``module:object`` names: an estimator, or what makes one when called.

    The module may lie in the current folder. Importing it runs its code; that is what
    the user asks for by naming it.
    """
    module, colon, name = place.partition(":")
    if not (module and colon and name):
        rule, remedy = "MODULE:OBJECT", "as in sklearn.ensemble:RandomForestRegressor"
        raise ValueError(refused("audit", "--estimator", rule, place[:80], remedy))
    sys.path.insert(0, os.getcwd())
    try:
        found = operator.attrgetter(name)(importlib.import_module(module))
        made = isinstance(found, type) or not hasattr(found, "fit")
        found = found() if made and callable(found) else found
        if found is None:  # which would mean: no estimator
            raise TypeError("it is None")
        return found
    except (Exception, SystemExit) as error:  # of somebody else's code: it may be any
        rule, remedy = "importable", "try it in Python, from the same folder"
        got = f"{type(error).__name__}: {error}"[:200]
        message = refused("audit", f"--estimator {place[:80]}", rule, got, remedy)
        raise ValueError(message) from error
    finally:
        sys.path.remove(os.getcwd())


def kind_of(estimator: Any) -> str:
    """'classification', 'regression', 'clustering' or 'transformation'."""
    if is_classifier(estimator):
        return "classification"
    if is_regressor(estimator):
        return "regression"
    return "clustering" if is_clusterer(estimator) else "transformation"


def counterpart(name: str) -> str:
    """The estimator of the same family for the other task, or nothing."""
    ends = {"Regressor": "Classifier", "Classifier": "Regressor"}
    for end, other in ends.items():
        if end in name and name.replace(end, other) in estimators():
            return name.replace(end, other)
    return ""


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())

"""Parameters of estimators as words: ``--set alpha=0.1 --set noise=gaussian:0.2``."""

import ast
import difflib
import json
from collections.abc import Iterable
from typing import Any

from .._params import parse_named, refused
from ..noise import NOISES
from ..spectra import parse_spectrum
from .registry import estimator_named


def parsed_settings(words: Iterable[str]) -> dict[str, Any]:
    """Parameters by name from words such as ``alpha=0.1``.

    Examples
    --------
    >>> parsed_settings(["alpha=0.1", "loss=huber", "alphas=[1, 10]", "gamma=None"])
    {'alpha': 0.1, 'loss': 'huber', 'alphas': [1, 10], 'gamma': None}
    """
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        name = name.strip()
        if not equals or not name:
            rule, remedy = "name=value", "as in --set alpha=0.1"
            raise ValueError(refused("fit", "--set", rule, word[:80], remedy))
        if name in found:
            rule, remedy = "given once for each name", "leave one out"
            raise ValueError(refused("fit", "--set", rule, word[:80], remedy))
        found[name] = literal(text.strip())
    return found


def literal(text: str) -> Any:
    """JSON (true, null, 1e-3, [1, 2]), or a Python literal, or just the text."""
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return text


def apply_settings(estimator: Any, settings: dict[str, Any]) -> Any:
    """The estimator with these parameters; unknown ones are refused.

    Names of noises, and of estimators within estimators, become objects.
    """
    name = type(estimator).__name__
    ready = {key: _object(key, value) for key, value in settings.items()}
    direct = {key: value for key, value in ready.items() if "__" not in key}
    for values in (direct, {k: v for k, v in ready.items() if k not in direct}):
        known = estimator.get_params()
        for key in values:
            if key not in known:
                raise ValueError(_unknown(name, key, known))
        estimator.set_params(**values)
    spectrum = estimator.get_params(deep=False).get("spectrum")
    if spectrum is not None:
        parse_spectrum(spectrum)
    return estimator


def _unknown(name: str, key: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, list(known), n=1)
    hint = f"did you mean {near[0]!r}? It" if near else "it"
    return f"{name} has no parameter {key[:80]!r}; {hint} has {', '.join(known)}."


def _object(key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    own = key.rpartition("__")[2]
    if own == "noise":
        return parse_named("noise", value, NOISES, {}, "gaussian:0.1")
    if own == "estimator":
        return estimator_named(value)()
    return value

"""scikit-learn's private or moving API in one place, and checks on estimators."""

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics._scorer import _BaseScorer as BaseScorer
from sklearn.utils.validation import validate_data

from ._params import refused

__all__ = [
    "BaseScorer",
    "check_flag",
    "default_of",
    "generator",
    "unchanged_on_error",
    "validate_data",
]


@contextlib.contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Give an estimator its former state back if the block raises."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def default_of(estimator: Any, name: str) -> Any:
    """Default value of a constructor parameter."""
    return inspect.signature(type(estimator).__init__).parameters[name].default


def generator(random_state: Any) -> np.random.Generator:
    """A generator from what scikit-learn takes as ``random_state``."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def check_flag(owner: object, name: str, value: object) -> None:
    """Raise unless `value` is a bool."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(refused(owner, name, "True or False", value, "pass a bool"))

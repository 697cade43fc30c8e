"""scikit-learn's private or moving API in one place, and checks on estimators."""

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics._scorer import _BaseScorer as BaseScorer
from sklearn.utils import _safe_indexing as rows_of
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data as _sklearn_validate_data

from ._arrays import (
    check_features,
    check_targets,
    check_typical_size,
    largest_size,
    unmasked,
)
from ._params import refused
from ._typing import AnyArray, Floats

try:  # scikit-learn's experimental callbacks, from 1.9 on
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    #: Frames between a warning raised in ``fit`` and the user who called it.
    FIT_DEPTH = 3
except ImportError:
    FIT_DEPTH = 2

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing, for versions without callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Leave the method as it is, for versions without callbacks."""
        return method


__all__ = [
    "FIT_DEPTH",
    "BaseScorer",
    "CallbackSupportMixin",
    "IterationCallbacks",
    "check_flag",
    "classes_and_codes",
    "default_of",
    "generator",
    "random_state_of",
    "rows_of",
    "streams_by_sgd",
    "unchanged_on_error",
    "validate_data",
    "with_callbacks",
]


class IterationCallbacks:
    """Tells an estimator's callbacks, if it has any, of a fit and its iterations."""

    def __init__(self, estimator: Any) -> None:
        self._estimator, self._context = estimator, None
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=estimator)

    def iteration(self) -> None:
        """Take note that one iteration is over."""
        if self._context is not None:
            inner = self._context.subcontext(task_name="iteration")
            inner.call_on_fit_task_begin(estimator=self._estimator)
            inner.call_on_fit_task_end(estimator=self._estimator)

    def end(self) -> None:
        """Take note that the fit is over."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator)


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


def validate_data(
    estimator: Any,
    X: Any = "no_validation",
    y: Any = "no_validation",
    *,
    absurd: float | None = None,
    **options: Any,
) -> Any:
    """scikit-learn's, with masked entries missing and sizes within `lrisk._arrays`.

    With `absurd` single entries may be of any size, as long as the others are within
    that: for estimators that scale by robust measures and are to find them.
    """
    X, y = unmasked(X), unmasked(y)
    # Sizes are looked at below, which says as well whether entries are finite.
    looked_at = (
        isinstance(X, np.ndarray)
        and X.dtype.kind == "f"
        and options.get("ensure_all_finite", True) is True
    )
    if looked_at:
        unlooked = {**options, "ensure_all_finite": False}
        checked = _sklearn_validate_data(estimator, X, y, **unlooked)
    else:
        checked = _sklearn_validate_data(estimator, X, y, **options)
    rows, targets = checked if isinstance(checked, tuple) else (checked, None)
    fitted = not options.get("reset", True)
    largest = largest_size(rows) if looked_at else None
    if largest is not None and not np.isfinite(largest):
        _sklearn_validate_data(estimator, X, y, **options)  # refuses in its own words
    numeric = targets is not None and options.get("y_numeric", False)
    if absurd is not None:
        if not fitted:
            columns = [("X", column) for column in rows.T]
            for name, values in [*columns, *([("y", targets)] if numeric else [])]:
                check_typical_size(estimator, name, values, absurd)
        return checked
    names = getattr(estimator, "feature_names_in_", None)
    check_features(estimator, "X", rows, fitted=fitted, names=names, largest=largest)
    if numeric:
        check_targets(estimator, "y", targets, fitted=fitted)
    return checked


def classes_and_codes(owner: object, y: AnyArray) -> tuple[AnyArray, Floats]:
    """Sorted classes, two or more, and the number of each row's.

    Parameters
    ----------
    owner : object
        Whose name a message begins with.
    y : array of shape (n,)
        Labels of the rows that have weight.
    """
    classes, codes = _sorted_classes(y)
    if len(classes) < 2:
        rule = "of at least two classes among rows of positive weight"
        remedy = "add rows of another class"
        seen = f"one class, {classes[0]}"
        raise ValueError(refused(owner, "y", rule, seen, remedy))
    return classes, codes.astype(np.float64)


def _sorted_classes(y: AnyArray) -> tuple[AnyArray, AnyArray]:
    """As np.unique with its inverse; two numbers without sorting."""
    if y.dtype.kind in "biuf":
        others = y[y != y[0]]
        if others.size and np.all(others == others[0]):
            classes = np.sort(np.array([y[0], others[0]]))
            return classes, y == classes[1]
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes


def default_of(estimator: Any, name: str) -> Any:
    """Default value of a constructor parameter."""
    return inspect.signature(type(estimator).__init__).parameters[name].default


def generator(random_state: Any) -> np.random.Generator:
    """A generator from what scikit-learn takes as ``random_state``."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        rule = "a whole number of at least 0, a RandomState, a Generator or None"
        message = refused("lrisk", "random_state", rule, random_state, "pass an int")
        raise type(error)(message) from None


def random_state_of(random_state: Any) -> np.random.RandomState:
    """What scikit-learn makes of a ``random_state``."""
    try:
        made: np.random.RandomState = check_random_state(random_state)
    except ValueError:
        rule = "a whole number of at least 0 and below 2³², a RandomState or None"
        message = refused("lrisk", "random_state", rule, random_state, "pass an int")
        raise ValueError(message) from None
    return made


def streams_by_sgd(estimator: Any) -> bool:
    """Whether `partial_fit` is there, for ``available_if``; why not, if it is not."""
    solver = estimator.solver
    if getattr(solver, "name", solver) == "sgd":
        return True
    raise AttributeError(
        f"{type(estimator).__name__}: partial_fit needs solver='sgd', got {solver!r}; "
        "fit works with every solver."
    )


def check_flag(owner: object, name: str, value: object) -> None:
    """Raise unless `value` is a bool."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(refused(owner, name, "True or False", value, "pass a bool"))

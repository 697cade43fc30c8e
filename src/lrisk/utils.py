"""What tools that work on every estimator of the package need."""

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClusterMixin,
    RegressorMixin,
    TransformerMixin,
)

import lrisk

from ._params import check_choice

__all__ = ["all_estimators"]

_MIXINS = {
    "classifier": ClassifierMixin,
    "regressor": RegressorMixin,
    "cluster": ClusterMixin,
    "transformer": TransformerMixin,
}


def all_estimators(
    type_filter: str | list[str] | None = None,
) -> list[tuple[str, type[BaseEstimator]]]:
    """List every estimator of lrisk, as ``sklearn.utils.all_estimators`` does.

    Parameters
    ----------
    type_filter : {"classifier", "regressor", "cluster", "transformer"}, list of such \
            or None, default=None
        Kinds to return; None means all, the detectors of wrong rows included.

    Returns
    -------
    list of (str, class)
        Names and classes, sorted by name.

    See Also
    --------
    sklearn.utils.all_estimators : Those of scikit-learn.

    Examples
    --------
    >>> from lrisk.utils import all_estimators
    >>> [name for name, _ in all_estimators("cluster")]
    ['RiskKMeans']
    """
    wanted = [type_filter] if isinstance(type_filter, str) else type_filter
    for name in wanted or []:
        check_choice("all_estimators", "type_filter", name, tuple(_MIXINS))
    mixins = tuple(_MIXINS[name] for name in wanted or [])
    return sorted(
        (name, kind)
        for name, kind in _exported()
        if wanted is None or issubclass(kind, mixins)
    )


def _exported() -> Iterator[tuple[str, Any]]:
    """Estimators that `lrisk` or one of its public modules exports."""
    for name in lrisk.__all__:
        value = getattr(lrisk, name)
        if isinstance(value, ModuleType) and value.__name__ != __name__:
            inner = [(own, getattr(value, own)) for own in value.__all__]
        else:
            inner = [(name, value)]
        for own, kind in inner:
            if inspect.isclass(kind) and issubclass(kind, BaseEstimator):
                yield own, kind

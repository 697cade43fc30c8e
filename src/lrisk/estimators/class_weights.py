"""`class_weight`: the sample weights that weights of classes stand for."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._params import check_real, refused
from .._typing import AnyArray, Floats

ClassWeight = str | Mapping[Any, float] | None


def check_class_weight(owner: object, class_weight: Any) -> None:
    """Refuse what is neither None nor ``"balanced"`` nor a mapping to weights ≥ 0."""
    if class_weight is None or isinstance(class_weight, Mapping):
        for label, value in dict(class_weight or {}).items():
            name, remedy = f"class_weight[{label!r}]", "0 leaves the class out"
            check_real(owner, name, value, low=0, remedy=remedy)
        return
    if not (isinstance(class_weight, str) and class_weight == "balanced"):
        rule = "None, 'balanced' or a dict from classes to weights"
        raise ValueError(
            refused(owner, "class_weight", rule, class_weight, "pass one of them")
        )


def weighted_by_class(
    owner: object, class_weight: ClassWeight, y: AnyArray, weight: Floats | None
) -> Floats | None:
    """Weights of the rows, times those of their classes.

    Parameters
    ----------
    owner : object
        Whose name a message begins with.
    class_weight : mapping, "balanced" or None
        ``"balanced"`` gives all classes the same weight in sum and leaves the weight of
        all rows as it is. A class that the mapping does not name has weight 1.
    y : array of shape (n,)
    weight : array of shape (n,) or None

    Returns
    -------
    array of shape (n,) or None
    """
    if class_weight is None:
        return weight
    own = np.ones(len(y)) if weight is None else weight
    classes, codes = np.unique(y, return_inverse=True)
    if isinstance(class_weight, str):
        mass = np.bincount(codes, own)
        seen = mass > 0
        factors = np.zeros(len(classes))
        factors[seen] = mass.sum() / (int(seen.sum()) * mass[seen])
    else:
        named = dict(class_weight)
        labels = classes.tolist()
        unknown = [label for label in named if label not in labels]
        if unknown and any(label not in named for label in labels):
            rule = f"of classes among {labels}"
            remedy = "name the classes as y does"
            raise ValueError(refused(owner, "class_weight", rule, unknown[0], remedy))
        factors = np.array([float(named.get(label, 1.0)) for label in labels])
    result = own * factors[codes]
    if not np.any(result > 0):
        rule, remedy = "positive for a class among y", "not every weight may be zero"
        raise ValueError(refused(owner, "class_weight", rule, class_weight, remedy))
    return result

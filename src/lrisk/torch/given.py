"""Rows as fits and predictions take them: tensors, refused in the words for arrays."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._arrays import FEATURE, check_features, check_targets
from .._params import refused
from .._typing import AnyArray, Floats
from .._validation import classes_and_codes
from ..ranking import check_row_weights
from .checks import TYPES
from .rows import in_memory

#: Rows whose columns are looked at first: nearly always they show that none is tiny.
FIRST_ROWS = 64


def check_matrix(owner: object, X: Any, fitted: Tensor | None = None) -> Tensor:
    """Features: a dense tensor of floats of shape (n, d), finite.

    Parameters
    ----------
    owner : object
        Whose name a message begins with.
    X : tensor
    fitted : tensor or None
        The coefficients of a fitted estimator, shape (1, d), which X is to suit.
    """
    _check_tensor(owner, "X", X)
    if X.ndim != 2:
        rule, remedy = "of shape (n, d)", "give it a column for each feature"
        raise ValueError(refused(owner, "X", rule, tuple(X.shape), remedy))
    if X.dtype not in TYPES:
        rule, remedy = "of float32 or float64", "convert it: X.float()"
        raise TypeError(refused(owner, "X", rule, str(X.dtype), remedy))
    if X.numel() == 0:
        rule, remedy = "of at least one row and one feature", "look at how it was made"
        raise ValueError(refused(owner, "X", rule, tuple(X.shape), remedy))
    if fitted is not None and X.shape[1] != fitted.shape[1]:
        rule = f"of {fitted.shape[1]} features, as in fit"
        remedy = "give the columns of the fit"
        raise ValueError(refused(owner, "X", rule, X.shape[1], remedy))
    if fitted is not None:
        check_together(owner, "X", X, fitted.device, "the coefficients")
    X = X.detach()
    ends = torch.aminmax(X)
    largest = float(torch.maximum(-ends.min, ends.max))
    if not np.isfinite(largest):
        _refuse_infinite(owner, "X", X)
    if largest > FEATURE:
        check_features(owner, "X", _sizes(X))
    if fitted is None and np.any(_sizes(X[:FIRST_ROWS]) < 1.0 / FEATURE):
        check_features(owner, "X", _sizes(X))
    return X


def check_numbers(owner: object, y: Any, X: Tensor) -> Tensor:
    """Targets that are numbers, of 64 bits."""
    y = check_vector(owner, "y", y, X).double()
    ends = torch.aminmax(y)
    size = float(torch.maximum(-ends.min, ends.max))
    if not np.isfinite(size):
        _refuse_infinite(owner, "y", y)
    check_targets(owner, "y", np.array([size]))
    return y


def check_weight(owner: object, weight: Any, X: Tensor) -> Tensor | None:
    """Weights of rows, of 64 bits; None stays None."""
    if weight is None:
        return None
    weight = check_vector(owner, "sample_weight", weight, X).double()
    ends = torch.stack(torch.aminmax(weight))
    # Two of them have whatever is wrong with any: NaN is both ends then.
    check_row_weights(in_memory(ends), 2)
    return weight


def labels_of(owner: object, y: Any, X: Tensor) -> tuple[AnyArray, Tensor]:
    """Labels, ascending, in memory, and the number of each row's."""
    y = check_vector(owner, "y", y, X)
    if y.is_floating_point() and not bool(torch.isfinite(y).all()):
        _refuse_infinite(owner, "y", y)
    own = y.to(torch.uint8) if y.dtype == torch.bool else y
    ends = torch.aminmax(own)
    second = own == ends.max
    if bool((second | (own == ends.min)).all()) and bool(ends.min < ends.max):
        labels, codes = torch.stack(ends), second.long()  # two need no sorting
    else:
        labels, codes = torch.unique(own, return_inverse=True)
    return in_memory(labels.to(y.dtype)), codes


def check_two(owner: object, labels: AnyArray) -> AnyArray:
    """Labels of two classes."""
    classes, _ = classes_and_codes(owner, labels)
    if len(classes) > 2:
        rule, remedy = "of two classes", "fit each against the others, or fit in memory"
        raise ValueError(refused(owner, "y", rule, f"{len(classes)} classes", remedy))
    return classes


def check_together(
    owner: object, name: str, tensor: Tensor, device: torch.device, whose: str
) -> None:
    """Refuse a tensor that lies elsewhere."""
    if tensor.device != device:
        rule = f"on the device of {whose}, {device}"
        remedy = f"move it there: .to({str(device)!r})"
        raise ValueError(refused(owner, name, rule, str(tensor.device), remedy))


def _check_tensor(owner: object, name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        remedy = f"pass torch.as_tensor of it, or fit lrisk.{type(owner).__name__}"
        kind = type(value).__name__
        raise TypeError(refused(owner, name, "a tensor", kind, remedy))
    if value.layout != torch.strided or value.is_complex():
        rule, remedy = "dense and real", "convert it: .to_dense()"
        seen = f"{value.dtype} in layout {value.layout}"
        raise TypeError(refused(owner, name, rule, seen, remedy))


def check_vector(owner: object, name: str, value: Any, X: Tensor) -> Tensor:
    """A number for each row of X, of any type."""
    _check_tensor(owner, name, value)
    if value.shape != X.shape[:1]:
        rule, remedy = f"of shape ({X.shape[0]},)", "give one for each row of X"
        raise ValueError(refused(owner, name, rule, tuple(value.shape), remedy))
    check_together(owner, name, value, X.device, "X")
    vector: Tensor = value.detach().contiguous()
    return vector


def _sizes(X: Tensor) -> Floats:
    """Size of the largest entry of each column, as a row."""
    ends = torch.aminmax(X, dim=0)
    sizes: Floats = in_memory(torch.maximum(-ends.min, ends.max).double())
    return sizes[None, :]


def _refuse_infinite(owner: object, name: str, values: Tensor) -> None:
    where = torch.nonzero(~torch.isfinite(values))[0].tolist()
    place = f"row {where[0]}" + (f", column {where[1]}" if len(where) > 1 else "")
    remedy = f"look at {place}: drop such rows or fill them in"
    seen = float(values[tuple(where)])
    raise ValueError(refused(owner, name, "finite", seen, remedy))

"""What LightGBM and XGBoost pass to objectives and metrics, checked.

Their estimators pass arrays, ``train`` and ``cv`` the scores and a data set.
"""

from typing import Any, NamedTuple

import numpy as np

from .._params import refused
from .._typing import Floats
from ..losses import Loss, Multinomial
from ..ranking import check_row_weights

#: Who refuses what is passed.
OWNER = "lrisk.boosting"


class Given(NamedTuple):
    """The rows of one round.

    loss : for a score of each class the multinomial one
    y : targets, or numbers of classes; shape (n,)
    z : scores; shape (n,) or (n, n_classes)
    weight : of the rows, equal ones as a view of a single number; None for one each
    """

    loss: Loss
    y: Floats
    z: Floats
    weight: Floats | None


def given(loss: Loss, first: Any, second: Any, weight: Any) -> Given:
    """Of arrays (targets, scores, weights), or of scores and a data set."""
    y, z = first, second
    if hasattr(second, "get_label"):
        y, z, weight = second.get_label(), first, second.get_weight()
    y, z = np.asarray(y, dtype=np.float64), scores_of(z)
    if y.ndim != 1 or not y.size:
        rule, remedy = "(n,), a number for each row", "fit each target by itself"
        raise ValueError(refused(OWNER, "y_true", rule, y.shape, remedy))
    if len(y) != len(z):
        rule, remedy = f"of as many rows as y_true ({len(y)})", "pass both of a set"
        raise ValueError(refused(OWNER, "y_pred", rule, len(z), remedy))
    # XGBoost's data sets have an array without entries where there are none.
    weight = check_row_weights(None if np.size(weight) == 0 else weight, len(y))
    if weight is not None and np.all(weight == weight[0]):
        # Equal weights only scale; they are counted in by the total.
        weight = np.broadcast_to(weight[:1], y.shape)
    return Given(_loss_of(loss, y, z), y, z, weight)


def scores_of(scores: Any) -> Floats:
    """One for each row, or for each row and class."""
    z = np.ascontiguousarray(scores, dtype=np.float64)
    if z.ndim == 2 and z.shape[1] == 1:
        z = z[:, 0]
    if z.ndim > 2:
        rule, remedy = "(n,) or (n, n_classes)", "fit each target by itself"
        raise ValueError(refused(OWNER, "scores", rule, z.shape, remedy))
    return z


def _loss_of(loss: Loss, y: Floats, z: Floats) -> Loss:
    """The loss; multinomial for a score of each class, if it is of classes."""
    if not loss.classifies:
        if z.ndim == 2:
            rule, remedy = f"one score a row for {loss!r}", "take loss='logistic'"
            message = refused(OWNER, "y_pred", rule, z.shape, remedy)
            raise ValueError(message)
        return loss
    n_classes = 2 if z.ndim == 1 else z.shape[1]
    if n_classes == 2:
        wrong = (y != 0.0) & (y != 1.0)
    else:
        wrong = (y < 0) | (y >= n_classes) | (y != np.floor(y))
    if wrong.any():
        rule, remedy = f"0 to {n_classes - 1}, numbers of classes", "encode them"
        seen = float(y[wrong][0])
        raise ValueError(refused(OWNER, "y_true", rule, seen, remedy))
    if z.ndim == 2:
        return Multinomial()
    if loss.per_class:
        rule, remedy = "(n, n_classes)", "take loss='logistic' for two classes"
        message = refused(OWNER, "y_pred", rule, z.shape, remedy)
        raise ValueError(message)
    return loss

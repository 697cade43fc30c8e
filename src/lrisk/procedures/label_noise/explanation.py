"""How surprising labels are, and which columns make them so."""

from collections.abc import Callable

import numpy as np

from ..._typing import Floats, Indices
from .._robust.explanation import OutlierExplanation
from .._robust.scales import COMPRESSED_BEYOND, Columns
from .likelihood import surprise


def explained(
    scores: Callable[[Floats], Floats], columns: Columns, X: Floats, codes: Indices
) -> OutlierExplanation:
    """The surprise of rows under the scores of a fit, shared out to their columns.

    A column has the nats by which it makes a label more surprising than its median
    would, plus half the square of what it lies beyond three robust scales.
    """
    loss = surprise(scores(X), codes)
    z = columns.compressed(X)
    contributions = 0.5 * np.maximum(np.abs(z) - COMPRESSED_BEYOND, 0.0) ** 2
    for j in range(X.shape[1]):
        usual = X.copy()
        usual[:, j] = columns.center[j]
        contributions[:, j] += loss - surprise(scores(usual), codes)
    order = np.argsort(-contributions, axis=1, kind="stable")
    leverage = np.sqrt(np.mean(z**2, axis=1))
    return OutlierExplanation(np.sqrt(2.0 * loss), leverage, contributions, order)

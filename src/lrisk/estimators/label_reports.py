"""What a classifier of dirty rows says of its fit and of single rows."""

from typing import NamedTuple

from .._typing import Floats, Indices


class LabelExplanation(NamedTuple):
    """Why labels and rows look wrong.

    Attributes
    ----------
    residual : array of shape (n,)
        Surprise of the label, √(−2 log p) with p its probability under the fit: the
        deviance residual, on the scale of standard deviations (2 is p = .14, 3 is
        p = .011).
    leverage : array of shape (n,)
        Root mean square of the row's features in robust standard deviations from the
        median, growing by the logarithm beyond 3.
    contributions : array of shape (n, d)
        Nats by which a column makes the label more surprising than its median would,
        plus half the square of what it lies beyond 3 robust standard deviations.
    columns : array of int of shape (n, d)
        Columns in falling order of contribution.
    """

    residual: Floats
    leverage: Floats
    contributions: Floats
    columns: Indices


class SelectedFit(NamedTuple):
    """Which fit was chosen.

    Attributes
    ----------
    name : str
        ``"ordinary"``: no wrong labels were found. ``"label noise"``: the fit of the
        mixture. ``"ordinary, noisy labels"``: labels are wrong, but the ordinary fit
        with its heavy penalty predicts held-out labels at least as well.
    scores : dict
        Log likelihood of held-out labels under the best fit of each kind; empty where
        rows were too few for a choice.
    """

    name: str
    scores: dict[str, float]

"""Losses by name: the registry and the parser of ``"huber:1.5"``."""

from collections.abc import Mapping

from .._params import parse_named, refused
from .base import Loss
from .clipped import Absolute, Huber, Pinball
from .hinge import SquaredHinge
from .logistic import Logistic
from .multinomial import Multinomial
from .squared import Squared

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (Squared, Huber, Absolute, Pinball, Logistic, SquaredHinge, Multinomial)
}


#: Losses of numbers, and of two classes.
NUMBER_LOSSES = {name: loss for name, loss in LOSSES.items() if not loss.classifies}
CLASS_LOSSES = {
    name: loss
    for name, loss in LOSSES.items()
    if loss.classifies and not loss.per_class
}


def parse_loss(loss: "str | Loss", families: Mapping[str, type[Loss]] = LOSSES) -> Loss:
    """Turn ``"huber:1.5"`` and the like into a loss; objects pass through.

    Parameters
    ----------
    loss : str or Loss
    families : mapping from names to classes
        Those that will do.

    Examples
    --------
    >>> parse_loss("pinball:0.9")
    Pinball(tau=0.9)
    >>> parse_loss("absolute")
    Absolute()
    """
    if not isinstance(loss, Loss):
        return parse_named("loss", loss, families, {}, next(iter(families)))
    if not isinstance(loss, tuple(families.values())):
        rule = f"one of {', '.join(families)} or such an object"
        raise ValueError(refused("lrisk", "loss", rule, loss, "choose one of them"))
    return loss

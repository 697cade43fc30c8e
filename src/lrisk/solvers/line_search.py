"""Backtracking: halve a step until it is good enough."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

#: Armijo's constant: the share of the promised fall that a step must bring.
SUFFICIENT = 1e-4

_Found = TypeVar("_Found")


class Trial(NamedTuple, Generic[_Found]):
    """The last step that was tried: its share, what was found there, if it will do."""

    length: float
    found: _Found
    enough: bool


def backtrack(
    evaluate: Callable[[float], tuple[float, _Found]],
    enough: Callable[[float, float], bool],
    most: int,
) -> Trial[_Found]:
    """Try the shares 1, ½, ¼, … of a step until one is good enough.

    Parameters
    ----------
    evaluate : callable
        Value, and whatever else is known, at a share of the step.
    enough : callable
        Whether a value at a share is low enough.
    most : int ≥ 1
        Shares to try; where none will do, the last one is returned.
    """
    t = 1.0
    for _ in range(most - 1):
        value, found = evaluate(t)
        if enough(value, t):
            return Trial(t, found, True)
        del found  # what is at a point of very many rows is large
        t *= 0.5
    value, found = evaluate(t)
    return Trial(t, found, enough(value, t))


def armijo(
    value: float, slope: float, slack: float = 0.0
) -> Callable[[float, float], bool]:
    """A fall by part of what the slope promises.

    Parameters
    ----------
    value : float
        Where the step begins.
    slope : float
        Of the values along the whole step, there; negative.
    slack : float, default=0
        What rounding may add to a value.
    """

    def enough(new: float, t: float) -> bool:
        return new <= value + SUFFICIENT * t * slope + slack

    return enough

"""What a part has to be told again, where it is made anew from its rows.

All that a part holds beside its rows is a cache of a few calls: the shift of the
targets, the last θ at which losses were found, and what has set λ since. Told these
again, in order, it stands where it stood. A part that is made anew and *not* told them
answers all the same, and a fit then ends with a bound that proves something else.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

#: Calls that answer and change nothing.
ASKING = frozenset(
    {"describe", "pull", "dual", "gram_some", "spread", "longest", "take", "table"}
)
#: Calls after which losses are those of a new θ, whatever they were.
EVALUATING = frozenset({"at", "at_binned", "at_held"})
#: Calls after which λ depends on the present losses alone.
HOLDING = frozenset({"hold", "band"})

#: Calls with the arguments of every part, and those of one part.
Call = tuple[str, Sequence[tuple[Any, ...]]]
Told = list[tuple[str, tuple[Any, ...]]]


class Journal:
    """The calls that have made parts what they are, and no others.

    Each is kept with the arguments of every part. A method that is not known here is
    kept with all that came before it.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def note(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> None:
        """Take note of a call that all parts have answered."""
        if method in ASKING:
            return
        calls = self.calls
        if method == "prepare":  # a new fit
            calls.clear()
        elif method in EVALUATING and calls and calls[-1][0] in EVALUATING:
            calls.pop()
        elif method in HOLDING:
            recent = []
            while calls and calls[-1][0] in EVALUATING | HOLDING | {"assign"}:
                recent.append(calls.pop())
            calls += [call for call in recent if call[0] in EVALUATING][:1]
        calls.append((method, arguments))

    def of_part(self, part: int) -> Told:
        """What one part is to be told."""
        return [(method, arguments[part]) for method, arguments in self.calls]


def of_rows(calls: Told, start: int, stop: int) -> Told:
    """What some rows of a part, that are a part of their own, are to be told."""
    told = []
    for method, arguments in calls:
        if method == "assign":
            ids, weights = arguments
            first, last = np.searchsorted(ids, [start, stop])
            arguments = (ids[first:last] - start, weights[first:last])
        told.append((method, arguments))
    return told

"""Targets and weights as they come in, batch by batch: checked, and made numbers."""

from typing import Any, Protocol

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from .._arrays import check_targets, unmasked
from .._params import refused
from .._typing import AnyArray, Floats
from .._validation import classes_and_codes


class Targets(Protocol):
    """Turns targets of batches into what a loss wants."""

    owner: object

    def numbers(self, y: Any) -> Floats:
        """Of one batch."""

    def final(self, numbers: Floats) -> Floats:
        """The same once all batches are known."""

    def classes(self) -> AnyArray | None:
        """The classes, if any, once all batches are known."""


class NumberTargets:
    """Finite numbers."""

    def __init__(self, owner: object) -> None:
        self.owner = owner

    def numbers(self, y: Any) -> Floats:
        """Of one batch."""
        try:
            found = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            rule, remedy = "of numbers", "name another target, or use a classifier"
            seen = np.asarray(y).dtype.name
            raise ValueError(
                refused(self.owner, "target", rule, seen, remedy)
            ) from None
        wrong = ~np.isfinite(found)
        if np.any(wrong):
            rule, remedy = "of finite numbers", "drop the rows without a target"
            value = float(found[wrong][0])
            raise ValueError(refused(self.owner, "target", rule, value, remedy))
        check_targets(self.owner, "target", found)
        return found

    def final(self, numbers: Floats) -> Floats:
        """They are what they were."""
        return numbers

    def classes(self) -> None:
        """None."""
        return


class TwoClasses:
    """Labels of two classes, numbered as they are first seen until the end."""

    def __init__(self, owner: object) -> None:
        self.owner = owner
        self._seen: dict[Any, int] = {}

    def numbers(self, y: Any) -> Floats:
        """Of one batch."""
        y = np.asarray(y)
        missing = np.array([label is None or label != label for label in y.tolist()])
        if np.any(missing):
            rule, remedy = "without missing labels", "drop the rows without a target"
            raise ValueError(refused(self.owner, "target", rule, "some", remedy))
        check_classification_targets(y)
        labels, places = np.unique(y, return_inverse=True)
        for label in labels.tolist():
            self._seen.setdefault(label, len(self._seen))
        if len(self._seen) > 2:
            rule = "of two classes where rows are not in memory"
            remedy = (
                "fit one class against the others, or a sample that fits into memory "
                "with RiskClassifier.fit"
            )
            seen = f"more, {sorted(map(str, self._seen))}"
            raise ValueError(refused(self.owner, "target", rule, seen, remedy))
        codes = np.array([self._seen[label] for label in labels.tolist()], dtype=float)
        return np.asarray(codes[places])

    def final(self, numbers: Floats) -> Floats:
        """Codes in the order of the sorted classes."""
        first, _ = self._in_order()
        return numbers if first == 0 else 1.0 - numbers

    def classes(self) -> AnyArray:
        """Both, sorted."""
        return self._in_order()[1]

    def _in_order(self) -> tuple[int, AnyArray]:
        labels = list(self._seen)
        classes, codes = classes_and_codes(self.owner, np.array(labels))
        return int(codes[0]), classes


def given_targets(owner: object, y: Any) -> AnyArray:
    """Targets of a batch as an array."""
    if y is None:
        rule, remedy = "one number or label for each row", "yield them with the rows"
        raise ValueError(refused(owner, "target", rule, None, remedy))
    return np.asarray(unmasked(y))


def checked_weights(weight: Any) -> Floats:
    """Finite weights ≥ 0."""
    found = np.asarray(weight, dtype=np.float64)
    wrong = ~(np.isfinite(found) & (found >= 0.0))
    if np.any(wrong):
        rule, remedy = "finite and ≥ 0", "drop such rows or give them weight 0"
        seen = float(found[wrong][0])
        raise ValueError(refused("outofcore", "sample_weight", rule, seen, remedy))
    return found

"""Classes from scores: what every classifier here does with `decision_function`."""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin

from ._params import refused
from ._typing import AnyArray, Floats, Indices
from .losses.multinomial import softmax


class ClassScores(ClassifierMixin):
    """Predictions of classifiers whose scores are log-odds, up to a constant.

    A subclass has `classes_` and `decision_function`.
    """

    classes_: AnyArray

    def decision_function(self, X: Any) -> Floats:
        """Scores: (n_samples,) for two classes, (n_samples, n_classes) for more."""
        raise NotImplementedError

    def predict(self, X: Any) -> AnyArray:
        """Predict classes; shape (n_samples,)."""
        scores = self.decision_function(X)
        best = (
            (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        )
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities in the order of `classes_`; shape (n_samples, n_classes)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(scores)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities; shape (n_samples, n_classes)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            both = [np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores)]
            return -np.column_stack(both)
        return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


def known_codes(owner: object, classes: AnyArray, y: AnyArray) -> Indices:
    """The number of each label's class; others than these classes are refused."""
    codes = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    unseen = np.flatnonzero(classes[codes] != y)
    if unseen.size:
        rule, remedy = f"among {list(classes)}", "use the classes of the fit"
        raise ValueError(refused(owner, "y", rule, y[unseen[0]], remedy))
    return np.asarray(codes, dtype=np.int64)

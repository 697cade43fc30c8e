"""Classes and probabilities from scores, however large."""

import numpy as np
import pytest
from scipy.special import log_expit, log_softmax

from lrisk.class_scores import ClassScores, known_codes


class Given(ClassScores):
    """A classifier whose rows are their own scores."""

    def __init__(self, classes):
        self.classes_ = np.array(classes)

    def decision_function(self, X):
        return X


SCORES = {
    "two": (["no", "yes"], np.array([-800.0, -40.0, -1.0, 0.0, 1e-10, 2.0, 900.0])),
    "three": ([1, 5, 7], np.array([[0.0, 0.0, 0.0], [1.0, 3.0, 2.0], [900.0, 0, -9]])),
}


@pytest.mark.parametrize("kind", SCORES)
def test_probabilities_are_those_of_the_softmax(kind):
    classes, scores = SCORES[kind]
    model = Given(classes)
    if kind == "two":  # even what is nearly certain keeps its digits
        exact = np.column_stack([log_expit(-scores), log_expit(scores)])
    else:
        exact = log_softmax(scores, axis=1)
    found = model.predict_log_proba(scores)
    np.testing.assert_allclose(found, exact, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(scores), np.exp(exact), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(scores).sum(axis=1), 1.0, rtol=1e-15)


@pytest.mark.parametrize("kind", SCORES)
def test_the_class_is_that_of_the_largest_score_and_the_first_of_equals(kind):
    classes, scores = SCORES[kind]
    chosen = Given(classes).predict(scores)
    likeliest = Given(classes).predict_proba(scores).argmax(axis=1)
    np.testing.assert_array_equal(chosen, np.array(classes)[likeliest])


def test_codes_are_of_known_classes_only():
    classes = np.array(["a", "c"])
    codes = known_codes("Owner", classes, np.array(["c", "a", "c"]))
    assert codes.tolist() == [1, 0, 1] and codes.dtype == np.int64
    for stranger in ("", "b", "d"):
        with pytest.raises(ValueError, match=f"Owner: y must be among .*{stranger!r}"):
            known_codes("Owner", classes, np.array(["a", stranger]))

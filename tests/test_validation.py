"""Classes and their codes, with the short way for two numbers and without."""

import numpy as np
import pytest

from lrisk._validation import classes_and_codes


@pytest.mark.parametrize(
    "y",
    [
        np.array([1, 0, 0, 1]),
        np.array([2.5, -1.0, 2.5]),
        np.array([True, False]),
        np.array([3, 1, 2, 1]),
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "c"], dtype=object),
    ],
)
def test_classes_are_sorted_and_codes_lead_back(y):
    classes, codes = classes_and_codes("Owner", y)
    assert classes.tolist() == sorted(set(y.tolist()))
    assert codes.dtype == np.float64
    np.testing.assert_array_equal(classes[codes.astype(int)], y)


@pytest.mark.parametrize("y", [np.zeros(3), np.array(["a", "a"])])
def test_one_class_is_refused(y):
    with pytest.raises(ValueError, match="Owner: y must be of at least two classes"):
        classes_and_codes("Owner", y)

"""Classes and their codes, with the short way for two numbers and without."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array

from lrisk._arrays import FEATURE
from lrisk._validation import classes_and_codes, validate_data


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


class Owner(BaseEstimator):
    """Asks for its data to be checked."""


FORMS = [np.asarray, np.asfortranarray, np.ndarray.tolist, sp.csr_array, np.float32]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf])
def test_entries_that_are_not_finite_are_refused_in_scikit_learns_words(form, entry):
    X = np.linspace(-1.0, 1.0, 12).reshape(6, 2)
    X[4, 1] = entry
    with pytest.raises(ValueError, match=r"NaN|infinity") as theirs:
        check_array(form(X), accept_sparse=True, input_name="X", estimator=Owner())
    for y in ({}, {"y": np.arange(6.0), "y_numeric": True}):
        with pytest.raises(ValueError, match=r"NaN|infinity") as ours:
            validate_data(Owner(), form(X), accept_sparse=True, **y)
        assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("absurd", [None, FEATURE])
def test_nan_is_refused_of_estimators_that_bear_absurd_entries(absurd):
    X = np.array([[1.0], [np.nan], [2.0]])
    with pytest.raises(ValueError, match="contains NaN"):
        validate_data(Owner(), X, absurd=absurd)
    seen = validate_data(Owner(), X, absurd=absurd, ensure_all_finite="allow-nan")
    assert np.isnan(seen[1, 0])
    X[1] = 1e300
    if absurd is None:
        with pytest.raises(ValueError, match=r"at most 1.5e"):
            validate_data(Owner(), X)
    else:
        assert validate_data(Owner(), X, absurd=absurd).max() == 1e300

"""Rows that cannot be fitted are refused, with what to do about it."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

torch = pytest.importorskip("torch", reason="torch is not installed")

from lrisk.torch import RiskClassifier, RiskRegressor  # noqa: E402
from lrisk.torch.given import check_matrix, labels_of  # noqa: E402

ROWS, TARGET = torch.ones(5, 2), torch.arange(5.0)
BROKEN = torch.tensor([[1.0, 2.0]] * 4 + [[1.0, torch.nan]])
REFUSED = [
    (np.ones((5, 2)), TARGET, None, TypeError, "X must be a tensor"),
    (ROWS, np.arange(5.0), None, TypeError, "y must be a tensor"),
    (ROWS, TARGET, np.ones(5), TypeError, "sample_weight must be a tensor"),
    (ROWS.half(), TARGET, None, TypeError, r"float32 or float64.*X\.float\(\)"),
    (ROWS.long(), TARGET, None, TypeError, "float32 or float64"),
    (ROWS.to_sparse(), TARGET, None, TypeError, "dense"),
    (ROWS[:, 0], TARGET, None, ValueError, r"shape \(n, d\)"),
    (ROWS[:0], TARGET[:0], None, ValueError, "at least one row"),
    (ROWS[:, :0], TARGET, None, ValueError, "one feature"),
    (ROWS, TARGET[:4], None, ValueError, r"y must be of shape \(5,\)"),
    (ROWS, TARGET[:, None], None, ValueError, r"y must be of shape \(5,\)"),
    (ROWS, TARGET, torch.ones(4), ValueError, r"sample_weight must be of shape"),
    (BROKEN, TARGET, None, ValueError, r"X.*got nan; look at row 4, column 1"),
    (ROWS, TARGET / 0.0, None, ValueError, "y must be finite, got nan; look at row 0"),
    (ROWS * 1e60, TARGET, None, TypeError, None),
    (ROWS.double() * 1e60, TARGET, None, ValueError, "column 0"),
    (ROWS.double() * 1e-60, TARGET, None, ValueError, "column 0"),
    (ROWS, TARGET.double() * 1e150, None, ValueError, "y must be at most"),
    (ROWS, TARGET, -torch.ones(5), ValueError, "sample_weight"),
    (ROWS, TARGET, torch.zeros(5), ValueError, "sample_weight"),
    (ROWS, TARGET, torch.full((5,), torch.nan), ValueError, "sample_weight"),
    (ROWS, TARGET.to("meta"), None, ValueError, "y must be on the device of X, cpu"),
]


@pytest.mark.parametrize(("X", "y", "weight", "kind", "words"), REFUSED)
def test_what_cannot_be_fitted_is_refused(X, y, weight, kind, words):
    if words is None:  # 1e60 is no number of 32 bits
        kind, words = ValueError, "X must be finite, got inf"
    model = RiskRegressor("mean")
    with pytest.raises(kind, match=words):
        model.fit(X, y, weight)
    assert not hasattr(model, "coef_")


def test_classes_are_refused_with_the_remedy():
    for y, words in (
        (torch.tensor([0, 1, 2, 0, 1]), "two classes.*in memory"),
        (torch.zeros(5, dtype=torch.long), "at least two classes"),
        (torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5]), "continuous"),
        (torch.tensor([0.0, 1.0, torch.nan, 0.0, 1.0]), "y must be finite"),
    ):
        with pytest.raises(ValueError, match=words):
            RiskClassifier("mean").fit(ROWS, y)
    only = torch.tensor([1.0, 1.0, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="at least two classes"):
        RiskClassifier("mean").fit(ROWS, torch.tensor([1, 1, 0, 0, 0]), only)


def test_other_rows_are_refused_by_a_fitted_model():
    model = RiskRegressor("mean")
    with pytest.raises(NotFittedError):
        model.predict(ROWS)
    model.fit(ROWS + torch.randn(5, 2), TARGET)
    for X, kind, words in (
        (ROWS[:, :1], ValueError, "of 2 features"),
        (BROKEN, ValueError, "look at row 4"),
        (ROWS.numpy(), TypeError, "a tensor"),
        (ROWS.to("meta"), ValueError, "on the device of the coefficients, cpu"),
    ):
        with pytest.raises(kind, match=words):
            model.predict(X)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.float32])
def test_labels_of_any_type(dtype):
    X, y = torch.ones(6, 1), torch.tensor([1, 0, 0, 1, 1, 0]).to(dtype)
    labels, codes = labels_of("test", y, X)
    assert labels.tolist() == [0, 1] and codes.tolist() == [1, 0, 0, 1, 1, 0]
    labels, codes = labels_of("test", y[:1].expand(6), X)
    assert labels.tolist() == [1] and codes.tolist() == [0] * 6


def test_more_labels_are_sorted():
    y = torch.tensor([5, -1, 3, 5])
    labels, codes = labels_of("test", y, torch.ones(4, 1))
    assert labels.tolist() == [-1, 3, 5] and codes.tolist() == [2, 0, 1, 2]


def test_a_column_that_is_tiny_is_found_behind_many_zeros():
    X = torch.zeros(1000, 2, dtype=torch.float64)
    X[:, 0] = 1.0
    check_matrix("test", X)
    X[-1, 1] = 1e-80
    with pytest.raises(ValueError, match="column 1"):
        check_matrix("test", X)

"""Why a row does not fit: what it was flagged for comes first."""

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_predict

from lrisk import audit


def test_a_wrong_value_is_named_before_a_target_that_fits():
    """Predictions of a model that learnt from wrong values agree with their targets."""
    rng = np.random.default_rng(0)
    X = np.exp(0.4 * rng.normal(size=(300, 3))) * 10
    y = X @ [3.0, 2.0, -1.0] + rng.normal(size=300)
    wrong = rng.choice(300, 10, replace=False)
    X[wrong, 0] *= 10
    told = cross_val_predict(LinearRegression(), X, y)
    result = audit(dict(zip("abc", X.T)) | {"y": y}, "y", predictions=told)
    first = [result.reasons[row.row][0] for row in result.flagged]
    fits = [result.reasons[row.row][-1].numbers.get("scales", 9.0) < 2.0
            for row in result.flagged]  # fmt: skip
    assert sum(fits) >= 5, "otherwise this test says nothing"
    for reason, target_fits in zip(first, fits, strict=True):
        assert not target_fits or reason.columns == ["a"]
        assert reason.columns == ["a"] or reason.numbers["scales"] >= 2.0

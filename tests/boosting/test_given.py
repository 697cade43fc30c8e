"""What is passed that cannot be used is refused."""

import numpy as np
import pytest

from lrisk.boosting import lightgbm_metric, objective, probabilities, xgboost_metric


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: objective("nothing"), "spectrum must be one of"),
        (lambda: objective("mean", "nothing"), "loss must be one of"),
        (lambda: objective()(np.zeros(2), np.zeros(3)), "y_pred must be of as many"),
        (lambda: objective()(np.zeros(2), [0.0, np.nan]), "of finite losses"),
        (lambda: objective()(np.zeros(2), np.zeros((2, 3))), "one score a row"),
        (lambda: objective("mean", "logistic")([-1, 1], np.zeros(2)), "y_true must be"),
        (
            lambda: objective("mean", "multinomial")([0, 1], np.zeros(2)),
            "y_pred must be",
        ),
        (lambda: lightgbm_metric()(np.zeros(2), [np.inf, 1.0]), "of finite losses"),
        (lambda: objective()([], []), r"y_true must be \(n,\), a number for each row"),
        (lambda: objective()(np.zeros((2, 2)), np.zeros((2, 2))), "fit each target by"),
        (lambda: objective()(np.zeros(2), np.zeros((2, 2, 2))), "scores must be"),
        (lambda: probabilities(np.zeros((2, 2, 2))), "scores must be"),
        (lambda: objective()(*np.zeros((2, 3)), np.ones(2)), r"of shape \(3,\)"),
        (lambda: objective()(*np.zeros((2, 2)), [1, -1]), "sample_weight.*≥ 0"),
        (lambda: objective()(*np.zeros((2, 2)), [1, np.nan]), "sample_weight.*≥ 0"),
        (lambda: xgboost_metric()(*np.zeros((2, 2)), [0, 0]), "not every weight"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""Files that the commands write."""

import numpy as np

from lrisk.cli.writing import predictions_csv


def test_predictions_keep_their_digits_and_labels_their_signs():
    told = {"prediction": np.array(["-1", "=1+1"], dtype=object),
            "probability": np.array([0.1, 1 / 3])}  # fmt: skip
    assert predictions_csv(told).splitlines() == [
        "row,prediction,probability",
        "1,-1,0.1",
        "2,'=1+1,0.3333333333333333",
    ]

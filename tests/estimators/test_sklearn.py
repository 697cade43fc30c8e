"""scikit-learn's own checks, without exceptions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import lrisk


@pytest.mark.filterwarnings("ignore::lrisk.CollapsedFitWarning")  # tiny noise data
@parametrize_with_checks(
    [
        lrisk.RiskRegressor(),
        lrisk.RiskClassifier(),
        lrisk.RiskRegressor("extremile:2", solver="lbfgs"),
        lrisk.RiskClassifier("mean"),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)

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
        lrisk.RiskRegressor("mean", loss="huber"),
        lrisk.RiskRegressor(loss="absolute"),
        lrisk.RiskRegressor("extremile:2", loss="pinball"),
        lrisk.RiskClassifier("mean", loss="squared_hinge"),
        lrisk.KernelRiskRegressor(loss="absolute"),
        lrisk.RiskRegressor("subquantile:0.8"),
        lrisk.RiskClassifier("subquantile:0.8"),
        lrisk.KernelRiskRegressor(),
        lrisk.KernelRiskRegressor("subquantile:0.8"),
        lrisk.KernelRiskRegressor("subquantile:0.8", kernel="linear"),
        lrisk.KernelRiskRegressor("subquantile:0.8", solver="subquantile", max_iter=99),
        lrisk.KernelRiskRegressor("subquantile:0.8", n_components=20),
        lrisk.KernelRiskClassifier(),
        lrisk.KernelRiskClassifier("subquantile:0.8"),
        lrisk.KernelRiskClassifier("superquantile:0.3", n_components=8),
        lrisk.RobustClassifier(),
        lrisk.RobustClassifier("rbf"),
        lrisk.RobustRegressor(),
        lrisk.RobustRegressor("rbf"),
        lrisk.RobustRegressor(contamination=0.2),
        lrisk.RobustRegressor("rbf", n_components=8),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)

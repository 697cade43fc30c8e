"""scikit-learn's own checks on the baselines, without exceptions."""

import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from lrisk.baselines import (
    ConsistentRobustRegressor,
    Sever,
    StirRegressor,
    TiltedClassifier,
    TiltedRegressor,
    TorrentRegressor,
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        TiltedRegressor(),
        TiltedRegressor("rbf"),
        TiltedClassifier(),
        TiltedClassifier("rbf"),
        Sever(),
        Sever(Ridge()),
        Sever(LogisticRegression()),
        Sever(KernelRidge(kernel="rbf")),
        TorrentRegressor("fc"),
        TorrentRegressor("gd"),
        TorrentRegressor("hyb"),
        ConsistentRobustRegressor(),
        StirRegressor(),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)

"""What estimators keep of a fit of rows in parts, and what they warn of."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import lrisk
from lrisk.estimators.parted import store_parted, warn_of_parted
from lrisk.losses import Logistic, Squared
from lrisk.partitions.engine import Local
from lrisk.partitions.objective import PartitionedObjective
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows
from lrisk.solvers.partitioned import minimise_in_parts
from lrisk.solvers.solution import Solution, Status
from lrisk.spectra import Extremile, Mean, Superquantile


def found(spectrum, loss=None, shift=0.0, n=300):
    rng = np.random.default_rng(0)
    X = rng.normal([0.0, 7.0], size=(n, 2))
    y = X @ [1.0, -1.0] + rng.normal(size=n) + shift
    if loss is not None:
        y = (y > np.median(y)).astype(float)
    part = Part(ArrayRows(X), y, None, loss or Squared())
    parted = PartitionedObjective(Local([part]), spectrum, part.loss, 1.0, True)
    return parted, minimise_in_parts(parted), X, y


def ended(status, gap=1.0, objective=1.0):
    return Solution(np.zeros(3), objective, gap, 0.0, None, 5, status, [{}])


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_attributes_are_those_of_a_fit_in_memory(shift):
    parted, solution, X, y = found(Extremile(2.0), shift=shift)
    plain = lrisk.RiskRegressor("extremile:2").fit(X, y)
    model = lrisk.RiskRegressor("extremile:2")
    store_parted(model, parted, solution, ["a", "b"])
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-3)
    assert model.intercept_ == pytest.approx(plain.intercept_, abs=1e-2)
    assert model.objective_ == pytest.approx(plain.objective_, rel=2e-6)
    assert model.weight_sum_ == plain.weight_sum_ and model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["a", "b"]
    kept = {name for name in vars(plain) if name.endswith("_")}
    assert kept - set(vars(model)) == {"risk_weights_"}


def test_nothing_is_left_of_another_fit():
    parted, solution, X, y = found(Mean())
    model = lrisk.RiskRegressor("subquantile:0.8").fit(X, y)
    store_parted(model, parted, solution)
    for name in ("losses_", "inlier_mask_", "risk_weights_", "feature_names_in_"):
        assert not hasattr(model, name)
    assert model.solver_ == "lbfgs"


def test_classes():
    parted, solution, X, y = found(Superquantile(0.3), Logistic())
    model = lrisk.RiskClassifier("superquantile:0.3")
    model.classes_ = np.array([0.0, 1.0])
    store_parted(model, parted, solution)
    plain = lrisk.RiskClassifier("superquantile:0.3").fit(X, y)
    assert model.coef_.shape == (1, 2) and model.solver_ == "band"
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-2)


def test_an_overflow_is_refused_and_nothing_kept():
    parted, _, _, _ = found(Mean())
    model = lrisk.RiskRegressor("mean")
    with pytest.raises(ValueError, match=r"source.*small enough for its squares"):
        store_parted(
            model, parted, ended(Status.STALLED, objective=np.inf), None, "source"
        )
    assert not hasattr(model, "coef_")


def test_complaints():
    numbers, _, _, _ = found(Superquantile(0.5))
    model = lrisk.RiskRegressor("superquantile:0.5")
    model.coef_ = np.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of numbers a constant is nothing strange
        warn_of_parted(model, numbers, ended(Status.CONVERGED, gap=0.0), 1)
        # It was reached after all.
        warn_of_parted(model, numbers, ended(Status.STALLED, gap=1e-7), 1)
    with pytest.warns(ConvergenceWarning, match="gap 1.0e"):
        warn_of_parted(model, numbers, ended(Status.STALLED), 1)
    with pytest.raises(KeyboardInterrupt):
        warn_of_parted(model, numbers, ended(Status.INTERRUPTED), 1)


@pytest.mark.parametrize("spectrum", [Superquantile(0.5), Mean()])
def test_a_collapse_is_told_where_the_spectrum_may_be_its_cause(spectrum):
    classes, _, _, _ = found(spectrum, Logistic())
    model = lrisk.RiskClassifier(spectrum)
    model.coef_ = np.zeros((1, 2))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warn_of_parted(model, classes, ended(Status.CONVERGED, gap=0.0), 1)
    bent = spectrum.monotone != "flat"
    assert [each.category for each in told] == [lrisk.CollapsedFitWarning] * bent
    assert all(each.filename == __file__ for each in told)

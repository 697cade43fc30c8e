"""`all_estimators`, and what every one of them must be."""

import importlib
import inspect
import pkgutil

import numpy as np
import pandas as pd
import pytest
from numpydoc.docscrape import NumpyDocString
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.linear_model import LogisticRegression, Ridge

import lrisk
from lrisk.noise import GaussianNoise
from lrisk.utils import all_estimators

#: Doors behind extras: they have no estimators, or the same ones again.
DOORS = ("lrisk.cli", "lrisk.dask", "lrisk.torch")
ESTIMATORS = dict(all_estimators())
#: What a constructor must be given.
NEEDED = {name: {"estimator": Ridge()} for name in ("RiskMeta", "Sever")}
#: Other fits than the default one, for attributes that only they have.
TRIMS, CURVED = {"spectrum": "subquantile:0.8"}, {"kernel": "rbf"}
OTHERWISE = {
    "KernelRiskClassifier": TRIMS,
    "KernelRiskRegressor": TRIMS,
    "RiskClassifier": TRIMS,
    "RiskMeta": {"estimator": LogisticRegression()},
    "RiskRegressor": TRIMS,
    "RobustClassifier": CURVED,
    "RobustRegressor": CURVED,
    "TiltedClassifier": CURVED,
    "TiltedRegressor": CURVED,
}


def test_they_are_all_that_can_be_imported_by_a_public_name():
    found = set()
    for module in pkgutil.walk_packages(lrisk.__path__, "lrisk."):
        if "._" in module.name or module.name.startswith(DOORS):
            continue
        home = importlib.import_module(module.name)
        for name, kind in inspect.getmembers(home, inspect.isclass):
            own = kind.__module__.startswith("lrisk.") and name[0] != "_"
            if own and issubclass(kind, BaseEstimator):
                found.add((name, kind))
    bases = {base for _, kind in found for base in kind.__mro__[1:]}
    assert {pair for pair in found if pair[1] not in bases} == set(ESTIMATORS.items())


def test_kinds_are_told_apart():
    names = {
        kind: {name for name, _ in all_estimators(kind)}
        for kind in ("classifier", "regressor", "cluster", "transformer")
    }
    assert "RiskClassifier" in names["classifier"]
    assert "RiskClassifier" not in names["regressor"]
    assert "RegressionCalibration" in names["transformer"]
    both = all_estimators(["classifier", "regressor"])
    assert {name for name, _ in both} == names["classifier"] | names["regressor"]
    assert [name for name, _ in both] == sorted(name for name, _ in both)
    with pytest.raises(ValueError, match="type_filter must be one of"):
        all_estimators("outlier")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_is_stored_as_given_and_described(name):
    kind = ESTIMATORS[name]
    model = kind(**NEEDED.get(name, {}))
    for parameter, value in model.get_params(deep=False).items():
        default = inspect.signature(kind).parameters[parameter].default
        if parameter not in NEEDED.get(name, {}):
            assert value is default
        described = inspect.getdoc(kind).split("Attributes\n")[0]
        assert parameter in described, f"{name} does not describe {parameter}"
    assert clone(model).get_params(deep=False).keys() == model.get_params(False).keys()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_siblings_call_one_thing_by_one_name(name):
    parameters = set(inspect.signature(ESTIMATORS[name]).parameters)
    others = {"width", "tolerance", "n_landmarks", "intercept", "lambda_", "eps"}
    assert not parameters & others


@pytest.mark.parametrize(
    "name",
    [
        n
        for n, kind in ESTIMATORS.items()
        if "spectrum" in inspect.signature(kind).parameters
    ],
)
def test_a_search_reaches_into_a_spectrum_and_a_loss_given_by_name(name):
    model = ESTIMATORS[name](spectrum="superquantile:0.5", **NEEDED.get(name, {}))
    copy = clone(model).set_params(spectrum__q=0.7)
    assert copy.get_params()["spectrum__q"] == 0.7
    assert model.spectrum == "superquantile:0.5"
    if name.endswith(("Regressor", "RegressorCV")):
        copy.set_params(loss="huber", spectrum="esrm", loss__delta=2.0)
        assert copy.get_params()["loss__delta"] == 2.0
    with pytest.raises(ValueError, match="no parameter 'depth'"):
        copy.set_params(spectrum__depth=1)


#: Checked where they are used, by whoever uses them, or not at all.
OTHERS = {"cv", "estimator", "noise"}
HUGE = 10**400


@pytest.mark.filterwarnings("ignore::UserWarning")  # of few rows
@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_is_refused_is_named(name):
    X, y = _table()
    parameters = inspect.signature(ESTIMATORS[name]).parameters.keys() - OTHERS
    for parameter in sorted(parameters):
        for bad in (object(), "nonsense", np.array([1.0, 2.0]), HUGE):
            if bad is HUGE and parameter.startswith(("max_", "n_", "verbose")):
                continue  # a limit may be as high as one likes
            model = _model(name).set_params(**{parameter: bad})
            try:
                model.fit(X, _targets(model, y))
            except (TypeError, ValueError) as error:
                assert parameter in str(error), f"{parameter}={bad!r}: {error}"


@pytest.mark.filterwarnings("ignore::UserWarning")  # of few rows
@pytest.mark.parametrize("name", ESTIMATORS)
def test_fitted_attributes_are_those_described(name):
    kind = ESTIMATORS[name]
    described = {
        attribute.strip()
        for entry in NumpyDocString(inspect.getdoc(kind))["Attributes"]
        for attribute in entry.name.split(",")
    }
    X, y = _table()
    found = set()
    for others in ({}, OTHERWISE.get(name, {})):
        model = _model(name).set_params(**others)
        model.fit(X, _targets(model, y))
        assert list(model.feature_names_in_) == ["size", "age"]
        assert model.n_features_in_ == 2
        found |= _fitted(model)
    if name.startswith("Noise") and hasattr(model, "partial_fit"):
        found |= _fitted(clone(model).partial_fit(X, y, X))
    assert found == described


def _table():
    """Sixty rows with names, and a number for each."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["size", "age"])
    return X, X["size"] - X["age"] + 0.3 * rng.normal(size=60)


def _model(name):
    """An estimator that can be fitted to that table."""
    if "noise" in inspect.signature(ESTIMATORS[name]).parameters:
        return ESTIMATORS[name](GaussianNoise(0.01))
    return ESTIMATORS[name](**NEEDED.get(name, {}))


def _targets(model, y):
    """The numbers, or two classes of them."""
    classes = is_classifier(model) or type(model).__name__ == "LabelErrorDetector"
    return (y > 0).astype(int) if classes else y


def _fitted(model):
    """Names of public attributes that end in an underscore."""
    return {own for own in dir(model) if own.endswith("_") and own[0] != "_"}

"""`all_estimators`, and what every one of them must be."""

import importlib
import inspect
import pkgutil

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge

import lrisk
from lrisk.utils import all_estimators

#: Doors behind extras: they have no estimators, or the same ones again.
DOORS = ("lrisk.cli", "lrisk.dask", "lrisk.torch")
ESTIMATORS = dict(all_estimators())
#: What a constructor must be given.
NEEDED = {name: {"estimator": Ridge()} for name in ("RiskMeta", "Sever")}


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

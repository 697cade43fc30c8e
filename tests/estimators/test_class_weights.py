"""`class_weight` is nothing but the sample weights that it stands for."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_sample_weight

import lrisk

rng = np.random.default_rng(0)
X, y = load_iris(return_X_y=True)
X, y = X[40:], np.array(["a", "b", "c"])[y[40:]]  # 10, 50 and 50 rows
WEIGHT = rng.integers(0, 4, len(y)).astype(float)
ESTIMATORS = {
    "linear": lrisk.RiskClassifier("superquantile:0.4"),
    "mean": lrisk.RiskClassifier("mean"),
    "trimmed": lrisk.RiskClassifier("subquantile:0.8", random_state=0),
    "kernel": lrisk.KernelRiskClassifier("extremile:1.5"),
    "search": lrisk.RiskClassifierCV("superquantile:0.4", alphas=[0.1, 1.0], cv=3),
}
estimators = pytest.mark.parametrize("name", ESTIMATORS)


def scores(name, class_weight, sample_weight=None, rows=slice(None)):
    model = clone(ESTIMATORS[name]).set_params(class_weight=class_weight)
    model.fit(X[rows], y[rows], sample_weight=sample_weight)
    return model.decision_function(X)


def standing_for(class_weight, sample_weight=None):
    """The sample weights, from the definition."""
    own = np.ones(len(y)) if sample_weight is None else sample_weight
    if class_weight == "balanced":
        mass = {label: own[y == label].sum() for label in np.unique(y)}
        class_weight = {k: own.sum() / (len(mass) * v) for k, v in mass.items()}
    return own * np.array([class_weight.get(label, 1.0) for label in y])


@estimators
@pytest.mark.parametrize("class_weight", ["balanced", {"a": 3.0}, {"b": 0.5, "c": 2}])
@pytest.mark.parametrize("sample_weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_it_equals_the_sample_weights_it_stands_for(name, class_weight, sample_weight):
    given = scores(name, class_weight, sample_weight)
    meant = scores(name, None, standing_for(class_weight, sample_weight))
    np.testing.assert_array_equal(given, meant)
    assert not np.allclose(given, scores(name, None, sample_weight), rtol=1e-3)


def test_balanced_is_that_of_scikit_learn():
    np.testing.assert_allclose(
        standing_for("balanced"), compute_sample_weight("balanced", y), rtol=1e-12
    )
    ours = lrisk.RiskClassifier("mean", class_weight="balanced", tol=1e-9).fit(X, y)
    theirs = LogisticRegression(class_weight="balanced", tol=1e-9, max_iter=5000)
    theirs.fit(X, y)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4
    )


@estimators
def test_no_weights_and_weights_of_one_are_the_same(name):
    np.testing.assert_array_equal(
        scores(name, None), scores(name, {"a": 1, "b": 1.0, "c": 1})
    )


def test_a_class_of_weight_zero_is_left_out():
    model = lrisk.RiskClassifier("mean", class_weight={"a": 0.0}).fit(X, y)
    assert model.classes_.tolist() == ["b", "c"]
    kept = y != "a"
    other = lrisk.RiskClassifier("mean").fit(X[kept], y[kept])
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-12)


def test_a_certificate_is_of_the_weighted_objective():
    model = lrisk.RiskClassifier("superquantile:0.4", class_weight="balanced")
    proof = lrisk.certify(model.fit(X, y), X, y)
    assert proof.primal == pytest.approx(model.objective_, rel=1e-9)
    assert proof.relative_gap <= 1e-6
    plain = clone(model).set_params(class_weight=None).fit(X, y)
    assert plain.objective_ != pytest.approx(model.objective_, rel=1e-2)


def test_streams_take_given_weights_and_cannot_balance():
    options = {"solver": "sgd", "random_state": 0}
    first = lrisk.RiskClassifier("mean", class_weight={"a": 4.0}, **options)
    second = lrisk.RiskClassifier("mean", **options)
    order = np.random.default_rng(1).permutation(len(y))
    for rows in np.array_split(order, 3):
        first.partial_fit(X[rows], y[rows], classes=["a", "b", "c"])
        weight = np.where(y[rows] == "a", 4.0, 1.0)
        second.partial_fit(
            X[rows], y[rows], classes=["a", "b", "c"], sample_weight=weight
        )
    np.testing.assert_array_equal(first.coef_, second.coef_)
    with pytest.raises(ValueError, match="class_weight must be a dict or None"):
        first.set_params(class_weight="balanced").partial_fit(X, y)


@pytest.mark.parametrize(
    ("class_weight", "match"),
    [
        ("equal", "class_weight must be None, 'balanced' or a dict"),
        ([1.0, 2.0, 3.0], "class_weight must be None"),
        ({"a": -1.0}, r"class_weight\['a'\] must be a finite number ≥ 0"),
        ({"A": 2.0}, "class_weight must be of classes among"),
        ({"a": 0, "b": 0, "c": 0}, "positive for a class"),
    ],
)
@pytest.mark.parametrize("name", ["linear", "kernel", "search"])
def test_what_cannot_be_weights_is_refused(name, class_weight, match):
    with pytest.raises(ValueError, match=match):
        scores(name, class_weight)

"""Paths over penalties and spectra, and penalties chosen by held-out risk."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import lrisk

ALPHAS = [0.01, 1.0, 30.0]


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return 20 * X, y / 77


@pytest.mark.filterwarnings("ignore::lrisk.CollapsedFitWarning")
@parametrize_with_checks(
    [
        lrisk.RiskRegressorCV(alphas=[1.0, 10.0], cv=2),
        lrisk.RiskClassifierCV("extremile:1.5", alphas=[1.0, 10.0], cv=2),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("values", [None, [0.5, 0.8]])
def test_path_is_that_of_single_fits(values):
    X, y = diabetes()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    path = lrisk.risk_path(
        X, y, spectrum="superquantile:0.7", alphas=ALPHAS, values=values,
        sample_weight=weight, tol=1e-9,
    )  # fmt: skip
    assert list(path.alphas) == ALPHAS
    for i, value in enumerate(values or [0.7]):
        for j, alpha in enumerate(ALPHAS):
            single = lrisk.RiskRegressor(
                f"superquantile:{value}", alpha=alpha, tol=1e-9
            )
            single.fit(X, y, sample_weight=weight)
            assert path.objectives[i, j] == pytest.approx(single.objective_, rel=2e-9)
            np.testing.assert_allclose(path.coefs[i, j], single.coef_, atol=1e-3)
            assert path.intercepts[i, j] == pytest.approx(single.intercept_, abs=1e-3)
    assert np.all(path.dual_gaps <= 1e-9) and np.all(path.n_iters >= 1)


def test_path_of_a_classifier():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    options = {"spectrum": "extremile", "loss": "logistic", "tol": 1e-7}
    path = lrisk.risk_path(X, y, alphas=[1.0], values=[1.0, 1.5, 2.0], **options)
    assert path.coefs.shape == (3, 1, 1, 30)
    # Weights of classes are those of their rows, here as in the classifier.
    factor = np.where(y == 0, 3.0, 1.0)
    by_rows = lrisk.risk_path(X, y, sample_weight=factor, **options)
    by_class = lrisk.risk_path(X, y, class_weight={0: 3.0}, **options)
    np.testing.assert_array_equal(by_rows.coefs, by_class.coefs)
    assert np.all(np.diff(path.objectives[:, 0]) > 0)  # a stronger spectrum costs more


def test_the_mean_chooses_as_ridge_does():
    X, y = diabetes()
    folds = KFold(5, shuffle=True, random_state=0)
    alphas = [0.01, 1.0, 30.0, 300.0, 3000.0]
    model = lrisk.RiskRegressorCV("mean", alphas=alphas, cv=folds).fit(X, y)
    other = RidgeCV(alphas, cv=folds, scoring="neg_mean_squared_error").fit(X, y)
    assert model.alpha_ == other.alpha_
    assert model.best_risk_ == pytest.approx(-0.5 * other.best_score_, rel=1e-4)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-3, atol=1e-4)


def test_held_out_risk_is_that_of_the_spectrum():
    X, y = diabetes()
    rows = np.arange(len(y))
    folds = [(rows[rows % 2 == k], rows[rows % 2 != k]) for k in (0, 1)]
    model = lrisk.RiskRegressorCV("superquantile:0.8", alphas=ALPHAS, cv=folds)
    model.fit(X, y)
    for j, alpha in enumerate(ALPHAS):
        for k, (train, test) in enumerate(folds):
            one = lrisk.RiskRegressor("superquantile:0.8", alpha=alpha)
            one.fit(X[train], y[train])
            losses = 0.5 * (y[test] - one.predict(X[test])) ** 2
            expected = lrisk.risk(losses, "superquantile:0.8")
            assert model.cv_risks_[j, k] == pytest.approx(expected, rel=1e-2)
    assert model.alpha_ == ALPHAS[int(np.argmin(model.cv_risks_.mean(axis=1)))]
    assert model.dual_gap_ <= 1e-6
    np.testing.assert_array_equal(model.predict(X), model.best_estimator_.predict(X))


def test_bad_grids_are_refused():
    X, y = diabetes()
    with pytest.raises(ValueError, match="alphas must be"):
        lrisk.RiskRegressorCV(alphas=[]).fit(X, y)
    with pytest.raises(ValueError, match="alphas must be"):
        lrisk.risk_path(X, y, alphas=[-1.0])
    with pytest.raises(ValueError, match="one parameter"):
        lrisk.risk_path(X, y, spectrum="mean", alphas=[1.0], values=[0.5])
    with pytest.raises(ValueError, match="class_weight must be None with loss='squa"):
        lrisk.risk_path(X, y, class_weight="balanced")
    with pytest.raises(ValueError, match="loss must be one of"):
        lrisk.risk_path(X, y, loss="cubed")


def test_values_of_a_path_may_come_from_a_generator():
    X, y = diabetes()
    values = (q for q in (0.5, 0.9))
    path = lrisk.risk_path(X, y, alphas=[1.0], values=values)
    np.testing.assert_array_equal(path.values, [0.5, 0.9])
    assert path.coefs.shape == (2, 1, 10)


def test_folds_that_cannot_be_fitted_are_refused():
    X, y = diabetes()
    weight = np.ones(len(y))
    weight[: len(y) // 5 + 1] = 0.0  # the whole first fold
    with pytest.raises(ValueError, match=r"sample_weight must be .* every fold"):
        lrisk.RiskRegressorCV(alphas=[1.0]).fit(X, y, sample_weight=weight)
    rare = np.zeros(len(y), dtype=int)
    rare[200:] = 1
    rare[17] = 2
    with pytest.raises(ValueError, match=r"y must be .* every fold.*rare"):
        lrisk.RiskClassifierCV(alphas=[1.0]).fit(X, rare)


def test_folds_of_groups():
    X, y = diabetes()
    groups = np.arange(len(y)) // 50
    model = lrisk.RiskRegressorCV("mean", alphas=ALPHAS, cv=GroupKFold(3))
    model.fit(X, y, groups=groups)
    splits = list(GroupKFold(3).split(X, y, groups))
    same = lrisk.RiskRegressorCV("mean", alphas=ALPHAS, cv=splits).fit(X, y)
    np.testing.assert_array_equal(model.cv_risks_, same.cv_risks_)
    with pytest.raises(ValueError, match="groups"):
        model.fit(X, y)


def test_a_seed_fixes_what_solvers_draw():
    X, y = diabetes()
    options = {"solver": "lsvrg", "max_iter": 2}
    searches = [
        lrisk.RiskRegressorCV(alphas=ALPHAS, cv=2, random_state=seed, **options)
        for seed in (0, 0, 1)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first, same, other = (m.fit(X, y).cv_risks_ for m in searches)
        paths = [
            lrisk.risk_path(X, y, alphas=ALPHAS, random_state=seed, **options).coefs
            for seed in (0, 0, 1)
        ]
    assert np.array_equal(first, same) and not np.array_equal(first, other)
    assert np.array_equal(paths[0], paths[1]) and not np.array_equal(*paths[1:])

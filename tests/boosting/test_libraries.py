"""Fits of LightGBM and XGBoost under objectives and metrics of lrisk."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import lrisk
from lrisk.boosting import lightgbm_metric, objective, xgboost_metric
from lrisk.losses import parse_loss


@pytest.fixture(scope="module")
def lgb():
    return pytest.importorskip("lightgbm", reason="lightgbm is not installed")


@pytest.fixture(scope="module")
def xgb():
    return pytest.importorskip("xgboost", reason="xgboost is not installed")


# -- LightGBM --------------------------------------------------------------------------

QUIET = {
    "n_estimators": 30,
    "verbose": -1,
    "num_threads": 1,
    "boost_from_average": False,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("task", ["squared", "logistic", "multinomial"])
def test_lightgbm_under_the_mean_is_the_built_in_model(lgb, task, weighted):
    loader = {"squared": load_diabetes, "logistic": load_breast_cancer,
              "multinomial": load_iris}[task]  # fmt: skip
    X, y = loader(return_X_y=True)
    w = np.random.default_rng(0).exponential(size=len(y)) if weighted else None
    kind = lgb.LGBMRegressor if task == "squared" else lgb.LGBMClassifier
    built_in = kind(**QUIET).fit(X, y, w)
    own = kind(objective=objective("mean", task), **QUIET).fit(X, y, w)
    got, expected = (m.predict(X, raw_score=True) for m in (own, built_in))
    np.testing.assert_allclose(got, expected, atol=1e-4 * np.abs(expected).max())


def test_lightgbm_from_the_average_is_the_built_in_model(lgb):
    """What `boost_from_average` adds is the mean, which targets can be rid of."""
    X, y = load_diabetes(return_X_y=True)
    options = {**QUIET, "boost_from_average": True}
    expected = lgb.LGBMRegressor(**options).fit(X, y).predict(X)
    own = lgb.LGBMRegressor(objective=objective("mean"), **QUIET)
    got = y.mean() + own.fit(X, y - y.mean()).predict(X)
    np.testing.assert_allclose(got, expected, rtol=1e-4)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set'")  # from 4.7 on
@pytest.mark.parametrize("task", ["squared", "multinomial"])
def test_lightgbm_train_is_its_estimator(lgb, task):
    X, y = (load_diabetes if task == "squared" else load_iris)(return_X_y=True)
    w = np.random.default_rng(0).exponential(size=len(y))
    call, measure = (f("extremile:2", task) for f in (objective, lightgbm_metric))
    kind = lgb.LGBMRegressor if task == "squared" else lgb.LGBMClassifier
    model = kind(objective=call, **QUIET)
    model.fit(X, y, w, eval_set=[(X, y)], eval_sample_weight=[w], eval_metric=measure)
    params = {"objective": call, "verbose": -1, "num_threads": 1}
    params |= {"num_class": 3} if task == "multinomial" else {}
    data = lgb.Dataset(X, y, weight=w, free_raw_data=False)
    record = {}
    booster = lgb.train(params, data, 30, valid_sets=[data], feval=measure,
                        callbacks=[lgb.record_evaluation(record)])  # fmt: skip
    scores = model.predict(X, raw_score=True)
    np.testing.assert_allclose(booster.predict(X), scores, atol=1e-6)
    told = model.evals_result_["training"][measure.__name__]
    np.testing.assert_allclose(record["training"][measure.__name__], told)
    risk = lrisk.risk(parse_loss(task).value(y.astype(float), scores), "extremile:2", w)
    assert told[-1] == pytest.approx(risk, rel=1e-4)
    assert told[-1] < told[0]


@pytest.mark.filterwarnings("ignore:The argument 'eval_set'")
def test_lightgbm_records_each_of_several_risks(lgb):
    X, y = load_diabetes(return_X_y=True)
    levels = [lightgbm_metric(f"superquantile:{q}") for q in (0.5, 0.9)]
    model = lgb.LGBMRegressor(objective=objective(), metric="None", **QUIET)
    model.fit(X, y, eval_set=[(X, y)], eval_metric=levels)
    told = model.evals_result_["training"]
    assert {name: len(risks) for name, risks in told.items()} == {
        "squared_superquantile_0.5": 30,
        "squared_superquantile_0.9": 30,
    }


@pytest.mark.parametrize("spectrum", ["extremile:2", "subquantile:0.8"])
@pytest.mark.parametrize("task", ["squared", "logistic", "multinomial"])
def test_cross_validation_of_both_libraries(lgb, xgb, spectrum, task):
    """One objective for all folds: each fold's copy, or itself, sees other rows."""
    X, y = (load_diabetes if task == "squared" else load_iris)(return_X_y=True)
    y = np.minimum(y, 1) if task == "logistic" else y
    params = {"num_class": 3} if task == "multinomial" else {}
    call = objective(spectrum, task)
    options = {"objective": call, "verbose": -1, "num_threads": 1, **params}
    own = lgb.cv(options, lgb.Dataset(X, y), 10, nfold=3, stratified=False,
                 feval=lightgbm_metric(spectrum, task))  # fmt: skip
    options = {"nthread": 1, "disable_default_eval_metric": 1, **params}
    theirs = xgb.cv(options, xgb.DMatrix(X, y), 10, nfold=3, obj=call, as_pandas=False,
                    custom_metric=xgboost_metric(spectrum, task))  # fmt: skip
    for told, kind in ((own, "valid "), (theirs, "test-")):
        risks = told[f"{kind}{call.__name__}-mean"]
        assert len(risks) == 10 and risks[-1] < risks[0]


@pytest.mark.filterwarnings("ignore:The argument 'eval_set'")
def test_lightgbm_stops_early_and_is_cloned(lgb):
    X, y = load_diabetes(return_X_y=True)
    y = y - y.mean()
    options = {**QUIET, "n_estimators": 400, "metric": "None"}
    model = clone(lgb.LGBMRegressor(objective=objective("esrm:2"), **options))
    model.fit(X[::2], y[::2], eval_set=[(X[1::2], y[1::2])],
              eval_metric=lightgbm_metric("esrm:2"),
              callbacks=[lgb.early_stopping(5, verbose=False)])  # fmt: skip
    (told,) = model.evals_result_["valid_0"].values()
    assert model.best_iteration_ == 1 + np.argmin(told) < 400


def test_lightgbm_lowers_the_training_tail(lgb):
    X, y = load_diabetes(return_X_y=True)
    y, spectrum = y - y.mean(), "superquantile:0.9"
    risks = []
    for name in ("mean", spectrum):
        own = lgb.LGBMRegressor(objective=objective(name), **QUIET).fit(X, y)
        risks.append(lrisk.risk((own.predict(X) - y) ** 2, spectrum))
    assert risks[1] < 0.9 * risks[0]


# -- XGBoost ---------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("task", ["squared", "logistic"])
def test_xgboost_under_the_mean_is_the_built_in_model(xgb, task, weighted):
    loader = load_diabetes if task == "squared" else load_breast_cancer
    X, y = loader(return_X_y=True)
    w = np.random.default_rng(0).exponential(size=len(y)) if weighted else None
    options = {"n_estimators": 30, "n_jobs": 1, "base_score": 0.5}
    kind = xgb.XGBRegressor if task == "squared" else xgb.XGBClassifier
    got, expected = (
        model.fit(X, y, sample_weight=w).predict(X, output_margin=True)
        for model in (
            kind(objective=objective("mean", task), **options),
            kind(**options),
        )
    )
    # base_score is a probability for the built-in objective and here a score.
    close = 1e-4 if task == "squared" else 0.5 + 1e-3
    np.testing.assert_allclose(got - expected, np.mean(got - expected), atol=close)


@pytest.mark.parametrize("task", ["squared", "logistic", "multinomial"])
def test_xgboost_train_is_its_estimator(xgb, task):
    loader = {"squared": load_diabetes, "logistic": load_breast_cancer,
              "multinomial": load_iris}[task]  # fmt: skip
    X, y = loader(return_X_y=True)
    w = np.random.default_rng(0).exponential(size=len(y)).astype(np.float32)
    call, measure = (f("extremile:2", task) for f in (objective, xgboost_metric))
    kind = xgb.XGBRegressor if task == "squared" else xgb.XGBClassifier
    options = {"n_jobs": 1, "base_score": 0.5, "eval_metric": measure}
    model = kind(objective=call, n_estimators=30, **options)
    model.fit(X, y, sample_weight=w, eval_set=[(X, y)], sample_weight_eval_set=[w],
              verbose=False)  # fmt: skip
    params = {"nthread": 1, "base_score": 0.5, "disable_default_eval_metric": 1}
    params |= {"num_class": 3} if task == "multinomial" else {}
    # What the score begins with is the inverse link of the unused default objective.
    params |= {"objective": "binary:logistic"} if task == "logistic" else {}
    record, data = {}, xgb.DMatrix(X, y, weight=w)
    booster = xgb.train(params, data, 30, obj=call, custom_metric=measure,
                        evals=[(data, "own")], evals_result=record,
                        verbose_eval=False)  # fmt: skip
    scores = model.predict(X, output_margin=True)
    np.testing.assert_allclose(booster.predict(data, output_margin=True), scores)
    told = record["own"][measure.__name__]
    np.testing.assert_allclose(
        model.evals_result()["validation_0"][measure.__name__], told, rtol=1e-5
    )
    losses = parse_loss(task).value(y.astype(float), scores.astype(float))
    assert told[-1] == pytest.approx(lrisk.risk(losses, "extremile:2", w), rel=1e-3)
    assert told[-1] < told[0]


def test_xgboost_stops_early_and_is_cloned(xgb):
    X, y = load_breast_cancer(return_X_y=True)
    model = clone(
        xgb.XGBClassifier(
            objective=objective("superquantile:0.5", "logistic"),
            eval_metric=xgboost_metric("superquantile:0.5", "logistic"),
            n_estimators=400, early_stopping_rounds=5, n_jobs=1,
        )
    )  # fmt: skip
    model.fit(X[::2], y[::2], eval_set=[(X[1::2], y[1::2])], verbose=False)
    assert model.best_iteration < 400
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert model.predict_proba(X).shape == (len(y), 2)

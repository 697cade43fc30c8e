"""Objectives and metrics for LightGBM and XGBoost."""

import copy
import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import lrisk
from lrisk import boosting
from lrisk.boosting import lightgbm_metric, objective, probabilities, xgboost_metric
from lrisk.losses import Multinomial, parse_loss
from lrisk.spectra import FAMILIES, CustomSpectrum, parse_spectrum

NUMBERS = ("squared", "huber:0.7", "absolute", "pinball:0.8")
INCREASING = [name for name, kind in FAMILIES.items() if not kind().trims]
TRIMMING = [name for name, kind in FAMILIES.items() if kind().trims]


@pytest.fixture(scope="module")
def lgb():
    return pytest.importorskip("lightgbm", reason="lightgbm is not installed")


@pytest.fixture(scope="module")
def xgb():
    return pytest.importorskip("xgboost", reason="xgboost is not installed")


def _numbers(seed=0, n=60):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(size=n), rng.exponential(size=n)


# -- gradients, without either library -------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["squared", "huber:0.7", "logistic", "multinomial"])
@pytest.mark.parametrize("spectrum", INCREASING)
def test_the_gradient_is_that_of_the_risk(spectrum, loss, weighted):
    """Differences of `lrisk.risk`, which ranks exactly, times the total weight."""
    rng = np.random.default_rng(0)
    own = Multinomial() if loss == "multinomial" else parse_loss(loss)
    y, z, w = _numbers()
    if loss == "logistic":
        y = (y > 0).astype(float)
    if loss == "multinomial":
        y, z = rng.integers(0, 3, 60).astype(float), rng.normal(size=(60, 3))
    weight = w if weighted else None

    def total(flat):
        losses = own.value(y, flat.reshape(z.shape))
        return (w.sum() if weighted else 60) * lrisk.risk(losses, spectrum, weight)

    got, curvature = objective(spectrum, loss)(y, z, weight)
    expected = approx_fprime(z.ravel(), total, 1e-7).reshape(z.shape)
    if loss.startswith("huber"):  # its kink in the slope is none in the loss
        residual, width = np.abs(z - y), 0.3 * np.abs(z - y).mean()
        assert width < 1.0  # so that the loss is the one asked for
        assert residual.max() > 0.7
    np.testing.assert_allclose(got, expected, atol=2e-5)
    assert np.all(curvature >= 0.0) and curvature.shape == got.shape


@pytest.mark.parametrize("loss", [*NUMBERS, "logistic", "multinomial"])
@pytest.mark.parametrize("n", [boosting.BLOCK, boosting.BLOCK + 1, 70_001])
def test_blocks_of_rows_change_nothing(monkeypatch, n, loss):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3 if loss == "multinomial" else 2, n).astype(float)
    z = rng.normal(size=(n, 3) if loss == "multinomial" else n)
    found = objective("superquantile:0.9", loss)(y, z)
    monkeypatch.setattr(boosting, "BLOCK", n)
    whole = objective("superquantile:0.9", loss)(y, z)
    for own, expected in zip(found, whole, strict=True):
        np.testing.assert_array_equal(own, expected)


@pytest.mark.parametrize("spectrum", [*INCREASING, *TRIMMING])
def test_an_ordinary_row_counts_one(spectrum):
    y, z, w = _numbers()
    for weight in (None, w):
        curvature = objective(spectrum)(y, z, weight)[1]
        total = 60 if weight is None else w.sum()
        if parse_spectrum(spectrum).trims:
            assert 0.5 * total < curvature.sum() <= total * (1 + 1e-12)
        else:
            assert curvature.sum() == pytest.approx(total)


@pytest.mark.parametrize("spectrum", [*INCREASING, *TRIMMING])
@pytest.mark.parametrize("loss", NUMBERS)
def test_weights_are_copies_scale_nothing_and_zero_is_no_row(spectrum, loss):
    y, z, _ = _numbers(1)
    counts = np.random.default_rng(2).integers(0, 4, 60)
    call = objective(spectrum, loss)
    got = np.array(call(y, z, counts.astype(float)))
    assert np.all(got[:, counts == 0] == 0.0)
    copies = np.array(call(np.repeat(y, counts), np.repeat(z, counts)))
    first = np.r_[0, np.cumsum(counts)[:-1]][counts > 0]
    summed = np.add.reduceat(copies, first, axis=1)
    # Which copy comes first under a cut is not known: only their sum is.
    np.testing.assert_allclose(summed, got[:, counts > 0], atol=1e-9)
    equal = np.array(call(y, z, np.full(60, 3.0)))
    np.testing.assert_allclose(equal, 3.0 * np.array(call(y, z)), rtol=1e-6)


@pytest.mark.parametrize("loss", ["absolute", "pinball:0.8", "huber:0.1"])
def test_newton_steps_on_the_parabola_lower_a_flat_loss(loss):
    """A constant, by steps of Σg/Σh, reaches the one that minimises the loss."""
    rng = np.random.default_rng(0)
    y, own = rng.gamma(2.0, 100.0, size=2000), parse_loss(loss)
    z = np.zeros(2000)
    call, before = objective("mean", loss), np.inf
    for _ in range(60):
        slopes, curvature = call(y, z)
        z = z - slopes.sum() / curvature.sum()
        assert own.value(y, z).mean() <= before * (1 + 1e-3)
        before = own.value(y, z).mean()
    best = own.constant_scores(y, np.full(2000, 1 / 2000), 1)
    assert own.value(y, z).mean() <= 1.02 * own.value(y, np.full(2000, best)).mean()


def test_exact_rows_have_a_curvature():
    y = np.zeros(5)
    for loss in NUMBERS:
        slopes, curvature = objective("mean", loss)(y, y)
        assert np.all(slopes == 0.0) and np.all(curvature > 0.0)


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_any_scale(size):
    y, z, _ = _numbers()
    for loss in NUMBERS:
        for spectrum in ("mean", "superquantile:0.9", "subquantile:0.8"):
            got = objective(spectrum, loss)(size * y, size * z)
            assert np.all(np.isfinite(got))


def test_a_trimmed_spectrum_begins_by_holding_back_and_ends_by_leaving_out():
    rng = np.random.default_rng(0)
    y = rng.normal(size=500)
    y[:50] = 100.0
    call = objective("subquantile:0.8")
    start = call(y, np.zeros(500))[1]
    assert np.all(start[50:] > 0.0)  # nobody is left out
    assert start[:50].max() < 0.01  # and who is far out pulls little
    end = call(y, np.where(y < 50, y + 1e-4 * rng.normal(size=500), 0.0))[1]
    assert np.all(end[:50] < 1e-5)
    assert np.sum(end > 1.2) == pytest.approx(400, abs=1)


def test_nothing_is_remembered():
    """One object for two fits of different sizes, in any order."""
    call = objective("extremile:2")
    y, z, w = _numbers(n=500)
    first = call(y, z)
    call(y[:30], z[:30], w[:30])
    np.testing.assert_array_equal(call(y, z), first)
    np.testing.assert_array_equal(objective("extremile:2")(y, z), first)


def test_what_was_passed_may_change_in_place():
    """Arrays that a caller fills anew, and a spectrum that is set to something else."""
    y, z, w = _numbers()
    spectrum = parse_spectrum("subquantile:0.8")
    call = objective(spectrum)
    for weight in (None, w):
        call(y, z, weight)
        y *= 10.0
        w += 1.0
        spectrum.set_params(p=0.5)
        expected = objective("subquantile:0.8")(y, z, weight)
        np.testing.assert_array_equal(call(y, z, weight), expected)


@pytest.mark.parametrize("loss", NUMBERS)
@pytest.mark.parametrize("spectrum", [*INCREASING, *TRIMMING])
def test_scores_of_minus_zero_are_zero(spectrum, loss):
    y = np.maximum(np.arange(2000.0) - 1000.0, 0.0)
    for weight in (None, 1.0 + y % 3):
        got = [objective(spectrum, loss)(y, z, weight) for z in (0.0 * y, -0.0 * y)]
        np.testing.assert_array_equal(*got)


def test_metrics_are_named_apart():
    """LightGBM and XGBoost record what they are told under this name."""
    names = [
        make(spectrum, loss).__name__
        for make in (objective, lightgbm_metric, xgboost_metric)
        for spectrum in ("superquantile:0.9", "superquantile:0.95", "mean")
        for loss in ("squared", "huber:0.7", "huber:1.35", "logistic")
    ]
    assert len(set(names)) == 12
    assert "huber_0.7_superquantile_0.95" in names
    custom = CustomSpectrum(weights=[1, 2])
    assert objective(custom, "squared").__name__ == "squared_custom"


def test_copies_equality_and_words():
    call = objective("superquantile:0.9", "logistic")
    for other in (copy.deepcopy(call), pickle.loads(pickle.dumps(call))):
        assert other == call and repr(other) == repr(call)
    assert call != objective("superquantile:0.8", "logistic")
    assert call != lightgbm_metric("superquantile:0.9", "logistic")
    assert repr(call) == "SpectralObjective(Superquantile(q=0.9), Logistic())"
    assert call.__name__ == "logistic_superquantile_0.9"


def test_probabilities_sum_to_one():
    z = np.random.default_rng(0).normal(size=(5, 3))
    for scores in (z, 50 * z[:, 0]):
        np.testing.assert_allclose(probabilities(scores).sum(axis=1), 1.0)
    np.testing.assert_array_equal(probabilities(z[:, :1]), probabilities(z[:, 0]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: objective("nothing"), "spectrum must be one of"),
        (lambda: objective("mean", "nothing"), "loss must be one of"),
        (lambda: objective()(np.zeros(2), np.zeros(3)), "y_pred must be of as many"),
        (lambda: objective()(np.zeros(2), [0.0, np.nan]), "of finite losses"),
        (lambda: objective()(np.zeros(2), np.zeros((2, 3))), "one score a row"),
        (lambda: objective("mean", "logistic")([-1, 1], np.zeros(2)), "y_true must be"),
        (
            lambda: objective("mean", "multinomial")([0, 1], np.zeros(2)),
            "y_pred must be",
        ),
        (lambda: lightgbm_metric()(np.zeros(2), [np.inf, 1.0]), "of finite losses"),
        (lambda: objective()([], []), r"y_true must be \(n,\), a number for each row"),
        (lambda: objective()(np.zeros((2, 2)), np.zeros((2, 2))), "fit each target by"),
        (lambda: objective()(np.zeros(2), np.zeros((2, 2, 2))), "scores must be"),
        (lambda: probabilities(np.zeros((2, 2, 2))), "scores must be"),
        (lambda: objective()(*np.zeros((2, 3)), np.ones(2)), r"of shape \(3,\)"),
        (lambda: objective()(*np.zeros((2, 2)), [1, -1]), "sample_weight.*≥ 0"),
        (lambda: objective()(*np.zeros((2, 2)), [1, np.nan]), "sample_weight.*≥ 0"),
        (lambda: xgboost_metric()(*np.zeros((2, 2)), [0, 0]), "not every weight"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


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

"""RiskMeta: any estimator with weights, against the linear optimum and by hand."""

import itertools

import numpy as np
import pytest
import sklearn
from sklearn.base import (
    BaseEstimator,
    RegressorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingRegressor, IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from lrisk import RiskMeta, RiskRegressor, risk
from lrisk.metrics import make_risk_scorer, row_losses

X, Y = load_diabetes(return_X_y=True)


def _risk(model, spectrum, weight=None):
    return risk(row_losses(Y, model.predict(X)), spectrum, weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("spectrum", "near"),
    [("superquantile:0.5", 1e-4), ("superquantile:0.9", 1e-3), ("esrm:2", 1e-5),
     ("extremile:3", 1e-5)],
)  # fmt: skip
def test_linear_models_approach_the_certified_minimum(spectrum, near, weighted):
    weight = np.random.default_rng(0).exponential(size=len(Y)) if weighted else None
    best = RiskRegressor(spectrum, alpha=0, tol=1e-9).fit(X, Y, sample_weight=weight)
    options = {"cv": None, "max_iter": 100, "n_iter_no_change": 100, "tol": 0.0}
    model = RiskMeta(LinearRegression(), spectrum, **options).fit(X, Y, weight)
    least = _risk(best, spectrum, weight)
    assert _risk(model, spectrum, weight) <= least * (1.0 + near)
    for record in model.history_:  # the gap proves how far off a round is, at most
        assert record["risk"] - record["gap"] <= least * (1.0 + 1e-6)
    assert model.history_[-1]["gap"] < 0.01 * least
    assert model.risk_weights_.sum() == pytest.approx(1.0)


def test_the_mean_is_the_estimator_itself():
    weight = np.random.default_rng(0).exponential(size=len(Y))
    for cv in (None, 3):
        model = RiskMeta(Ridge(), "mean", cv=cv).fit(X, Y, weight)
        assert model.best_iteration_ == 0
        ordinary = Ridge().fit(X, Y, weight)
        np.testing.assert_allclose(model.predict(X), ordinary.predict(X), rtol=1e-10)
        np.testing.assert_allclose(model.risk_weights_, weight / weight.sum())


def test_concentration_steps_lower_a_trimmed_risk_and_find_wrong_rows():
    rng = np.random.default_rng(0)
    y = Y.copy()
    wrong = rng.permutation(len(y))[: len(y) // 5]
    y[wrong] += 1000.0
    model = RiskMeta(LinearRegression(), "subquantile:0.75", cv=None).fit(X, y)
    risks = [record["risk"] for record in model.history_]
    assert all(b <= a * (1 + 1e-9) for a, b in itertools.pairwise(risks))
    assert model.risk_weights_[wrong].max() == 0.0
    ordinary = LinearRegression().fit(X, y)
    assert _risk(model, "mean") < 0.2 * _risk(ordinary, "mean")
    held_out = RiskMeta(DecisionTreeRegressor(max_depth=4, random_state=0),
                        "subquantile:0.75", random_state=0).fit(X, y)  # fmt: skip
    assert held_out.risk_weights_[wrong].mean() < 0.1 / len(y)


def test_held_out_losses_are_those_of_cross_validation():
    cv = KFold(4, shuffle=True, random_state=0)
    model = RiskMeta(Ridge(0.1), "superquantile:0.8", cv=cv, max_iter=0).fit(X, Y)
    held_out = cross_val_predict(Ridge(0.1), X, Y, cv=cv)
    expected = risk(row_losses(Y, held_out), "superquantile:0.8")
    assert model.history_[0]["risk"] == pytest.approx(expected, rel=1e-10)


def test_the_best_round_is_kept_and_rounds_end():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 4))
    y = rows[:, 0] + rng.normal(size=300)
    tree = DecisionTreeRegressor(max_depth=5, random_state=0)
    model = RiskMeta(tree, n_iter_no_change=3, random_state=0).fit(rows, y)
    risks = [record["risk"] for record in model.history_]
    assert risks[model.best_iteration_] == min(risks)
    assert len(risks) == model.n_iter_ == model.best_iteration_ + 4
    again = clone(model).fit(rows, y)
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"]])
def test_classifiers_of_two_classes(labels):
    rows, y = load_breast_cancer(return_X_y=True)
    y = np.array(labels)[y]
    own = make_pipeline(StandardScaler(), LogisticRegression())
    model = RiskMeta(own, "superquantile:0.5", max_iter=5, random_state=0)
    model.fit(rows, y)
    assert is_classifier(model) and not is_regressor(model)
    assert list(model.classes_) == labels
    assert model.score(rows, y) > 0.95
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)
    assert model.decision_function(rows).shape == y.shape


def test_classes_that_a_fold_lacks_have_probability_zero():
    rows, y = load_iris(return_X_y=True)
    few = np.r_[0:50, 50:100, 100:103]
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    for cv in (5, KFold(3)):
        model = RiskMeta(tree, cv=cv, max_iter=2, random_state=0)
        model.fit(rows[few], y[few])
        assert np.isfinite(model.history_[0]["risk"])
        assert list(model.classes_) == [0, 1, 2]


def test_inside_pipeline_and_grid_search():
    model = make_pipeline(StandardScaler(), RiskMeta(Ridge(), cv=None, max_iter=3))
    grid = {
        "riskmeta__estimator__alpha": [0.1, 10.0],
        "riskmeta__spectrum": ["superquantile:0.5", "mean"],
    }
    scorer = make_risk_scorer("superquantile:0.9")
    search = GridSearchCV(model, grid, scoring=scorer, cv=3).fit(X, Y)
    assert search.best_params_.keys() == grid.keys()


def test_weights_are_routed():
    weight = np.random.default_rng(0).exponential(size=len(Y))
    model = RiskMeta(make_pipeline(StandardScaler(), Ridge()), cv=None, max_iter=3)
    expected = clone(model).fit(X, Y, weight).predict(X)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(sample_weight=True)
        none = StandardScaler(with_mean=False, with_std=False)
        outer = make_pipeline(none.set_fit_request(sample_weight=False), asking)
        got = outer.fit(X, Y, sample_weight=weight).predict(X)
        search = GridSearchCV(asking.set_score_request(sample_weight=True),
                              {"max_iter": [1, 3]}, cv=3)  # fmt: skip
        assert search.fit(X, Y, sample_weight=weight).best_params_
    np.testing.assert_allclose(got, expected)


def test_frames_text_and_missing_values_are_the_estimator_s():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80), "b": list("xyzw") * 20})
    y = frame["a"] + (frame["b"] == "x")
    columns = ColumnTransformer(
        [("b", OneHotEncoder(), ["b"])], remainder="passthrough"
    )
    own = make_pipeline(columns, Ridge(1e-6))
    model = RiskMeta(own, cv=4, max_iter=2, random_state=0).fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b"]
    np.testing.assert_allclose(model.predict(frame), y, atol=1e-3)
    holes = X.copy()
    holes[::7, 0] = np.nan
    trees = RiskMeta(HistGradientBoostingRegressor(max_iter=5), cv=2, max_iter=1)
    assert trees.fit(holes, Y).predict(holes).shape == Y.shape


def test_rows_without_weight_and_groups():
    weight = np.ones(len(Y))
    weight[100:] = 0.0
    some = RiskMeta(Ridge(), cv=None).fit(X, Y, weight)
    alone = RiskMeta(Ridge(), cv=None).fit(X[:100], Y[:100])
    np.testing.assert_allclose(some.predict(X), alone.predict(X))
    assert np.all(some.risk_weights_[100:] == 0.0)
    groups = np.arange(len(Y)) // 10
    model = RiskMeta(Ridge(), cv=GroupKFold(4), max_iter=1).fit(X, Y, groups=groups)
    held_out = cross_val_predict(Ridge(), X, Y, cv=GroupKFold(4), groups=groups)
    expected = risk(row_losses(Y, held_out), "superquantile:0.9")
    assert model.history_[0]["risk"] == pytest.approx(expected)


class _OfTwo(RegressorMixin, BaseEstimator):
    """A regressor that predicts two numbers a row."""

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return np.zeros((len(X), 2))


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"estimator": KNeighborsRegressor()}, TypeError, "fit takes sample_weight"),
        (
            {"estimator": make_pipeline(StandardScaler(), KNeighborsRegressor())},
            TypeError,
            "fit takes sample_weight",
        ),
        ({"estimator": LinearSVC()}, ValueError, "predict_proba"),
        ({"estimator": Ridge}, TypeError, r"regressor or classifier.*Ridge\(\)"),
        ({"estimator": "ridge"}, TypeError, "regressor or classifier, got 'ridge'"),
        ({"estimator": KMeans(2)}, TypeError, "regressor or classifier, got KMeans"),
        ({"estimator": IsolationForest()}, TypeError, "got IsolationForest"),
        ({"estimator": StandardScaler()}, TypeError, "got StandardScaler"),
        ({"estimator": Pipeline([("last", "passthrough")])}, TypeError, "got Pipeline"),
        (
            {"estimator": _OfTwo()},
            ValueError,
            r"a number for each row, got '\(\d+, 2\)",
        ),
        ({"cv": True}, TypeError, "cv must be a whole number"),
        ({"spectrum": "nothing"}, ValueError, "spectrum must be one of"),
        ({"loss": "logistic"}, ValueError, "loss must be one of"),
        ({"cv": 1}, ValueError, "cv must be a whole number"),
        ({"cv": [(np.arange(9), np.arange(9, 20))]}, ValueError, "hold every row out"),
        ({"max_iter": -1}, ValueError, "max_iter must be"),
        ({"tol": -1.0}, ValueError, "tol must be"),
    ],
)
def test_refusals(options, kind, message):
    with pytest.raises(kind, match=message):
        RiskMeta(**{"estimator": Ridge(), **options}).fit(X, Y)


def test_groups_of_other_rows_are_refused():
    for cv in (5, GroupKFold(3)):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            RiskMeta(Ridge(), cv=cv).fit(X, Y, groups=np.arange(6))


def test_a_classifier_that_forgets_a_class_without_weight_is_refused():
    """As LIBSVM does: fewer probabilities than classes."""

    class Forgetful(DecisionTreeClassifier):
        def predict_proba(self, X):
            return super().predict_proba(X)[:, :-1]

    y = np.arange(len(Y)) % 3
    with pytest.raises(ValueError, match="a probability for each of its classes"):
        RiskMeta(Forgetful(), "subquantile:0.7").fit(X, y)


def test_a_regressor_that_does_not_say_so_is_taken_for_one():
    class Own(BaseEstimator):
        def fit(self, X, y, sample_weight=None):
            self.mean_ = np.average(y, weights=sample_weight)
            return self

        def predict(self, X):
            return np.full(len(X), self.mean_)

    model = RiskMeta(Own(), "subquantile:0.9", cv=None).fit(X, np.r_[1e6, Y[1:]])
    assert model.predict(X)[0] < Y.max()


def test_a_refused_fit_changes_nothing():
    model = RiskMeta(Ridge(), cv=None).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.full(len(Y), np.nan))
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_fewer_rows_than_folds_are_refused_with_what_helps(n):
    with pytest.raises(ValueError, match=rf"cv must be at most n_samples = {n} "):
        RiskMeta(Ridge()).fit(X[:n], Y[:n])
    weight = np.r_[np.ones(n), np.zeros(5)]
    with pytest.raises(ValueError, match=rf"cv must be at most n_samples = {n} "):
        RiskMeta(Ridge()).fit(X[: n + 5], Y[: n + 5], weight)
    alone = RiskMeta(Ridge(), cv=None).fit(X[:n], Y[:n])
    assert alone.risk_weights_.sum() == pytest.approx(1.0)


def test_rows_without_weight_are_in_no_fold():
    """They change no figure, wherever they lie and whatever they hold."""
    some = np.arange(0, len(Y), 9)
    weight = np.zeros(len(Y))
    weight[some] = 1.0
    model = RiskMeta(Ridge(), max_iter=3, random_state=0)
    alone = clone(model).fit(X[some], Y[some])
    among = clone(model).fit(X, Y, weight)
    assert among.history_ == alone.history_
    np.testing.assert_array_equal(among.risk_weights_[some], alone.risk_weights_)


def test_a_splitter_s_fold_may_have_no_row_of_weight():
    groups = np.arange(len(Y)) % 3
    model = RiskMeta(Ridge(), cv=GroupKFold(3), max_iter=1)
    fitted = clone(model).fit(X, Y, groups != 1, groups=groups)
    assert np.isfinite(fitted.history_[0]["risk"])
    with pytest.raises(ValueError, match="cv must be folds that leave rows"):
        clone(model).fit(X, Y, groups == 1, groups=groups)


@pytest.mark.parametrize("seed", range(5))
def test_a_rare_class_lies_in_as_many_folds_as_it_can(seed):
    """Two rows of it in one fold would leave the others nothing to learn it from."""
    y = np.arange(len(Y)) < 2
    model = RiskMeta(LogisticRegression(), max_iter=1, random_state=seed)
    assert model.fit(X, y).n_iter_ >= 1


def test_folds_of_one_class_are_told_apart_from_data_of_one_class():
    y = np.arange(len(Y)) < 1
    with pytest.raises(ValueError, match="cv must be folds that train on two classes"):
        RiskMeta(LogisticRegression()).fit(X, y)
    halves = KFold(2)
    with pytest.raises(ValueError, match="cv must be folds that train on two classes"):
        RiskMeta(LogisticRegression(), cv=halves).fit(X, np.arange(len(Y)) * 2 < len(Y))
    with pytest.raises(ValueError, match="2 classes in the data"):
        RiskMeta(LogisticRegression()).fit(X, np.zeros(len(Y)))


def test_groups_that_a_number_of_folds_cannot_heed_are_told():
    with pytest.warns(UserWarning, match="groups parameter is ignored"):
        RiskMeta(Ridge(), cv=2, max_iter=0).fit(X, Y, groups=np.arange(len(Y)))


def test_targets_too_large_to_square_are_refused():
    with pytest.raises(ValueError, match=r"losses are finite.*scale the targets"):
        RiskMeta(Ridge()).fit(X, 1e200 * Y)
    assert np.all(RiskMeta(Ridge(), max_iter=2).fit(X, 0.0 * Y).predict(X) == 0.0)

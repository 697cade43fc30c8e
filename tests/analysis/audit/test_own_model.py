"""Rows are judged by the user's own model, or by its out-of-fold predictions."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from lrisk import RiskMeta, audit
from lrisk.analysis.audit.own_model import own_model
from lrisk.tables import Preparation, table_of
from lrisk.tables.quoting import QuotesCells, RefusedCell

WRONG = np.arange(8)


def flats(n=160, seed=0):
    """Prices, the first eight ten times too high, that follow a curve."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.uniform(20, 120, n),
            "kind": rng.choice(["flat", "house"], n),
            "floor": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 9, n)),
        }
    )
    frame["price"] = 200 + frame["size"] ** 2 / 20 + 90 * (frame["kind"] == "house")
    frame["price"] += rng.normal(0, 8, n)
    frame.loc[WRONG, "price"] *= 10
    return frame


def kinds(n=240, seed=0):
    """Labels that the size tells; the first fifteen are the other one."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(20, 120, n)
    big = (size > 70) ^ (np.arange(n) < 15)
    words = np.where(big, "big", "small").astype(object)
    return pd.DataFrame({"size": size, "other": rng.normal(size=n), "kind": words})


class ByName(RegressorMixin, BaseEstimator):
    """A model that knows its columns by their names, and fails in other ways."""

    def __init__(self, fails=""):
        self.fails = fails

    def fit(self, X, y):
        if self.fails == "fit":
            raise RuntimeError("out\nof\x1b[31m luck")
        self.line_ = LinearRegression().fit(X[["size"]] ** 2, y)
        return self

    def predict(self, X):
        told = self.line_.predict(X[["size"]] ** 2)
        if self.fails == "shape":
            return np.column_stack([told, told])
        return np.full(len(X), np.nan) if self.fails == "nan" else told


BY_NAME = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), ["size"])),
    Ridge(),
)


@pytest.mark.parametrize(
    ("estimator", "label"),
    [
        (RandomForestRegressor(15), "your RandomForestRegressor"),
        (BY_NAME, "your Ridge"),
        (GridSearchCV(BY_NAME, {"ridge__alpha": [0.1, 1.0]}), "your GridSearchCV"),
        (make_pipeline(ByName()), "your ByName"),
    ],
)
def test_any_regressor_judges_the_rows(estimator, label):
    data = flats()
    before = repr(estimator)
    result = audit(data, "price", estimator=estimator)
    assert np.flatnonzero(result.flags).tolist() == WRONG.tolist()
    assert result.losses[-1].label == label and result.losses[-1].name == "own"
    assert result.options["judged by"] == label
    away = data["price"] - np.array([float(told) for told in result.expected])
    np.testing.assert_allclose(away, result.residuals, rtol=1e-2, atol=6.0)
    assert repr(estimator) == before


@pytest.mark.parametrize("frame", [pd.DataFrame, dict])
def test_a_model_is_not_given_columns_left_out(frame):
    data = pd.DataFrame(flats(80)).assign(words=["1 kg", "2 lb"] * 40)
    whole = frame(data)  # a Ridge could not read the words
    pipeline = make_pipeline(Ridge())
    result = audit(whole, "price", estimator=pipeline, drop=["words", "kind", "floor"])
    assert [column.name for column in result.columns] == ["size", "price"]
    assert result.losses[-1].label == "your Ridge" and len(whole.keys()) == 5
    with pytest.raises(ValueError, match="drop must be a column with no other role"):
        audit(whole, "price", estimator=pipeline, drop="price")


def test_the_same_seed_gives_the_same_judgement():
    data, forest = flats(80), RandomForestRegressor(10)
    first, second = (audit(data, "price", estimator=forest) for _ in range(2))
    np.testing.assert_array_equal(first.scores, second.scores)


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(25),
        LinearSVC(),
        make_pipeline(
            make_column_transformer((StandardScaler(), ["size"])),
            LogisticRegression(class_weight={"big": 1.0, "small": 1.1}),
        ),
    ],
)
def test_any_classifier_judges_the_labels(estimator):
    result = audit(kinds(seed=2), "kind", estimator=estimator)
    flagged = np.flatnonzero(result.flags)
    assert len(flagged) >= 9 and np.mean(flagged < 15) > 0.9
    assert result.losses[-1].accuracy > 0.85
    row = result.flagged[0]
    assert row.observed != row.expected


def test_predictions_of_a_model_that_lives_elsewhere():
    data = flats()
    X, y, folds = data.drop(columns="price"), data["price"], KFold(5, shuffle=True)
    folds.random_state = 0
    outside = cross_val_predict(BY_NAME, X, y, cv=folds)
    by_array = audit(data, "price", predictions=outside)
    assert np.flatnonzero(by_array.flags).tolist() == WRONG.tolist()
    assert by_array.losses[-1].label == "your predictions"
    data["told"] = outside
    for table in (data, pl.from_pandas(data), dict(data)):
        by_name = audit(table, "price", predictions="told")
        np.testing.assert_array_equal(by_name.scores, by_array.scores)
        assert "told" not in [column.name for column in by_name.columns]


def test_predictions_of_classes_in_all_their_forms():
    data = kinds()
    X, y = data[["size", "other"]], data["kind"]
    p = cross_val_predict(LogisticRegression(), X, y, method="predict_proba")
    frame = pd.DataFrame(p[:, ::-1], columns=["small", "big"])
    for given in (p, frame, p[:, 1]):
        result = audit(data, "kind", predictions=given)
        assert np.mean(result.flags[:15]) > 0.6 and np.mean(result.flags[15:]) < 0.02
    labels = audit(data, "kind", predictions=np.where(p[:, 1] > 0.5, "small", "big"))
    assert labels.losses[-1].accuracy == result.losses[-1].accuracy
    numbered = data.assign(kind=(y == "small").astype(int))
    again = audit(numbered, "kind", predictions=(p[:, 1] > 0.5).astype(int))
    np.testing.assert_array_equal(again.scores, labels.scores)


def test_labels_that_are_fractions_are_numbered_for_a_classifier():
    data = kinds(seed=2)
    data["kind"] = np.where(data["kind"] == "big", 0.5, 10.5)
    result = audit(data, "kind", estimator=LogisticRegression())
    assert result.classes == ["0.5", "10.5"] and result.losses[-1].accuracy > 0.85
    told = audit(data, "kind", predictions=data["kind"] * 1.0)
    assert told.losses[-1].accuracy == 1.0


def test_rows_without_a_target_need_no_prediction():
    data = flats(80)
    outside = data["price"].to_numpy() + np.random.default_rng(0).normal(size=80)
    data.loc[[3, 9], "price"] = np.nan
    outside[[3, 9]] = np.nan
    result = audit(data, "price", predictions=outside)
    assert np.flatnonzero(np.isnan(result.scores)).tolist() == [3, 9]
    forest = audit(data, "price", estimator=RandomForestRegressor(10))
    assert np.flatnonzero(np.isnan(forest.scores)).tolist() == [3, 9]


class NoModel(ClassifierMixin):
    """No estimator: nothing can clone it."""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"estimator": Ridge}, "pass an instance: Ridge()"),
        ({"estimator": "Ridge"}, "a scikit-learn regressor or classifier with fit"),
        ({"estimator": NoModel()}, "a scikit-learn regressor or classifier with fit"),
        ({"estimator": KMeans()}, "a scikit-learn regressor or classifier with fit"),
        ({"estimator": IsolationForest()}, "got 'IsolationForest'"),
        ({"estimator": LogisticRegression()}, "a regressor, for the target was read"),
        ({"estimator": ByName()}, "wrap it in make_pipeline to give it the columns"),
        ({"estimator": make_pipeline(Ridge())}, "let it encode text and fill in"),
        ({"estimator": make_pipeline(ByName("fit"))}, "RuntimeError: out of"),
        ({"estimator": make_pipeline(ByName("nan"))}, "got 'NaN or infinity'"),
        ({"estimator": make_pipeline(ByName("shape"))}, "shape (8, 2)"),
        ({"estimator": Ridge(), "predictions": np.ones(40)}, "pass one of the two"),
        ({"predictions": np.ones(39)}, "one for each row, 40, got 39"),
        ({"predictions": 3.0}, "one for each row, 40"),
        ({"predictions": np.full(40, np.nan)}, "NaN or infinity in row 1"),
        ({"predictions": np.full(40, "a")}, "numbers, as the target is"),
        ({"predictions": np.r_[1e308, np.ones(39)]}, "must be at most"),
        ({"predictions": "siz"}, "did you mean 'size'?"),
        ({"predictions": "price"}, "another column than the target"),
        ({"predictions": flats(40)["price"]}, "without the row's own target"),
    ],
)
def test_bad_models_are_refused_in_one_line(options, words):
    with pytest.raises((ValueError, TypeError)) as caught:
        audit(flats(40), "price", **options)
    message = str(caught.value)
    assert words in message and "\n" not in message and message.startswith("audit: ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"estimator": Ridge()}, "a classifier, for the target was read"),
        ({"predictions": np.full((60, 2), 0.6)}, "predictions must be rows that sum"),
        ({"predictions": np.full((60, 3), 1 / 3)}, "predictions must be of shape"),
        ({"predictions": np.full((60, 2), np.nan)}, "predictions must be within 0"),
        ({"predictions": np.full(60, "huge")}, "labels of the target, or prob"),
        ({"predictions": np.full(60, 1.5)}, "labels of the target, or prob"),
    ],
)
def test_bad_models_of_classes_are_refused_in_one_line(options, words):
    with pytest.raises(ValueError) as caught:
        audit(kinds(60), "kind", **options)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def given_to_a_pipeline(data, target, id=None):
    table = table_of(data, target, id=id)
    own = own_model(table, data, target, id, make_pipeline(Ridge()), None, 0)
    return [str(name) for name in own.columns.columns], table.id_column


def test_a_pipeline_is_given_all_columns_but_target_and_named_id():
    data = flats(40)
    data.insert(0, "code", [f"c{i}" for i in range(40)])
    data.insert(1, "index", np.arange(40.0) ** 1.1)
    features = ["code", "index", "size", "kind", "floor"]
    assert given_to_a_pipeline(data, "price") == (features, "code")
    assert given_to_a_pipeline(data, "price", id="code") == (features[1:], "code")
    indexed = data.set_axis([f"r{i}" for i in range(40)])
    assert given_to_a_pipeline(indexed, "price") == (features, "index")
    numbered = data.set_axis(range(6), axis=1)
    assert given_to_a_pipeline(numbered, 5) == (["0", "1", "2", "3", "4"], "0")
    by_code = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), ["code"]),
            (StandardScaler(), ["size"]),
        ),
        Ridge(),
    )
    assert audit(data, "price", estimator=by_code).id_column == "code"
    with pytest.raises(ValueError, match="estimator must be one that fits"):
        audit(data, "price", estimator=by_code, id="code")


def test_probabilities_in_columns_of_other_names_are_refused():
    """Their order is not known; columns that have no names are in sorted order."""
    data = kinds(60)
    table = table_of(data, "kind")
    p = np.tile([0.75, 0.25], (60, 1))
    for names in (["small_p", "big_p"], ["big", "smal"]):
        for frame in (pd.DataFrame, pl.DataFrame):
            given = frame(dict(zip(names, p.T)))
            with pytest.raises(
                ValueError, match=r"classes, \['big', 'small'\]"
            ) as told:
                own_model(table, data, "kind", None, None, given, 0)
            assert "\n" not in str(told.value)
    for given in (
        p,
        pd.DataFrame(p),
        pd.DataFrame(p[:, ::-1], columns=["small", "big"]),
    ):
        own = own_model(table, data, "kind", None, None, given, 0)
        np.testing.assert_array_equal(own.predictions, p)


@pytest.mark.parametrize("off", [0.0, -500.0])
def test_what_is_shown_of_a_row_is_what_its_score_was_computed_with(off):
    """Predictions that are off as a rule are judged, and shown, about their centre."""
    data = flats(120)
    told = 200 + data["size"] ** 2 / 20 + 90 * (data["kind"] == "house") + off
    result = audit(data, "price", predictions=told)
    assert np.flatnonzero(result.flags).tolist() == WRONG.tolist()
    expected = np.array([float(shown) for shown in result.expected])
    np.testing.assert_allclose(data["price"] - expected, result.residuals, atol=0.01)
    scales = {row: next(r.numbers["scales"] for r in reasons if "scales" in r.numbers)
              for row, reasons in result.reasons.items()}  # fmt: skip
    assert min(scales[row.row] for row in result.flagged) > 10.0
    assert max(scales[row.row] for row in result.nearly) < 5.0
    assert result.beside_constant.offset == pytest.approx(-off, abs=4.0)
    assert ("too " in result.summary) == (abs(off) > 30.0)


def test_predictions_worse_than_the_mean_are_called_so():
    data = flats(120)
    rng = np.random.default_rng(0)
    result = audit(data, "price", predictions=rng.permutation(data["price"]))
    compared = result.beside_constant
    assert compared.worse and compared.constant == "mean"
    told = {row - 1 for finding in result.findings for row in finding.rows}
    left = ~result.flags & ~np.isin(np.arange(120), list(told))
    fine = data["price"][left]
    assert compared.by_constant == pytest.approx(np.mean(np.abs(fine - fine.mean())))
    assert compared.rows == len(fine) < 120
    assert not result.looks_clean
    words = "judged by your predictions, which did worse than a constant (mean |error|"
    assert words in result.summary
    assert "why your predictions did worse" in result.next_steps[0]
    assert result.to_dict()["beside_constant"]["worse"] is True


def test_classes_worse_than_the_most_frequent_one_are_called_so():
    data = kinds(120)
    wrong = np.where(data["kind"] == "big", "small", "big")
    result = audit(data, "kind", predictions=wrong)
    compared = result.beside_constant
    assert compared.worse and compared.by_model < 0.2 and compared.by_constant >= 0.5
    assert "always the most frequent class" in result.summary
    told = audit(data, "kind", estimator=LogisticRegression())
    assert not told.beside_constant.worse and "constant" not in told.summary


class Keeps(RegressorMixin, BaseEstimator):
    """Refuses to be asked about a group that it was fitted to."""

    def fit(self, X, y):
        self.seen_ = set(X["group"])
        return self

    def predict(self, X):
        if self.seen_ & set(X["group"]):
            raise RuntimeError("seen before")
        return X["size"] ** 2 / 20


@pytest.mark.parametrize("missing", [False, True])
def test_rows_of_a_group_are_held_out_together(missing):
    data = flats(80)
    data["group"] = [f"g{i % 9}" for i in range(80)]
    if missing:
        data.loc[70:, "group"] = None
        data.loc[70:, "group"] = data.loc[70:, "group"].astype(object)
    table = table_of(data, "price", group="group")
    own = own_model(table, data, "price", None, make_pipeline(Keeps()), None, 0)
    X = Preparation(table.features).fit(np.arange(80)).transform(np.arange(80))
    arguments = (np.arange(80), np.arange(80) % 5, X, "auto", 0)
    if missing:  # rows of no group are not one group
        with pytest.raises(ValueError, match="seen before"):
            own.judge(table, *arguments)
        return
    predicted, _ = own.judge(table, *arguments)
    np.testing.assert_allclose(predicted, data["size"] ** 2 / 20)
    with pytest.raises(ValueError, match="seen before"):
        own.judge(table_of(data, "price"), *arguments)


def test_one_group_cannot_be_held_out():
    data = flats(60).assign(group="g")
    with pytest.raises(ValueError, match="group must be of at least two groups"):
        audit(data, "price", group="group", estimator=Ridge())
    labels = kinds(60)
    labels["group"] = labels["kind"]
    with pytest.raises(ValueError, match="rows of two classes are left"):
        audit(labels, "kind", group="group", estimator=LogisticRegression())


def test_a_pipeline_of_another_task_is_called_by_its_last_step():
    model = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.raises(ValueError, match="'LogisticRegression, the last step of the"):
        audit(flats(40), "price", estimator=model)


class NoTags(ByName):
    def __sklearn_tags__(self):
        return len(3)


class NoCopy(ByName):
    def __init__(self):
        self.fails = ""

    def get_params(self, deep=True):
        return {"fails": ""}


@pytest.mark.parametrize("model", [NoTags(), NoCopy()])
def test_a_class_that_is_no_whole_estimator_is_refused(model):
    with pytest.raises(QuotesCells, match="inherit from BaseEstimator") as refusal:
        audit(flats(), "price", estimator=model)
    assert refusal.value.bare.count("TypeError") == 1


class SaysACell(RegressorMixin, BaseEstimator):
    """Predicts the words of a column."""

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return X["kind"].to_numpy()


def test_what_fails_inside_lrisk_by_the_users_code_may_quote_cells():
    model = make_pipeline(FunctionTransformer(), RiskMeta(SaysACell()))
    with pytest.raises(QuotesCells, match="could not convert") as refusal:
        audit(flats(), "price", estimator=model)
    assert "flat" not in refusal.value.bare and "house" not in refusal.value.bare


def test_refusals_cross_processes():
    whole = RefusedCell("weight", "in one unit", "two", "convert it", "5 lb", 3)
    for refusal in (whole, QuotesCells("words", "bare")):
        again = pickle.loads(pickle.dumps(refusal))
        assert (str(again), again.bare) == (str(refusal), refusal.bare)
    assert "row 9" in str(pickle.loads(pickle.dumps(whole)).at(8))

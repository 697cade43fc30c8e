"""LabelErrorDetector: any reference, given probabilities, groups; refusals."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_matrix, csr_array
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lrisk import LabelErrorDetector, RobustClassifier


def rule(seed=0, n=800, share=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 10.0, 1e-3, 1.0]
    truth = np.where(X[:, 0] + 0.1 * X[:, 1] > 0, "yes", "no")
    wrong = rng.random(n) < share
    return X, np.where(wrong ^ (truth == "yes"), "yes", "no"), truth, wrong


def test_it_is_the_judgement_of_the_classifier():
    X, y, truth, wrong = rule()
    found = LabelErrorDetector(random_state=0).fit(X, y)
    model = RobustClassifier("rbf", random_state=0).fit(X, y)
    assert found.answer_ == "noise" and model.contamination_ > 0
    assert found.contamination_ == pytest.approx(model.contamination_, abs=0.05)
    assert np.corrcoef(found.outlier_score_, model.outlier_score_)[0, 1] > 0.9
    assert np.mean(found.label_suggestion_ == truth) > 0.93
    assert wrong[~found.inlier_mask_].mean() > 0.85
    assert set(found.label_suggestion_) == {"yes", "no"}


@pytest.mark.parametrize(
    "estimator", [LinearDiscriminantAnalysis(), LogisticRegression(C=0.1)]
)
def test_any_classifier_is_a_reference(estimator):
    X, y, _, wrong = rule()
    X = X / X.std(axis=0)
    found = LabelErrorDetector(estimator, random_state=0).fit(X, y)
    assert found.answer_ == "noise"
    assert found.contamination_ == pytest.approx(wrong.mean(), abs=0.06)
    assert average_precision_score(wrong, found.outlier_score_) > 0.85
    assert not hasattr(estimator, "classes_")


def out_of_fold(X, y, sharpness):
    """Probabilities by logistic regression, over-confident; ∞ is 0 and 1."""
    p = cross_val_predict(LogisticRegression(), X, y, cv=5, method="predict_proba")
    if sharpness == np.inf:
        return (p > 0.5).astype(float)
    return p**sharpness / np.sum(p**sharpness, axis=1, keepdims=True)


@pytest.mark.parametrize("sharpness", [1, 20, np.inf])
def test_probabilities_out_of_folds_may_be_given(sharpness):
    X, y, _, wrong = rule()
    X = X / X.std(axis=0)
    p = out_of_fold(X, y, sharpness)
    found = LabelErrorDetector(random_state=0).fit(X, y, probabilities=p)
    assert found.answer_ == "noise"
    assert found.contamination_ == pytest.approx(wrong.mean(), abs=0.05)
    assert average_precision_score(wrong, found.outlier_score_) > 0.9


def test_probabilities_in_a_frame_are_taken_by_name():
    X, y, _, _ = rule()
    p = pd.DataFrame(out_of_fold(X, y, 1), columns=["no", "yes"])
    by_name, by_place = (
        LabelErrorDetector(random_state=0).fit(X, y, probabilities=given)
        for given in (p[["yes", "no"]], p.to_numpy())
    )
    np.testing.assert_array_equal(by_name.outlier_score_, by_place.outlier_score_)
    with pytest.raises(ValueError, match=r"named as the classes, \['no', 'yes'\]"):
        LabelErrorDetector().fit(X, y, probabilities=p.rename(columns=str.upper))


def test_probabilities_say_what_the_columns_do_not():
    X, y, _, wrong = rule()
    other = np.random.default_rng(1).normal(size=(len(y), 1))
    blind = LabelErrorDetector(random_state=0).fit(other, y)
    assert blind.answer_ != "noise" and blind.inlier_mask_.all()
    scores = []
    for sharpness in (1, 20):
        p = out_of_fold(X / X.std(axis=0), y, sharpness)
        found = LabelErrorDetector(random_state=0).fit(other, y, probabilities=p)
        assert found.answer_ == "noise"
        assert average_precision_score(wrong, found.outlier_score_) > 0.85
        scores.append(found.outlier_score_)
    assert np.allclose(*scores, atol=1e-3)


def test_weak_probabilities_of_clean_labels_are_no_noise():
    """Classes that a reference mistakes for each other are its errors, not labels'."""
    X, y = load_digits(return_X_y=True)
    p = cross_val_predict(
        GaussianNB(var_smoothing=1e-3), X, y, cv=5, method="predict_proba"
    )
    found = LabelErrorDetector(random_state=0).fit(X, y, probabilities=p)
    assert np.mean(p.argmax(axis=1) != y) > 0.1
    assert found.answer_ == "none" and found.inlier_mask_.all()


class Recorder(LogisticRegression):
    """Notes the labels that it is fitted to."""

    seen: ClassVar[set] = set()

    def fit(self, X, y, sample_weight=None):
        Recorder.seen.update(np.asarray(y).tolist())
        return super().fit(X, y, sample_weight)


def test_a_reference_gets_the_labels_of_the_user():
    X, y, _, _ = rule(n=200)
    LabelErrorDetector(Recorder(), random_state=0).fit(X, y)
    assert Recorder.seen == {"yes", "no"}
    weights = {"yes": 1.0, "no": 3.0}  # by the names of the classes
    model = LogisticRegression(class_weight=weights)
    found = LabelErrorDetector(model, random_state=0).fit(X / X.std(axis=0), y)
    assert np.all(np.isfinite(found.outlier_score_))


class Witness(LogisticRegression):
    """Notes which rows it is fitted to, and which it is asked of."""

    calls: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        self.own_ = set(X[:, -1])
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        Witness.calls.append((self.own_, set(X[:, -1])))
        return super().predict_proba(X)


def test_no_reference_is_asked_of_a_place_that_it_has_seen():
    """Equal rows are one place; groups that hold them join it. The last column names
    it."""
    rng = np.random.default_rng(0)
    X, y, _, _ = rule(n=240)
    place = np.repeat(np.arange(120.0), 2)
    X = np.column_stack([np.repeat(X[::2], 2, axis=0), place])  # pairs of equal rows
    order = rng.permutation(240)
    Witness.calls.clear()
    LabelErrorDetector(Witness(), random_state=0).fit(X[order], y[order])
    assert len(Witness.calls) == 20
    assert all(not own & asked for own, asked in Witness.calls)
    X[:, -1] = np.arange(240) // 4  # no longer equal, but told
    X[:, 0] += 0.01 * rng.normal(size=240)
    Witness.calls.clear()
    groups = X[order, -1].astype(int)
    LabelErrorDetector(Witness(), random_state=0).fit(X[order], y[order], groups=groups)
    assert len(Witness.calls) == 20
    assert all(not own & asked for own, asked in Witness.calls)


def test_no_class_is_erased_by_flags():
    """A class of one in a hundred, and thirty classes, much noise told or found."""
    rng = np.random.default_rng(0)
    rare = np.repeat([0, 1], [600, 6])
    many = np.repeat(np.arange(30), 10)
    for truth, K in ((rare, 2), (many, 30)):
        centres = 6.0 * rng.normal(size=(K, 5))
        X = centres[truth] + rng.normal(size=(len(truth), 5))
        wrong = rng.random(len(truth)) < 0.2
        y = (truth + wrong * rng.integers(1, K, len(truth))) % K
        for share in ("auto", 0.49):
            found = LabelErrorDetector(contamination=share, random_state=0).fit(X, y)
            assert not found.inlier_mask_.all()
            assert set(y[found.inlier_mask_]) == set(y)


def test_weights_count_as_copies():
    X, y, _, _ = rule(n=200)
    weight = np.random.default_rng(0).integers(1, 4, 200)
    many = np.repeat(np.arange(200), weight)
    a = LabelErrorDetector(random_state=0).fit(X, y, sample_weight=weight)
    b = LabelErrorDetector(random_state=0).fit(X[many], y[many])
    assert a.answer_ == b.answer_
    assert a.contamination_ == pytest.approx(b.contamination_, abs=0.03)
    score = b.outlier_score_[np.unique(many, return_index=True)[1]]
    assert np.corrcoef(a.outlier_score_, score)[0, 1] > 0.95


def test_one_digit_taken_for_another_is_found_with_its_direction():
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    X, y = X[:1200], y[:1200]
    wrong = (y == 3) & (rng.random(len(y)) < 0.3)
    found = LabelErrorDetector(random_state=0).fit(X, np.where(wrong, 8, y))
    assert found.answer_ == "noise"
    assert found.noise_matrix_[3, 8] == pytest.approx(0.3, abs=0.12)
    flagged = ~found.inlier_mask_
    assert wrong[flagged].mean() >= 0.8 and flagged[wrong].mean() > 0.8
    assert found.contamination_ == pytest.approx(wrong.mean(), abs=0.02)


def test_a_given_share_is_taken_at_its_word():
    X, y, _, _ = rule()
    found = LabelErrorDetector(contamination=0.1, random_state=0).fit(X, y)
    assert np.sum(~found.inlier_mask_) == 80 and found.contamination_ == 0.1


def test_rows_without_weight_are_not_judged():
    X, y, _, _ = rule()
    weight = np.ones(len(y))
    weight[:40] = 0.0
    found = LabelErrorDetector(random_state=0).fit(X, y, sample_weight=weight)
    fewer = LabelErrorDetector(random_state=0).fit(X[40:], y[40:])
    assert np.all(found.outlier_score_[:40] == 0.0) and found.inlier_mask_[:40].all()
    assert np.array_equal(found.outlier_score_[40:], fewer.outlier_score_)


def test_a_reference_that_remembers_needs_groups():
    """Near copies tell each other's wrong labels, unless they share a fold."""
    rng = np.random.default_rng(0)
    X, y, _, wrong = rule(n=300)
    X = X / X.std(axis=0)
    twice = np.concatenate([X, X + 1e-6 * rng.normal(size=X.shape)])
    groups = np.tile(np.arange(len(X)), 2)
    near = KNeighborsClassifier(15, weights="distance")
    ranked = [
        average_precision_score(
            np.tile(wrong, 2),
            LabelErrorDetector(near, random_state=0)
            .fit(twice, np.tile(y, 2), groups=known)
            .outlier_score_,
        )
        for known in (None, groups)
    ]
    assert ranked[0] < 0.5 < ranked[1]


@pytest.mark.parametrize("factor", [2.0**400, 2.0**-400])
def test_units_do_not_matter_and_wild_rows_do_not_rule(factor):
    X, y, _, wrong = rule(n=400)
    usual = LabelErrorDetector(random_state=0).fit(X, y)
    other = LabelErrorDetector(random_state=0).fit(factor * X, y)
    assert np.allclose(usual.outlier_score_, other.outlier_score_)
    X[:5] *= 1e150
    wild = LabelErrorDetector(random_state=0).fit(X, y)
    assert np.all(np.isfinite(wild.outlier_score_))
    assert average_precision_score(wrong[5:], wild.outlier_score_[5:]) > 0.85
    with pytest.raises(ValueError, match="NaN"):
        LabelErrorDetector().fit(np.where(np.arange(4) < 1, np.nan, X), y)


def test_trusted_labels_are_not_flagged_and_leave_noise_to_be_found():
    X, y, truth, wrong = rule()
    trusted = np.arange(len(y)) < 100
    y, wrong = np.where(trusted, truth, y), wrong & ~trusted
    found = LabelErrorDetector(random_state=0).fit(X, y, trusted=trusted)
    assert found.answer_ == "noise"
    assert found.contamination_ == pytest.approx(wrong.mean(), abs=0.04)
    assert wrong[~found.inlier_mask_].mean() > 0.85
    assert np.all(found.outlier_score_[trusted] == 0.0)
    assert np.array_equal(found.label_suggestion_[trusted], y[trusted])
    many = LabelErrorDetector(contamination=0.3, random_state=0)
    many.fit(X, y, trusted=trusted)
    assert many.inlier_mask_[trusted].all() and np.sum(~many.inlier_mask_) == 240
    sure = LabelErrorDetector(random_state=0).fit(X, y, trusted=np.ones(len(y), bool))
    assert sure.answer_ == "none" and sure.contamination_interval_ == (0.0, 0.0)


@pytest.mark.parametrize("robust", [False, True])
def test_trusted_labels_that_x_contradicts_like_others_say_chance(robust):
    """P(y | x) is .2 or .8 by nature: the law of 20 % flips, with no label wrong."""
    for seed in range(3):
        X, y, _, chance = rule(seed)
        model = RobustClassifier("rbf") if robust else LabelErrorDetector()
        model.set_params(random_state=0)
        assert model.fit(X, y).contamination_ > 0.1
        at = np.random.default_rng(seed)
        trusted = np.isin(np.arange(len(y)), at.permutation(len(y))[:60])
        assert chance[trusted].any()
        model.fit(X, y, trusted=trusted)
        assert model.contamination_ == 0.0 and model.inlier_mask_.all()
        low, high = model.contamination_interval_
        assert low == 0.0 and high > 0.1  # the other labels may still be wrong
        assert getattr(model, "answer_", "cannot tell") == "cannot tell"


@pytest.mark.parametrize("form", [np.float32, csr_array, csc_matrix])
def test_sparse_rows_and_floats_of_32_bits(form):
    X, y, _, _ = rule(n=300)
    X = np.where(np.abs(X) < 0.3 * X.std(axis=0), 0.0, X).astype(np.float32)
    usual = LabelErrorDetector(random_state=0).fit(X.astype(float), y)
    found = LabelErrorDetector(random_state=0).fit(form(X), y)
    assert np.array_equal(usual.outlier_score_, found.outlier_score_)


def test_sparse_rows_too_wide_are_refused_with_a_remedy():
    X = csr_array((100, 10_000_000))
    with pytest.raises(ValueError, match=r"X must be dense, or sparse.*TruncatedSVD"):
        LabelErrorDetector().fit(X, np.arange(100) % 2)


def test_what_it_cannot_use_is_refused():
    X, y, _, _ = rule(n=60)
    with pytest.raises(ValueError, match="at least two classes"):
        LabelErrorDetector().fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="contamination"):
        LabelErrorDetector(contamination=0.7).fit(X, y)
    with pytest.raises(ValueError, match=r"probabilities must be of shape \(60, 2\)"):
        LabelErrorDetector().fit(X, y, probabilities=np.ones((60, 3)))
    with pytest.raises(ValueError, match=r"groups must be of shape \(60,\)"):
        LabelErrorDetector().fit(X, y, groups=np.arange(59))
    for trusted in (np.ones(60), np.ones(59, dtype=bool)):
        with pytest.raises(
            ValueError, match=r"trusted must be a boolean mask of shape"
        ):
            LabelErrorDetector().fit(X, y, trusted=trusted)
    for model in (RidgeClassifier(), SVC(), "logistic", LogisticRegression):
        with pytest.raises(ValueError, match="estimator must be None or an estimator"):
            LabelErrorDetector(model).fit(X, y)


@pytest.mark.parametrize("n_groups", [1, 2, 3])
def test_few_groups_cannot_tell(n_groups):
    X, y = make_classification(200, random_state=0)
    for estimator in (None, LogisticRegression()):
        found = LabelErrorDetector(estimator, random_state=0)
        found.fit(X, y, groups=np.arange(200) % n_groups)
        assert found.answer_ == "cannot tell"


def test_a_reference_that_sees_one_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), np.zeros(100, dtype=int)
    y[:2] = 1
    found = LabelErrorDetector(LogisticRegression(), random_state=0).fit(X, y)
    assert np.all(np.isfinite(found.outlier_score_))


def test_a_reference_is_given_a_data_frame_as_it_is():
    X, y, _, _ = rule()
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    named = make_column_transformer((StandardScaler(), ["x1", "x0"]))
    model = make_pipeline(named, LogisticRegression())
    weight = np.where(np.arange(len(y)) % 7 == 3, 0.0, 1.0)
    found = LabelErrorDetector(model, random_state=0).fit(frame, y, weight)
    plain = make_pipeline(
        make_column_transformer((StandardScaler(), [1, 0])), LogisticRegression()
    )
    same = LabelErrorDetector(plain, random_state=0).fit(X, y, weight)
    np.testing.assert_array_equal(found.outlier_score_, same.outlier_score_)


@pytest.mark.parametrize("contamination", ["auto", 0.1])
def test_where_all_labels_are_known_to_be_right_none_is_wrong(contamination):
    X, y, _, _ = rule()
    known = np.ones(len(y), dtype=bool)
    found = LabelErrorDetector(contamination=contamination, random_state=0)
    found.fit(X, y, trusted=known)
    assert found.answer_ == "none" and found.inlier_mask_.all()
    assert found.contamination_interval_ == (0.0, 0.0)
    model = RobustClassifier("rbf", random_state=0).fit(X, y, trusted=known)
    assert model.selected_.name == "ordinary" and model.contamination_ == 0.0


def test_of_a_handful_of_labels_given_probabilities_say_what_is_known():
    """Without them nothing is, and no label is flagged whatever the share."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    p = np.where(np.eye(2)[y] > 0.5, 0.9, 0.1)
    p[4] = 0.2 + 0.6 * (np.arange(2) != y[4])
    told = LabelErrorDetector(contamination=0.1, random_state=0)
    assert told.fit(X, y).inlier_mask_.all()
    told.fit(X, y, probabilities=p)
    assert np.argmax(told.outlier_score_) == 4 and not told.inlier_mask_[4]
    assert told.label_suggestion_[4] != y[4]
    told.fit(X, y, probabilities=p, trusted=np.arange(30) == 4)
    assert told.outlier_score_[4] == 0.0 and told.inlier_mask_[4]
    model = RobustClassifier(contamination=0.1, random_state=0).fit(X, y)
    assert model.inlier_mask_.all()

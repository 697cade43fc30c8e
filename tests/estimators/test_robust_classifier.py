"""RobustClassifier: wrong labels, wrong rows, none; guards and promises."""

import functools

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lrisk import RobustClassifier

KERNELS = ["linear", "rbf"]


def breast_cancer(seed):
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=400, random_state=seed, stratify=y
    )
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def spoilt(X, y, fraction, seed, factor=1.0):
    """Labels of a fraction of the rows wrong, their features multiplied."""
    rng = np.random.default_rng(seed)
    wrong = np.zeros(len(y), dtype=bool)
    wrong[rng.choice(len(y), round(fraction * len(y)), replace=False)] = True
    classes = len(np.unique(y))
    y = np.where(wrong, y + rng.integers(1, classes, len(y)), y) % classes
    return np.where(wrong[:, None], factor * X, X), y, wrong


def overlapping(seed, n=220, d=13):
    """Like a medical table: overlap, counts and categories; one class in five wrong."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, ::3] = np.round(X[:, ::3])
    X[:, 1] = X[:, 1] > 1.0
    y = (rng.random(n) < expit(X @ rng.normal(0.0, 0.6, d))).astype(int)
    return X, y


# -- nothing wrong ---------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_clean_overlapping_classes_are_left_alone(kernel):
    flagged, found = [], []
    for seed in range(4):
        X, y = overlapping(seed)
        model = RobustClassifier(kernel, random_state=0).fit(X, y)
        flagged.append(np.mean(~model.inlier_mask_))
        found.append(model.contamination_)
    assert np.mean(flagged) <= 0.01
    assert np.max(found) <= 0.02


@pytest.mark.parametrize("kernel", KERNELS)
def test_clean_breast_cancer_gets_the_ordinary_fit(kernel):
    X, y, X_test, y_test = breast_cancer(0)
    model = RobustClassifier(kernel, random_state=0).fit(X, y)
    assert model.selected_.name == "ordinary"
    assert model.contamination_ == 0.0 and model.inlier_mask_.mean() >= 0.99
    peers = (LogisticRegression(), SVC())
    best = max(peer.fit(X, y).score(X_test, y_test) for peer in peers)
    assert model.score(X_test, y_test) >= best - 0.02


def test_a_linear_model_of_moons_blames_no_labels():
    X, y = make_moons(300, noise=0.15, random_state=0)
    model = RobustClassifier("linear", random_state=0).fit(X, y)
    assert model.contamination_ == 0.0 and model.inlier_mask_.all()


def linear_rule(seed, n=250, d=5):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), rng.normal(0.0, 2.0, d)
    return rng, X, (X @ w + rng.logistic(size=n) > 0).astype(int)


def heavy_tailed(seed):
    """A tenth of the rows fifty times as wide, the labels valid."""
    rng, X, y = linear_rule(seed)
    X[rng.random(len(y)) < 0.1] *= 50.0
    return X, y


def second_cluster(seed):
    """Thirty rows 40 standard deviations away with a valid rule of their own."""
    rng, X, y = linear_rule(seed)
    y[:30] = X[:30] @ rng.standard_normal(X.shape[1]) > 0
    X[:30] += 40.0
    return X, y


def cauchy(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_cauchy((250, 5))
    return X, (X @ rng.normal(0.0, 2.0, 5) + rng.logistic(size=250) > 0).astype(int)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("draw", [heavy_tailed, second_cluster, cauchy])
def test_far_rows_with_valid_labels_are_not_wrong(draw, kernel):
    for seed in range(1 if kernel == "rbf" else 2):
        X, y = draw(seed)
        model = RobustClassifier(kernel, random_state=0).fit(X, y)
        assert model.contamination_ <= 0.02
        assert np.mean(~model.inlier_mask_) <= 0.01
        assert not np.any(model.leverage_mask_ & ~model.inlier_mask_)


def test_far_rows_leave_only_the_fit_that_they_spoil():
    """A line cannot follow two rules, a local kernel can."""
    X, y = second_cluster(0)
    line = RobustClassifier("linear", random_state=0).fit(X, y)
    assert line.leverage_mask_[:30].all() and not line.leverage_mask_[30:].any()
    assert np.all(line.outlier_score_[:30] == 0.0)
    plain = LogisticRegression().fit(X, y)
    losses = [log_loss(y[30:], m.predict_proba(X[30:])) for m in (line, plain)]
    assert losses[0] < losses[1]
    curve = RobustClassifier("rbf", random_state=0).fit(X, y)
    assert not curve.leverage_mask_.any()
    assert curve.score(X[:30], y[:30]) > 0.8


# -- wrong labels ----------------------------------------------------------------------


def accuracies(kernel, fraction, n_seeds):
    """Models under wrong labels with the masks, own accuracy and that of plain fits."""
    found, own, plain = [], [], []
    for seed in range(n_seeds):
        X, y, X_test, y_test = breast_cancer(seed)
        X, y, wrong = spoilt(X, y, fraction, seed)
        model = RobustClassifier(kernel, random_state=0).fit(X, y)
        peers = [SVC(kernel=kernel), LogisticRegression(max_iter=1000)]
        found.append((model, wrong))
        own.append(model.score(X_test, y_test))
        plain.append([peer.fit(X, y).score(X_test, y_test) for peer in peers])
    return found, np.mean(own), np.mean(plain, axis=0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_fifth_of_the_labels_wrong(kernel):
    found, own, plain = accuracies(kernel, 0.2, 3)
    assert own >= plain.max() - 0.01
    covered, flagged, wrong = [], [], []
    for model, mask in found:
        assert model.contamination_ == pytest.approx(0.2, abs=0.07)
        low, high = model.contamination_interval_
        covered.append(low <= 0.2 <= high)
        flagged.append(~model.inlier_mask_)
        wrong.append(mask)
    flagged, wrong = np.concatenate(flagged), np.concatenate(wrong)
    assert np.sum(covered) >= 2
    assert wrong[flagged].mean() > 0.9 and flagged[wrong].mean() > 0.6


@pytest.mark.parametrize("kernel", KERNELS)
def test_two_fifths_of_the_labels_wrong_beat_the_plain_fits(kernel):
    _, own, plain = accuracies(kernel, 0.4, 3 if kernel == "linear" else 10)
    assert own >= plain.max() + 0.05


@pytest.mark.parametrize("kernel", KERNELS)
def test_wrong_rows_with_features_times_hundred(kernel):
    X, y, X_test, y_test = breast_cancer(0)
    X, y, wrong = spoilt(X, y, 0.4, 0, factor=100.0)
    model = RobustClassifier(kernel, random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.94
    assert np.array_equal(~model.inlier_mask_, wrong)
    assert model.contamination_ == pytest.approx(0.4, abs=0.01)


def test_expected_false_flags_are_those_that_happen():
    expected, happened, n_flagged = 0.0, 0, 0
    for seed in range(5):
        X, y = make_classification(
            400, 8, n_informative=5, flip_y=0, class_sep=1.5, random_state=seed
        )
        X, y, wrong = spoilt(X, y, 0.25, seed)
        model = RobustClassifier("rbf", random_state=0).fit(X, y)
        flagged = ~model.inlier_mask_
        expected += model.expected_false_flags_
        happened += int(np.sum(flagged & ~wrong))
        n_flagged += int(flagged.sum())
    assert n_flagged > 200
    assert abs(happened - expected) < 0.06 * n_flagged


def test_more_than_two_classes():
    X, y = make_classification(
        500,
        6,
        n_informative=5,
        n_redundant=0,
        n_classes=4,
        n_clusters_per_class=1,
        class_sep=2.0,
        flip_y=0,
        random_state=0,
    )
    X, X_test, y, y_test = train_test_split(X, y, train_size=300, random_state=0)
    X, y, wrong = spoilt(X, y, 0.3, 0)
    model = RobustClassifier("rbf", random_state=0).fit(X, y)
    assert model.contamination_ == pytest.approx(0.3, abs=0.07)
    assert wrong[~model.inlier_mask_].mean() > 0.9
    plain = SVC().fit(X, y).score(X_test, y_test)
    assert model.score(X_test, y_test) > plain - 0.01
    p = model.predict_proba(X_test)
    assert p.shape == (200, 4) and np.allclose(p.sum(1), 1)
    assert model.dual_coef_.shape == (len(model.X_fit_), 4)


def test_one_class_taken_for_another_is_found_with_its_direction():
    X, truth = make_classification(
        700, 8, n_informative=5, flip_y=0, class_sep=1.5, random_state=0
    )
    wrong = (truth == 0) & (np.random.default_rng(0).random(700) < 0.4)
    y = np.where(wrong, 1, truth)[:400]
    model = RobustClassifier("rbf", random_state=0).fit(X[:400], y)
    T = model.noise_matrix_
    assert np.allclose(T.sum(axis=1), 1.0)
    flipped = wrong[:400][truth[:400] == 0].mean()
    assert T[0, 1] == pytest.approx(flipped, abs=0.1) and T[1, 0] < 0.1
    flagged = ~model.inlier_mask_
    assert wrong[:400][flagged].mean() >= 0.85 and flagged[wrong[:400]].mean() >= 0.5
    assert np.mean(model.label_suggestion_ == truth[:400]) > 0.9
    plain = SVC().fit(X[:400], y).score(X[400:], truth[400:])
    assert model.score(X[400:], truth[400:]) > plain + 0.02


def test_labels_are_judged_alike_whatever_the_kernel():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (np.hypot(*X.T) > 1.18).astype(int)
    X, y, wrong = spoilt(X, y, 0.1, 0)
    line, curve = (RobustClassifier(k, random_state=0).fit(X, y) for k in KERNELS)
    assert np.array_equal(line.outlier_score_, curve.outlier_score_)
    assert wrong[~line.inlier_mask_].mean() > 0.9
    assert np.mean(~line.inlier_mask_[wrong]) > 0.8


def test_a_kernel_matrix_is_all_that_is_needed():
    X, y = make_moons(400, noise=0.15, random_state=0)
    X, y, wrong = spoilt(X, y, 0.2, 0)
    model = RobustClassifier("precomputed", random_state=0)
    model.fit(rbf_kernel(X, gamma=1.0), y)
    assert model.contamination_ == pytest.approx(0.2, abs=0.07)
    assert wrong[~model.inlier_mask_].mean() > 0.9


def test_rare_classes_are_neither_blamed_nor_erased():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = (X[:, 0] + X[:, 1] > 2.8).astype(int)
    assert 5 < y.sum() < 20
    clean = RobustClassifier(random_state=0).fit(X, y)
    assert clean.contamination_ == 0.0 and clean.inlier_mask_.all()
    X, y, wrong = spoilt(X, y, 0.05, 0)
    for share in ("auto", 0.05):
        model = RobustClassifier(contamination=share, random_state=0).fit(X, y)
        assert set(y[model.inlier_mask_]) == {0, 1}
        assert not np.any(~model.inlier_mask_ & ~wrong) or share == 0.05
    assert wrong[~model.inlier_mask_].mean() > 0.9


# -- the fits --------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_given_everything_it_is_logistic_regression(n_classes):
    X, y = make_classification(
        150, 5, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=0
    )
    X = 3.0 + 2.0 * X
    model = RobustClassifier(contamination=0.0, alpha=2.0).fit(X, y)
    Z = np.column_stack([StandardScaler().fit_transform(X), np.ones(len(X))])
    peer = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10).fit(Z, y)
    expected = peer.decision_function(Z)
    assert np.allclose(model.decision_function(X), expected, atol=1e-4)
    assert model.alpha_ == 2.0 and model.contamination_ == 0.0


def test_precomputed_kernel_is_the_kernel():
    X, y = make_moons(120, noise=0.2, random_state=0)
    options = {"contamination": 0.0, "alpha": 0.5}
    direct = RobustClassifier("rbf", gamma=0.7, **options).fit(X, y)
    Z = (X - direct.feature_center_) / direct.feature_scale_
    given = RobustClassifier("precomputed", **options).fit(rbf_kernel(Z, gamma=0.7), y)
    new = (X[:7] + 0.1 - direct.feature_center_) / direct.feature_scale_
    K_new = rbf_kernel(new, Z, gamma=0.7)
    # Only the size of the penalised constant differs: it knows no number of columns.
    assert np.all(given.predict(K_new) == direct.predict(X[:7] + 0.1))


@pytest.mark.parametrize("kernel", ["poly", "laplacian", "cosine", np.dot])
def test_other_kernels(kernel):
    X, y = make_moons(80, noise=0.2, random_state=0)
    model = RobustClassifier(kernel, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.75


def test_landmarks_and_pilots_for_many_rows():
    X, y = make_moons(3000, noise=0.2, random_state=0)
    X, y, wrong = spoilt(X, y, 0.2, 0)
    model = RobustClassifier("rbf", random_state=0).fit(X, y)
    assert len(model.X_fit_) <= 1000
    assert model.contamination_ == pytest.approx(0.2, abs=0.07)
    assert wrong[~model.inlier_mask_].mean() > 0.9
    clean_X, clean_y = make_moons(1000, noise=0.2, random_state=1)
    assert model.score(clean_X, clean_y) > 0.95


def test_share_taken_at_its_word():
    X, y, _, _ = breast_cancer(0)
    X, y, wrong = spoilt(X, y, 0.2, 0)
    model = RobustClassifier(contamination=0.2, random_state=0).fit(X, y)
    assert np.sum(~model.inlier_mask_) == 80
    assert wrong[~model.inlier_mask_].mean() > 0.8
    assert model.contamination_ == 0.2


def test_rows_without_weight_do_not_exist():
    X, y, _, _ = breast_cancer(0)
    weight = np.ones(len(y))
    weight[::4] = 0.0
    y_odd = y.copy()
    y_odd[::4] = 1 - y_odd[::4]
    weighted = RobustClassifier(random_state=0).fit(X, y_odd, sample_weight=weight)
    fewer = RobustClassifier(random_state=0).fit(X[weight > 0], y[weight > 0])
    assert np.allclose(weighted.coef_, fewer.coef_)
    assert weighted.inlier_mask_[::4].all()
    assert np.all(weighted.outlier_score_[::4] == 0)


def noisy_moons(n):
    X, y = make_moons(n, noise=0.15, random_state=0)
    return spoilt(X, y, 0.2, 0)


def same_fit(a, b, X):
    assert np.array_equal(a.decision_function(X), b.decision_function(X))
    assert a.contamination_ == b.contamination_
    assert a.contamination_interval_ == b.contamination_interval_


@pytest.mark.parametrize("kernel", KERNELS)
def test_constant_weights_are_no_weights(kernel):
    X, y, _ = noisy_moons(120)
    plain = RobustClassifier(kernel, random_state=0).fit(X, y)
    for value in (0.1, 1 / 120):
        model = RobustClassifier(kernel, random_state=0)
        same_fit(model.fit(X, y, sample_weight=np.full(120, value)), plain, X)
        assert np.array_equal(model.outlier_score_, plain.outlier_score_)


@pytest.mark.numerics
@pytest.mark.parametrize("n", [16, 120])
@pytest.mark.parametrize("kernel", KERNELS)
def test_weights_are_copies_in_any_order(kernel, n):
    X, y, _ = noisy_moons(n)
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, n)
    many = rng.permutation(np.repeat(np.arange(n), weight))
    a = RobustClassifier(kernel, random_state=0).fit(X, y, sample_weight=weight)
    b = RobustClassifier(kernel, random_state=0).fit(X[many], y[many])
    same_fit(a, b, X)
    assert np.array_equal(a.outlier_score_[many], b.outlier_score_)
    assert np.array_equal(a.inlier_mask_[many], b.inlier_mask_)


def test_neither_copies_nor_units_of_weights_hide_wrong_labels():
    X, y, _, _ = breast_cancer(0)
    X, y, _ = spoilt(X, y, 0.2, 0)
    once = RobustClassifier(random_state=0).fit(X, y)
    assert once.contamination_ == pytest.approx(0.2, abs=0.07)
    light = RobustClassifier(random_state=0).fit(X, y, np.full(len(y), 1 / 400))
    same_fit(once, light, X)
    thrice = RobustClassifier(random_state=0)
    same_fit(once, thrice.fit(np.repeat(X, 3, axis=0), np.repeat(y, 3)), X)


def test_equal_features_with_both_labels_are_overlap_not_noise():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 5)).astype(float)
    y = (rng.random(600) < expit(X @ [1.5, -1.5, 1.0, -1.0, 0.5] - 0.25)).astype(int)
    model = RobustClassifier("rbf", random_state=0).fit(X, y)
    assert model.contamination_ <= 0.02 and model.inlier_mask_.all()


# -- explanations ----------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_explanations_name_the_column(kernel):
    X, y, _, _ = breast_cancer(0)
    model = RobustClassifier(kernel, random_state=0).fit(X, y)
    rng = np.random.default_rng(0)
    bad, columns = X[:40].copy(), rng.integers(0, X.shape[1], 40)
    bad[np.arange(40), columns] = 60.0
    found = model.explain_outliers(bad, y[:40])
    assert np.mean(found.columns[:, 0] == columns) > 0.9
    usual = model.explain_outliers(X[:40], y[:40])
    assert np.all(found.leverage > usual.leverage)
    turned = model.explain_outliers(X[:40], 1 - y[:40])
    assert np.mean(turned.residual > usual.residual) > 0.9
    p = model.predict_proba(X[:40])[np.arange(40), y[:40]]
    assert np.allclose(usual.residual, np.sqrt(-2 * np.log(p)))
    falling = np.take_along_axis(found.contributions, found.columns, axis=1)
    assert np.all(np.diff(falling, axis=1) <= 0)


# -- guards ----------------------------------------------------------------------------


def _rows(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


GUARDS = {
    "ten rows": (_rows(10, 3), np.arange(10) % 2),
    "two rows": (_rows(2, 2), np.array([0, 1])),
    "more columns than rows": (_rows(60, 200), np.arange(60) % 2),
    "constant columns": (
        np.column_stack([_rows(80, 2), np.full((80, 2), 7.3)]),
        np.arange(80) % 2,
    ),
    "identical rows": (np.ones((90, 3)), np.arange(90) % 2),
    "one-hot columns": (np.eye(6)[np.arange(120) % 6], np.arange(120) % 3),
    "a class of one": (_rows(70, 3), np.r_[2, np.arange(69) % 2]),
    "lone classes": (_rows(60, 3), np.r_[2:5, np.arange(57) % 2]),
    "rare class": (_rows(100, 3), np.r_[[2] * 4, np.arange(96) % 2]),
    "huge values": (1e150 * _rows(80, 3), np.arange(80) % 2),
    "some huge rows": (
        np.r_[np.full((20, 3), 1e300), _rows(180, 3)],
        np.arange(200) % 2,
    ),
    "one column": (_rows(80, 1), np.arange(80) % 2),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("contamination", ["auto", 0.0, 0.49])
@pytest.mark.parametrize("case", GUARDS)
def test_a_result_without_nan(case, contamination, kernel):
    X, y = GUARDS[case]
    model = RobustClassifier(kernel, contamination=contamination, random_state=0)
    model.fit(X, y)
    p = model.predict_proba(X)
    assert np.all(np.isfinite(p)) and np.allclose(p.sum(1), 1)
    assert np.all(np.isfinite(model.outlier_score_))
    assert np.all((model.outlier_score_ >= 0) & (model.outlier_score_ <= 1))
    low, high = model.contamination_interval_
    assert 0 <= low <= model.contamination_ <= high < 1
    assert type(low) is float and type(high) is float
    assert set(y[model.inlier_mask_]) == set(y)


@pytest.mark.parametrize("factor", [1e160, 1e-160])
@pytest.mark.parametrize("kernel", KERNELS)
def test_units_of_the_features_do_not_matter(kernel, factor):
    X, y = make_moons(80, noise=0.15, random_state=0)
    factor = 2.0 ** np.round(np.log2(factor))
    usual = RobustClassifier(kernel, random_state=0).fit(X, y)
    model = RobustClassifier(kernel, random_state=0).fit(factor * X, y)
    assert np.allclose(model.predict_proba(factor * X), usual.predict_proba(X))


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_few_huge_rows_do_not_rule(kernel):
    _, X, y = linear_rule(0)
    X[:20] = 1e300
    model = RobustClassifier(kernel, random_state=0).fit(X, y)
    assert model.score(X[20:], y[20:]) > 0.8


@functools.cache
def _with_all_right(kernel, seed):
    """A table, new rows with their labels, and the score of a fit to the table."""
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(200, 3)), rng.normal(size=(2000, 3))
    slopes = np.array([2.0, -1.0, 1.0])
    y = X @ slopes + 0.7 * rng.normal(size=200) > 0
    model = RobustClassifier(kernel, random_state=0).fit(X, y)
    return X, y, new, new @ slopes > 0, model.score(new, new @ slopes > 0)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("size", [30.0, 1e3, 1e6, 1e12])
def test_wrong_rows_far_out_in_one_column_do_not_rule(size, kernel):
    lost = []
    for seed in range(3):
        X, y, new, truth, before = _with_all_right(kernel, seed)
        X, y = X.copy(), y.copy()
        X[:2, 0] = size * np.sign(X[:2, 0])
        y[:2] = X[:2, 0] < 0
        after = RobustClassifier(kernel, random_state=0).fit(X, y)
        lost.append(before - after.score(new, truth))
    assert np.mean(lost) < 0.02
    assert max(lost) < 0.04


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"contamination": 0.5}, ValueError),
        ({"contamination": "some"}, TypeError),
        ({"alpha": 0.0}, ValueError),
        ({"alpha": None}, TypeError),
        ({"alpha": np.array([1.0, 2.0])}, TypeError),
        ({"contamination": np.array([0.1, 0.2])}, TypeError),
        ({"gamma": -1.0}, ValueError),
        ({"kernel": "sigmoid"}, ValueError),
        ({"fit_intercept": "yes"}, TypeError),
        ({"verbose": None}, TypeError),
    ],
)
def test_bad_parameters_are_refused_and_change_nothing(params, error):
    X, y = make_moons(60, random_state=0)
    model = RobustClassifier(random_state=0).fit(X, y)
    coef = model.coef_
    model.set_params(**params)
    with pytest.raises(error, match=next(iter(params))):
        model.fit(X, y)
    assert model.coef_ is coef


@pytest.mark.parametrize("form", [np.float32, csr_array])
def test_sparse_rows_and_floats_of_32_bits(form):
    X, y, X_test, _ = breast_cancer(0)
    X, X_test = (
        np.where(np.abs(t) < 0.3, 0, t).astype(np.float32) for t in (X, X_test)
    )
    model = RobustClassifier(random_state=0).fit(X.astype(float), y)
    other = RobustClassifier(random_state=0).fit(form(X), y)
    assert np.array_equal(model.coef_, other.coef_)
    p = other.predict_proba(form(X_test))
    assert np.array_equal(model.predict_proba(X_test.astype(float)), p)


def test_rows_of_one_group_do_not_foretell_each_other():
    """Near copies with labels by coin: nothing is to be learnt of another group."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    X = np.concatenate([rows + 1e-3 * rng.normal(size=rows.shape) for _ in range(6)])
    y, groups = np.tile(labels, 6), np.tile(np.arange(100), 6)
    coins = 500 * np.log(0.5)  # of the rows by which fits are chosen
    alone, grouped = (
        RobustClassifier("rbf", random_state=0).fit(X, y, groups=known)
        for known in (None, groups)
    )
    assert max(alone.selected_.scores.values()) > 0.5 * coins
    assert max(grouped.selected_.scores.values()) < 0.9 * coins
    assert grouped.contamination_interval_[1] > 0.3


def test_trusted_labels_are_never_flagged():
    X, y, _, _ = breast_cancer(0)
    X, labels, wrong = spoilt(X, y, 0.2, 0, factor=100.0)
    trusted = np.zeros(len(y), dtype=bool)
    trusted[np.flatnonzero(wrong)[:8]] = True  # by mistake, and far out
    for contamination in ("auto", 0.3):
        model = RobustClassifier(contamination=contamination, random_state=0)
        model.fit(X, labels, trusted=trusted)
        assert model.inlier_mask_[trusted].all()
        assert np.array_equal(model.label_suggestion_[trusted], labels[trusted])
    assert np.mean(~model.inlier_mask_[wrong & ~trusted]) > 0.8


def test_bad_data_are_refused():
    X, y = make_moons(60, random_state=0)
    with pytest.raises(ValueError, match=r"at least two classes.*one class, 0"):
        RobustClassifier().fit(X, np.zeros(60, dtype=int))
    with pytest.raises(ValueError, match="at least two classes"):
        RobustClassifier().fit(X, y, sample_weight=(y == 0).astype(float))
    with pytest.raises(ValueError, match=r"groups must be of shape \(60,\)"):
        RobustClassifier().fit(X, y, groups=y[:50])
    with pytest.raises(ValueError, match="trusted must be a boolean mask"):
        RobustClassifier().fit(X, y, trusted=y)
    with pytest.raises(ValueError, match="square matrix"):
        RobustClassifier("precomputed").fit(X, y)
    model = RobustClassifier().fit(X, y)
    with pytest.raises(ValueError, match="must be among"):
        model.explain_outliers(X, y + 1)


# -- scikit-learn ----------------------------------------------------------------------


def test_in_a_pipeline_and_a_grid():
    X, y = make_moons(90, noise=0.2, random_state=0)
    steps = make_pipeline(StandardScaler(), RobustClassifier(random_state=0))
    grid = {
        "robustclassifier__kernel": ["linear", "rbf"],
        "robustclassifier__contamination": ["auto", 0.1],
    }
    search = GridSearchCV(steps, grid, cv=2).fit(X, y)
    assert search.best_params_["robustclassifier__kernel"] == "rbf"


def test_same_seed_same_fit(capsys):
    X, y, _, _ = breast_cancer(0)
    model = RobustClassifier(random_state=3, verbose=1).fit(X, y)
    again = clone(model).fit(X, y)
    assert np.array_equal(model.coef_, again.coef_)
    assert "ordinary: contamination 0.00" in capsys.readouterr().out


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_a_kernel_model_of_few_centres(kernel):
    """So many of them have coefficients; two of each class at least."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (np.hypot(*X.T) > 1.2).astype(int)
    given = rbf_kernel(X, gamma=0.5) if kernel == "precomputed" else X
    model = RobustClassifier(kernel, n_components=30, random_state=0).fit(given, y)
    assert np.sum(model.dual_coef_ != 0.0) == 30
    assert model.score(given, y) > 0.9
    whole = RobustClassifier(kernel, n_components=999, random_state=0).fit(given, y)
    assert np.sum(whole.dual_coef_ != 0.0) == 300
    with pytest.raises(ValueError, match="n_components"):
        RobustClassifier(kernel, n_components=0).fit(given, y)


@pytest.mark.parametrize("n", [5, 12, 60])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_entries_at_the_end_of_all_numbers(n, kernel):
    X, y = np.random.default_rng(n).normal(size=(n, 2)), np.arange(n) % 2
    X[[0, -1], 0] = 1e300, -1.7e308
    model = RobustClassifier(kernel, random_state=0).fit(X, y)
    assert np.all(np.isfinite(model.predict_proba(X)))
    assert all(np.all(np.isfinite(part)) for part in model.explain_outliers(X, y))

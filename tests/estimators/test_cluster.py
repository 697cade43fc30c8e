"""RiskKMeans: scikit-learn's KMeans, the paper's accuracies, bad input."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lrisk
from lrisk import RiskKMeans
from lrisk.datasets import make_dirty_clouds
from lrisk.metrics import clustering_accuracy

# Weights count like copies in every step and in the objective, which
# `test_weights_count_like_copies_from_one_start` checks exactly; but seeds and batches
# are drawn at random, and over other rows other ones are drawn.
DRAWN = {
    f"check_sample_weight_equivalence_on_{kind}_data": "draws differ between the fits"
    for kind in ("dense", "sparse")
}


def _drawn(estimator):
    by_chance = estimator.init == "k-means++" or estimator.solver == "sgd"
    return DRAWN if by_chance else {}


@parametrize_with_checks(
    [
        # eight clusters, the default, are more than some checks have rows
        RiskKMeans(2, random_state=0),
        RiskKMeans(2, init="zeros"),
        RiskKMeans(2, spectrum="mean", init="zeros"),
        RiskKMeans(2, solver="sgd", random_state=0),
    ],
    expected_failed_checks=_drawn,
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.fixture
def clouds():
    return make_dirty_clouds(random_state=0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_mean_is_lloyds_k_means(weighted, sparse):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 4))
        weight = rng.exponential(size=300) if weighted else None
        start = X[rng.choice(300, 6, replace=False)]
        if seed % 2:  # two centres that begin without rows
            start[:2] = 60.0 + rng.normal(size=(2, 4))
        data = sp.csr_matrix(X) if sparse else X
        options = {"init": start, "n_init": 1, "tol": 0.0, "max_iter": 1000}
        theirs = KMeans(6, algorithm="lloyd", **options).fit(data, sample_weight=weight)
        ours = RiskKMeans(6, spectrum="mean", **options).fit(data, sample_weight=weight)
        np.testing.assert_allclose(
            ours.cluster_centers_, theirs.cluster_centers_, rtol=0, atol=1e-8
        )
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-8)
        new = rng.normal(size=(20, 4))
        np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
        np.testing.assert_allclose(ours.transform(new), theirs.transform(new))
        assert ours.score(new) * 20 == pytest.approx(theirs.score(new))


PAPER = {"solver": "sgd", "init": "zeros", "batch_size": 64, "learning_rate": 1.0}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"spectrum": "subquantile:0.75"},
        {"spectrum": "risk_seeking_extremile:5"},
        {"spectrum": "subquantile:0.75", **PAPER},
        {"spectrum": "risk_seeking_extremile:5", **PAPER},
    ],
)
def test_clouds_of_the_paper_are_found_in_spite_of_outliers(options):
    for seed in range(5):
        train, _ = make_dirty_clouds(random_state=seed)
        test, y = make_dirty_clouds(n_outliers=0, random_state=100 + seed)
        model = RiskKMeans(3, random_state=seed, **options).fit(train)
        assert clustering_accuracy(y, model.predict(test)) == 1.0


def test_plain_k_means_does_not_find_them():
    for seed in range(5):
        train, _ = make_dirty_clouds(random_state=seed)
        test, y = make_dirty_clouds(n_outliers=0, random_state=100 + seed)
        model = RiskKMeans(3, spectrum="mean", random_state=seed).fit(train)
        assert clustering_accuracy(y, model.predict(test)) < 0.8


@pytest.mark.parametrize(
    ("name", "spectrum", "low", "high"),
    [
        ("mnist_1v3", "subquantile:0.66", 0.968, 0.978),
        ("mnist_1v3", "risk_seeking_extremile:2", 0.973, 0.983),
        ("mnist_1v3", "mean", 0.9, 0.968),
        ("fashion_trouser_sneaker", "subquantile:0.5", 0.995, 1.0),
        ("fashion_trouser_sneaker", "risk_seeking_extremile:5", 0.995, 1.0),
    ],
)
def test_images_of_the_paper(shared, name, spectrum, low, high):
    data = np.load(shared / "data" / f"{name}.npz")
    scaler = StandardScaler().fit(data["X_train"])
    train, test = scaler.transform(data["X_train"]), scaler.transform(data["X_test"])
    model = RiskKMeans(2, spectrum=spectrum, n_init=4, random_state=0).fit(train)
    assert low <= clustering_accuracy(data["y_test"], model.predict(test)) <= high


@pytest.mark.numerics
@pytest.mark.parametrize("spectrum", ["subquantile:0.77", "risk_seeking_extremile:3"])
def test_weights_count_like_copies_from_one_start(clouds, spectrum):
    X, _ = clouds
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    model = RiskKMeans(3, spectrum=spectrum, init=X[[0, 150, 250]], tol=0.0)
    weighted = model.fit(X, sample_weight=counts)
    attributes = weighted.cluster_centers_, weighted.objective_, weighted.inertia_
    mask = np.repeat(weighted.inlier_mask_, counts)
    copied = model.fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(attributes[0], copied.cluster_centers_, rtol=1e-9)
    np.testing.assert_allclose(
        attributes[1:], [copied.objective_, copied.inertia_], rtol=1e-10
    )
    # a row that is kept in part is several copies of which some are trimmed
    assert np.sum(mask != copied.inlier_mask_) <= 3
    assert np.all(mask[copied.inlier_mask_])


@pytest.mark.parametrize(
    ("options", "apart"), [({}, 1e-9), ({"solver": "sgd", "max_iter": 200}, 0.05)]
)
def test_weights_and_copies_come_to_the_same_from_random_draws(clouds, options, apart):
    """What stands in for the two checks that other draws make fail."""
    X, _ = clouds
    counts = np.random.default_rng(1).integers(1, 4, len(X))
    for seed in range(3):
        model = RiskKMeans(3, tol=0.0, random_state=seed, **options)
        weighted = model.fit(X, sample_weight=counts).objective_
        copied = model.fit(np.repeat(X, counts, axis=0)).objective_
        assert weighted == pytest.approx(copied, rel=apart)


def test_attributes_fit_together(clouds):
    X, cloud = clouds
    model = RiskKMeans(3, spectrum="subquantile:0.7525", random_state=0).fit(X)
    distances = model.transform(X)
    np.testing.assert_allclose(model.losses_, distances.min(axis=1) ** 2)
    np.testing.assert_array_equal(model.labels_, distances.argmin(axis=1))
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.inlier_mask_.sum() == 301
    assert model.losses_[model.inlier_mask_].max() <= (
        model.losses_[~model.inlier_mask_].min()
    )
    expected = lrisk.risk(model.losses_, "subquantile:0.7525")
    assert model.objective_ == pytest.approx(expected)
    assert model.inertia_ == pytest.approx(301 * expected)
    assert -model.score(X) == pytest.approx(expected)
    assert model.inlier_mask_[cloud == -1].mean() < 0.1
    assert len(model.history_) == model.n_iter_
    values = [record["objective"] for record in model.history_]
    assert np.all(np.diff(values) < 0)


def test_trimmed_rows_are_marked_on_request(clouds):
    X, _ = clouds
    model = RiskKMeans(3, mark_trimmed=True, random_state=0)
    labels = model.fit_predict(X)
    np.testing.assert_array_equal(labels == -1, ~model.inlier_mask_)
    assert (labels == -1).sum() == 80
    plain = RiskKMeans(3, random_state=0).fit_predict(X)
    np.testing.assert_array_equal(labels[labels >= 0], plain[labels >= 0])
    assert plain.min() == 0 and model.predict(X).min() == 0


def test_the_row_at_the_boundary_is_kept_in_part():
    X = np.array([[0.0], [1.0], [10.0]])
    model = RiskKMeans(1, spectrum="subquantile:0.5", tol=0.0, random_state=0).fit(X)
    # one row and a half: (0 + ½·1)/1.5, or the other way round
    assert model.cluster_centers_[0, 0] == pytest.approx(1 / 3) or (
        model.cluster_centers_[0, 0] == pytest.approx(2 / 3)
    )
    assert model.objective_ == pytest.approx((2 / 9 + 0) / 1.0, rel=1e-9)
    np.testing.assert_array_equal(model.inlier_mask_, [True, True, False])


@pytest.mark.parametrize("solver", ["alternating", "sgd"])
def test_sparse_rows_give_the_dense_fit(clouds, solver):
    X, _ = clouds
    model = RiskKMeans(3, solver=solver, random_state=0)
    dense = model.fit(X).cluster_centers_
    for kind in (sp.csr_array, sp.csc_matrix):
        np.testing.assert_allclose(model.fit(kind(X)).cluster_centers_, dense, 1e-8)


def test_float32_rows_are_taken(clouds):
    X, _ = clouds
    model = RiskKMeans(3, random_state=0)
    double = model.fit(X).cluster_centers_
    single = model.fit(X.astype(np.float32)).cluster_centers_
    np.testing.assert_allclose(single, double, atol=1e-5)


def test_a_stream_is_followed(clouds):
    X, _ = clouds
    rng = np.random.default_rng(0)
    model = RiskKMeans(3, spectrum="subquantile:0.75", solver="sgd", random_state=0)
    for _ in range(40):
        model.partial_fit(X[rng.permutation(len(X))])
    assert model.n_iter_ == 40 * 7
    found = model.cluster_centers_[model.cluster_centers_[:, 0].argsort()]
    np.testing.assert_allclose(found, [[-3, 0], [0, 1], [3, 0]], atol=0.15)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.partial_fit(X).cluster_centers_, model.partial_fit(X).cluster_centers_
    )


def test_a_stream_goes_on_from_a_fit_and_a_fit_begins_anew(clouds):
    X, _ = clouds
    model = RiskKMeans(3, solver="sgd", random_state=0, max_iter=20).fit(X)
    fitted = model.cluster_centers_
    model.partial_fit(X[:64], sample_weight=np.arange(64))
    assert 0 < np.abs(model.cluster_centers_ - fitted).max() < 1.0
    assert len(model.labels_) == 64 and not hasattr(model, "history_")
    np.testing.assert_array_equal(model.fit(X).cluster_centers_, fitted)
    assert not hasattr(model, "_stream")


def test_partial_fit_is_there_only_for_sgd():
    assert not hasattr(RiskKMeans(3), "partial_fit")
    assert hasattr(RiskKMeans(3, solver="sgd"), "partial_fit")
    with pytest.raises(AttributeError) as refusal:
        RiskKMeans(3).partial_fit(np.zeros((4, 1)))
    assert "RiskKMeans: partial_fit needs solver='sgd'" in str(refusal.value.__cause__)


def test_searches_reach_into_the_spectrum(clouds):
    X, _ = clouds
    grid = {"spectrum__p": [0.5, 0.75]}
    search = GridSearchCV(RiskKMeans(3, random_state=0), grid, cv=3).fit(X)
    assert search.best_params_["spectrum__p"] == 0.5  # fewer rows, less distance
    assert search.best_estimator_.inlier_mask_.sum() == 200


def test_frames_and_pipelines(clouds):
    import pandas as pd

    X, _ = clouds
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = RiskKMeans(3, random_state=0).set_output(transform="pandas")
    out = model.fit_transform(frame)
    assert list(out.columns) == ["riskkmeans0", "riskkmeans1", "riskkmeans2"]
    assert list(model.feature_names_in_) == ["a", "b"]
    steps = make_pipeline(StandardScaler(), RiskKMeans(3, random_state=0))
    assert steps.fit_predict(X).shape == (400,)


def test_the_same_seed_gives_the_same_fit(clouds):
    X, _ = clouds
    for solver in ("alternating", "sgd"):
        model = RiskKMeans(3, solver=solver, n_init=2, random_state=1)
        np.testing.assert_array_equal(
            model.fit(X).cluster_centers_, model.fit(X).cluster_centers_
        )


def test_the_iteration_limit_warns_and_verbose_prints(clouds, capsys):
    X, _ = clouds
    model = RiskKMeans(8, spectrum="mean", tol=0.0, max_iter=1, n_init=1, verbose=1)
    with pytest.warns(ConvergenceWarning, match="raise max_iter or loosen tol"):
        model.fit(X)
    assert capsys.readouterr().out.startswith("iteration    1  objective")


ROWS = np.random.default_rng(0).normal(size=(20, 2))


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        (
            {"n_clusters": 21},
            ROWS,
            "n_clusters must be at most .* n_samples=20, got 21",
        ),
        (
            {"n_clusters": 8, "spectrum": "subquantile:0.35"},
            ROWS,
            r"spectrum must be such that at least 8 of the n_samples=20 rows are kept "
            r"\(7 are\), got Subquantile\(p=0.35\); keep more rows",
        ),
        (
            {"n_clusters": 15, "spectrum": "ranked_range:0.1:0.7"},
            ROWS,
            "at least 15 .* rows are kept",
        ),
        ({"n_clusters": 2}, np.ones((20, 2)), "number of distinct rows, 1, got 2"),
        (
            {"n_clusters": 2, "init": "zeros"},
            np.ones((20, 2)),
            "number of distinct rows, 1, got 2",
        ),
        ({}, np.r_[ROWS, [[0.0, np.nan]]], "NaN"),
        ({}, np.full((20, 2), np.inf), "infinity"),
        ({"n_clusters": 2}, ROWS * 1e200, r"X must be at most .* rescale"),
        ({"n_clusters": 0}, ROWS, "n_clusters must be a whole number of at least 1"),
        ({"init": "random"}, ROWS, "init must be one of 'k-means\\+\\+', 'zeros'"),
        ({"init": np.ones((2, 2))}, ROWS, r"init must be of shape \(8, 2\)"),
        ({"init": np.full((8, 2), np.nan)}, ROWS, "init must be finite"),
        ({"n_init": 0}, ROWS, "n_init must be"),
        ({"solver": "lloyd"}, ROWS, "solver must be one of 'alternating', 'sgd'"),
        ({"spectrum": "subquantil"}, ROWS, "did you mean 'subquantile'"),
        ({"batch_size": 0}, ROWS, "batch_size must be"),
        ({"learning_rate": 0.0}, ROWS, "learning_rate must be a finite number > 0"),
        ({"max_iter": 0}, ROWS, "max_iter must be"),
        ({"tol": -1.0}, ROWS, "tol must be"),
        (
            {"n_clusters": 1, "solver": "sgd", "learning_rate": 1e9, "batch_size": 4},
            ROWS,
            "learning_rate must be small enough for these data",
        ),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(options, X, message):
    model = RiskKMeans(2, random_state=0).fit(ROWS)
    before = {key: pickle.dumps(value) for key, value in vars(model).items()}
    model.set_params(**{"n_clusters": 8, **options})
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    for key, value in vars(model).items():
        if key.endswith("_"):
            assert pickle.dumps(value) == before[key]


@pytest.mark.parametrize(
    "options",
    [{"n_clusters": 2.5}, {"mark_trimmed": 1}, {"average": None}, {"verbose": "yes"}],
)
def test_values_of_the_wrong_type_are_refused(options):
    with pytest.raises(TypeError, match=next(iter(options))):
        RiskKMeans().set_params(**options).fit(ROWS)


def test_weights_that_leave_too_few_rows_are_refused():
    weight = np.r_[np.ones(3), np.zeros(17)]
    with pytest.raises(ValueError, match="with weight, n_samples=3, got 4"):
        RiskKMeans(4, spectrum="mean").fit(ROWS, sample_weight=weight)
    heavy = np.r_[np.full(16, 1.0), np.full(4, 100.0)]
    with pytest.raises(ValueError, match="rows are kept"):
        RiskKMeans(17, spectrum="subquantile:0.2").fit(ROWS, sample_weight=heavy)


def test_a_stream_that_diverges_is_refused(clouds):
    X, _ = clouds
    model = RiskKMeans(1, solver="sgd", learning_rate=1e60, batch_size=8)
    with pytest.raises(ValueError, match="learning_rate must be small enough"):
        model.partial_fit(X)
    assert not hasattr(model, "cluster_centers_")


def test_a_stream_keeps_its_number_of_clusters(clouds):
    X, _ = clouds
    model = RiskKMeans(3, solver="sgd", random_state=0).partial_fit(X)
    centers = model.cluster_centers_
    with pytest.raises(ValueError, match="n_clusters must be 3 as in the calls before"):
        model.set_params(n_clusters=4).partial_fit(X)
    assert model.cluster_centers_ is centers


@pytest.mark.parametrize("form", ["float64", "float32", "sparse"])
@pytest.mark.parametrize("bad", [1, 27])
def test_trimmed_centres_stay_where_they_are_however_far_the_outliers(form, bad):
    """One row or many below the trimmed share, scattered or at one point."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        middles = np.array([[-4.0, 0.0], [0.0, 5.0], [4.0, 0.0]])
        X = middles[rng.integers(3, size=300)] + 0.5 * rng.normal(size=(300, 2))
        away = rng.normal(size=(bad, 2)) if seed % 2 else np.ones((bad, 2))
        centres = []
        for size in (1e3, 1e6, 1e12):
            X[:bad] = size * away
            rows = sp.csr_array(X) if form == "sparse" else X.astype(form)
            model = RiskKMeans(3, spectrum="subquantile:0.9", random_state=seed)
            found = model.fit(rows).cluster_centers_
            centres.append(found[np.argsort(found[:, 0])])
            assert not model.inlier_mask_[:bad].any()
        assert np.abs(centres[0] - middles).max() < 0.3
        np.testing.assert_allclose(centres[1:], [centres[0]] * 2, atol=1e-4)

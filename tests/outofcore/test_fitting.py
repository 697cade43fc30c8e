"""Fits of rows that stay where they are, against the estimators' own."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import lrisk
from lrisk.outofcore import fit

pytestmark = pytest.mark.numerics
N, D = 12_000, 4
REGRESSORS = [lrisk.RiskRegressor(s) for s in ("mean", "esrm:1", "superquantile:0.9")]
REGRESSORS += [
    lrisk.RiskRegressor(s, loss="huber:0.7") for s in ("extremile:2", "superquantile")
]
CLASSIFIERS = [
    lrisk.RiskClassifier(s) for s in ("mean", "extremile:2", "superquantile:0.5")
]
every_regressor = pytest.mark.parametrize("model", REGRESSORS, ids=repr)
every_classifier = pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)


def numbers(n=N, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, D)) * [1, 10, 0.1, 1] + [0, 5, 0, -3]).astype(dtype)
    y = X @ [1.0, 0.1, 3.0, -1.0] + rng.standard_t(4, size=n)
    return X, y, rng.uniform(0.5, 2.0, n)


def labels(n=N, seed=0):
    X, y, w = numbers(n, seed=seed)
    noise = np.random.default_rng(seed + 1).normal(size=n)
    return X, np.where(y + 0.3 * noise > np.median(y), "yes", "no"), w


def agrees(model, reference, X, y, w=None):
    """Both are within the gap of one another, and of what is proven of them anew."""
    assert model.dual_gap_ <= model.tol
    top, low = reference.objective_, reference.objective_ * (1 - reference.dual_gap_)
    assert low * (1 - 1e-12) <= model.objective_ <= top * (1 + model.tol) * (1 + 1e-12)
    told = lrisk.certify(clone(model).set_params(tol=1e-9).fit(X, y, w), X, y, w)
    assert model.objective_ * (1 - model.dual_gap_) <= told.primal * (1 + 1e-12)


@every_regressor
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("intercept", [True, False])
def test_numbers_in_files(tmp_path, model, dtype, intercept):
    X, y, w = numbers(dtype=dtype)
    np.save(tmp_path / "X.npy", X)
    model = clone(model).set_params(fit_intercept=intercept)
    reference = clone(model).fit(X.astype(float), y, w)
    found = fit(clone(model), tmp_path / "X.npy", y, None, w, n_threads=2)
    agrees(found, reference, X.astype(float), y, w)
    assert found.coef_.shape == (D,) and found.n_features_in_ == D
    assert found.weight_sum_ == pytest.approx(w.sum(), rel=1e-12)
    np.testing.assert_allclose(found.predict(X[:5]), reference.predict(X[:5]), atol=0.1)
    assert (found.intercept_ == 0.0) is not intercept


@every_classifier
@pytest.mark.parametrize("balance", [None, "balanced", {"yes": 3.0}])
def test_classes_in_batches(model, balance):
    X, y, w = labels()
    model = clone(model).set_params(class_weight=balance)
    reference = clone(model).fit(X, y, w)

    def batches():
        for k in range(0, N, 999):
            yield X[k : k + 999], y[k : k + 999], w[k : k + 999]

    found = fit(clone(model), batches(), n_threads=1)
    agrees(found, reference, X, y, w)
    assert found.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(
        found.predict_proba(X[:9]), reference.predict_proba(X[:9]), atol=0.02
    )


@pytest.mark.parametrize("spectrum", ["mean", "extremile:2", "superquantile:0.5"])
def test_margins(spectrum):
    X, y, w = labels()
    model = lrisk.RiskClassifier(spectrum, loss="squared_hinge")
    reference = clone(model).fit(X, y, w)
    found = fit(clone(model), X, y, sample_weight=w, n_threads=2)
    agrees(found, reference, X, y, w)
    assert np.mean(found.predict(X) == reference.predict(X)) > 0.999


@pytest.mark.parametrize("spectrum", ["esrm:1", "superquantile:0.9"])
def test_vectors_in_scratch_change_nothing(monkeypatch, spectrum):
    X, y, w = numbers()
    plain = fit(lrisk.RiskRegressor(spectrum), X, y, None, w, n_threads=3)
    from lrisk.outofcore import fitting

    plan = fitting.planned

    def spilled(*sizes):
        return plan(*sizes)._replace(lean=True, spilled=True, weights=False)

    monkeypatch.setattr(fitting, "planned", spilled)
    found = fit(lrisk.RiskRegressor(spectrum), X, y, None, w, n_threads=3)
    np.testing.assert_array_equal(found.coef_, plain.coef_)
    assert found.dual_gap_ == plain.dual_gap_
    assert not hasattr(found, "risk_weights_")
    assert "would not fit into memory" in found.history_[-1]["note"]


@pytest.mark.parametrize("spectrum", ["esrm:1", "superquantile:0.9"])
def test_weights_are_those_of_the_certificate(spectrum):
    X, y, w = numbers()
    found = fit(lrisk.RiskRegressor(spectrum), X, y, None, w, n_threads=2)
    assert found.risk_weights_.sum() == pytest.approx(1.0, abs=1e-9)
    # certify begins with them: a ridge regression with these weights is the fit.
    assert lrisk.certify(found, X, y, w).relative_gap <= 1e-6


@pytest.mark.parametrize("spectrum", ["mean", "esrm:1", "superquantile:0.9"])
def test_weights_on_disk(tmp_path, spectrum):
    X, y, w = numbers()
    model, path = lrisk.RiskRegressor(spectrum), tmp_path / "weights.npy"
    fit(model, X, y, None, w, n_threads=3, weights_to=path)
    stored = np.load(path)
    np.testing.assert_array_equal(model.risk_weights_, stored)
    assert stored.shape == (N,) and stored.sum() == pytest.approx(1.0, abs=1e-9)
    assert lrisk.certify(model, X, y, w).relative_gap <= 1e-6


def test_rows_without_weight_are_left_out(tmp_path):
    X, y, w = numbers()
    w[::3] = 0.0
    np.save(tmp_path / "X.npy", X)
    table = np.column_stack([X, y, w])
    np.save(tmp_path / "XYW.npy", table)
    kept = w > 0
    reference = fit(lrisk.RiskRegressor("esrm:1"), X[kept], y[kept], None, w[kept])
    for given in (
        (tmp_path / "X.npy", y, None, w),
        (X, y, None, w),
        (tmp_path / "XYW.npy", D, None, D + 1),
        (table, D, range(D), D + 1),
    ):
        found = fit(lrisk.RiskRegressor("esrm:1"), *given)
        np.testing.assert_allclose(found.coef_, reference.coef_, rtol=1e-12)
        assert "weight 0" in found.history_[-1]["note"]


def test_a_collapsed_fit_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, D)), rng.integers(0, 2, N)
    model = lrisk.RiskClassifier("superquantile:0.9")
    with pytest.warns(lrisk.CollapsedFitWarning, match="no use of the features"):
        fit(model, X, y)
    assert not np.any(model.coef_) and model.dual_gap_ <= 1e-6
    assert model.objective_ == pytest.approx(np.log(2.0), rel=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_a_collapsed_fit_of_few_rows_says_so(loss):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(2000, D)), rng.integers(0, 2, 2000)
    for spectrum, collapses in (("superquantile:0.9", True), ("mean", False)):
        model = lrisk.RiskClassifier(spectrum, loss=loss)
        plain = lrisk.RiskClassifier(spectrum, loss=loss)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit(model, X, y)
            plain.fit(X, y)
        kinds = [each.category for each in caught]
        assert kinds == [lrisk.CollapsedFitWarning] * (2 * collapses)
        assert np.any(model.coef_) != collapses
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-6)
        assert model.dual_gap_ <= 1e-6


def test_classes_are_those_of_rows_with_weight():
    X, y, w = numbers()
    labels = np.where(y > 1.0, "third", np.where(y > 0.0, "yes", "no"))
    kept = w * (labels != "third")
    model = fit(lrisk.RiskClassifier("esrm:1"), X, labels, sample_weight=kept)
    plain = lrisk.RiskClassifier("esrm:1").fit(X, labels, kept)
    assert model.classes_.tolist() == plain.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-3)
    batches = [(X, labels, w * (labels == name)) for name in ("third", "yes")]
    with pytest.raises(ValueError, match=r"two classes .* got 'one class, yes"):
        fit(lrisk.RiskClassifier("esrm:1"), batches[1:])
    both = [(X[:9], labels[:9], np.zeros(9)), (X, labels, kept)]
    again = fit(lrisk.RiskClassifier("esrm:1"), both)
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_what_is_not_finished_warns():
    X, y, _ = numbers()
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        fit(lrisk.RiskRegressor("esrm:2", max_iter=1, tol=1e-12), X, y)


def test_warm_starts_begin_where_the_last_fit_ended():
    X, y, _ = numbers()
    model = lrisk.RiskRegressor("esrm:1", warm_start=True, tol=1e-9)
    first = fit(model, X, y).n_iter_
    assert fit(model, X, y).n_iter_ <= first


def test_iterations_are_told(capsys):
    X, y, _ = numbers()
    seen = []
    model = lrisk.RiskRegressor("esrm:1", verbose=1)
    fit(model, X, y, callback=seen.append)
    assert len(seen) == model.n_iter_ == capsys.readouterr().out.count("reads")
    reads = [record["reads"] for record in seen]
    assert reads == sorted(reads) and 1 <= reads[-1] <= 12
    assert seen[-1]["gap"] == model.dual_gap_


def test_an_interrupt_keeps_the_best_so_far():
    X, y, _ = numbers()

    def stop(record):
        if record["iteration"] == 2:
            raise KeyboardInterrupt

    model = lrisk.RiskRegressor("esrm:2", tol=1e-14)
    with pytest.raises(KeyboardInterrupt, match="what it had reached is kept"):
        fit(model, X, y, callback=stop)
    best = lrisk.RiskRegressor("esrm:2").fit(X, y)
    assert best.objective_ * (1 - 1e-6) <= model.objective_ <= 1.01 * best.objective_

    def at_once(record):
        raise RuntimeError("of the callback")

    fresh = lrisk.RiskRegressor("esrm:2")
    with pytest.raises(RuntimeError):
        fit(fresh, X, y, callback=at_once)
    assert not hasattr(fresh, "coef_")


@pytest.mark.parametrize("n", [1, 2, 5, 40])
@pytest.mark.parametrize("threads", [1, 3, 7])
def test_few_rows(n, threads):
    X, y, _ = numbers(n)
    found = fit(lrisk.RiskRegressor("extremile:2"), X, y, n_threads=threads)
    reference = lrisk.RiskRegressor("extremile:2").fit(X, y)
    assert found.objective_ == pytest.approx(reference.objective_, rel=1e-5, abs=1e-20)


def test_exact_data():
    X, _, _ = numbers()
    y = X @ [1.0, 2.0, 3.0, 4.0] + 1.0
    found = fit(lrisk.RiskRegressor("esrm:1", alpha=1e-9), X, y)
    np.testing.assert_allclose(found.coef_, [1, 2, 3, 4], rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (lrisk.KernelRiskRegressor(), "RiskRegressor or RiskClassifier"),
        (lrisk.RiskRegressor("worst_case"), "an extremile"),
        (lrisk.RiskRegressor("subquantile:0.8"), "an extremile"),
        (lrisk.RiskRegressor(loss="absolute"), "loss"),
        (lrisk.RiskRegressor(solver="lsvrg"), "solver"),
        (lrisk.RiskRegressor(alpha=-1.0), "alpha"),
    ],
    ids=repr,
)
def test_what_rows_out_of_memory_cannot_do_is_refused(model, word):
    X, y, _ = numbers(50)
    with pytest.raises((TypeError, ValueError), match=word):
        fit(model, X, y)


def test_classes_must_be_two():
    X, _, _ = numbers(60)
    for y, word in (
        (np.arange(60) % 3, "two classes"),
        (np.zeros(60), "at least two classes"),
        (np.array(["a", None] * 30, dtype=object), "missing labels"),
    ):
        with pytest.raises(ValueError, match=word):
            fit(lrisk.RiskClassifier("esrm:1"), X, y)


def test_real_data(load):
    X, y = load("concrete")
    X, y = np.tile(X, (12, 1)), np.tile(y, 12)
    found = fit(lrisk.RiskRegressor("superquantile:0.8"), X, y)
    agrees(found, lrisk.RiskRegressor("superquantile:0.8").fit(X, y), X, y)

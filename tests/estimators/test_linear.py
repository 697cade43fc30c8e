"""RiskRegressor and RiskClassifier as their users meet them."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV

import lrisk
from lrisk import CollapsedFitWarning, RiskClassifier, RiskRegressor
from lrisk.solvers import LBFGS, Newton
from lrisk.spectra import Extremile, Superquantile

RISING = ["mean", "superquantile:0.6", "extremile:3", "esrm:2", "worst_case"]
rising = pytest.mark.parametrize("spectrum", RISING)


def regression(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1, 2, 0.5, 3][:d] + 1.0
    return X, X @ rng.normal(size=d) + rng.standard_t(4, size=n)


def classes(k=2, n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = X @ rng.normal(size=(3, k)) + rng.gumbel(size=(n, k))
    return X, scores.argmax(axis=1)


VARIANTS = list(itertools.product((True, False), repeat=3))


class TestMeanSpectrum:
    """With the mean spectrum the models are scikit-learn's."""

    @pytest.mark.parametrize(("intercept", "weighted", "sparse"), VARIANTS)
    @pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
    def test_ridge(self, intercept, weighted, sparse, alpha):
        X, y = regression()
        weight = np.random.default_rng(1).uniform(0, 3, len(y)) if weighted else None
        data = sp.csr_array(X) if sparse else X
        model = RiskRegressor("mean", alpha=alpha, fit_intercept=intercept, tol=1e-14)
        model.fit(data, y, sample_weight=weight)
        ridge = Ridge(alpha=alpha, fit_intercept=intercept, tol=1e-14)
        ridge.fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-6)
        np.testing.assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-6)
        np.testing.assert_allclose(model.predict(data), ridge.predict(X), rtol=1e-6)

    @pytest.mark.parametrize(("intercept", "weighted", "sparse"), VARIANTS)
    @pytest.mark.parametrize("k", [2, 3, 5])
    def test_logistic_regression(self, intercept, weighted, sparse, k):
        X, y = classes(k)
        weight = np.random.default_rng(1).uniform(0, 3, len(y)) if weighted else None
        data = sp.csr_array(X) if sparse else X
        model = RiskClassifier("mean", alpha=0.5, fit_intercept=intercept, tol=1e-14)
        model.fit(data, y, sample_weight=weight)
        other = LogisticRegression(
            C=2.0, fit_intercept=intercept, tol=1e-14, solver="newton-cholesky"
        ).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(
            model.predict_proba(data), other.predict_proba(X), rtol=1e-6, atol=1e-8
        )
        assert np.array_equal(model.predict(data), other.predict(X))


class TestWeights:
    """Weight k is k rows, weight 0 is no row, and order means nothing."""

    @rising
    def test_regressor_copies(self, spectrum):
        X, y = regression()
        weight = np.random.default_rng(2).integers(0, 4, len(y))
        copies = np.repeat(np.arange(len(y)), weight)
        model = RiskRegressor(spectrum, tol=1e-10)
        weighted = clone(model).fit(X, y, sample_weight=weight)
        copied = clone(model).fit(X[copies], y[copies])
        assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-10)
        np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-6)
        assert np.all(weighted.risk_weights_[weight == 0] == 0)
        together = np.bincount(copies, copied.risk_weights_, minlength=len(y))
        np.testing.assert_allclose(weighted.risk_weights_, together, atol=1e-5)

    @rising
    @pytest.mark.parametrize("k", [2, 3])
    def test_classifier_copies(self, spectrum, k):
        X, y = classes(k)
        X = X + 3 * np.eye(3)[y % 3]  # some separation, or strong spectra collapse
        weight = np.random.default_rng(2).integers(0, 4, len(y))
        copies = np.repeat(np.arange(len(y)), weight)
        model = RiskClassifier(spectrum, tol=1e-10)
        weighted = clone(model).fit(X, y, sample_weight=weight)
        copied = clone(model).fit(X[copies], y[copies])
        assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-9)
        np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-4, atol=1e-5)

    @rising
    def test_row_order(self, spectrum):
        X, y = regression()
        X[10:20], y[10:20] = X[:10], y[:10]  # ties
        order = np.random.default_rng(3).permutation(len(y))
        model = RiskRegressor(spectrum, tol=1e-10)
        first, second = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
        assert first.objective_ == pytest.approx(second.objective_, rel=1e-10)
        np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-5)
        np.testing.assert_allclose(
            first.risk_weights_[order], second.risk_weights_, atol=1e-4
        )
        np.testing.assert_allclose(
            first.risk_weights_[:10], first.risk_weights_[10:20], atol=1e-12
        )

    def test_scale_of_weights_scales_alpha(self):
        X, y = regression()
        one = RiskRegressor("esrm:1", alpha=1.0, tol=1e-10).fit(X, y)
        two = RiskRegressor("esrm:1", alpha=2.0, tol=1e-10)
        two.fit(X, y, sample_weight=np.full(len(y), 2.0))
        np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-6)


@pytest.mark.numerics
@rising
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_of_the_features(spectrum, scale):
    X, y = regression()
    plain = RiskRegressor(spectrum, tol=1e-8).fit(X, y)
    factors = np.array([scale, 1.0, 1.0, 1.0])
    X2 = np.column_stack([X * factors, np.full(len(y), scale), X[:, 0] * scale])
    model = RiskRegressor(spectrum, tol=1e-6).fit(X2, y)
    assert np.all(np.isfinite(model.coef_)) and np.isfinite(model.intercept_)
    assert model.dual_gap_ <= 1e-6
    if scale > 1:  # a shrunken column feels the penalty, a stretched one even less
        assert model.objective_ <= plain.objective_ * (1 + 1e-6) + 1e-6


@rising
@pytest.mark.filterwarnings("ignore::lrisk.CollapsedFitWarning")
def test_awkward_shapes(spectrum):
    rng = np.random.default_rng(0)
    for n, d in ((1, 1), (1, 5), (2, 30), (20, 60), (50, 1)):
        X = rng.normal(size=(n, d))
        y = rng.normal(size=n)
        model = RiskRegressor(spectrum, tol=1e-8).fit(X, y)
        assert np.all(np.isfinite(model.coef_)) and 0 <= model.dual_gap_ <= 1e-8
        sparse = RiskRegressor(spectrum, tol=1e-8).fit(sp.csr_array(X), y)
        np.testing.assert_allclose(model.coef_, sparse.coef_, rtol=1e-4, atol=1e-5)
    for k in (2, 3):
        X, y = classes(k, n=20)
        X = np.hstack([X, rng.normal(size=(20, 60))])
        model = RiskClassifier(spectrum, tol=1e-7).fit(X, y)
        assert 0 <= model.dual_gap_ <= 1e-7


@rising
@pytest.mark.parametrize("n", [1, 2, 4])
def test_fewer_rows_than_columns_and_all_zero(spectrum, n):
    """Rows that span nothing left a Hessian without rows, which LAPACK refused."""
    y = np.arange(1.0, n + 1)
    model = RiskRegressor(spectrum, fit_intercept=False)
    model.fit(np.zeros((n, 5)), y)
    assert not model.coef_.any() and model.dual_gap_ <= 1e-15
    assert model.objective_ == pytest.approx(lrisk.risk(y**2 / 2, spectrum))


@rising
def test_equal_targets(spectrum):
    X, _ = regression()
    model = RiskRegressor(spectrum).fit(X, np.full(len(X), 7.0))
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-12)
    assert model.intercept_ == pytest.approx(7.0)
    assert model.dual_gap_ <= 1e-6
    through_zero = RiskRegressor(spectrum, fit_intercept=False, tol=1e-8)
    through_zero.fit(X, np.full(len(X), 7.0))
    assert through_zero.objective_ > 0.1 and 0 <= through_zero.dual_gap_ <= 1e-8


@pytest.mark.parametrize("sparse", [False, True])
def test_far_offset(sparse):
    """Features far from zero: the intercept must not spoil the conditioning."""
    X, y = regression()
    far = X + 1e6
    data = sp.csr_array(far) if sparse else far
    near = RiskRegressor("superquantile", tol=1e-10).fit(X, y)
    model = RiskRegressor("superquantile", tol=1e-8).fit(data, y)
    np.testing.assert_allclose(model.coef_, near.coef_, rtol=1e-4, atol=1e-4)


def test_float32_is_used_as_it_is():
    X, y = regression()
    X32 = X.astype(np.float32)
    a = RiskRegressor("extremile:2", tol=1e-10).fit(X32, y)
    b = RiskRegressor("extremile:2", tol=1e-10).fit(X32.astype(np.float64), y)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-6)
    assert a.dual_gap_ <= 1e-10


class TestHardCases:
    """Each of these once failed."""

    @pytest.mark.parametrize(("n", "d"), [(200, 150), (100, 500), (50, 60), (60, 40)])
    @pytest.mark.parametrize("spectrum", ["superquantile:0.5", "superquantile:0.9"])
    def test_near_interpolation(self, n, d, spectrum):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        y = X[:, 0] + rng.standard_t(3, size=n)
        assert RiskRegressor(spectrum, tol=1e-8).fit(X, y).dual_gap_ <= 1e-8
        if n < d:
            quick = RiskRegressor(spectrum, solver="lbfgs", tol=1e-4).fit(X, y)
            assert quick.dual_gap_ <= 1e-4

    def test_no_penalty_and_more_features_than_rows(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(30, 200)), rng.normal(size=30)
        model = RiskRegressor("mean", alpha=0.0).fit(X, y)
        least = np.linalg.pinv(X - X.mean(axis=0)) @ (y - y.mean())
        np.testing.assert_allclose(model.coef_, least, atol=1e-9)
        np.testing.assert_allclose(model.predict(X), y, atol=1e-9)

    def test_no_penalty_and_a_constant_column(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 3))
        y = X[:, 0] + rng.normal(size=200)
        plain = RiskRegressor("mean", alpha=0.0).fit(X, y)
        for kind in (np.asarray, sp.csr_array):
            model = RiskRegressor("mean", alpha=0.0).fit(
                kind(np.column_stack([X, np.full(200, 0.1)])), y
            )
            np.testing.assert_allclose(model.coef_[:3], plain.coef_, rtol=1e-6)
            assert model.coef_[3] == 0.0

    @pytest.mark.parametrize("value", [0.1, 1234.567, 0.0])
    @rising
    def test_constant_target(self, value, spectrum):
        X, _ = regression()
        model = RiskRegressor(spectrum).fit(X, np.full(len(X), value))
        assert model.dual_gap_ == 0.0
        assert model.intercept_ == pytest.approx(value)

    @rising
    def test_weights_of_very_different_size(self, spectrum):
        X, y = regression(200)
        # the worst case looks at every row, however light, and that takes its time
        span = 2 if spectrum == "worst_case" else 6
        weight = 10.0 ** np.random.default_rng(0).uniform(-span, span, len(y))
        model = RiskRegressor(spectrum, tol=1e-6).fit(X, y, sample_weight=weight)
        assert model.dual_gap_ <= 1e-6

    def test_worst_case_under_dominating_weights(self):
        assert lrisk.risk([1.0, 2.0, 3.0], "worst_case", [1e17, 1, 1]) == 3.0

    @pytest.mark.parametrize("solver", ["newton", "lbfgs"])
    @pytest.mark.parametrize("offset", [1e6, 1e8])
    def test_far_targets(self, solver, offset):
        X, y = regression()
        near = RiskRegressor("superquantile", tol=1e-9).fit(X, y)
        far = RiskRegressor("superquantile", solver=solver, tol=1e-6).fit(X, y + offset)
        assert far.dual_gap_ <= 1e-6
        assert far.objective_ == pytest.approx(near.objective_, rel=1e-5)

    def test_lbfgs_in_mixed_units(self):
        X, y = regression()
        X = X * [1e8, 1e-3, 1.0, 1e4]
        model = RiskRegressor("superquantile", solver="lbfgs", tol=1e-6).fit(X, y)
        assert model.dual_gap_ <= 1e-6

    def test_overflow_is_refused(self):
        X, y = regression()
        with np.errstate(all="ignore"), pytest.raises(ValueError, match="rescale"):
            RiskRegressor().fit(X, y * 1e160)

    def test_numpy_flags_and_levels(self):
        X, y = regression()
        flags = {"fit_intercept": np.array([True, False])}
        GridSearchCV(RiskRegressor(), flags, cv=2).fit(X, y)

    def test_set_params_is_all_or_nothing(self):
        model = RiskRegressor("superquantile")
        with pytest.raises(ValueError, match="q must be"):
            model.set_params(alpha=7.0, spectrum__q=3.0)
        assert (model.alpha, model.spectrum) == (1.0, "superquantile")


class TestSpectrumParameter:
    def test_grid_search_changes_the_fits(self):
        X, y = regression()
        levels = np.array([0.0, 0.5, 0.9])
        for spectrum in ("superquantile", Superquantile(0.5)):
            search = GridSearchCV(
                RiskRegressor(spectrum),
                {"spectrum__q": levels},
                scoring=lrisk.metrics.make_risk_scorer("superquantile:0.9"),
                cv=3,
            ).fit(X, y)
            assert len(set(search.cv_results_["mean_test_score"])) == 3
            assert search.best_estimator_.spectrum.q in levels

    def test_set_params_is_atomic_and_does_not_leak(self):
        spectrum = Superquantile(0.5)
        model = RiskRegressor(spectrum)
        copy = clone(model).set_params(spectrum__q=0.9)
        assert (spectrum.q, copy.spectrum.q) == (0.5, 0.9)
        with pytest.raises(ValueError, match="q must be"):
            copy.set_params(spectrum__q=2.0)
        assert copy.spectrum.q == 0.9
        model = RiskRegressor("superquantile").set_params(
            spectrum="extremile", spectrum__r=3
        )
        assert model.spectrum == Extremile(3)

    def test_strings_and_objects_agree(self):
        X, y = regression()
        a = RiskRegressor("superquantile:0.7").fit(X, y)
        b = RiskRegressor(Superquantile(0.7)).fit(X, y)
        assert np.array_equal(a.coef_, b.coef_)


class TestSolverParameter:
    def test_objects_bring_their_own_settings(self):
        X, y = regression()
        model = RiskRegressor(solver=Newton(tol=1e-11)).fit(X, y)
        assert model.dual_gap_ <= 1e-11 and model.solver_ == "newton"
        assert RiskRegressor(solver="lbfgs").fit(X, y).solver_ == "lbfgs"
        for name, value in (("tol", 1e-3), ("max_iter", 5)):
            with pytest.raises(ValueError, match=f"{name} must be left alone"):
                RiskRegressor(solver=LBFGS(), **{name: value}).fit(X, y)

    def test_early_stop_keeps_the_best_and_warns(self):
        X, y = regression()
        with pytest.warns(ConvergenceWarning, match=r"relative gap .*, tol=1e-12"):
            model = RiskRegressor("superquantile:0.9", tol=1e-12, max_iter=3).fit(X, y)
        assert np.isfinite(model.dual_gap_) and model.dual_gap_ > 1e-12
        with pytest.warns(ConvergenceWarning) as caught:
            RiskRegressor("superquantile:0.9", tol=1e-12, max_iter=3).fit(X, y)
        assert caught[0].filename == __file__  # the warning points at the user's line
        proof = lrisk.certify(model, X, y)
        assert proof.relative_gap <= model.dual_gap_ * (1 + 1e-9)

    @pytest.mark.parametrize("hard", ["collinear", "leverage"])
    def test_a_gap_above_the_tolerance_is_always_said(self, hard):
        """Without a penalty a search can end by itself while its bound is poor."""
        poor = []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(20, 3))
            y = X.sum(1) + rng.normal(size=20)
            if hard == "collinear":
                X = np.c_[X, X[:, 0] + 1e-7 * rng.normal(size=20)]
            else:
                X[-1] *= 1e8
            for solver in ("lbfgs", "newton"):
                model = RiskRegressor("worst_case", alpha=0.0, solver=solver)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    gap = model.fit(X, y).dual_gap_
                said = [str(w.message) for w in caught]
                if np.isfinite(gap) and gap > 1e-6:
                    poor.append(gap)
                    assert f"relative gap {gap:.1e}, tol=1e-06" in " ".join(said)
        assert poor or hard == "leverage"

    def test_large_models_go_to_lbfgs(self):
        rng = np.random.default_rng(0)
        X = sp.random_array((3000, 4000), density=0.002, format="csr", rng=rng)
        y = X @ rng.normal(size=4000) + 0.1 * rng.normal(size=3000)
        model = RiskRegressor("superquantile:0.5", alpha=5.0, tol=1e-4).fit(X, y)
        assert model.solver_ == "lbfgs" and model.dual_gap_ <= 1e-4

    def test_unreachable_tolerance_ends(self):
        X, y = regression()
        model = RiskRegressor("mean", tol=0.0).fit(X, y)
        assert model.dual_gap_ <= 1e-14


def test_warm_start_continues():
    X, y = regression()
    model = RiskRegressor("superquantile:0.9", tol=1e-9, warm_start=True).fit(X, y)
    cold, coef = model.n_iter_, model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ <= cold
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-5)
    model.fit(X[:, :2], y)  # another shape starts anew
    assert model.coef_.shape == (2,)
    X, y = classes(3)
    classifier = RiskClassifier("mean", warm_start=True).fit(X, y)
    classifier.fit(X, np.minimum(y, 1))
    assert classifier.coef_.shape == (1, 3)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("far", [1e6, 1e12, 1e100, 1e200, np.nan])
def test_a_warm_start_from_far_off_is_none(far, solver):
    """From 10¹² scores kept errors of 10⁻⁴, and the gap was proven for these."""
    X, y = regression()
    model = RiskRegressor(
        "superquantile:0.9", tol=1e-9, solver=solver, warm_start=True
    ).fit(X, y)
    cold = model.objective_
    model.coef_ = np.full(4, far)
    model.fit(X, y)
    assert model.dual_gap_ <= 1e-9
    assert model.objective_ == pytest.approx(cold, rel=2e-9)
    losses = (y - model.predict(X)) ** 2 / 2
    value = lrisk.risk(losses, "superquantile:0.9") + model.coef_ @ model.coef_ / 120
    assert model.objective_ == pytest.approx(value, rel=1e-12)


class TestCollapse:
    def test_strong_spectrum_on_overlapping_classes(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
        with pytest.warns(CollapsedFitWarning, match="milder spectrum"):
            model = RiskClassifier("superquantile:0.9").fit(X, y)
        assert np.all(model.coef_ == 0)
        assert model.objective_ == pytest.approx(np.log(2), rel=1e-6)
        assert lrisk.certify(model, X, y).relative_gap <= 1e-5
        assert model.predict_proba(X).shape == (200, 2)

    @pytest.mark.parametrize("k", [2, 3])
    def test_no_false_alarm(self, k):
        X, y = classes(k)
        RiskClassifier("mean").fit(1e-6 * X, y)  # the penalty, not the spectrum
        RiskClassifier("superquantile:0.2").fit(X, y)

    def test_a_loose_tolerance_proves_nothing(self):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(400, 3))
        y = (0.3 * X[:, 0] + rng.logistic(size=400) > 0).astype(int)
        model = RiskClassifier("extremile:1.01", alpha=1e-6, tol=1e-2).fit(0.01 * X, y)
        assert np.any(model.coef_ != 0)

    @pytest.mark.filterwarnings("ignore::lrisk.CollapsedFitWarning")
    def test_stored_numbers_belong_to_the_stored_model(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(100, 2)), rng.integers(0, 3, 100)
        model = RiskClassifier("superquantile:0.95").fit(X, y)
        losses = lrisk.metrics.row_losses(y, model.predict_proba(X), "log")
        risk = lrisk.risk(losses, "superquantile:0.95")
        assert risk == pytest.approx(model.objective_, rel=1e-14)

    def test_real_data(self, load, standardise):
        X, y = load("heart_cleveland")
        with pytest.warns(CollapsedFitWarning):
            RiskClassifier("superquantile:0.8").fit(standardise(X), y)
        RiskClassifier("superquantile:0.4").fit(standardise(X), y)


def test_separable_classes():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = np.array(["no", "no", "yes", "yes"])
    for alpha in (1.0, 1e-6):
        model = RiskClassifier("superquantile", alpha=alpha, tol=1e-8).fit(X, y)
        assert model.dual_gap_ <= 1e-8
        assert list(model.predict(X)) == list(y)
        np.testing.assert_allclose(
            model.predict_log_proba(X), np.log(model.predict_proba(X)), atol=1e-12
        )


def test_tail_improves_on_real_data():
    """What it is for: the worst tenth of the training losses falls."""
    X, y = load_diabetes(return_X_y=True)
    losses = {}
    for spectrum in ("mean", "superquantile:0.9"):
        model = RiskRegressor(spectrum, alpha=1e-3).fit(X, y)
        losses[spectrum] = 0.5 * (y - model.predict(X)) ** 2
    worst = {s: lrisk.risk(v, "superquantile:0.9") for s, v in losses.items()}
    assert worst["superquantile:0.9"] < 0.95 * worst["mean"]


def test_history_and_verbose(capsys):
    X, y = regression()
    model = RiskRegressor(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(model.history_) == model.n_iter_
    assert model.history_[-1]["gap"] == model.dual_gap_
    gaps = [record["gap"] for record in model.history_]
    assert gaps == sorted(gaps, reverse=True)


def test_pickle_and_pandas():
    import pandas as pd
    import polars as pl

    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = RiskClassifier("extremile").fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(frame), model.predict(frame))
    other = RiskClassifier("extremile").fit(pl.DataFrame(frame.to_dict("list")), y)
    np.testing.assert_allclose(other.coef_, model.coef_)


class TestRefusals:
    """One clear error, and the estimator as it was before."""

    DATA = regression()

    @pytest.mark.parametrize(
        ("parameters", "error", "message"),
        [
            ({"spectrum": "superquantil"}, ValueError, "did you mean 'superquantile'"),
            ({"spectrum": "superquantile:2"}, ValueError, "q must be"),
            ({"spectrum": 3}, TypeError, "spectrum must be"),
            (
                {"spectrum": "subquantile:0.8", "solver": "newton"},
                ValueError,
                "increasing .*superquantile",
            ),
            (
                {"spectrum": "ranked_range", "solver": "lbfgs"},
                ValueError,
                "increasing",
            ),
            (
                {"spectrum": lrisk.spectra.CustomSpectrum(weights=[1, 3, 1])},
                ValueError,
                "only 'ranked_range:a:b'",
            ),
            ({"loss": "hinge"}, ValueError, "loss must be one of"),
            (
                {"solver": "simplex"},
                ValueError,
                "solver must be one of 'auto', 'newton'",
            ),
            ({"solver": ["newton"]}, ValueError, "solver must be one of"),
            ({"verbose": "a"}, TypeError, "verbose must be a whole number"),
            ({"alpha": -1.0}, ValueError, "alpha must be a finite number ≥ 0"),
            ({"alpha": "1"}, TypeError, "alpha must be"),
            ({"alpha": np.nan}, ValueError, "alpha must be"),
            ({"tol": -1.0}, ValueError, "tol must be"),
            ({"max_iter": 0}, ValueError, "max_iter must be"),
            ({"max_iter": 2.5}, TypeError, "max_iter must be"),
            (
                {"fit_intercept": "yes"},
                TypeError,
                "fit_intercept must be True or False",
            ),
        ],
    )
    @pytest.mark.parametrize("kind", [RiskRegressor, RiskClassifier])
    def test_parameters(self, kind, parameters, error, message):
        X, y = self.DATA
        y = y if kind is RiskRegressor else (y > 0).astype(int)
        self.unchanged(kind, X, y, None, parameters, error, message)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda X, y, w: (np.where(X > 3, np.nan, X), y, w), "NaN"),
            (lambda X, y, w: (np.where(X > 3, np.inf, X), y, w), "infinity"),
            (lambda X, y, w: (X, np.where(y > 0, np.nan, y), w), "NaN"),
            (lambda X, y, w: (X[:0], y[:0], None), "0 sample"),
            (lambda X, y, w: (X, y[:5], w), "inconsistent"),
            (lambda X, y, w: (X[:, 0], y, w), "2D"),
            (lambda X, y, w: (X, np.column_stack([y, y]), w), "1d array|y should be"),
            (lambda X, y, w: (X, y, w[:5]), "sample_weight must be of shape"),
            (lambda X, y, w: (X, y, -w), "sample_weight must be finite and ≥ 0"),
            (lambda X, y, w: (X, y, 0 * w), "zero"),
            (lambda X, y, w: (X, y, w * np.nan), "sample_weight must be finite"),
        ],
    )
    @pytest.mark.parametrize("kind", [RiskRegressor, RiskClassifier])
    def test_data(self, kind, change, message):
        X, y = self.DATA
        y = y if kind is RiskRegressor else (y > 0).astype(float)
        X2, y2, w2 = change(X, y, np.ones(len(y)))
        self.unchanged(kind, X2, y2, w2, {}, ValueError, message)

    def test_one_class(self):
        X, y = self.DATA
        one = np.zeros(len(y))
        self.unchanged(RiskClassifier, X, one, None, {}, ValueError, "two classes")
        both = (y > 0).astype(int)
        weight = (both == 0).astype(float)
        self.unchanged(RiskClassifier, X, both, weight, {}, ValueError, "two classes")

    def test_continuous_classes(self):
        X, y = self.DATA
        self.unchanged(RiskClassifier, X, y, None, {}, ValueError, "[Uu]nknown label")

    def unchanged(self, kind, X, y, weight, parameters, error, message):
        good_X, good_y = self.DATA
        good_y = good_y if kind is RiskRegressor else (good_y > 0).astype(int)
        model = kind("mean").fit(good_X, good_y)
        model.set_params(**parameters)
        before = dict(vars(model))
        with pytest.raises(error, match=message):
            model.fit(X, y, sample_weight=weight)
        assert vars(model) == before


def test_metadata_routing():
    import sklearn
    from sklearn.model_selection import cross_validate

    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 3, len(y)) * 1.0
    scorer = lrisk.metrics.make_risk_scorer("superquantile:0.9", "log")
    with sklearn.config_context(enable_metadata_routing=True):
        model = RiskClassifier("extremile").set_fit_request(sample_weight=True)
        scores = cross_validate(
            model,
            X / X.std(axis=0),
            y,
            params={"sample_weight": weight},
            scoring=scorer.set_score_request(sample_weight=True),
            cv=2,
        )["test_score"]
    assert np.all(scores < 0)


@pytest.mark.parametrize("spectrum", ["worst_case", "extremile:2"])
def test_a_constant_target_is_fitted_at_once(spectrum):
    """What is left is rounding in a target of this size, and no reason to go on."""
    X = np.random.default_rng(0).normal(size=(1000, 3)).astype(np.float32)
    model = lrisk.RiskRegressor(spectrum, solver="lbfgs", tol=1e-10)
    model.fit(X, np.full(1000, 3.7))
    assert model.n_iter_ <= 100 and model.dual_gap_ == 0.0


def test_lbfgs_goes_to_newton_where_it_stalls():
    """Kinks of few rows: L-BFGS stands still, and a small Hessian is at hand."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X @ rng.normal(size=4) + rng.normal(size=60)
    model = lrisk.RiskRegressor("worst_case", solver="lbfgs", tol=1e-10, alpha=1e-6)
    model.fit(X, y)
    sure = lrisk.RiskRegressor("worst_case", solver="newton", tol=1e-10, alpha=1e-6)
    assert model.objective_ == pytest.approx(sure.fit(X, y).objective_, rel=2e-10)
    assert model.n_iter_ <= 1000


@pytest.mark.parametrize("kind", ["x", "y", "xy"])
@pytest.mark.parametrize("bad", [1, 45])
def test_trimmed_rows_do_no_more_harm_the_farther_they_are(kind, bad):
    """Four times σ√(p/n), the error of the right rows alone, at any size."""
    for seed in range(3):
        for size in (1e3, 1e12):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(300, 3))
            y = X @ [1.0, -2.0, 0.0] + 0.1 * rng.normal(size=300)
            rows = rng.choice(300, bad, replace=False)
            if "x" in kind:
                X[rows] = size * rng.normal(size=(bad, 3))
            if "y" in kind:
                y[rows] = size * (1.0 + rng.random(bad))
            model = RiskRegressor("subquantile:0.8", random_state=seed).fit(X, y)
            error = np.linalg.norm(model.coef_ - [1.0, -2.0, 0.0])
            assert error < 4 * 0.1 * np.sqrt(4 / 300)

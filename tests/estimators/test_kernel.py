"""KernelRiskRegressor and KernelRiskClassifier as their users meet them."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV

import lrisk
from lrisk import CollapsedFitWarning, KernelRiskClassifier, KernelRiskRegressor
from lrisk.solvers import Concentration, Newton, SubquantileGradient
from lrisk.spectra import Subquantile

KERNELS = {
    "rbf": {"gamma": 0.4},
    "linear": {},
    "poly": {"gamma": 0.3, "degree": 2, "coef0": 0.5},
    "laplacian": {"gamma": 0.3},
    "cosine": {},
}
kernels = pytest.mark.parametrize("kernel", KERNELS)


def regression(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)
    bad = rng.permutation(n)[: n // 5]
    y[bad] += rng.normal(6, 3, len(bad))
    return X, y, bad


def classes(k=2, n=70, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = X @ rng.normal(size=(3, k)) * 2 + 0.3 * rng.gumbel(size=(n, k))
    return X, scores.argmax(axis=1)


class TestAgainstScikitLearn:
    @kernels
    @pytest.mark.parametrize("solver", ["auto", "concentration"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_keeping_everything_is_kernel_ridge(self, kernel, solver, weighted):
        X, y, _ = regression()
        weight = np.random.default_rng(1).uniform(0.2, 2, len(y)) if weighted else None
        options = KERNELS[kernel]
        model = KernelRiskRegressor(
            "subquantile:1",
            kernel=kernel,
            alpha=0.7,
            solver=solver,
            tol=1e-14,
            **options,
        ).fit(X, y, sample_weight=weight)
        ridge = KernelRidge(kernel=kernel, alpha=0.7, **options)
        ridge.fit(X, y, sample_weight=weight)
        new = np.random.default_rng(2).normal(size=(20, 3))
        np.testing.assert_allclose(model.predict(new), ridge.predict(new), atol=1e-8)
        if kernel in ("rbf", "laplacian"):  # others do not determine coefficients
            np.testing.assert_allclose(model.dual_coef_, ridge.dual_coef_, atol=1e-7)

    @kernels
    @pytest.mark.parametrize("k", [2, 3])
    def test_keeping_everything_is_kernel_logistic_regression(self, kernel, k):
        """Logistic regression on the square root of K, by scikit-learn."""
        X, y = classes(k)
        options = KERNELS[kernel]
        K = pairwise_kernels(X, metric=kernel, **options)
        values, vectors = np.linalg.eigh(K)
        keep = values > 1e-10 * values[-1]
        root = vectors[:, keep] * np.sqrt(values[keep])
        other = LogisticRegression(
            C=2.0, fit_intercept=False, tol=1e-14, solver="newton-cholesky"
        ).fit(root, y)
        expected = other.predict_proba(root)
        model = KernelRiskClassifier(
            "subquantile:1",
            kernel=kernel,
            alpha=0.5,
            solver=Concentration(tol=1e-14),
            **options,
        ).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-8)
        # A proven relative gap of 1e-14 is an error of its root in the scores.
        model.set_params(solver="auto", tol=1e-14).fit(X, y)
        assert model.solver_ == "newton" and model.dual_gap_ <= 1e-13
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-6)

    def test_trimmed_fit_is_kernel_ridge_of_the_kept_rows(self):
        X, y, _ = regression()
        model = KernelRiskRegressor("subquantile:0.8", alpha=0.7, gamma=0.4).fit(X, y)
        kept = model.inlier_mask_
        assert kept.sum() == 48
        ridge = KernelRidge(kernel="rbf", gamma=0.4, alpha=0.8 * 0.7)
        ridge.fit(X[kept], y[kept])
        np.testing.assert_allclose(model.predict(X), ridge.predict(X), atol=1e-9)
        np.testing.assert_allclose(model.losses_, 0.5 * (y - ridge.predict(X)) ** 2)
        assert model.losses_[kept].max() <= model.losses_[~kept].min()
        assert np.all(model.dual_coef_[~kept] == 0)

    @pytest.mark.parametrize("spectrum", ["superquantile:0.6", "extremile:2"])
    def test_rising_spectra_are_certified(self, spectrum):
        X, y, _ = regression()
        model = KernelRiskRegressor(spectrum, gamma=0.4, tol=1e-9).fit(X, y)
        assert model.dual_gap_ <= 1e-9
        assert lrisk.certify(model, X, y).relative_gap <= 1e-8
        K = pairwise_kernels(X, metric="rbf", gamma=0.4)

        def value(w):
            losses = 0.5 * (K @ w - y) ** 2
            return lrisk.risk(losses, spectrum) + 0.5 / len(y) * w @ K @ w

        assert value(model.dual_coef_) == pytest.approx(model.objective_, rel=1e-9)
        start = model.dual_coef_ + 0.01 * np.random.default_rng(0).normal(size=len(y))
        found = minimize(value, start, method="Powell", options={"maxiter": 3}).fun
        assert model.objective_ <= found * (1 + 1e-8)

    @pytest.mark.parametrize("loss", ["absolute", "pinball:0.9", "huber:0.01"])
    @pytest.mark.parametrize("spectrum", ["esrm:1", "superquantile:0.5"])
    def test_sparse_coefficients_keep_the_proof(self, spectrum, loss):
        """Under a tiny penalty coefficients 10⁻⁹ away ended a fiftieth above it."""
        for seed in range(3):
            X = np.random.default_rng(seed).normal(size=(60, 8))
            weight = np.random.default_rng(seed).uniform(0.1, 3.0, 60)
            model = KernelRiskRegressor(spectrum, gamma=0.5, loss=loss, alpha=1e-8)
            model.fit(X, np.full(60, 3.122), sample_weight=weight)
            assert model.dual_gap_ <= 1e-6

    def test_superquantile_coefficients_are_sparse(self):
        X, y, _ = regression()
        model = KernelRiskRegressor("superquantile:0.8", gamma=0.4).fit(X, y)
        assert np.sum(model.dual_coef_ != 0) < 40


class TestKernels:
    @kernels
    @pytest.mark.parametrize(
        "spectrum", ["subquantile:0.8", "superquantile:0.5", "ranked_range:0.1:0.8"]
    )
    def test_precomputed_is_named(self, kernel, spectrum):
        X, y, _ = regression()
        named = KernelRiskRegressor(
            spectrum, kernel=kernel, random_state=0, tol=1e-10, **KERNELS[kernel]
        ).fit(X, y)
        K = pairwise_kernels(X, metric=kernel, **KERNELS[kernel])
        ready = KernelRiskRegressor(
            spectrum, kernel="precomputed", random_state=0, tol=1e-10
        ).fit(K, y)
        assert ready.objective_ == pytest.approx(named.objective_, rel=1e-7)
        if "super" in spectrum or kernel == "rbf":  # the same minimum, not just value
            np.testing.assert_allclose(ready.predict(K), named.predict(X), atol=1e-4)

    def test_sparse_precomputed(self):
        X, y, _ = regression()
        K = pairwise_kernels(X, metric="rbf")
        model = KernelRiskRegressor("subquantile:0.8", kernel="precomputed")
        dense = clone(model).fit(K, y).predict(K)
        sparse = clone(model).fit(sp.csr_array(K), y).predict(sp.csr_array(K))
        np.testing.assert_allclose(sparse, dense)

    def test_callable(self):
        X, y, _ = regression(30)
        gaussian = RBF(length_scale=1.5)

        def kernel(a, b, scale):
            return scale * float(gaussian(a[None], b[None])[0, 0])

        own = KernelRiskRegressor(
            "subquantile:0.8", kernel=kernel, kernel_params={"scale": 1.0}
        ).fit(X, y)
        named = KernelRiskRegressor("subquantile:0.8", gamma=0.5 / 1.5**2).fit(X, y)
        np.testing.assert_allclose(own.predict(X), named.predict(X), atol=1e-8)

    @pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
    def test_sparse_is_dense(self, kernel):
        X, y, _ = regression()
        X[X < 0] = 0.0
        for spectrum in ("subquantile:0.8", "superquantile:0.5"):
            model = KernelRiskRegressor(spectrum, kernel=kernel, random_state=0)
            dense = clone(model).fit(X, y)
            sparse = clone(model).fit(sp.csr_array(X), y)
            np.testing.assert_allclose(
                sparse.predict(sp.csr_array(X)), dense.predict(X), atol=1e-6
            )


class TestTrimming:
    def test_wrong_rows_are_found(self):
        X, y, bad = regression(150)
        model = KernelRiskRegressor("subquantile:0.8").fit(X, y)
        assert model.inlier_mask_[bad].sum() <= 2
        assert model.dual_gap_ == np.inf and model.solver_ == "concentration"

    @pytest.mark.parametrize("p", [0.8, 0.777, 1 / 60])
    def test_mass_that_is_no_whole_row(self, p):
        X, y, _ = regression()
        model = KernelRiskRegressor(Subquantile(p)).fit(X, y)
        shares = model.risk_weights_ * 60 * p
        assert shares.sum() == pytest.approx(60 * p)
        assert np.sum(shares > 1 - 1e-9) == int(60 * p + 1e-9)
        risk = lrisk.risk(model.losses_, Subquantile(p))
        assert model.risk_weights_ @ model.losses_ == pytest.approx(risk, rel=1e-9)

    @pytest.mark.parametrize("estimator", [KernelRiskRegressor, lrisk.RiskRegressor])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_the_best_rows_of_a_ranked_range_are_inliers(self, estimator, weighted):
        X, y, bad = regression(100)
        weight = np.random.default_rng(0).integers(0, 3, 100) if weighted else None
        model = estimator("ranked_range:0.2:0.8", random_state=0)
        model.fit(X, y, sample_weight=weight)
        counted = np.ones(100) if weight is None else weight
        inside = model.inlier_mask_
        assert np.all(inside[model.risk_weights_ > 0])
        assert not inside[counted == 0].any()
        outside = ~inside & (counted > 0)
        assert model.losses_[inside].max() < model.losses_[outside].min()
        # Up to the row on the boundary, what is kept is 0.8 of the mass.
        missing = counted[inside].sum() - 0.8 * counted.sum()
        assert -1e-9 <= missing < counted.max()
        assert np.mean(inside[bad]) < 0.3

    def test_ranked_range_within_classes_cuts_each_class(self):
        X, y = classes(2)
        solver = Concentration(class_balanced=True)
        model = KernelRiskClassifier("ranked_range:0.2:0.8", solver=solver).fit(X, y)
        for label in (0, 1):
            share = np.mean(model.inlier_mask_[y == label])
            assert 0.8 - 1e-9 <= share < 0.8 + 1 / np.sum(y == label)

    def test_zero_weights_and_copies(self):
        X, y, _ = regression(40)
        weight = np.random.default_rng(0).integers(0, 3, 40)
        copies = np.repeat(np.arange(40), weight)
        for precomputed in (False, True):
            options = {"kernel": "precomputed"} if precomputed else {"gamma": 0.3}
            data = pairwise_kernels(X, metric="rbf", gamma=0.3) if precomputed else X
            some = data[np.ix_(copies, copies)] if precomputed else X[copies]
            model = KernelRiskRegressor("subquantile:0.75", **options)
            first = clone(model).fit(data, y, sample_weight=weight)
            second = clone(model).set_params(solver=Concentration(swaps=0))
            second.fit(some, y[copies])
            assert first.objective_ == pytest.approx(second.objective_, rel=1e-6)
            assert np.all(first.dual_coef_[weight == 0] == 0)
            assert np.all(np.isnan(first.losses_[weight == 0]))
            assert not first.inlier_mask_[weight == 0].any()

    @pytest.mark.parametrize("spectrum", ["risk_seeking_extremile:3", "subquantile"])
    def test_classes_descend(self, spectrum):
        X, y = classes(3)
        model = KernelRiskClassifier(spectrum).fit(X, y)
        assert model.dual_coef_.shape == (70, 3)
        for start in {r["start"] for r in model.history_}:
            values = [r["objective"] for r in model.history_ if r["start"] == start]
            if start != "heavy":  # of which there are two
                assert np.all(np.diff(values) <= 1e-12)

    def test_label_flips_on_breast_cancer(self):
        """Forty per cent of the labels flipped (paper 2, table 3, linear kernel)."""
        data, target = load_breast_cancer(return_X_y=True)
        scores = []
        for seed in range(5):
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(target))
            X, y = data[order], target[order]
            n = int(0.8 * len(y))
            X = (X - X[:n].mean(0)) / X[:n].std(0)
            labels = y[:n].copy()
            bad = rng.permutation(n)[: int(0.4 * n)]
            labels[bad] = 1 - labels[bad]
            model = KernelRiskClassifier("subquantile:0.6", kernel="linear")
            scores.append(model.fit(X[:n], labels).score(X[n:], y[n:]))
        assert np.mean(scores) >= 0.92

    def test_one_class_left_warns(self):
        X, y = classes(2)
        y[:] = 0
        y[:3] = 1
        model = KernelRiskClassifier("subquantile:0.5", alpha=10.0)
        with pytest.warns(CollapsedFitWarning, match="all kept rows are of class 0"):
            model.fit(X, y)
        balanced = Concentration(class_balanced=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.set_params(solver=balanced).fit(X, y)
        assert model.risk_weights_[y == 1].sum() == pytest.approx(3 / 70)

    @pytest.mark.parametrize("k", [2, 3])
    @pytest.mark.parametrize("solver", ["auto", "lbfgs"])
    def test_a_constant_fit_under_a_strong_spectrum_warns(self, k, solver):
        """Every row once with each class: nothing lowers the largest losses."""
        X = np.repeat(np.random.default_rng(0).normal(size=(20, 2)), k, axis=0)
        y = np.tile(np.arange(k), 20)
        y[:3] = 0
        model = KernelRiskClassifier("superquantile:0.8", solver=solver)
        with pytest.warns(CollapsedFitWarning, match="milder spectrum"):
            model.fit(X, y)
        assert model.objective_ == pytest.approx(np.log(k), rel=1e-9)
        assert not model.dual_coef_.any() and model.dual_gap_ < 1e-6
        apart = np.digitize(X[:, 0], np.quantile(X[:, 0], np.arange(1, k) / k))
        model.set_params(alpha=0.1).fit(X, apart)  # no warning
        assert model.objective_ < np.log(k)


class TestSolvers:
    def test_paper_by_name(self):
        X, y, _ = regression()
        model = KernelRiskRegressor(
            "subquantile:0.8", solver="subquantile", max_iter=500, tol=0.0, radius=1.5
        ).fit(X, y)
        assert model.solver_ == "subquantile" and model.n_iter_ == 500
        assert max(r["norm"] for r in model.history_) <= 1.5 * (1 + 1e-9)
        assert model.history_[-1]["kept"].sum() == 48
        glorot = SubquantileGradient(max_iter=500, start="glorot")
        model = KernelRiskRegressor("subquantile:0.8", solver=glorot, random_state=0)
        assert model.fit(X, y).objective_ == model.fit(X, y).objective_

    @pytest.mark.parametrize("k", [2, 3])
    def test_paper_on_classes(self, k):
        X, y = classes(k)
        exact = KernelRiskClassifier("subquantile:0.8").fit(X, y)
        paper = KernelRiskClassifier(
            "subquantile:0.8", solver="subquantile", tol=1e-9
        ).fit(X, y)
        # Two searches that end on floors of their own.
        assert paper.objective_ == pytest.approx(exact.objective_, rel=0.1)

    @pytest.mark.parametrize("steps", [30, 400])
    def test_divergence_of_the_paper_warns(self, steps):
        X, y, _ = regression()
        solver = SubquantileGradient(learning_rate=100.0, max_iter=steps)
        model = KernelRiskRegressor("subquantile:0.8", solver=solver)
        with pytest.warns(ConvergenceWarning, match="steps diverged"):
            model.fit(X, y)
        assert model.objective_ <= lrisk.risk(0.5 * y**2, "subquantile:0.8")

    def test_a_kernel_of_zeros_fits_zero(self):
        y = regression()[1]
        for solver in ("auto", "subquantile"):
            model = KernelRiskRegressor(
                "subquantile:0.8", kernel="linear", solver=solver
            )
            model.fit(np.zeros((60, 3)), y)
            np.testing.assert_array_equal(model.predict(np.ones((2, 3))), 0.0)
            expected = lrisk.risk(0.5 * y**2, "subquantile:0.8")
            assert model.objective_ == pytest.approx(expected)

    @pytest.mark.parametrize("spectrum", ["superquantile:0.5", "subquantile:0.8"])
    def test_features_far_from_zero(self, spectrum):
        """What predict gives on the training rows is what was minimised."""
        X, y, _ = regression()
        model = KernelRiskRegressor(spectrum, alpha=0.1).fit(X + 1e8, y)
        scores = model.predict(X + 1e8)
        value = lrisk.risk(0.5 * (scores - y) ** 2, spectrum)
        value += 0.1 / 120 * model.dual_coef_ @ scores
        assert model.objective_ == pytest.approx(value, rel=1e-8)

    def test_too_few_steps_warn(self):
        X, y, _ = regression()
        model = KernelRiskRegressor("subquantile:0.6", max_iter=1)
        with pytest.warns(ConvergenceWarning, match="iteration limit"):
            model.fit(X, y)

    def test_warm_start_and_pickle(self):
        X, y, _ = regression()
        for spectrum in ("subquantile:0.8", "superquantile:0.5"):
            model = KernelRiskRegressor(spectrum, warm_start=True).fit(X, y)
            first = model.objective_
            again = pickle.loads(pickle.dumps(model)).fit(X, y)
            assert again.objective_ <= first * (1 + 1e-6)
            assert again.n_iter_ <= model.n_iter_ + 2

    @pytest.mark.parametrize("alpha", [1.0, 0.01])
    def test_a_warm_start_never_ends_above_a_cold_one(self, alpha):
        """Whatever the last fit was; here it is one of other targets."""
        for seed in range(4):
            X, y, _ = regression(seed=seed)
            other = np.random.default_rng(seed).normal(0, 30, len(y))
            solver = Concentration(swaps=0)
            cold = KernelRiskRegressor("subquantile:0.6", alpha=alpha, solver=solver)
            warm = clone(cold).set_params(warm_start=True).fit(X, other)
            warm.fit(X, y)
            assert "last fit" in {r["start"] for r in warm.history_}
            assert warm.objective_ <= cold.fit(X, y).objective_ * (1 + 1e-12)

    def test_grid_search_over_the_kept_share(self):
        X, y, _ = regression(100)
        grid = {"spectrum__p": [0.6, 0.9], "alpha": [0.1, 1.0]}
        model = KernelRiskRegressor("subquantile", random_state=0)
        search = GridSearchCV(model, grid, cv=3).fit(X, y)
        assert search.best_params_["spectrum__p"] in (0.6, 0.9)
        K = pairwise_kernels(X, metric="rbf")
        model = KernelRiskRegressor("subquantile", kernel="precomputed")
        GridSearchCV(model, {"alpha": [0.1, 1.0]}, cv=3).fit(K, y)


class TestRefusals:
    @pytest.mark.parametrize(
        ("parameters", "error", "message"),
        [
            ({"spectrum": "subquantile:0"}, ValueError, "p must be"),
            ({"spectrum": "subquantile:1.2"}, ValueError, "p must be"),
            ({"spectrum": "subquantile:0.01"}, ValueError, "keep one row"),
            ({"kernel": "rfb"}, ValueError, "did you mean 'rbf'"),
            ({"kernel": "sigmoid"}, ValueError, "kernel must be one of"),
            ({"gamma": -1.0}, ValueError, "gamma must be"),
            ({"radius": 1.0}, ValueError, "radius must be None unless"),
            (
                {"radius": -1.0, "solver": "subquantile"},
                ValueError,
                "radius must be",
            ),
            ({"solver": "newton"}, ValueError, "increasing"),
            ({"alpha": 0.0}, ValueError, "alpha must be positive"),
            ({"kernel": "precomputed"}, ValueError, "square"),
            (
                {"kernel": lambda a, b: -float(a @ b)},
                ValueError,
                "positive semi-definite",
            ),
            (
                {"spectrum": lrisk.spectra.CustomSpectrum(weights=[1, 3, 1])},
                ValueError,
                "only 'ranked_range:a:b'",
            ),
            (
                {"spectrum": "superquantile", "solver": "subquantile"},
                ValueError,
                "decreasing",
            ),
            (
                {"spectrum": "ranked_range", "solver": "subquantile"},
                ValueError,
                "decreasing",
            ),
            ({"solver": Newton()}, ValueError, "increasing"),
            (
                {"solver": Concentration(class_balanced=True)},
                ValueError,
                "class_balanced must be False for regression",
            ),
            ({"warm_start": 1}, TypeError, "warm_start"),
        ],
    )
    def test_parameters(self, parameters, error, message):
        X, y, _ = regression()
        model = KernelRiskRegressor("subquantile:0.8").fit(X, y)
        before = model.predict(X)
        with pytest.raises(error, match=message):
            model.set_params(**parameters).fit(X, y)
        rest = {"kernel": "rbf", "gamma": None}
        np.testing.assert_array_equal(model.set_params(**rest).predict(X), before)

    @pytest.mark.parametrize("estimator", [KernelRiskRegressor, lrisk.RiskRegressor])
    @pytest.mark.parametrize("solver", ["auto", "concentration", "subquantile"])
    def test_less_than_one_row_kept(self, estimator, solver):
        X, y, _ = regression()
        model = estimator("subquantile:0.01", solver=solver)
        with pytest.raises(ValueError, match="keep one row"):
            model.fit(X, y)
        # The worst rows may be less than one: that is the largest loss.
        estimator("superquantile:0.99", tol=1e-3).fit(X, y)

    @pytest.mark.parametrize("kernel", ["rbf", "linear"])
    def test_overflow(self, kernel):
        X, y, _ = regression()
        model = KernelRiskRegressor("subquantile:0.8", kernel=kernel, random_state=0)
        with pytest.raises(ValueError, match=r"y must be at most .* rescale"):
            model.fit(X, 1e160 * y)
        large = clone(model).fit(X, 1e100 * y)
        small = clone(model).fit(X, y)
        np.testing.assert_allclose(1e-100 * large.predict(X), small.predict(X))

    def test_nan(self):
        X, y, _ = regression()
        X[3, 1] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            KernelRiskRegressor("subquantile:0.8").fit(X, y)

    def test_one_class(self):
        X, y = classes()
        with pytest.raises(ValueError, match="at least two classes"):
            KernelRiskClassifier("subquantile:0.8").fit(X, np.zeros(len(y)))

    def test_certify_needs_the_training_rows(self):
        X, y, _ = regression()
        model = KernelRiskRegressor("superquantile:0.5").fit(X, y)
        with pytest.raises(ValueError, match="training rows"):
            lrisk.certify(model, X[::-1], y)
        trimmed = KernelRiskRegressor("subquantile:0.8").fit(X, y)
        with pytest.raises(ValueError, match="increasing"):
            lrisk.certify(trimmed, X, y)

    def test_iris_with_three_classes_left(self):
        X, y = load_iris(return_X_y=True)
        model = KernelRiskClassifier("subquantile:0.7").fit(X, y)
        assert set(y[model.inlier_mask_]) == {0, 1, 2}

"""n_components: kernel models of many rows over few centres."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

import lrisk
from lrisk import KernelRiskClassifier, KernelRiskRegressor, RobustRegressor
from lrisk.estimators import kernel_base
from lrisk.procedures import nystroem as procedure
from lrisk.procedures.nystroem import drawn, row_keys
from lrisk.solvers import Concentration, SubquantileGradient


def regression(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n)
    bad = rng.random(n) < 0.2
    y[bad] = rng.normal(6, 3, int(bad.sum()))
    return X, y, bad


def truth(X):
    return np.sin(X[:, 0]) + X[:, 1] * X[:, 2]


@pytest.fixture
def streamed(monkeypatch):
    """Nothing is held, and a sample settles which rows to keep."""
    monkeypatch.setattr(kernel_base, "HELD_ENTRIES", 0)
    monkeypatch.setattr(procedure, "PILOT_ROWS", 300)
    monkeypatch.setattr(procedure, "SAMPLED", 5)


class TestRegression:
    @pytest.mark.parametrize("spectrum", ["subquantile:0.8", "superquantile:0.6"])
    @pytest.mark.parametrize("number", [60, 61, 10_000])
    def test_as_many_as_rows_is_exact(self, spectrum, number):
        X, y, _ = regression(60)
        exact = KernelRiskRegressor(spectrum).fit(X, y)
        model = KernelRiskRegressor(spectrum, n_components=number).fit(X, y)
        np.testing.assert_array_equal(model.dual_coef_, exact.dual_coef_)
        np.testing.assert_array_equal(model.predict(X), exact.predict(X))

    def test_it_is_the_ridge_of_the_kept_rows(self):
        """On the centres' span, by the normal equations."""
        X, y, _ = regression()
        model = KernelRiskRegressor(
            "subquantile:0.8", gamma=0.5, alpha=0.7, n_components=40, max_iter=100
        ).fit(X, y)
        assert model.X_fit_.shape == (40, 3) and model.dual_coef_.shape == (40,)
        kept = model.inlier_mask_
        assert kept.sum() == 1200
        Z = model.X_fit_
        K, whole = rbf_kernel(X[kept], Z, 0.5), rbf_kernel(Z, Z, 0.5)
        right = K.T @ y[kept]
        expected = np.linalg.solve(K.T @ K + 0.8 * 0.7 * whole, right)
        fitted = rbf_kernel(X, Z, 0.5) @ expected
        np.testing.assert_allclose(model.predict(X), fitted, atol=1e-6)
        losses = 0.5 * (y - fitted) ** 2
        np.testing.assert_allclose(model.losses_, losses, atol=1e-5)
        assert losses[kept].max() <= losses[~kept].min() + 1e-6
        penalty = 0.7 / (2 * 1500) * float(expected @ whole @ expected)
        value = losses[kept].sum() / 1200 + penalty
        assert model.objective_ == pytest.approx(value, rel=1e-8)

    def test_nearly_as_good_as_the_oracle(self):
        X, y, bad = regression()
        new = np.random.default_rng(9).normal(size=(2000, 3))
        oracle = KernelRidge(kernel="rbf", gamma=0.3, alpha=0.5).fit(X[~bad], y[~bad])
        model = KernelRiskRegressor(
            "subquantile:0.8", gamma=0.3, alpha=0.5, n_components=150, random_state=0
        ).fit(X, y)
        errors = [
            np.sqrt(np.mean((f(new) - truth(new)) ** 2))
            for f in (model.predict, oracle.predict)
        ]
        assert errors[0] <= 1.15 * errors[1] + 0.01
        assert np.mean(bad[model.inlier_mask_]) < 0.05
        # The centres are from the rows that were kept.
        inside = {row.tobytes() for row in X[bad]}
        assert sum(row.tobytes() in inside for row in model.X_fit_) < 8

    @pytest.mark.parametrize(
        "spectrum",
        ["subquantile:0.8", "risk_seeking_extremile:2", "ranked_range:0.1:0.8"],
    )
    def test_streamed_is_as_good_as_held(self, spectrum, streamed):
        X, y, _ = regression(900)
        options = {"gamma": 0.3, "alpha": 0.5, "n_components": 50, "random_state": 0}
        model = KernelRiskRegressor(spectrum, **options).fit(X, y)
        kernel_base.HELD_ENTRIES = 10**7
        held = KernelRiskRegressor(spectrum, **options).fit(X, y)
        np.testing.assert_array_equal(model.X_fit_, held.X_fit_)
        np.testing.assert_allclose(model.predict(X), held.predict(X), atol=1e-4)
        assert model.objective_ == pytest.approx(held.objective_, rel=1e-5)

    def test_more_steps_never_raise_the_objective(self):
        X, y, _ = regression()
        values = []
        for steps in (1, 2, 4, 50):
            model = KernelRiskRegressor(
                "subquantile:0.8", n_components=40, max_iter=steps, random_state=0
            ).fit(X, y)
            assert model.n_iter_ <= steps
            values.append(model.objective_)
        assert np.all(np.diff(values) <= 0) and values[-1] < values[0]

    @pytest.mark.parametrize("spectrum", ["superquantile:0.6", "extremile:2", "mean"])
    @pytest.mark.parametrize("held", [True, False])
    def test_rising_spectra_are_certified_on_the_span(
        self, spectrum, held, monkeypatch
    ):
        if not held:
            monkeypatch.setattr(kernel_base, "HELD_ENTRIES", 0)
        X, y, _ = regression(200)
        model = KernelRiskRegressor(
            spectrum, gamma=0.4, n_components=15, tol=1e-8, random_state=0
        ).fit(X, y)
        assert model.dual_gap_ <= 1e-8
        assert lrisk.certify(model, X, y).relative_gap <= 1e-7
        Z = model.X_fit_
        K, whole = rbf_kernel(X, Z, 0.4), rbf_kernel(Z, Z, 0.4)

        def value(c):
            losses = 0.5 * (y - K @ c) ** 2
            return lrisk.risk(losses, spectrum) + c @ whole @ c / (2 * 200)

        assert value(model.dual_coef_) == pytest.approx(model.objective_, rel=1e-7)
        best = minimize(value, model.dual_coef_, options={"maxiter": 30})
        assert best.fun >= model.objective_ * (1 - 1e-7)


class TestRows:
    def test_order_copies_and_weights_do_not_matter(self):
        X, y, _ = regression(400)
        options = {"n_components": 30, "random_state": 0, "max_iter": 60}
        base = KernelRiskRegressor("subquantile:0.8", **options).fit(X, y)
        order = np.random.default_rng(1).permutation(400)
        other = KernelRiskRegressor("subquantile:0.8", **options)
        other.fit(X[order], y[order])
        np.testing.assert_array_equal(other.X_fit_, base.X_fit_)
        np.testing.assert_allclose(other.predict(X), base.predict(X), atol=1e-8)
        np.testing.assert_array_equal(other.inlier_mask_, base.inlier_mask_[order])
        weight = np.random.default_rng(2).integers(0, 4, 400)
        weighted = KernelRiskRegressor("subquantile:0.8", **options)
        weighted.fit(X, y, sample_weight=weight)
        copies = KernelRiskRegressor("subquantile:0.8", **options)
        copies.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_array_equal(weighted.X_fit_, copies.X_fit_)
        np.testing.assert_allclose(weighted.predict(X), copies.predict(X), atol=1e-7)
        assert np.isnan(weighted.losses_[weight == 0]).all()
        assert not weighted.inlier_mask_[weight == 0].any()

    def test_sparse_and_single_precision(self):
        X, y, _ = regression(400)
        X[np.abs(X) < 0.5] = 0.0
        X = X.astype(np.float32)
        options = {"n_components": 30, "random_state": 0}
        dense = KernelRiskRegressor("subquantile:0.8", **options).fit(X, y)
        for rows in (sp.csr_array(X), sp.csc_array(X), X.astype(np.float64)):
            model = KernelRiskRegressor("subquantile:0.8", **options).fit(rows, y)
            np.testing.assert_allclose(model.predict(X), dense.predict(X), atol=1e-6)
            np.testing.assert_allclose(model.predict(rows), model.predict(X), atol=1e-6)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_memory_map_is_never_copied(self, dtype, weighted, tmp_path, streamed):
        n, d = 40_000, 50
        rng = np.random.default_rng(0)
        X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", dtype, (n, d))
        X[:] = 20 * rng.normal(size=(n, d))
        y = X[:, 0] / 20 + rng.normal(size=n)
        weight = np.ones(n)
        weight[::7] = 0
        model = KernelRiskRegressor(
            "subquantile:0.8", gamma=1e-5, n_components=5, random_state=0
        )
        X = np.load(tmp_path / "X.npy", mmap_mode="r")
        tracemalloc.start()
        model.fit(X, y, sample_weight=weight if weighted else None)
        fitting = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        model.predict(X)
        predicting = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        whole = 8 * n * d
        assert fitting < 0.9 * whole and predicting < 0.5 * whole

    def test_keys(self):
        X, y, _ = regression(3000)
        X[0] = X[1]
        X[5, 1], X[6] = 0.0, X[5]
        X[6, 1] = -0.0
        keys = row_keys(X, 3)
        assert keys[0] == keys[1] and keys[5] == keys[6]
        assert len(np.unique(keys)) == 2998
        np.testing.assert_array_equal(row_keys(sp.csr_array(X), 3), keys)
        assert not np.any(row_keys(X, 4) == keys)
        assert row_keys(X, 3, y)[0] != row_keys(X, 3, y)[1]
        # Columns are not interchangeable, and the keys are uniform.
        assert not np.any(row_keys(X[:, ::-1], 3) == keys)
        shares = np.bincount((keys >> np.uint64(61)).astype(int), minlength=8) / 3000
        assert np.abs(shares - 0.125).max() < 0.03
        draw = drawn(keys, 2998, np.full(3000, 2.0))
        assert draw.weights.sum() == 6000 and draw.weights.max() == 4

    @pytest.mark.parametrize("kinds", [3, 40, 2**63])
    def test_few_of_many_are_drawn_with_all_their_copies(self, kinds):
        rng = np.random.default_rng(0)
        keys = rng.integers(kinds, size=1000, dtype=np.uint64)
        weight = rng.uniform(size=1000)
        values, first = np.unique(keys, return_index=True)
        for count in (1, 2, 30, 400, 600, 2000):
            draw = drawn(keys, count, weight)
            np.testing.assert_array_equal(draw.rows, first[:count])
            sums = [weight[keys == value].sum() for value in values[:count]]
            np.testing.assert_allclose(draw.weights, sums, rtol=1e-12)


class TestClasses:
    @pytest.mark.parametrize("spectrum", ["subquantile:0.8", "superquantile:0.2"])
    @pytest.mark.parametrize("held", [True, False])
    def test_iris(self, spectrum, held, monkeypatch):
        if not held:
            monkeypatch.setattr(kernel_base, "HELD_ENTRIES", 0)
        X, y = load_iris(return_X_y=True)
        for target in (y, y == 1):
            model = KernelRiskClassifier(
                spectrum, n_components=40, alpha=0.1, random_state=0
            ).fit(X, target)
            # One row in five is left out of clean classes: where they meet, if two.
            assert model.score(X, target) > (0.9 if target is y else 0.85)
            assert model.dual_coef_.shape[0] == 40
            assert model.predict_proba(X).shape == (150, len(model.classes_))

    def test_within_classes(self):
        X, y = load_iris(return_X_y=True)
        model = KernelRiskClassifier(
            "subquantile:0.8",
            n_components=30,
            solver=Concentration(class_balanced=True),
            random_state=0,
        ).fit(X, y)
        np.testing.assert_array_equal(np.bincount(y[model.inlier_mask_]), [40] * 3)


class TestRobust:
    def test_few_centres_are_nearly_as_good(self):
        X, y, _ = regression(400)
        new = np.random.default_rng(9).normal(size=(2000, 3))
        errors = []
        for number in (None, 120):
            model = RobustRegressor("rbf", n_components=number, random_state=0)
            model.fit(X, y)
            errors.append(np.sqrt(np.mean((model.predict(new) - truth(new)) ** 2)))
            assert abs(model.contamination_ - 0.2) < 0.06
        assert model.X_fit_.shape == (120, 3) and model.dual_coef_.shape == (120,)
        assert errors[1] <= 1.15 * errors[0]

    def test_left_out_residuals(self):
        """By leaving rows out, at fixed centres."""
        from lrisk.procedures.outliers.kernel_fit import Components, fit_kernel
        from lrisk.spaces import Kernel

        X, y, _ = regression(80)
        weight = np.random.default_rng(1).uniform(0.5, 2, 80)
        fit = fit_kernel(
            X,
            y,
            weight,
            Kernel("rbf", gamma=0.3),
            components=Components(20, 0),
            alpha=0.5,
            search_gamma=False,
        )
        Z, target = fit.scaling(X), y - fit.level
        K, whole = rbf_kernel(Z, fit.rows, 0.3), rbf_kernel(fit.rows, fit.rows, 0.3)
        for i in (0, 7, 50):
            rest = np.arange(80) != i
            A = K[rest].T @ (weight[rest, None] * K[rest]) + 0.5 * whole
            c = np.linalg.solve(A, K[rest].T @ (weight[rest] * target[rest]))
            assert fit.left_out[i] == pytest.approx(target[i] - K[i] @ c, rel=1e-4)
        np.testing.assert_allclose(fit.predict(X) - fit.level, K @ fit.dual_coef)

    def test_as_many_as_rows_is_exact(self):
        X, y, _ = regression(120)
        exact = RobustRegressor("rbf", random_state=0).fit(X, y)
        same = RobustRegressor("rbf", n_components=120, random_state=0).fit(X, y)
        np.testing.assert_array_equal(same.predict(X), exact.predict(X))


@pytest.mark.parametrize(
    "kind", [KernelRiskRegressor, KernelRiskClassifier, RobustRegressor]
)
@pytest.mark.parametrize(
    ("value", "error"),
    [
        (0, ValueError),
        (-3, ValueError),
        (2.5, TypeError),
        (True, TypeError),
        ("many", TypeError),
    ],
)
def test_bad_numbers(kind, value, error):
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    model = kind(n_components=value)
    with pytest.raises(error, match=f"{kind.__name__}: n_components must be"):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")


def test_what_cannot_have_centres():
    X, y, _ = regression(30)
    with pytest.raises(ValueError, match="n_components must be None for kernel="):
        KernelRiskRegressor(kernel="precomputed", n_components=5).fit(X @ X.T, y)
    for solver in ("subquantile", SubquantileGradient()):
        model = KernelRiskRegressor("subquantile:0.8", n_components=5, solver=solver)
        with pytest.raises(ValueError, match="n_components must be None for solver="):
            model.fit(X, y)


def test_bad_data_leaves_the_fit_as_it_was():
    X, y, _ = regression(100)
    model = KernelRiskRegressor("subquantile:0.8", n_components=10, random_state=0)
    before = model.fit(X, y).predict(X)
    state = dict(vars(model))
    broken = X.copy()
    broken[3, 1] = np.nan
    for rows, target in ((broken, y), (X, np.full(100, 1e200)), (X[:, 0], y)):
        with pytest.raises(ValueError, match=r"NaN|rescale|2D array"):
            model.fit(rows, target)
    assert vars(model) == state
    np.testing.assert_array_equal(model.predict(X), before)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])


def spoilt(kind, share, size, seed, n=300):
    """A wave (or its sign) with wrong rows; clean rows to test on."""
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(2, n, 2))
    f, truth = (np.sin(2 * A[:, 0]) + 0.5 * A[:, 1] for A in (X, new))
    y = f + 0.1 * rng.normal(size=n)
    bad = rng.choice(n, max(1, int(share * n)), replace=False)
    if "x" in kind:
        X[bad] = size * rng.normal(size=(len(bad), 2))
    if "y" in kind:
        y[bad] = size * (1.0 + rng.random(len(bad)))
    return X, y, new, truth


@pytest.mark.parametrize("components", [50, None], ids=["nystroem", "exact"])
@pytest.mark.parametrize("kind", ["y", "x", "xy"])
@pytest.mark.parametrize("share", [0.0, 0.12])
def test_wrong_rows_do_no_more_harm_the_farther_they_are(components, kind, share):
    """Rows at 1e12 made the kernel matrix indefinite, and the fit refuse alpha."""
    for seed in range(2):
        errors = []
        for size in (1e3, 1e12):
            X, y, new, truth = spoilt(kind, share, size, seed)
            model = KernelRiskRegressor(
                "subquantile:0.8", n_components=components, gamma=0.5, alpha=0.1,
                random_state=seed,
            ).fit(X, y)  # fmt: skip
            errors.append(np.sqrt(np.mean((model.predict(new) - truth) ** 2)))
        assert errors[0] < 0.3 and errors[1] <= 1.1 * errors[0]


@pytest.mark.parametrize("components", [50, None], ids=["nystroem", "exact"])
def test_classes_of_rows_far_out(components):
    for seed in range(2):
        errors = []
        for size in (0.0, 1e3, 1e12):
            X, y, new, truth = spoilt("x" if size else "", 0.1, size, seed)
            model = KernelRiskClassifier(
                "subquantile:0.8", n_components=components, gamma=0.5, alpha=0.1,
                random_state=seed,
            ).fit(X, y > 0)  # fmt: skip
            errors.append(np.mean(model.predict(new) != (truth > 0)))
        assert max(errors[1:]) <= errors[0] + 0.02

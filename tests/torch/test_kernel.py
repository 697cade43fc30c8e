"""Kernel fits on a device are those in memory, to rounding."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge

import lrisk
from lrisk.solvers import Concentration

torch = pytest.importorskip("torch", reason="torch is not installed")

from lrisk.torch import (  # noqa: E402
    KernelRiskRegressor,
    centres,
    kernel,
    kernel_space,
)

pytestmark = pytest.mark.numerics
PATH = Concentration(starts=0, swaps=0)
KERNELS = ["rbf", "laplacian", "linear", "poly", "cosine"]


def drawn(n, seed=0, d=4, share=0.2):
    """A smooth relation, some labels of which are wrong, and whole weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)
    bad = rng.permutation(n)[: int(share * n)]
    y[bad] = rng.normal(5.0, 5.0, len(bad))
    return X, y, rng.integers(0, 3, n).astype(float)


def both(X, y, weight=None, spectrum="subquantile:0.77", device="cpu", **options):
    """The fit in memory and that of tensors."""
    plain = lrisk.KernelRiskRegressor(spectrum, **options).fit(X, y, weight)
    own = None if weight is None else torch.tensor(weight, device=device)
    rows, target = torch.tensor(X, device=device), torch.tensor(y, device=device)
    model = KernelRiskRegressor(spectrum, **options).fit(rows, target, own)
    return plain, model, rows


def check_same(plain, model, rows, within=1e-8):
    X = rows.double().cpu().numpy()
    scale = np.abs(plain.predict(X)).max()
    assert model.objective_ == pytest.approx(plain.objective_, rel=within)
    away = model.predict(rows).cpu().numpy() - plain.predict(X)
    assert np.abs(away).max() <= within * scale
    for name in ("risk_weights_", "inlier_mask_"):
        own = getattr(model, name)
        assert own.device == rows.device
        np.testing.assert_allclose(
            own.cpu().numpy(), getattr(plain, name), rtol=0, atol=1e-12
        )
    np.testing.assert_allclose(
        model.losses_.cpu().numpy(), plain.losses_, atol=within * scale**2
    )


class TestExact:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("name", KERNELS)
    def test_the_path_is_that_in_memory(self, name, weighted, device):
        for seed in range(3):
            X, y, w = drawn(400, seed)
            weight = w if weighted else None
            check_same(*both(X, y, weight, kernel=name, solver=PATH, device=device))

    @pytest.mark.parametrize("alpha", [100.0, 1.0, 1e-2])
    def test_whatever_the_penalty(self, alpha, monkeypatch):
        monkeypatch.setattr(kernel_space, "BLOCK", 128)  # several in a triangle
        for seed in range(3):
            X, y, _ = drawn(700, seed)
            check_same(*both(X, y, alpha=alpha, solver=PATH))

    def test_few_rows_are_fitted_in_memory(self, device):
        X, y, w = drawn(300)
        for weight in (None, w):
            plain, model, rows = both(X, y, weight, device=device)
            check_same(plain, model, rows, within=1e-14)
            assert torch.equal(model.X_fit_, rows)

    def test_more_rows_take_the_path_alone(self, monkeypatch):
        monkeypatch.setattr(kernel, "FEW_ROWS", 100)
        X, y, _ = drawn(300)
        model = KernelRiskRegressor("subquantile:0.77")
        model.fit(torch.tensor(X), torch.tensor(y))
        plain = lrisk.KernelRiskRegressor("subquantile:0.77", solver=PATH).fit(X, y)
        check_same(plain, model, torch.tensor(X))
        other = KernelRiskRegressor("subquantile:0.77", solver=Concentration())
        with pytest.raises(ValueError, match="starts=0 and swaps=0"):
            other.fit(torch.tensor(X), torch.tensor(y))

    def test_the_mean_is_kernel_ridge(self, monkeypatch, device):
        monkeypatch.setattr(kernel, "FEW_ROWS", 0)
        X, y, w = drawn(300)
        rows, target = torch.tensor(X, device=device), torch.tensor(y, device=device)
        for weight in (None, w):
            own = None if weight is None else torch.tensor(weight, device=device)
            model = KernelRiskRegressor(alpha=0.3).fit(rows, target, own)
            ridge = KernelRidge(kernel="rbf", alpha=0.3).fit(X, y, weight)
            found = model.predict(rows).cpu().numpy()
            np.testing.assert_allclose(found, ridge.predict(X), atol=1e-9)
            assert model.n_iter_ == 1

    @pytest.mark.parametrize("n", [1, 2, 3, 7])
    def test_hardly_any_rows(self, n):
        X, y, _ = drawn(n)
        for spectrum in ("mean", "subquantile:0.7")[: min(n, 2)]:
            options = {"tol": 1e-14} if spectrum == "mean" else {"solver": PATH}
            plain = lrisk.KernelRiskRegressor(spectrum, **options).fit(X, y)
            model = KernelRiskRegressor(spectrum, solver=PATH)
            model.fit(torch.tensor(X), torch.tensor(y))
            away = model.predict(torch.tensor(X)).numpy() - plain.predict(X)
            assert np.abs(away).max() <= 1e-8

    def test_tied_exact_and_constant_data(self):
        X = np.repeat(np.linspace(-1.0, 1.0, 20), 10)[:, None]
        for y in (np.zeros(200), np.full(200, 3.0), X[:, 0], np.tile([0.0, 1.0], 100)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", lrisk.CollapsedFitWarning)
                plain, model, rows = both(X, y, solver=PATH)
            away = model.predict(rows).numpy() - plain.predict(X)
            assert np.abs(away).max() <= 1e-8

    @pytest.mark.parametrize("far", [1e6, 1e150])
    def test_one_far_row(self, far):
        X, y, _ = drawn(200)
        X[7] = far if far < 1e10 else 1e40
        check_same(*both(X, y, solver=PATH))

    def test_one_huge_target(self):
        """It is left out, and takes no digit of the others with it."""
        X, y, _ = drawn(300)
        y[5] = 1e4
        plain = lrisk.KernelRiskRegressor("subquantile:0.77", solver=PATH).fit(X, y)
        y[5] = 1e12
        model = KernelRiskRegressor("subquantile:0.77", solver=PATH)
        model.fit(torch.tensor(X), torch.tensor(y))
        assert not bool(model.inlier_mask_[5])
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)

    def test_rows_that_leave_those_thought_sure(self, monkeypatch):
        """Few late rows: steps for the others, and another order if they are many."""
        X, y, _ = drawn(600, share=0.3)
        ordered = []
        real = kernel_space.Ordered

        def counted(*arguments):
            ordered.append(real(*arguments))
            return ordered[-1]

        monkeypatch.setattr(kernel_space, "Ordered", counted)
        monkeypatch.setattr(kernel_space, "LATE", 0.0)
        check_same(*both(X, y, alpha=1e-3, solver=PATH))
        monkeypatch.setattr(kernel_space, "STEPS", 2)
        before = len(ordered)
        check_same(*both(X, y, alpha=1e-3, solver=PATH))
        assert len(ordered) - before > before

    def test_an_indefinite_matrix_is_refused(self):
        K = -np.eye(3)
        near = torch.tensor(K)
        with pytest.raises(ValueError, match="alpha must be large enough"):
            kernel_space.Ordered(near, torch.zeros(3).double(), torch.ones(3) > 0)


class TestCentres:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("n", [1200, 5000])
    def test_the_same_as_in_memory(self, n, weighted, device):
        """Of 60 centres 5,000 rows are so many that a sample has the first steps."""
        for seed in range(3):
            X, y, w = drawn(n, seed)
            X[::50] *= 100.0
            weight, options = (w if weighted else None), {"n_components": 60}
            found = both(X, y, weight, random_state=seed, device=device, **options)
            plain, model, rows = found
            np.testing.assert_array_equal(model.X_fit_.cpu().numpy(), plain.X_fit_)
            check_same(plain, model, rows)

    def test_features_that_are_not_held(self, monkeypatch):
        monkeypatch.setattr("lrisk.estimators.kernel_base.HELD_ENTRIES", 0)
        for seed in range(3):
            X, y, w = drawn(5000, seed, d=9)
            options = {"n_components": 60, "random_state": seed, "max_iter": 5}
            for weight in (None, w):
                check_same(*both(X, y, weight, **options))

    def test_sums_are_brought_up_to_date(self, monkeypatch):
        """Over the sample once, and over the other rows once."""
        monkeypatch.setattr("lrisk.estimators.kernel_base.HELD_ENTRIES", 0)
        added, real = [], centres.DeviceSpace._add

        def counted(space, gram, right, rows, c, y):
            added.append((space.n_rows, len(rows)))
            return real(space, gram, right, rows, c, y)

        monkeypatch.setattr(centres.DeviceSpace, "_add", counted)
        X, y, w = drawn(5000, d=9)
        for weight in (None, w):
            added.clear()
            _, model, _ = both(X, y, weight, n_components=60, random_state=0)
            first, *later = added
            assert first[0] == 1200 and sum(rows for _, rows in later[:-2]) < 200
            kept = int((model.risk_weights_ > 0.0).sum())
            assert sum(rows for n, rows in added if n > 1200) < kept - 700

    def test_several_strips_and_blocks(self, monkeypatch):
        monkeypatch.setattr("lrisk.torch.centres.STRIP", 17)
        monkeypatch.setattr("lrisk.torch.kernel_values.BLOCK", 6_000)
        X, y, w = drawn(3000)
        check_same(*both(X, y, w, n_components=60, random_state=0))

    def test_centres_that_tell_the_same(self):
        """In one dimension few of a hundred are independent: the same few."""
        rng = np.random.default_rng(0)
        X = rng.uniform(-1.0, 1.0, (2000, 1))
        y = np.sin(3.0 * X[:, 0]) + 0.1 * rng.normal(size=2000)
        plain, model, rows = both(X, y, n_components=100, random_state=0)
        assert 0 < np.count_nonzero(plain.dual_coef_) < 50
        used = model.dual_coef_.numpy() != 0.0
        np.testing.assert_array_equal(used, plain.dual_coef_ != 0.0)
        check_same(plain, model, rows, within=1e-7)

    def test_the_mean(self, device):
        X, y, w = drawn(3000)
        for weight in (None, w):
            plain, model, rows = both(
                X,
                y,
                weight,
                "mean",
                device,
                n_components=50,
                random_state=0,
                tol=1e-14,
            )
            away = model.predict(rows).cpu().numpy() - plain.predict(X)
            assert np.abs(away).max() <= 1e-8
            assert not hasattr(model, "losses_")

    def test_single_precision_is_computed_with_in_double(self):
        X, y, _ = drawn(3000)
        X = X.astype(np.float32)
        check_same(*both(X, y, n_components=50, random_state=0))

    def test_without_a_penalty(self):
        X, y, _ = drawn(1000)
        check_same(*both(X, y, n_components=20, random_state=0, alpha=0.0))


def test_attributes_and_memory():
    X, y, w = drawn(400)
    plain, model, rows = both(X, y, w, solver=PATH)
    assert model.X_fit_.data_ptr() == rows.data_ptr()
    assert model.n_features_in_ == 4
    assert model.weight_sum_ == w.sum()
    assert np.isinf(model.dual_gap_)
    assert model.history_[0].keys() == plain.history_[0].keys()
    assert torch.isnan(model.losses_).equal(torch.tensor(w == 0.0))
    same = model.to_memory()
    np.testing.assert_allclose(same.predict(X), plain.predict(X), atol=1e-8)
    assert same.objective_ == model.objective_
    again = pickle.loads(pickle.dumps(model))
    assert torch.equal(again.predict(rows), model.predict(rows))
    assert clone(model).solver.starts == 0
    right = model.score(rows, torch.tensor(y), torch.tensor(w))
    assert right == pytest.approx(plain.score(X, y, w), abs=1e-8)
    model.set_params(spectrum="mean", n_components=20).fit(rows, torch.tensor(y))
    assert not hasattr(model, "losses_")
    assert model.X_fit_.shape == (20, 4)


def test_predictions_of_nothing_are_zero():
    X = torch.ones(5, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lrisk.CollapsedFitWarning)
        model = KernelRiskRegressor(solver=PATH).fit(X, torch.zeros(5))
    assert not model.predict(X).any()


def test_a_limit_is_warned_of():
    X, y, _ = drawn(300, share=0.4)
    solver = Concentration(max_iter=1, starts=0, swaps=0, tol=0.0)
    model = KernelRiskRegressor("subquantile:0.6", alpha=10.0, solver=solver)
    with pytest.warns(ConvergenceWarning, match="KernelRiskRegressor"):
        model.fit(torch.tensor(X), torch.tensor(y))


REFUSED = [
    ({"spectrum": "superquantile:0.9"}, "spectrum must be the mean or a subquantile"),
    ({"spectrum": "ranked_range:0.1:0.8"}, "spectrum must be the mean"),
    ({"kernel": "precomputed"}, "kernel must be one of the named kernels"),
    ({"kernel": max}, "kernel must be one of the named kernels"),
    ({"kernel": "rbg"}, "did you mean 'rbf'"),
    ({"solver": "newton"}, "solver must be 'auto' or a Concentration"),
    ({"alpha": -1.0}, "alpha"),
    ({"n_components": 0}, "n_components"),
    ({"gamma": 0.0}, "gamma"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED)
def test_what_has_no_form_is_refused(options, words):
    X, y, _ = drawn(20)
    model = KernelRiskRegressor(**options)
    with pytest.raises(ValueError, match=words):
        model.fit(torch.tensor(X), torch.tensor(y))
    assert not hasattr(model, "dual_coef_")


def test_no_penalty_is_refused_of_exact_models():
    X, y, _ = drawn(20)
    for spectrum in ("mean", "subquantile:0.8"):
        model = KernelRiskRegressor(spectrum, alpha=0.0, solver=PATH)
        with pytest.raises(ValueError, match="alpha must be positive"):
            model.fit(torch.tensor(X), torch.tensor(y))


def test_rows_that_cannot_be_fitted_are_refused():
    X, y = torch.ones(5, 2), torch.arange(5.0)
    model = KernelRiskRegressor(solver=PATH)
    for rows, target, weight, words in (
        (X * torch.nan, y, None, "finite"),
        (X, y[:4], None, r"y must be of shape \(5,\)"),
        (X, y.to("meta"), None, "on the device of X"),
        (X, y, -torch.ones(5), "sample_weight"),
        (X, y, torch.ones(4), "sample_weight"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(rows, target, weight)
    with pytest.raises(TypeError, match="X must be a tensor"):
        model.fit(X.numpy(), y)
    model.fit(X + torch.arange(5.0)[:, None], y)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(torch.ones(2, 3))
    with pytest.raises(ValueError, match="device of"):
        model.predict(torch.ones(2, 2, device="meta"))

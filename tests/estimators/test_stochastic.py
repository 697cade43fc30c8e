"""Stochastic solvers, streams, interrupts and callbacks behind the estimators."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lrisk
from lrisk import RiskClassifier, RiskRegressor
from lrisk.solvers import LSVRG, SGD, SOREL

#: Checks that ask two fits on different draws to agree to seven digits. The promises
#: are kept statistically: see `test_weights_count_like_copies` in tests/solvers and
#: `test_weights_in_a_stream` here. The last sets max_iter, which solver objects refuse.
RANDOM = {
    "check_class_weight_classifiers": "a solver object has a limit of its own",
    "check_sample_weight_equivalence_on_dense_data": "draws differ between the fits",
    "check_sample_weight_equivalence_on_sparse_data": "draws differ between the fits",
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::lrisk.CollapsedFitWarning")
@parametrize_with_checks(
    [
        RiskRegressor(solver=LSVRG(), random_state=0),
        RiskClassifier(solver=SOREL(), random_state=0),
        RiskRegressor(solver="sgd", random_state=0),
        RiskClassifier(solver=SGD(average=False), random_state=0),
    ],
    expected_failed_checks=lambda estimator: RANDOM,
)
def test_estimator_checks(estimator, check):
    check(estimator)


def regression(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + 3.0 + rng.standard_t(4, size=n)


def test_random_state_belongs_to_the_estimator():
    X, y = regression()
    solver = LSVRG(max_epochs=3)
    one, same, other = (
        RiskRegressor(solver=solver, random_state=seed).fit(X, y) for seed in (1, 1, 2)
    )
    assert np.array_equal(one.coef_, same.coef_)
    assert not np.array_equal(one.coef_, other.coef_)
    legacy = np.random.RandomState(0)  # scikit-learn's users pass these
    RiskRegressor(solver=solver, random_state=legacy).fit(X, y)


def test_by_name_tolerance_and_epochs_are_passed_on():
    X, y = regression()
    model = RiskRegressor("esrm:1", solver="lsvrg", tol=1e-5, random_state=0).fit(X, y)
    assert model.dual_gap_ <= 1e-5 and model.solver_ == "lsvrg"
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        model = RiskRegressor("esrm:1", solver="lsvrg", tol=1e-12, max_iter=2).fit(X, y)
    assert model.n_iter_ == 2
    RiskRegressor(solver=LSVRG(max_epochs=2)).fit(X, y)  # tol=0: no promise, no warning


def test_divergence_warns_and_keeps_the_last_good_iterate():
    X, y = regression()
    with pytest.warns(ConvergenceWarning, match="learning_rate='auto'"):
        model = RiskRegressor(solver=LSVRG(learning_rate=50.0), random_state=0).fit(
            X, y
        )
    assert np.all(np.isfinite(model.coef_)) and np.isfinite(model.objective_)


def test_warm_start_continues_an_interrupted_fit():
    X, y = regression()
    model = RiskRegressor("extremile", solver=LSVRG(max_epochs=50), warm_start=True,
                          random_state=0)  # fmt: skip

    class Stop:
        """Raises Ctrl-C in the third epoch."""

        calls = 0

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt

    if not hasattr(model, "set_callbacks"):
        pytest.skip("this scikit-learn has no callbacks")
    model.set_callbacks(Stop())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_iter_ == 3
    stopped = model.objective_
    model.set_callbacks().set_params(solver=LSVRG(max_epochs=1))
    model.fit(X, y)
    assert model.objective_ <= stopped  # one epoch from zero would not do
    fresh = clone(model).fit(X, y)
    assert fresh.objective_ > stopped


def test_callbacks_hear_of_every_iteration():
    X, y = regression()
    heard = []

    class Listener:
        def setup(self, estimator, context):
            heard.append("setup")

        def teardown(self, estimator, context):
            heard.append("teardown")

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            heard.append(context.task_name)

    model = RiskRegressor("extremile")
    if not hasattr(model, "set_callbacks"):
        pytest.skip("this scikit-learn has no callbacks")
    model.set_callbacks(Listener()).fit(X, y)
    assert heard[0] == "setup" and heard[-2:] == ["fit", "teardown"]
    assert heard.count("iteration") == model.n_iter_
    with pytest.raises(ValueError, match="alpha must be"):
        model.set_params(alpha=-1.0).fit(X, y)
    assert heard[-1] == "teardown"


class TestPartialFit:
    def test_only_where_the_solver_can(self):
        assert not hasattr(RiskRegressor(), "partial_fit")
        assert not hasattr(RiskClassifier(solver="lsvrg"), "partial_fit")
        assert hasattr(RiskRegressor(solver="sgd"), "partial_fit")
        assert hasattr(RiskClassifier(solver=SGD()), "partial_fit")
        with pytest.raises(AttributeError, match="has no attribute") as refusal:
            RiskClassifier(solver="lsvrg").partial_fit(np.eye(2), [0, 1])
        why = "RiskClassifier: partial_fit needs solver='sgd', got 'lsvrg'"
        assert why in str(refusal.value.__cause__)

    def test_mean_spectrum_learns_the_line(self):
        X, y = regression(20_000)
        model = RiskRegressor("mean", solver="sgd")
        for start in range(0, len(y), 1000):
            model.partial_fit(X[start : start + 1000], y[start : start + 1000])
        np.testing.assert_allclose(model.coef_, [1.0, -2.0, 0.5], atol=0.05)
        assert model.intercept_ == pytest.approx(3.0, abs=0.05)
        assert model.n_iter_ == 20 * 16  # batches of 64, the last of each call smaller

    def test_tail_of_the_stream(self):
        """Against a batch fit: the stream comes near the risk it minimises."""
        X, y, _ = lrisk.datasets.make_hidden_group(20_000, 3, random_state=0)
        model = RiskRegressor("superquantile:0.8", solver="sgd")
        model.partial_fit(X, y)
        best = RiskRegressor("superquantile:0.8").fit(X, y)
        mean = RiskRegressor("mean").fit(X, y)

        def tail(m):
            losses = 0.5 * (y - m.predict(X)) ** 2
            return lrisk.risk(losses, "superquantile:0.8")

        assert tail(best) <= tail(model) <= tail(best) + 0.5 * (tail(mean) - tail(best))

    @pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
    def test_classes(self, load):
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        order = np.random.default_rng(0).permutation(len(y))
        X, y = X[order], y[order]
        model = RiskClassifier("extremile:1.5", solver=SGD(batch_size=16))
        for _ in range(30):
            for start in range(0, len(y), 50):
                rows = slice(start, start + 50)
                model.partial_fit(X[rows], y[rows], classes=np.unique(y))
        assert model.score(X, y) > 0.9
        assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)

    def test_one_step_is_the_formula(self):
        """θ − η(Σσ̂∇ℓ + (α/W)w), intercept free, with W the weight seen so far."""
        X, y = regression(40)
        solver = SGD(batch_size=20, learning_rate=0.1, average=False)
        model = RiskRegressor("extremile:2", alpha=7.0, solver=solver).partial_fit(X, y)
        rows, theta = np.column_stack([X, np.ones(40)]), np.zeros(4)
        for batch, seen in ((slice(0, 20), 20), (slice(20, 40), 40)):
            residual = rows[batch] @ theta - y[batch]
            weights = np.empty(20)
            order = np.argsort(residual**2)
            weights[order] = lrisk.spectra.Extremile(2).weights(20)
            gradient = rows[batch].T @ (weights * residual)
            gradient[:3] += 7.0 / seen * theta[:3]
            theta = theta - 0.1 * gradient
        np.testing.assert_allclose(np.r_[model.coef_, model.intercept_], theta)

    def test_steep_batches_and_large_penalties_do_not_blow_it_up(self):
        X, y = regression(2000)
        X[1000] *= 1000
        model = RiskRegressor("superquantile:0.9", solver="sgd").partial_fit(X, y)
        calm = np.arange(2000) != 1000
        errors = (y - model.predict(X))[calm]
        assert np.mean(errors**2) < np.var(y[calm])
        strong = RiskRegressor("mean", alpha=1e8, solver="sgd").partial_fit(X, y)
        assert np.all(np.abs(strong.coef_) < 0.1)

    def test_what_spoke_of_a_fit_goes(self):
        X, y = regression()
        weight = np.full(len(y), 2.0)
        model = RiskRegressor("mean", solver=SGD(), warm_start=True, random_state=0)
        model.fit(X, y, sample_weight=weight)
        assert model.weight_sum_ == 800.0
        model.partial_fit(X[:64], y[:64])
        assert model.weight_sum_ == 864.0
        for name in ("objective_", "dual_gap_", "history_", "risk_weights_"):
            assert not hasattr(model, name)
        assert lrisk.certify(model, X, y).relative_gap > 0
        model.fit(X, y)  # a warm start from a stream
        with pytest.raises(ValueError, match="fit_intercept must be the same"):
            model.partial_fit(X, y).set_params(fit_intercept=False).partial_fit(X, y)

    def test_state_survives_pickling_bit_by_bit(self):
        X, y = regression()
        model = RiskRegressor("esrm:1", solver="sgd").partial_fit(X[:200], y[:200])
        copy = pickle.loads(pickle.dumps(model))
        model.partial_fit(X[200:], y[200:])
        copy.partial_fit(X[200:], y[200:])
        assert np.array_equal(model.coef_, copy.coef_)

    def test_sparse_is_dense(self):
        X, y = regression()
        dense = RiskRegressor("esrm:1", solver="sgd").partial_fit(X, y)
        sparse = RiskRegressor("esrm:1", solver="sgd").partial_fit(sp.csr_array(X), y)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-10)

    def test_weights_in_a_stream(self):
        """A weight of two is two rows in the same batch."""
        X, y = regression(30)
        weight = np.random.default_rng(0).integers(1, 3, 30)
        copies = np.repeat(np.arange(30), weight)
        solver = SGD(batch_size=100)
        one = RiskRegressor("extremile", solver=solver).partial_fit(X, y, weight * 1.0)
        two = RiskRegressor("extremile", solver=solver).partial_fit(
            X[copies], y[copies]
        )
        np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-10)

    def test_a_fit_ends_the_stream(self):
        X, y = regression()
        model = RiskRegressor("mean", solver=SGD(), random_state=0).partial_fit(X, y)
        model.fit(X, y)
        assert not hasattr(model, "_stream")
        coef = model.coef_.copy()
        model.partial_fit(X[:1], y[:1])  # and a new one goes on from it
        np.testing.assert_allclose(model.coef_, coef, atol=0.3)
        assert not np.array_equal(model.coef_, coef)

    def test_refusals_leave_the_stream_alone(self):
        X, y = regression()
        model = RiskRegressor("mean", solver="sgd").partial_fit(X, y)
        before = model.coef_.copy()
        with pytest.raises(ValueError, match="features"):
            model.partial_fit(X[:, :2], y)
        with pytest.raises(ValueError, match="NaN"):
            model.partial_fit(np.where(X > 1, np.nan, X), y)
        assert np.array_equal(model.coef_, before)
        wild = clone(model).set_params(solver=SGD(learning_rate=1e300))
        with (
            np.errstate(all="ignore"),
            pytest.raises(ValueError, match="learning_rate"),
        ):
            wild.partial_fit(X, y)
        assert not hasattr(wild, "coef_")
        classifier = RiskClassifier("mean", solver="sgd")
        with pytest.raises(ValueError, match="first call"):
            classifier.partial_fit(X, y > 0)
        classifier.partial_fit(X, y > 0, classes=[False, True])
        with pytest.raises(ValueError, match="those of the first call"):
            classifier.partial_fit(X, y > 0, classes=[0, 1, 2])
        with pytest.raises(ValueError, match="y must be among"):
            classifier.partial_fit(X, np.full(len(y), 7))
        with pytest.raises(ValueError, match="increasing"):
            RiskRegressor("subquantile", solver="sgd").partial_fit(X, y)

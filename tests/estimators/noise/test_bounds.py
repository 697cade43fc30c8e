"""`theory_bound_` over forms drawn at random: finite only where the theorems speak."""

import numpy as np
import pytest

from lrisk import NoiseCorrectedKernelRegressor, NoiseCorrectedRegressor
from lrisk.corrections import corrected_rows
from lrisk.corrections.bounds import pair_gradient_bound, regret_bound
from lrisk.noise import Exact, GaussianNoise, KnownCovariance, LaplaceNoise, Replicates
from lrisk.solvers import OnlineLinear
from lrisk.solvers.online import squared_norms

#: Values that leave the theorems true, then values that leave nothing proven.
LINEAR = {
    "learning_rate": (["theory", 0.01], ["auto"]),
    "radius": ([1.0, 3.0], ["auto"]),
    "feature_bound": ([3.0], [None]),
    "target_bound": ([2.0], [None]),
    "correction": ([1.0], [0.0, 0.7]),
    "standardize": ([False], [True]),
    "horizon": ([None, 40, 500], []),
    "fit_intercept": ([False, True], []),
    "average": ([False, True], []),
}
KERNEL = {
    "learning_rate": (["theory", 0.01], ["auto"]),
    "radius": ([1.0, 3.0], ["auto"]),
    "target_bound": ([2.0], [None]),
    "correction": ([1.0], [0.0, 0.7]),
    "standardize": ([False], [True]),
    "horizon": ([None, 40, 500], []),
    "fit_intercept": ([False], [True]),
    "gamma": ([0.2, 0.4], ["auto"]),
    "budget": ([None], [3, 40]),
    "angle": ([0.5, np.pi / 2], []),
    "average": ([False, True], []),
}


def drawn(form, rng, wrong):
    """Options, `wrong` of them outside what is proven."""
    options = {name: good[rng.integers(len(good))] for name, (good, _) in form.items()}
    open_to = [name for name, (_, bad) in form.items() if bad]
    for place in rng.choice(len(open_to), wrong, replace=False):
        bad = form[open_to[place]][1]
        options[open_to[place]] = bad[rng.integers(len(bad))]
    return options


def rows(rng, n=50):
    X = rng.uniform(-1, 1, size=(n, 2))
    copies = [X + 0.3 * rng.normal(size=X.shape) for _ in range(2)]
    return copies, X[:, 0] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(40))
def test_linear_forms(seed):
    rng = np.random.default_rng(seed)
    wrong = int(rng.integers(0, 3)) if seed % 2 else 0
    (P, Q), y = rows(rng)
    known = [KnownCovariance(0.09), GaussianNoise(0.09), LaplaceNoise(0.2), Exact()]
    noise = [*known, Replicates(), None][rng.integers(6)]
    pairs = noise is None or not noise.knows_covariance
    model = NoiseCorrectedRegressor(noise, **drawn(LINEAR, rng, wrong))
    model.partial_fit(P, y, X2=Q if pairs else None)
    assert np.isfinite(model.theory_bound_) == (wrong == 0)
    assert model.theory_bound_ > 0.0


@pytest.mark.parametrize("seed", range(40))
def test_kernel_forms(seed):
    rng = np.random.default_rng(seed)
    wrong = int(rng.integers(0, 3)) if seed % 2 else 0
    (P, Q), y = rows(rng)
    options = drawn(KERNEL, rng, wrong)
    noise = GaussianNoise(0.09)
    if wrong and rng.random() < 0.5:
        noise = LaplaceNoise(0.2)
    model = NoiseCorrectedKernelRegressor(noise, **options)
    model.partial_fit(P, y, X2=Q)
    assert np.isfinite(model.theory_bound_) == (wrong == 0)
    if options["budget"] is None and wrong == 0:
        model = NoiseCorrectedKernelRegressor(
            noise, **options, n_components=30, random_features=True, random_state=0
        )
        assert model.partial_fit(P, y, X2=Q).theory_bound_ == np.inf


PROVEN = {
    "learning_rate": "theory", "radius": 1.0, "target_bound": 2.0,
    "fit_intercept": False, "horizon": 100,
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"radius": 0.1}, {"learning_rate": 1e-3}, {"horizon": 10}, {"horizon": None},
        {"target_bound": 0.1}, {"feature_bound": 0.1}, {"correction": 0.5},
    ],
)  # fmt: skip
def test_a_stream_whose_terms_changed_proves_nothing(change):
    (P, Q), y = rows(np.random.default_rng(0))
    model = NoiseCorrectedRegressor(KnownCovariance(0.09), **PROVEN, feature_bound=3.0)
    before = model.get_params()
    assert np.isfinite(model.partial_fit(P, y).theory_bound_)
    assert model.set_params(**change).partial_fit(P, y).theory_bound_ == np.inf
    back = {name: before[name] for name in change}
    assert model.set_params(**back).partial_fit(P, y).theory_bound_ == np.inf
    model.fit(P, y)
    assert np.isfinite(model.partial_fit(P, y).theory_bound_)  # a new stream
    if change.keys() <= {"feature_bound", "correction"}:
        return
    kernel = NoiseCorrectedKernelRegressor(GaussianNoise(0.09), gamma=0.3, **PROVEN)
    assert np.isfinite(kernel.partial_fit(P, y, X2=Q).theory_bound_)
    assert kernel.set_params(**change).partial_fit(P, y, X2=Q).theory_bound_ == np.inf


def test_noises_that_change_during_a_stream():
    (P, Q), y = rows(np.random.default_rng(0))
    options = {**PROVEN, "feature_bound": 3.0}
    kinds = NoiseCorrectedRegressor(Replicates(), **options).partial_fit(P, y, X2=Q)
    kinds.set_params(noise=KnownCovariance(0.09)).partial_fit(P, y)
    assert kinds.theory_bound_ == np.inf
    factors = np.linspace(0.5, 1.0, len(y))
    for horizon, finite in ((None, True), (100, False)):
        model = NoiseCorrectedRegressor(
            KnownCovariance(0.09), **{**options, "horizon": horizon}
        )
        model.partial_fit(P, y, noise_scale=factors)
        assert np.isfinite(model.theory_bound_) == finite
        # Nor do later rounds of one noise mend what the earlier ones were.
        assert np.isfinite(model.partial_fit(P, y).theory_bound_) == finite
    crossed = KnownCovariance(0.09, target_cov=[0.05, 0.0])
    model = NoiseCorrectedRegressor(crossed, **options).partial_fit(P, y)
    assert model.theory_bound_ == np.inf
    model.set_params(noise=KnownCovariance(0.09)).partial_fit(P, y)
    assert model.theory_bound_ == np.inf
    model = NoiseCorrectedRegressor(KnownCovariance(0.09), **options).partial_fit(P, y)
    assert model.set_params(noise=crossed).partial_fit(P, y).theory_bound_ == np.inf


#: What a call may do; whether rounds of any step, or of a fixed one, stay proven.
CALLS = {
    "nothing": (True, True),
    "less noise": (True, True),
    "more noise": (True, False),
    "noise by row": (True, False),
    "correlated": (False, False),
    "half corrected": (False, False),
    "smaller ball": (False, False),
    "copies": (False, False),
}


@pytest.mark.parametrize("seed", range(40))
def test_streams_of_calls(seed):
    """Finite as long as every call so far, in whatever order, leaves the bound true."""
    rng = np.random.default_rng(seed)
    (P, Q), y = rows(rng, 20)
    horizon = [None, 100][seed % 2]
    options = {**PROVEN, "feature_bound": 3.0, "horizon": horizon}
    model = NoiseCorrectedRegressor(KnownCovariance(0.09), **options)
    names = list(CALLS)[:4] if seed % 4 < 2 else list(CALLS)
    proven, before = True, None
    for call in ["nothing", *rng.choice(names, 4)]:
        noise, given, changed = KnownCovariance(0.09), {}, {}
        if call in ("less noise", "more noise"):
            noise = KnownCovariance(0.04 if call == "less noise" else 0.25)
        elif call == "correlated":
            noise = KnownCovariance(0.09, target_cov=[0.02, 0.0])
        elif call == "noise by row":
            given["noise_scale"] = rng.uniform(0.5, 2.0, len(y))
        elif call == "copies":
            noise, given["X2"] = Replicates(), Q
        elif call == "half corrected":
            changed["correction"] = 0.5
        elif call == "smaller ball":
            changed["radius"] = 0.5
        base = {"correction": 1.0, "radius": 1.0}
        model.set_params(noise=noise, **{**base, **changed}).partial_fit(P, y, **given)
        proven &= CALLS[call][horizon is not None]
        assert np.isfinite(model.theory_bound_) == proven, (call, before)
        before = call


def test_running_means_are_no_bounds():
    """One row far larger than the others: their running mean bounds nothing.

    The adversary of the paper may choose it; the loss of one round then exceeds what
    the bound would be with the means of the rows.
    """
    T = 4000
    X = np.full((T, 1), 1e-3)
    X[-1] = 1.0
    y = np.append(np.zeros(T - 1), 1.0)
    options = {"learning_rate": "theory", "radius": 1.0, "fit_intercept": False}
    stated = {"feature_bound": 1.0, "target_bound": 1.0}
    model = NoiseCorrectedRegressor(**options, **stated).partial_fit(X, y, X2=X)
    running = NoiseCorrectedRegressor(**options).partial_fit(X, y, X2=X)
    data, path = corrected_rows(np.stack([X, X]), Replicates()), np.empty_like(X)
    solver = OnlineLinear("theory", 1.0)
    copies = np.stack([X, X])
    solver.step(solver.init(1), data, y, squared_norms(copies, data), path)
    # The predictor 1 loses next to nothing.
    regret = np.sum(((path * X)[:, 0] - y) ** 2) - np.sum((X[:, 0] - y) ** 2)
    means = np.sqrt(np.mean(X**2)), np.sqrt(np.mean(y**2))
    false = regret_bound(1.0, pair_gradient_bound(1.0, *means), T, fixed=False)
    assert regret > 3.0 * false
    assert running.theory_bound_ == np.inf
    assert regret <= model.theory_bound_ < np.inf

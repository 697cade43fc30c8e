"""NoiseCorrectedKernelRegressor: batch and the three online forms."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

from lrisk import NoiseCorrectedKernelRegressor, NoiseMismatchWarning
from lrisk.corrections import (
    Gaussian,
    Laplacian,
    Matern,
    RationalQuadratic,
    Surrogate,
    pair_quadratic,
)
from lrisk.corrections.bounds import surrogate_ball
from lrisk.noise import (
    CharacteristicNoise,
    Exact,
    GaussianNoise,
    KnownCovariance,
    LaplaceNoise,
    Replicates,
)
from lrisk.procedures.noise.batch import landmark_problem


def features(count):
    """Random features, so many of them."""
    return {"n_components": count, "random_features": True}


def waves(n, sigma=0.4, seed=0, draw=None):
    """f(x) = sin(2x₁)cos(1.5x₂) on [−2, 2]², two noisy copies, noisy targets."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    f = np.sin(2 * X[:, 0]) * np.cos(1.5 * X[:, 1])
    draw = draw or (lambda shape: sigma * rng.normal(size=shape))
    copies = [X + draw(X.shape) for _ in range(2)]
    return X, f, f + 0.1 * rng.normal(size=n), copies


#: A repeated row may lie in several folds, a weighted one lies in one.
FOLDED = {
    "check_sample_weight_equivalence_on_dense_data": "alpha is by cross-validation"
}


def relative_error(model, seed=99):
    X, f, _, _ = waves(2000, seed=seed)
    return np.mean((model.predict(X) - f) ** 2) / f.var()


@parametrize_with_checks(
    [
        NoiseCorrectedKernelRegressor(Exact()),
        NoiseCorrectedKernelRegressor(Exact(), alpha=1.0),
        NoiseCorrectedKernelRegressor(Exact(), **features(50), standardize=True),
        NoiseCorrectedKernelRegressor(
            Exact(), **features(50), standardize=True, alpha=1.0
        ),
    ],
    expected_failed_checks=lambda estimator: (
        FOLDED if estimator.alpha == "auto" else {}
    ),
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_gamma_is_that_of_scikit_learn_and_of_the_variance_by_default():
    X, _, y, (P, Q) = waves(200)
    # 1/(1/0.3) is not 0.3
    given = NoiseCorrectedKernelRegressor(Exact(), gamma=0.3).fit(X, y)
    assert given.gamma_ == 0.3
    auto = NoiseCorrectedKernelRegressor(GaussianNoise(0.16)).fit(P, y, X2=Q)
    clean = P.var(axis=0).sum() - 2 * 0.16
    assert auto.gamma_ == pytest.approx(1.0 / clean, rel=1e-12)


def test_components_are_landmarks_or_random_features():
    X, _, y, (_P, _Q) = waves(60)
    options = {"gamma": 0.5, "random_state": 0}
    rows = NoiseCorrectedKernelRegressor(Exact(), n_components=20, **options)
    assert rows.fit(X, y).support_.shape == (20, 2)
    every = NoiseCorrectedKernelRegressor(Exact(), n_components=None, **options)
    assert every.fit(X, y).support_.shape == (60, 2)
    drawn = NoiseCorrectedKernelRegressor(Exact(), **features(30), **options)
    assert drawn.fit(X, y).dual_coef_.shape == (30,)
    assert not hasattr(drawn, "support_")
    with pytest.raises(ValueError, match="n_components must be a number with random"):
        drawn.set_params(n_components=None).fit(X, y)


def test_without_noise_it_is_kernel_ridge():
    X, _, y, _ = waves(80)
    ours = NoiseCorrectedKernelRegressor(
        Exact(), gamma=0.5, alpha=0.5, n_components=None, fit_intercept=False
    ).fit(X, y)
    theirs = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.5).fit(X, y)
    new = waves(50, seed=1)[0]
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), atol=1e-6)


def test_exact_rounds_are_algorithm_2():
    """Coefficients, projection and average against the algorithm written out."""
    rng = np.random.default_rng(3)
    T, s2, var, eta, norm = 60, 2.0, 0.16, 0.3, 0.7
    _, _, y, (P, Q) = waves(T, seed=3)
    gap = s2 - 2 * var
    R2 = s2 / gap

    def khat(a, b):
        return R2 * np.exp(-((a[:, None] - b[None]) ** 2).sum(-1) / gap)

    W = surrogate_ball(norm, R2)
    KP, KQ = khat(P, P), khat(P, Q)
    alpha, iterates = np.zeros(T), []
    for t in range(T):
        alpha[t] = -eta * 2 * (alpha[:t] @ KQ[:t, t] - y[t])
        r = alpha @ KP @ alpha
        alpha *= min(1.0, W / np.sqrt(r))
        iterates.append(alpha.copy())
    model = NoiseCorrectedKernelRegressor(
        GaussianNoise(var), gamma=1 / s2, learning_rate=eta, radius=norm,
        fit_intercept=False,
    )  # fmt: skip
    model.partial_fit(P[:25], y[:25], X2=Q[:25]).partial_fit(P[25:], y[25:], X2=Q[25:])
    weights = np.sqrt(np.arange(1, T + 1))
    np.testing.assert_allclose(
        model.dual_coef_, np.average(iterates, axis=0, weights=weights), atol=1e-12
    )
    np.testing.assert_allclose(model.support_, P, atol=1e-12)
    new = rng.normal(size=(5, 2))
    clean = np.exp(-((new[:, None] - P[None]) ** 2).sum(-1) / s2)
    np.testing.assert_allclose(model.predict(new), clean @ model.dual_coef_, atol=1e-12)
    noisy = khat(new, P) @ model.dual_coef_
    np.testing.assert_allclose(model.predict_from_noisy(new), noisy, atol=1e-12)


def test_refreshing_the_norm_changes_nothing():
    """Beyond the first refresh the norm still is that of the coefficients."""
    _, _, y, (P, Q) = waves(1500, seed=4)
    model = NoiseCorrectedKernelRegressor(
        GaussianNoise(0.16), gamma=0.5, learning_rate=0.3, radius=1.0, average=False
    ).partial_fit(P, y, X2=Q)
    K = model._surrogate.matrix(model.support_, model.support_)
    norm = model.dual_coef_ @ K @ model.dual_coef_
    assert model._state.norm[0] == pytest.approx(norm, rel=1e-9)
    assert norm <= model.radius_**2 * (1 + 1e-9)


def test_a_generous_budget_is_the_exact_form_symmetrised():
    """With room for every row nothing is lost: the norm and the fit agree."""
    _, _, y, (P, Q) = waves(3000, seed=5)
    options = {"gamma": 0.5, "learning_rate": 0.1}
    full = NoiseCorrectedKernelRegressor(GaussianNoise(0.16), **options)
    small = NoiseCorrectedKernelRegressor(GaussianNoise(0.16), budget=150, **options)
    full.partial_fit(P, y, X2=Q)
    small.partial_fit(P, y, X2=Q)
    assert len(small.dual_coef_) <= 150
    assert relative_error(small) <= 1.1 * relative_error(full)
    state = small._state
    W, K = state.coefficients[0, : state.size], state.gram[: state.size, : state.size]
    assert state.norm[0] == pytest.approx(W @ K @ W, rel=1e-6)
    np.testing.assert_allclose(
        K, small._surrogate.matrix(small.support_, small.support_), rtol=1e-9
    )


@pytest.mark.parametrize(
    "options",
    [features(400), {"budget": 80}, {}],
    ids=["features", "budget", "exact"],
)
def test_online_forms_beat_the_naive_fit(options):
    _, _, y, (P, Q) = waves(6000, seed=6)
    ours = NoiseCorrectedKernelRegressor(
        GaussianNoise(0.16), gamma=0.5, random_state=0, **options
    ).partial_fit(P, y, X2=Q)
    naive = NoiseCorrectedKernelRegressor(Exact(), gamma=0.5, random_state=0, **options)
    naive.partial_fit(0.5 * (P + Q), y)
    error = relative_error(ours)
    assert error < 0.05
    assert error < 0.75 * relative_error(naive)
    last = NoiseCorrectedKernelRegressor(
        GaussianNoise(0.16), gamma=0.5, random_state=0, average=False,
        learning_rate=ours.learning_rate_, **options,
    ).partial_fit(P[:2000], y[:2000], X2=Q[:2000])  # fmt: skip
    assert relative_error(last) > 2 * error  # averaging is needed


def test_batch_from_two_copies_and_from_one():
    _, _, y, (P, Q) = waves(3000, seed=7)
    noise = GaussianNoise(np.array([[0.16, 0.04], [0.04, 0.16]]))
    draw = np.random.default_rng(8)
    _, _, y, (P, Q) = waves(3000, draw=lambda shape: noise.sample(draw, shape))
    two = NoiseCorrectedKernelRegressor(noise, gamma=0.5, random_state=0)
    one = NoiseCorrectedKernelRegressor(noise, gamma=0.5, random_state=0)
    naive = NoiseCorrectedKernelRegressor(Exact(), gamma=0.5, random_state=0)
    errors = [
        relative_error(two.fit(P, y, X2=Q)),
        relative_error(one.fit(P, y)),
        relative_error(naive.fit(0.5 * (P + Q), y)),
        relative_error(naive.fit(P, y)),
    ]
    assert errors[0] < 0.5 * errors[2] and errors[1] < 0.5 * errors[3]


@pytest.mark.parametrize("form", ["fit", "features", "budget"])
def test_laplace_noise_and_mixtures(form):
    rng = np.random.default_rng(9)
    b = 0.28
    _, _, y, (P, Q) = waves(6000, draw=lambda shape: b * rng.laplace(size=shape))
    kernel = Matern(2.5, 1.5)
    options = {
        "features": features(400),
        "budget": {"budget": 80},
        "fit": {},
    }
    ours = NoiseCorrectedKernelRegressor(
        LaplaceNoise(b), kernel, random_state=0, **options[form]
    )
    naive = NoiseCorrectedKernelRegressor(
        Exact(), kernel, random_state=0, **options[form]
    )
    if form == "fit":
        ours.fit(P, y, X2=Q)
        naive.fit(0.5 * (P + Q), y)
    else:
        ours.partial_fit(P, y, X2=Q)
        naive.partial_fit(0.5 * (P + Q), y)
    assert relative_error(ours) < 0.8 * relative_error(naive)
    assert 0 <= ours.kernel_error_ < 0.05


def uniform_phi(omega):
    """Noise uniform on [−.7, .7]."""
    return np.sinc(0.7 * omega / np.pi).prod(axis=1)


def test_any_characteristic_function():
    rng = np.random.default_rng(10)
    _, _, y, (P, Q) = waves(
        20_000, draw=lambda shape: rng.uniform(-0.7, 0.7, size=shape)
    )
    noise = CharacteristicNoise(uniform_phi, 0.49 / 3)
    ours = NoiseCorrectedKernelRegressor(
        noise, gamma=0.5, **features(400), random_state=0
    )
    naive = NoiseCorrectedKernelRegressor(
        Exact(), gamma=0.5, **features(400), random_state=0
    )
    naive.partial_fit(0.5 * (P + Q), y)
    assert relative_error(ours.partial_fit(P, y, X2=Q)) < 0.5 * relative_error(naive)
    again = pickle.loads(pickle.dumps(ours))
    assert np.array_equal(again.predict(P[:9]), ours.predict(P[:9]))


def test_noise_that_changes_from_row_to_row():
    rng = np.random.default_rng(11)
    X, _, y, _ = waves(8000)
    factor = rng.choice([0.5, 1.5], size=len(X))
    P, Q = (
        X + 0.4 * np.sqrt(factor)[:, None] * rng.normal(size=X.shape) for _ in range(2)
    )
    options = {
        "gamma": 0.4,
        **features(300),
        "random_state": 0,
    }
    knowing = NoiseCorrectedKernelRegressor(GaussianNoise(0.16), **options)
    knowing.partial_fit(P, y, X2=Q, noise_scale=factor)
    assert relative_error(knowing) < 0.05
    with pytest.raises(ValueError, match="random_features"):
        NoiseCorrectedKernelRegressor(GaussianNoise(0.16)).fit(
            P, y, X2=Q, noise_scale=factor
        )


@pytest.mark.parametrize(
    "options",
    [features(40), {"budget": 20}, {}],
    ids=["features", "budget", "exact"],
)
def test_pickling_mid_stream_continues_bit_identically(options):
    _, _, y, (P, Q) = waves(400)
    first = NoiseCorrectedKernelRegressor(
        GaussianNoise(0.16), gamma=0.5, random_state=0, **options
    ).partial_fit(P[:150], y[:150], X2=Q[:150])
    second = pickle.loads(pickle.dumps(first))
    for model in (first, second):
        model.partial_fit(P[150:], y[150:], X2=Q[150:])
    assert np.array_equal(first.dual_coef_, second.dual_coef_)
    assert first.n_rounds_ == 400


def test_theory_step_and_bound():
    """η = W/(2R(WR + B_y)√T), bound 2WR(WR + B_y)√T and W = R·B_w/√(1 − cos β)."""
    T, B_w, B_y, angle = 200, 1.5, 1.2, 1.0
    _, _, y, (P, Q) = waves(T)
    R2 = 2.0 / (2.0 - 0.32)
    W = np.sqrt(R2) * B_w / np.sqrt(1 - np.cos(angle))
    assert np.sqrt(5) * np.sqrt(R2) * B_w / np.sin(angle) > W  # sharper than printed
    for options in ({}, {"budget": 50}, features(40)):
        model = NoiseCorrectedKernelRegressor(
            GaussianNoise(0.16), gamma=0.5, learning_rate="theory", radius=B_w,
            angle=angle, horizon=T, target_bound=B_y, fit_intercept=False,
            random_state=0, **options,
        ).partial_fit(P, y, X2=Q)  # fmt: skip
        WR = W * np.sqrt(R2)
        bound = 2 * WR * (WR + B_y) * np.sqrt(T)
        shown = np.inf if options else pytest.approx(bound, rel=1e-6)
        assert model.theory_bound_ == shown  # proven for the exact form alone
        assert model.radius_ == pytest.approx(W, rel=1e-9)
        assert model.learning_rate_ == pytest.approx(W**2 / bound, rel=1e-6)


@pytest.mark.filterwarnings("ignore::lrisk.NoiseMismatchWarning")
def test_kernel_error_is_reported_and_shrinks_with_the_noise():
    X, _, y, (P, Q) = waves(300)
    errors = []
    for variance in (0.01, 0.09, 0.25):
        model = NoiseCorrectedKernelRegressor(GaussianNoise(variance), Laplacian(1.0))
        errors.append(model.fit(P, y, X2=Q).kernel_error_)
    assert 0 < errors[0] < errors[1] < errors[2] < 0.25
    rational = NoiseCorrectedKernelRegressor(
        GaussianNoise(0.09), RationalQuadratic(1.0, 2.0)
    )
    assert rational.fit(P, y, X2=Q).kernel_error_ < 1e-4
    assert X.shape == P.shape


@pytest.mark.parametrize(
    ("options", "arguments", "match"),
    [
        ({"noise": GaussianNoise(1.0), "gamma": 0.53}, {"X2": True}, "above 2[^0-9.]"),
        ({"noise": GaussianNoise(1.0), "gamma": 0.53}, {"X2": True}, "below 0.943396"),
        ({"noise": GaussianNoise(1.0), "gamma": 1 / 3.9}, {}, "above 4[^0-9.]"),
        ({"noise": GaussianNoise([1.0, 0.5, 0.1])}, {"X2": True}, "2 features"),
        ({"noise": KnownCovariance(0.1)}, {"X2": True}, "GaussianNoise"),
        ({"noise": Replicates()}, {"X2": True}, "distribution"),
        ({"noise": CharacteristicNoise(uniform_phi, 1)}, {"X2": True}, "random_fea"),
        ({"noise": GaussianNoise(0.1), "kernel": "poly"}, {"X2": True}, "kernel"),
        (
            {"noise": GaussianNoise(0.1), "kernel": Gaussian(1.0), "gamma": 0.5},
            {"X2": True},
            "object",
        ),
        ({"noise": GaussianNoise(0.1), "kernel": Matern()}, {}, "X2"),
        ({"noise": GaussianNoise(0.1), **features(10)}, {}, "X2"),
        ({"noise": Exact(), **features(10), "budget": 5}, {}, "budget"),
        ({"noise": Exact(), "alpha": "huge"}, {}, "alpha"),
        ({"noise": Exact(), "angle": 2.0}, {}, "angle"),
    ],
)  # fmt: skip
def test_bad_input_changes_nothing(options, arguments, match):
    _, _, y, (P, Q) = waves(40)
    model = NoiseCorrectedKernelRegressor(**options)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=match):
        model.fit(P, y, X2=Q if arguments else None)
    assert vars(model) == before


def test_online_needs_two_copies():
    _, _, y, (P, _) = waves(40)
    model = NoiseCorrectedKernelRegressor(GaussianNoise(0.16))
    with pytest.raises(ValueError, match="two copies"):
        model.partial_fit(P, y)
    assert not hasattr(model, "_state")


@pytest.mark.parametrize("form", ["fit", "partial_fit"])
def test_the_mean_of_the_targets_is_no_burden(form):
    _, _, y, (P, Q) = waves(3000, seed=12)
    options = {"gamma": 0.5, "random_state": 0, "budget": 80}
    near, far = (
        NoiseCorrectedKernelRegressor(GaussianNoise(0.16), **options) for _ in range(2)
    )
    getattr(near, form)(P, y, X2=Q)
    getattr(far, form)(P, y + 1000.0, X2=Q)
    np.testing.assert_allclose(near.predict(P) + 1000.0, far.predict(P), atol=1e-5)
    lone = NoiseCorrectedKernelRegressor(Exact(), gamma=1.0).partial_fit(P[:1], y[:1])
    assert lone.intercept_ == 0.0


def test_further_copies_enter_by_their_surrogate_values():
    """Algorithm 2 written out for four copies: k̂ is averaged, never the copies."""
    rng = np.random.default_rng(13)
    T, s2, var, eta = 40, 2.0, 0.25, 0.3
    X, _, y, _ = waves(T, seed=13)
    P, *others = (X + 0.5 * rng.normal(size=X.shape) for _ in range(4))
    gap = s2 - 2 * var

    def khat(a, b):
        return s2 / gap * np.exp(-((a[:, None] - b[None]) ** 2).sum(-1) / gap)

    KQ = np.mean([khat(P, Q) for Q in others], axis=0)
    alpha = np.zeros(T)
    for t in range(T):
        alpha[t] = -eta * 2 * (alpha[:t] @ KQ[:t, t] - y[t])
    model = NoiseCorrectedKernelRegressor(
        GaussianNoise(var), gamma=1 / s2, learning_rate=eta, radius=1e6, average=False,
        fit_intercept=False,
    ).partial_fit(P, y, X2=np.stack(others, axis=1))  # fmt: skip
    np.testing.assert_allclose(model.dual_coef_, alpha, atol=1e-12)


def test_further_copies_on_a_budget_and_in_features():
    """The same, with both roles swapped, on a span and on random features."""
    rng = np.random.default_rng(14)
    T, s2, var, eta = 15, 2.0, 0.25, 0.1
    X, _, y, _ = waves(T, seed=14)
    P, *others = (X + 0.5 * rng.normal(size=X.shape) for _ in range(4))
    options = {
        "gamma": 1 / s2, "learning_rate": eta, "radius": 1e6, "average": False,
        "fit_intercept": False, "random_state": 0,
    }  # fmt: skip
    X2, gap = np.stack(others, axis=1), s2 - 2 * var

    def khat(a, b):
        return s2 / gap * np.exp(-((a[:, None] - b[None]) ** 2).sum(-1) / gap)

    KP, KQ = khat(P, P), np.mean([khat(P, Q) for Q in others], axis=0)
    W = np.zeros(T)
    for t in range(T):  # every first copy enters, the others are projected
        fa, fb = W @ KP[:, t], W @ KQ[:, t]
        projected = np.linalg.solve(KP[: t + 1, : t + 1], KQ[: t + 1, t])
        W[t] -= eta * (fb - y[t])
        W[: t + 1] -= eta * (fa - y[t]) * projected
    model = NoiseCorrectedKernelRegressor(
        GaussianNoise(var), budget=T, tol=1e-12, **options
    ).partial_fit(P, y, X2=X2)
    np.testing.assert_allclose(model.dual_coef_, W, rtol=1e-4, atol=1e-6)

    model = NoiseCorrectedKernelRegressor(
        GaussianNoise(var), **features(30), **options
    ).partial_fit(P, y, X2=X2)
    psi = np.stack([model._features.noisy(c) for c in (P, *others)])
    w = np.zeros(30)
    for t in range(T):
        own = psi[:, t]
        total = own.sum(axis=0)
        pairs = total * (total @ w) - own.T @ (own @ w)  # over all a ≠ b
        w -= 2 * eta * (pairs / 12 - y[t] * total / 4)
    np.testing.assert_allclose(model.dual_coef_, w, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "change"),
    [
        ({"learning_rate": 0.01}, {"learning_rate": "auto"}),
        ({"learning_rate": "auto"}, {"learning_rate": 0.01}),
        ({"learning_rate": "auto", "budget": 9}, {"learning_rate": "theory"}),
        ({}, {"budget": 20}),
        ({"budget": 20}, {"budget": None}),
        ({"budget": 20}, {"budget": 30}),
        (features(20), {"random_features": False}),
        (features(20), {"n_components": 40}),
        ({}, {"noise": GaussianNoise(0.1)}),
        ({}, {"noise__cov": 0.2}),
        ({"gamma": 0.5}, {"gamma": 1 / 3.0}),
        ({"kernel": Matern(1.5)}, {"kernel__nu": 2.5}),
        ({}, {"standardize": True}),
        ({}, {"fit_intercept": False}),
        ({}, {"correction": 0.5}),
    ],
)
def test_a_stream_keeps_its_form(options, change):
    """Sizes that change mid-stream would be read and written out of bounds."""
    _, _, y, (P, Q) = waves(60)
    model = NoiseCorrectedKernelRegressor(GaussianNoise(0.16), **options)
    model.partial_fit(P, y, X2=Q)
    before = model.predict(P)
    model.set_params(**change)
    with pytest.raises(ValueError, match="what the stream began with"):
        model.partial_fit(P, y, X2=Q)
    assert np.array_equal(model.predict(P), before)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseMismatchWarning)  # few random features
        assert model.fit(P, y, X2=Q).partial_fit(P, y, X2=Q).n_rounds_ == 60


@pytest.mark.parametrize("options", [{}, {"budget": 20}], ids=["exact", "budget"])
def test_an_interrupted_call_changes_nothing(options, monkeypatch):
    from lrisk.solvers import OnlineKernel

    _, _, y, (P, Q) = waves(100)
    model = NoiseCorrectedKernelRegressor(GaussianNoise(0.16), gamma=0.5, **options)
    model.partial_fit(P[:50], y[:50], X2=Q[:50])
    other = pickle.loads(pickle.dumps(model))

    def interrupted(self, state):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(OnlineKernel, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(P[50:], y[50:], X2=Q[50:])
    for each in (model, other):
        each.partial_fit(P[50:], y[50:], X2=Q[50:])
    assert model.n_rounds_ == 100
    assert np.array_equal(model.dual_coef_, other.dual_coef_)


def test_one_copy_over_a_wide_range():
    """Rows many widths apart: no NaN from exponents that underflow."""
    rng = np.random.default_rng(15)
    X = rng.uniform(0, 30, size=(2000, 1))
    f = np.sin(X[:, 0])
    noisy = X + 0.1 * rng.normal(size=X.shape)
    model = NoiseCorrectedKernelRegressor(
        GaussianNoise(0.01), gamma=1.0, random_state=0
    ).fit(noisy, f)
    assert np.mean((model.predict(X) - f) ** 2) < 0.05 * f.var()


@pytest.mark.parametrize("name", ["fit", "partial_fit"])
def test_noise_beyond_what_is_seen_draws_a_warning(name):
    X, _, y, _ = waves(100)
    model = NoiseCorrectedKernelRegressor(GaussianNoise(9.0))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        getattr(model, name)(X, y, X2=X)
    assert "larger than the variance" in str(seen[0].message)
    # A batch fit says besides that it finds nothing to correct.
    assert len(seen) == (2 if name == "fit" else 1)
    for warning in seen:
        assert warning.category is NoiseMismatchWarning
        assert warning.filename == __file__


@pytest.mark.parametrize("options", [{}, features(20)])
def test_noise_correlated_with_the_target_is_refused(options):
    _, _, y, (P, Q) = waves(40)
    model = NoiseCorrectedKernelRegressor(
        GaussianNoise(0.16, target_cov=0.1), **options
    )
    with pytest.raises(ValueError, match="target_cov"):
        model.fit(P, y, X2=Q)
    assert not hasattr(model, "dual_coef_")


def test_the_mean_of_gaussian_copies_says_all():
    """Same expectation as products of different copies, less variance (Rao-Blackwell).

    Over many draws of the noise at fixed rows: G from the mean of the copies, one copy
    of noise Σ/m, against G from pairs.
    """
    rng = np.random.default_rng(3)
    X, y = rng.uniform(-1, 1, size=(6, 2)), rng.normal(size=6)
    marks, noise, kernel = X[:4], GaussianNoise([0.2, 0.1]), Gaussian(2.0)
    surrogate = Surrogate(kernel, noise, 2)
    k = surrogate.clean_matrix(X, marks)
    truth = k.T @ k / len(X)
    for m in (2, 3):
        found = {"mean": [], "pairs": []}
        for _ in range(4000):
            copies = np.stack([X + noise.sample(rng, X.shape) for _ in range(m)])
            problem = landmark_problem(kernel, surrogate, copies, marks, np.ones(6))
            found["mean"].append(problem(np.arange(6), y).gram)
            pairs = np.stack([surrogate.matrix(c, marks) for c in copies])
            found["pairs"].append(pair_quadratic(pairs, y).gram)
        spread = {}
        for name, drawn in found.items():
            z = (np.mean(drawn, axis=0) - truth) / np.std(drawn, axis=0)
            assert np.abs(z).max() * np.sqrt(len(drawn)) < 5.0
            spread[name] = np.std(drawn, axis=0)
        ratio = spread["mean"] / spread["pairs"]
        assert ratio.max() < 1.0 and ratio.mean() < 0.96


def test_bounds_that_are_not_proven_are_infinite():
    _, _, y, (P, Q) = waves(60)
    theory = {
        "gamma": 0.25, "learning_rate": "theory", "random_state": 0,
        "target_bound": 2.0, "fit_intercept": False,
    }  # fmt: skip

    def bound(noise=None, **options):
        model = NoiseCorrectedKernelRegressor(
            noise or GaussianNoise(0.16), **{"radius": 1.0, **theory, **options}
        )
        return model.partial_fit(P, y, X2=Q).theory_bound_

    assert np.isfinite([bound(), bound(Exact()), bound(Exact(), gamma="auto")]).all()
    assert np.isfinite(bound(gamma="auto", kernel=Matern(1.5)))
    for options in (
        {"radius": "auto"}, features(40), {"budget": 50}, {"correction": 0.5},
        {"standardize": True}, {"gamma": "auto"}, {"target_bound": None},
        {"fit_intercept": True},
        {"noise": LaplaceNoise(0.2)},  # k̂ < 0 between some rows
        {"noise": Exact(), "budget": 50},
    ):  # fmt: skip
        assert bound(**options) == np.inf


def test_no_form_loses_more_than_its_bound():
    """Forms drawn at random: T times the average's excess error against its bound."""
    T, width, rng = 1500, 2.0, np.random.default_rng(16)
    centres = rng.uniform(-1.5, 1.5, size=(4, 2))

    def k(A):
        return np.exp(-((A[:, None] - centres[None]) ** 2).sum(-1) / width)

    a = np.ones(4) / np.sqrt(k(centres).sum())  # of norm 1, and of one sign
    finite, beyond = [], 0
    for draw in range(14):
        sigma = rng.choice([0.2, 0.4, 0.6])
        form = rng.choice(4)
        options = [
            {},
            {"budget": 1 + rng.integers(3)},
            features(2),
            {},
        ][form]
        if form == 3:
            options = {"correction": rng.uniform(0.0, 0.9)}
        X, new = rng.uniform(-2, 2, size=(2, T, 2))
        P, Q = (X + sigma * rng.normal(size=X.shape) for _ in range(2))
        model = NoiseCorrectedKernelRegressor(
            GaussianNoise(sigma**2), gamma=1 / width,
            learning_rate="theory", radius=1.0,
            horizon=T, target_bound=1.0, fit_intercept=False, random_state=draw,
            **options,
        ).partial_fit(P, k(X) @ a, X2=Q)  # fmt: skip
        regret = T * np.mean((model.predict(new) - k(new) @ a) ** 2)
        R2 = width / (width - 2 * sigma**2)
        theorem = 2 * R2 * (R2 + 1.0) * np.sqrt(T)
        assert regret <= model.theory_bound_
        assert model.theory_bound_ in (np.inf, pytest.approx(theorem))
        finite.append(np.isfinite(model.theory_bound_))
        beyond += regret > theorem  # such a form may not state the theorem's bound
    assert 0 < sum(finite) < 14 and beyond > 0


def test_a_row_of_far_too_much_noise_is_refused():
    _, _, y, (P, Q) = waves(60)
    factor = np.ones(60)
    factor[30] = 100.0
    for name in ("fit", "partial_fit"):
        model = NoiseCorrectedKernelRegressor(
            GaussianNoise(0.16),
            gamma=0.5,
            **features(50),
            random_state=0,
        )
        with pytest.raises(ValueError, match="noise_scale must be small enough"):
            getattr(model, name)(P, y, X2=Q, noise_scale=factor)
        assert not hasattr(model, "dual_coef_")


def never_worse_than_the_mean(sigma, seed, copies, **options):
    """Fit 400 rows with the true noise; the error on clean rows over the mean's."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        X, new = rng.uniform(-2, 2, size=(2, 400, 2))
        f, truth = (np.sin(2 * A[:, 0]) * np.cos(1.5 * A[:, 1]) for A in (X, new))
    else:
        X, new = rng.normal(size=(2, 400, 2))
        f, truth = (np.sin(A[:, 0]) + 0.5 * A[:, 1] for A in (X, new))
    y = f + 0.1 * rng.normal(size=400)
    P, Q = (X + sigma * rng.normal(size=X.shape) for _ in range(2))
    model = NoiseCorrectedKernelRegressor(
        GaussianNoise(np.full(2, sigma**2)), random_state=seed, **options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseMismatchWarning)
        model.fit(P, y, X2=Q if copies == 2 else None)
    assert model.correction_ in (0.0, 1.0)
    return np.mean((model.predict(new) - truth) ** 2) / np.mean((y.mean() - truth) ** 2)


@pytest.mark.parametrize("sigma", [0.3, 0.5, 0.7])
def test_one_copy_is_never_worse_than_the_mean(sigma):
    """Of 48 such fits 8 had errors of up to a million deviations, without a word."""
    errors = [never_worse_than_the_mean(sigma, seed, 1) for seed in range(16)]
    assert max(errors) <= 1.0  # one, where nothing but the mean is left


def hilly(X):
    return np.sin(2 * X[:, 0]) * np.cos(1.5 * X[:, 1])


@pytest.mark.parametrize(
    ("n", "draw", "f", "noise"),
    [
        (400, lambda rng, size: rng.normal(size=size), hilly, 0.1),
        (400, lambda rng, size: rng.normal(size=size), hilly, 0.6),
        (80, lambda rng, size: rng.normal(size=size), hilly, 0.1),
        (300, lambda rng, size: rng.exponential(size=size), lambda X: X[:, 1], 0.1),
    ],
    ids=["hills", "noisy targets", "few rows", "skew"],
)
def test_far_out_rows_are_no_worse_than_the_mean(n, draw, f, noise):
    """Some of 2,000 clean rows lie where few rows are: the first two broke there.

    The held-out risk of a fit that varies much between the rows was below zero by luck,
    its standard error too small.
    """
    for sigma, seed in ((0.3, 9), (0.3, 69), (0.5, 23), (0.5, 14), (0.7, 5)):
        rng = np.random.default_rng(seed)
        X, clean = draw(rng, (n, 2)), draw(rng, (2000, 2))
        y = f(X) + noise * rng.normal(size=n)
        P = X + sigma * rng.normal(size=X.shape)
        model = NoiseCorrectedKernelRegressor(
            GaussianNoise(sigma**2), random_state=seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseMismatchWarning)
            model.fit(P, y)
        error = np.mean((model.predict(clean) - f(clean)) ** 2)
        assert error <= np.mean((y.mean() - f(clean)) ** 2)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kernel": Matern(1.5, 1.0)},
        {"kernel": Laplacian(1.0)},
        features(99),
    ],
    ids=["rbf", "matern", "laplacian", "features"],
)
def test_two_copies_are_never_worse_than_the_mean(options):
    errors = [never_worse_than_the_mean(0.7, seed, 2, **options) for seed in range(4)]
    assert max(errors) < 0.95


@pytest.mark.parametrize("seed", range(3))
def test_too_small_a_penalty_for_the_noise_draws_a_warning(seed):
    _, _, y, (P, _) = waves(400, sigma=0.7, seed=seed)
    model = NoiseCorrectedKernelRegressor(
        GaussianNoise(0.49), alpha=1e-6, random_state=0
    )
    with pytest.warns(NoiseMismatchWarning, match="X2.*larger alpha") as seen:
        model.fit(P, y)
    assert seen[0].filename == __file__ and model.correction_ == 0.0
    assert np.abs(model.predict(P)).max() < 3 * np.abs(y).max()
    assert model.set_params(alpha=40.0).fit(P, y).correction_ == 1.0


@pytest.mark.parametrize("noise", [GaussianNoise(0.16), LaplaceNoise(0.3)])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"budget": 20},
        features(20),
        {"kernel": Matern(1.5)},
    ],
)
def test_predictions_far_out_are_bounded(noise, options):
    _, _, y, (P, Q) = waves(80)
    far = np.array([[1e3, -1e3], [1e30, 0.0], [1e48, -1e48]])  # as far as any may be
    for name in ("fit", "partial_fit"):
        model = NoiseCorrectedKernelRegressor(noise, random_state=0, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseMismatchWarning)
            getattr(model, name)(P, y, X2=Q)
        for values in (model.predict(far), model.predict_from_noisy(far)):
            assert np.abs(values - y.mean()).max() < 5 * np.ptp(y)


def test_nothing_said_of_the_noise_is_answered_by_what_would_help():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=r"pass its distribution, .*GaussianNoise"):
        NoiseCorrectedKernelRegressor().fit(X, X[:, 0])

"""NoiseCorrectedRegressor: batch and online, against scikit-learn and by simulation."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from lrisk import NoiseCorrectedRegressor, NoiseMismatchWarning
from lrisk.noise import Exact, GaussianNoise, KnownCovariance, LaplaceNoise, Replicates


def problem(n=2000, d=3, sigma=0.7, seed=0, copies=2):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    y = X @ w + 0.5 + 0.1 * rng.normal(size=n)
    noisy = [X + sigma * rng.normal(size=X.shape) for _ in range(copies)]
    return X, y, noisy, w


@parametrize_with_checks(
    [
        NoiseCorrectedRegressor(Exact()),
        NoiseCorrectedRegressor(KnownCovariance(1e-6), standardize=True),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 10.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_noise_it_is_ridge(alpha, fit_intercept):
    X, y, _, _ = problem(n=60)
    options = {"alpha": alpha, "fit_intercept": fit_intercept}
    ours = NoiseCorrectedRegressor(Exact(), **options).fit(X, y)
    ridge = Ridge(**options) if alpha else LinearRegression(fit_intercept=fit_intercept)
    theirs = ridge.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-9)


def test_auto_penalty_vanishes_without_noise():
    X, y, _, _ = problem(n=60)
    assert NoiseCorrectedRegressor(Exact()).fit(X, y).alpha_ == 0.0


@pytest.mark.parametrize("online", [False, True])
@pytest.mark.parametrize("noise", ["known", "full", "laplace", "pairs", "three"])
def test_recovers_the_clean_relation(noise, online):
    sigma = 0.7
    _, y, noisy, w = problem(n=20_000, sigma=sigma, copies=3)
    kind, X2 = {
        "known": (KnownCovariance(sigma**2), None),
        "full": (GaussianNoise(sigma**2 * np.eye(3)), noisy[1]),
        "laplace": (LaplaceNoise(sigma / np.sqrt(2)), None),
        "pairs": (None, noisy[1]),
        "three": (Replicates(), np.stack(noisy[1:], axis=1)),
    }[noise]
    model = NoiseCorrectedRegressor(kind)
    learn = model.partial_fit if online else model.fit
    learn(noisy[0], y, X2=X2)
    naive = LinearRegression().fit(noisy[0], y)
    assert np.linalg.norm(naive.coef_ - w) > 0.25
    assert np.linalg.norm(model.coef_ - w) < 0.06
    assert model.intercept_ == pytest.approx(0.5, abs=0.05)


def test_rows_of_different_noise():
    rng = np.random.default_rng(1)
    X, y, _, w = problem(n=20_000)
    factor = rng.choice([0.2, 2.0], size=len(X))
    noisy = X + np.sqrt(factor)[:, None] * rng.normal(size=X.shape)
    shapes = [
        factor,
        factor[:, None] * np.ones(3),
        factor[:, None, None] * np.eye(3),
    ]
    fits = [
        NoiseCorrectedRegressor(KnownCovariance(1.0)).fit(noisy, y, noise_scale=s)
        for s in shapes
    ]
    assert np.linalg.norm(fits[0].coef_ - w) < 0.08
    rounds = [
        NoiseCorrectedRegressor(KnownCovariance(1.0)).partial_fit(
            noisy[:part], y[:part], noise_scale=s[:part]
        )
        for s, part in zip(shapes, (4000, len(X), 4000))
    ]
    for a, b in ((fits[0], fits[1]), (fits[0], fits[2]), (rounds[0], rounds[2])):
        np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-6)
    assert np.linalg.norm(rounds[1].coef_ - w) < 0.15


def test_correction_interpolates_between_naive_and_corrected():
    _, y, noisy, w = problem(n=5000)
    cov = KnownCovariance(0.49)
    none = NoiseCorrectedRegressor(cov, correction=0.0, alpha=0.0).fit(noisy[0], y)
    naive = LinearRegression().fit(noisy[0], y)
    np.testing.assert_allclose(none.coef_, naive.coef_, rtol=1e-9)
    errors = [
        np.linalg.norm(
            NoiseCorrectedRegressor(cov, correction=c, alpha=0.0).fit(noisy[0], y).coef_
            - w
        )
        for c in (0.0, 0.5, 1.0)
    ]
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("online", [False, True])
@pytest.mark.parametrize("cov", ["full", "diagonal", "rows"])
def test_standardize_is_hand_rescaling_the_noise(online, cov):
    """The same coefficients as scaling X, X2 and Σ by hand."""
    X, y, noisy, _ = problem(n=600)
    stretch = np.array([0.01, 1.0, 300.0])
    a, b = (c * stretch + 5.0 for c in noisy)
    sigma = 0.49 * np.diag(stretch**2)
    rows = None
    if cov == "full":
        sigma = sigma + 0.05 * np.outer(stretch, stretch)
    if cov == "rows":
        rows = np.tile(np.diag(sigma), (len(X), 1))
    noise = KnownCovariance(np.diag(sigma) if cov == "diagonal" else sigma)
    inside = NoiseCorrectedRegressor(noise, standardize=True)
    scaler = StandardScaler().fit(a)
    by_hand = KnownCovariance(
        noise.rescaled(scaler.scale_).cov if cov != "full" else
        np.diag(1 / scaler.scale_) @ sigma @ np.diag(1 / scaler.scale_)
    )  # fmt: skip
    outside = NoiseCorrectedRegressor(by_hand)
    own = None if rows is None else rows / scaler.scale_**2
    name = "partial_fit" if online else "fit"
    getattr(inside, name)(a, y, X2=b, noise_scale=rows)
    getattr(outside, name)(
        scaler.transform(a), y, X2=scaler.transform(b), noise_scale=own
    )
    np.testing.assert_allclose(inside.coef_ * scaler.scale_, outside.coef_, rtol=1e-8)
    np.testing.assert_allclose(
        inside.predict(a), outside.predict(scaler.transform(a)), rtol=1e-7, atol=1e-9
    )


def test_pickling_mid_stream_continues_bit_identically():
    _, y, noisy, _ = problem()
    first = NoiseCorrectedRegressor(KnownCovariance(0.49))
    first.partial_fit(noisy[0][:700], y[:700])
    second = pickle.loads(pickle.dumps(first))
    for model in (first, second):
        model.partial_fit(noisy[0][700:], y[700:])
    assert np.array_equal(first.coef_, second.coef_)
    assert first.intercept_ == second.intercept_
    whole = NoiseCorrectedRegressor(KnownCovariance(0.49)).partial_fit(noisy[0], y)
    assert np.array_equal(first.coef_, whole.coef_)  # chunks do not matter either


def test_streams_from_iterators_and_memory_maps(tmp_path):
    _, y, noisy, _ = problem(n=30_000)
    file = tmp_path / "rows.npy"
    np.save(file, noisy[0])
    mapped = np.load(file, mmap_mode="r")
    whole = NoiseCorrectedRegressor(KnownCovariance(0.49)).partial_fit(mapped, y)

    def stream():
        for start in range(0, len(y), 999):
            yield mapped[start : start + 999], y[start : start + 999]

    piecewise = NoiseCorrectedRegressor(KnownCovariance(0.49))
    for X, target in stream():
        piecewise.partial_fit(X, target)
    assert np.array_equal(whole.coef_, piecewise.coef_)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("pairs", [True, False])
def test_theory_step_and_bound(pairs, fit_intercept):
    """Step B/√(GT) and bound B√(GT) with the valid constants."""
    _, y, noisy, _ = problem(n=400)
    T, B, Bx, By = 400, 2.0, 5.0, 3.0
    noise, X2 = (None, noisy[1]) if pairs else (KnownCovariance(0.49), None)
    model = NoiseCorrectedRegressor(
        noise, learning_rate="theory", radius=B, horizon=T, feature_bound=Bx,
        target_bound=By, fit_intercept=fit_intercept,
    ).partial_fit(noisy[0], y, X2=X2)  # fmt: skip
    Bx = np.sqrt(Bx**2 + fit_intercept)  # the constant is a feature as well
    G = 4 * (B * Bx + By) ** 2 * Bx**2
    if not pairs:
        G = 4 * (B * Bx**2 + By * Bx + 0.49 * B) ** 2
    assert model.theory_bound_ == pytest.approx(B * np.sqrt(G * T))
    assert model.learning_rate_ == pytest.approx(B / np.sqrt(G * T))
    anytime = model.set_params(horizon=None).fit(noisy[0], y, X2=X2)
    anytime.partial_fit(noisy[0], y, X2=X2)
    assert anytime.theory_bound_ == pytest.approx(2 * np.sqrt(2) * B * np.sqrt(G * T))
    free = anytime.set_params(radius="auto").fit(noisy[0], y, X2=X2)
    assert free.partial_fit(noisy[0], y, X2=X2).theory_bound_ == np.inf
    with pytest.raises(ValueError, match="feature_bound"):
        free.set_params(feature_bound=-1.0).partial_fit(noisy[0], y, X2=X2)


def test_one_round_is_the_papers():
    """w = Π(w − η(2(w·x̃ − y)x̃ − 2Σw)), by hand."""
    rng = np.random.default_rng(2)
    X, y, sigma = rng.normal(size=(6, 2)), rng.normal(size=6), np.array([0.3, 0.1])
    eta, B = 0.05, 0.4
    w, iterates = np.zeros(2), []
    for x, t in zip(X, y):
        w = w - eta * (2 * (w @ x - t) * x - 2 * sigma * w)
        w *= min(1.0, B / np.linalg.norm(w))
        iterates.append(w)
    options = {"learning_rate": eta, "radius": B, "fit_intercept": False}
    last = NoiseCorrectedRegressor(KnownCovariance(sigma), average=False, **options)
    np.testing.assert_allclose(last.partial_fit(X, y).coef_, w, rtol=1e-12)
    mean = NoiseCorrectedRegressor(KnownCovariance(sigma), **options).partial_fit(X, y)
    weights = np.sqrt(np.arange(1, 7))
    np.testing.assert_allclose(mean.coef_, np.average(iterates, 0, weights), rtol=1e-12)
    assert mean.radius_ == B


@pytest.mark.parametrize(
    ("options", "arguments", "error", "match"),
    [
        ({}, {}, ValueError, "pass X2"),
        ({"noise": Replicates()}, {}, ValueError, "X2"),
        ({"noise": "gaussian"}, {}, TypeError, "lrisk.noise"),
        ({"noise": KnownCovariance(np.eye(2))}, {}, ValueError, "3 features"),
        ({"noise": Exact(), "correction": 1.5}, {}, ValueError, "correction"),
        ({"noise": Exact(), "alpha": -1.0}, {}, ValueError, "alpha"),
        ({"noise": Exact(), "radius": 0.0}, {}, ValueError, "radius"),
        ({"noise": Exact(), "learning_rate": "fast"}, {}, ValueError, "learning_rate"),
        ({}, {"X2": np.zeros((5, 3))}, ValueError, "shape of X"),
        ({}, {"X2": np.full((50, 3), np.nan)}, ValueError, "finite"),
        ({"noise": Exact()}, {"noise_scale": np.ones(3)}, ValueError, "noise_scale"),
        ({"noise": Exact()}, {"noise_scale": -np.ones(50)}, ValueError, "negative"),
    ],
)
@pytest.mark.parametrize("name", ["fit", "partial_fit"])
def test_bad_input_changes_nothing(name, options, arguments, error, match):
    X, y, _, _ = problem(n=50)
    model = NoiseCorrectedRegressor(**options)
    before = dict(vars(model))
    with pytest.raises(error, match=match):
        getattr(model, name)(X, y, **arguments)
    assert vars(model) == before


def test_covariances_that_cannot_be():
    with pytest.raises(ValueError, match="positive semi-definite"):
        KnownCovariance(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="symmetric"):
        KnownCovariance(np.array([[1.0, 0.2], [0.1, 1.0]]))
    with pytest.raises(ValueError, match="at least 0"):
        GaussianNoise(-1.0)
    noise = GaussianNoise(1.0)
    with pytest.raises(ValueError, match="at least 0"):
        noise.set_params(cov=[-1.0])
    assert noise.cov == 1.0


@pytest.mark.parametrize("name", ["fit", "partial_fit"])
def test_copies_on_different_scales_are_noticed(name):
    _, y, noisy, _ = problem(n=200)
    model = NoiseCorrectedRegressor()
    with pytest.warns(NoiseMismatchWarning, match="transform_input"):
        getattr(model, name)(noisy[0], y, X2=10.0 * noisy[1])
    with pytest.warns(NoiseMismatchWarning, match="over-stated|Over-stated"):
        getattr(NoiseCorrectedRegressor(KnownCovariance(9.0)), name)(noisy[0], y)


def test_predictions_from_noisy_rows_are_unbiased():
    X, y, noisy, _ = problem(n=5000)
    model = NoiseCorrectedRegressor(KnownCovariance(0.49)).fit(noisy[0], y)
    x = X[:1]
    rng = np.random.default_rng(0)
    many = x + 0.7 * rng.normal(size=(200_000, 3))
    guesses = model.predict_from_noisy(many)
    spread = guesses.std() / np.sqrt(len(guesses))
    assert abs(guesses.mean() - model.predict(x)[0]) < 5 * spread


def test_a_bad_block_leaves_the_stream_where_it_was():
    _, y, noisy, _ = problem(n=400)
    first = NoiseCorrectedRegressor(KnownCovariance(0.49))
    first.partial_fit(noisy[0][:200], y[:200])
    other = pickle.loads(pickle.dumps(first))
    bad = noisy[0][200:].copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        first.partial_fit(bad, y[200:])
    with pytest.raises(ValueError, match="2 features"):
        first.partial_fit(noisy[0][200:, :2], y[200:])
    for model in (first, other):
        model.partial_fit(noisy[0][200:], y[200:])
    assert np.array_equal(first.coef_, other.coef_)


def test_fits_of_one_kind_leave_nothing_of_the_other():
    _, y, noisy, _ = problem(n=100)
    model = NoiseCorrectedRegressor(KnownCovariance(0.49))
    model.partial_fit(noisy[0], y)
    assert not hasattr(model, "alpha_") and model.n_rounds_ == 100
    model.fit(noisy[0], y)
    assert not hasattr(model, "n_rounds_") and model.alpha_ > 0
    model.partial_fit(noisy[0], y)
    assert model.n_rounds_ == 100 and not hasattr(model, "alpha_")


def test_frames_and_feature_names():
    pd = pytest.importorskip("pandas")
    _, y, noisy, _ = problem(n=100)
    frames = [pd.DataFrame(c, columns=["a", "b", "c"]) for c in noisy]
    named = NoiseCorrectedRegressor().fit(frames[0], y, X2=frames[1])
    plain = NoiseCorrectedRegressor().fit(noisy[0], y, X2=noisy[1])
    np.testing.assert_allclose(named.coef_, plain.coef_, rtol=1e-12)
    assert list(named.feature_names_in_) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("options", "change"),
    [
        ({"learning_rate": 0.01}, {"learning_rate": "auto"}),
        ({"learning_rate": "auto"}, {"learning_rate": 0.01}),
        ({"fit_intercept": False}, {"fit_intercept": True}),
        ({"standardize": True}, {"standardize": False}),
    ],
)
def test_a_stream_keeps_its_form(options, change):
    """Sizes that change mid-stream would be read and written out of bounds."""
    _, y, noisy, _ = problem(n=60)
    model = NoiseCorrectedRegressor(KnownCovariance(0.49), **options)
    model.partial_fit(noisy[0], y)
    before = model.coef_
    model.set_params(**change)
    with pytest.raises(ValueError, match="what the stream began with"):
        model.partial_fit(noisy[0], y)
    assert np.array_equal(model.coef_, before)
    assert model.fit(noisy[0], y).partial_fit(noisy[0], y).n_rounds_ == 60


def test_steps_and_noises_may_change_during_a_stream():
    _, y, noisy, _ = problem(n=60)
    model = NoiseCorrectedRegressor(KnownCovariance(0.49), learning_rate=0.01)
    model.partial_fit(noisy[0], y)
    model.set_params(learning_rate=0.005, noise__cov=0.4).partial_fit(noisy[0], y)
    assert model.n_rounds_ == 120 and model.learning_rate_ == 0.005


@pytest.mark.parametrize("online", [False, True])
def test_noise_correlated_with_the_target(online):
    """y's own noise enters X: c must be taken off X̄ᵀy, not added."""
    rng = np.random.default_rng(6)
    cross = np.array([0.4, -0.3, 0.0])
    X, y, _, w = problem(n=20_000)
    n_y = rng.normal(size=len(y))
    noisy = X + n_y[:, None] * cross + 0.4 * rng.normal(size=X.shape)
    cov = np.outer(cross, cross) + 0.16 * np.eye(3)
    model = NoiseCorrectedRegressor(KnownCovariance(cov, target_cov=cross))
    (model.partial_fit if online else model.fit)(noisy, y + n_y)
    deaf = NoiseCorrectedRegressor(KnownCovariance(cov)).fit(noisy, y + n_y)
    assert np.linalg.norm(model.coef_ - w) < 0.06
    assert np.linalg.norm(deaf.coef_ - w) > 0.3


@pytest.mark.parametrize("form", ["known", "pairs", "rows"])
def test_centring_takes_a_share_of_the_noise(form):
    """Of tiny samples the mean corrected Gram is the clean one: (1 − 1/n)Σ, not Σ."""
    rng = np.random.default_rng(7)
    n, times = 4, 20_000
    clean = rng.normal(size=(n, 1))
    noisy = clean + rng.normal(size=(2, times, n, 1))
    rows = {"known": None, "pairs": None, "rows": np.ones((n, 1))}[form]
    noise = Replicates() if form == "pairs" else KnownCovariance(1.0)
    from lrisk.corrections import corrected_gram, corrected_rows
    from lrisk.corrections.covariances import centred

    grams = np.array([
        corrected_gram(centred(corrected_rows(
            noisy[:, t] if form == "pairs" else noisy[:1, t], noise, rows
        )))[0, 0]
        for t in range(times)
    ])  # fmt: skip
    assert abs(grams.mean() - clean.var()) < 5 * grams.std() / np.sqrt(times)


def test_a_fit_is_the_centred_normal_equations():
    _, y, noisy, _ = problem(n=12)
    X, n = noisy[0] - noisy[0].mean(axis=0), 12
    gram = X.T @ X / n - (1 - 1 / n) * 0.05 * np.eye(3)
    w = np.linalg.solve(gram, X.T @ (y - y.mean()) / n)
    model = NoiseCorrectedRegressor(KnownCovariance(0.05), alpha=0.0)
    np.testing.assert_allclose(model.fit(noisy[0], y).coef_, w, rtol=1e-9)


@pytest.mark.parametrize("level", [0.1, 1e6, 0.0])
@pytest.mark.parametrize("name", ["fit", "partial_fit"])
def test_a_constant_column_has_no_scale(name, level):
    """Rounding makes 0.1 spread by 1e-17; Σ over its square must not explode."""
    X, y, noisy, _ = problem(n=3000)
    noisy = np.c_[noisy[0], np.full(len(X), level)]
    noise = KnownCovariance([0.49, 0.49, 0.49, 1e-4])
    model = NoiseCorrectedRegressor(noise, standardize=True)
    with pytest.warns(NoiseMismatchWarning, match="feature 3"):
        getattr(model, name)(noisy, y)
    assert model.scale_[3] == 1.0
    without = NoiseCorrectedRegressor(KnownCovariance(0.49), standardize=True)
    getattr(without, name)(noisy[:, :3], y)
    np.testing.assert_allclose(model.coef_[:3], without.coef_, atol=0.05)


@pytest.mark.parametrize("name", ["fit", "partial_fit"])
def test_columns_of_the_second_copy_are_those_of_the_first(name):
    pd = pytest.importorskip("pandas")
    _, y, noisy, _ = problem(n=100)
    first, second = (pd.DataFrame(c, columns=["a", "b", "c"]) for c in noisy)
    model = NoiseCorrectedRegressor()
    with pytest.raises(ValueError, match="X2 must be of the columns"):
        getattr(model, name)(first, y, X2=second[["c", "a", "b"]])
    assert not hasattr(model, "coef_")
    getattr(model, name)(first, y, X2=second)
    with pytest.raises(ValueError, match="columns"):
        model.predict_from_noisy(first, second[["b", "a", "c"]])


def test_a_nan_among_matrices_is_called_so():
    X, y, _, _ = problem(n=50)
    own = np.broadcast_to(np.eye(3), (50, 3, 3)).copy()
    own[4, 1, 1] = np.nan
    with pytest.raises(ValueError, match="finite"):
        NoiseCorrectedRegressor(KnownCovariance(1.0)).fit(X, y, noise_scale=own)

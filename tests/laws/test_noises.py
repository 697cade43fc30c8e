"""Laws every registered noise obeys, by simulation: corrections are unbiased.

Each statistic is averaged over a million draws of the noise at fixed clean rows and
compared with its clean value in standard errors.
"""

import numpy as np
import pytest

from lrisk.corrections import (
    CorrectedRows,
    Gaussian,
    Laplacian,
    Matern,
    OneCopy,
    RandomFeatures,
    RationalQuadratic,
    Surrogate,
    corrected_gradients,
    corrected_gram,
    corrected_losses,
    corrected_rows,
    pair_quadratic,
)
from lrisk.noise import (
    NOISES,
    CharacteristicNoise,
    Exact,
    GaussianNoise,
    KnownCovariance,
    LaplaceNoise,
    Replicates,
)

DRAWS = 250_000
LIMIT = 5.0


def full_covariance(d, seed=0):
    root = 0.4 * np.random.default_rng(seed).normal(size=(d, d))
    return root @ root.T + 0.05 * np.eye(d)


def shifted_exponential(omega):
    """φ of n = (Exp(1) − 1)/2 in each feature: complex, since it is lopsided."""
    return np.prod(np.exp(-0.5j * omega) / (1.0 - 0.5j * omega), axis=1)


def instance(name, d):
    """A noise of that name, and a way to draw from it."""
    cov = full_covariance(d)
    gaussian, laplace = GaussianNoise(cov), LaplaceNoise(np.linspace(0.2, 0.6, d))

    def lopsided(rng, shape):
        return 0.5 * (rng.exponential(size=shape) - 1.0)

    def coin(rng, shape):  # not Gaussian, same covariance
        return rng.choice([-1.0, 1.0], size=shape) @ np.linalg.cholesky(cov).T

    return {
        "exact": (Exact(), Exact().sample),
        "replicates": (Replicates(), lopsided),
        "known_covariance": (KnownCovariance(cov), coin),
        "gaussian": (gaussian, gaussian.sample),
        "laplace": (laplace, laplace.sample),
        "characteristic": (CharacteristicNoise(shifted_exponential, 0.25), lopsided),
    }[name]


def z_scores(samples, truth):
    """Distance of the mean from the truth in standard errors, entry by entry."""
    error = samples.mean(axis=0) - truth
    spread = samples.std(axis=0) / np.sqrt(len(samples))
    same = np.abs(error) <= 1e-9 * (1.0 + np.abs(truth))
    return np.where(same, 0.0, error / np.where(spread > 0, spread, 1e-300))


def draws_of(name):
    """Exact rows are all the same: a few will do."""
    return 1000 if name == "exact" else DRAWS


def setting(name, d, m, seed=1):
    draws = draws_of(name)
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=d), rng.normal(size=d)
    noise, draw = instance(name, d)
    copies = np.stack([x + draw(rng, (draws, d)) for _ in range(m)])
    y = 0.7 + 0.3 * rng.normal(size=draws)
    return noise, x, w, copies, y


every_noise = pytest.mark.parametrize("name", NOISES)
copies_of = pytest.mark.parametrize(("d", "m"), [(1, 1), (4, 1), (4, 2), (3, 3)])


def possible(name, m):
    if m == 1 and not NOISES[name].knows_covariance:
        with pytest.raises(ValueError, match="X2"):
            corrected_rows(np.zeros((1, 2, 2)), NOISES[name]())
        return False
    return True


@every_noise
@copies_of
def test_gradient_and_loss_are_unbiased(name, d, m):
    if not possible(name, m):
        return
    noise, x, w, copies, y = setting(name, d, m)
    rows = corrected_rows(copies, noise)
    truth = 2.0 * (x @ w - 0.7) * x
    assert np.abs(z_scores(corrected_gradients(rows, y, w), truth)).max() <= LIMIT
    loss = corrected_losses(rows, y, w)
    assert abs(z_scores(loss, (x @ w - 0.7) ** 2 + 0.09)) <= LIMIT


@every_noise
@copies_of
def test_gram_is_unbiased(name, d, m):
    if not possible(name, m):
        return
    noise, x, _, copies, _ = setting(name, d, m, seed=2)
    parts = 200
    blocks = np.stack(
        [
            corrected_gram(corrected_rows(block, noise))
            for block in np.split(copies, parts, axis=1)
        ]
    )
    assert np.abs(z_scores(blocks, np.outer(x, x))).max() <= LIMIT


@pytest.mark.parametrize(
    "name", [n for n, kind in NOISES.items() if kind.knows_covariance and n != "exact"]
)
def test_the_papers_gradient_without_the_factor_two_is_caught(name):
    """−Σw, as printed in algorithm 1, leaves a bias of +Σw that this law sees."""
    noise, x, w, copies, y = setting(name, 3, 1)
    rows = corrected_rows(copies, noise, correction=0.5)  # −2·(Σ/2)w
    truth = 2.0 * (x @ w - 0.7) * x
    assert np.abs(z_scores(corrected_gradients(rows, y, w), truth)).max() > LIMIT


@pytest.mark.parametrize("kind", ["factor", "diagonal", "full"])
def test_covariances_that_change_by_row(kind):
    rng = np.random.default_rng(3)
    d, n = 3, DRAWS
    x, w = rng.normal(size=d), rng.normal(size=d)
    cov = full_covariance(d)
    which = np.arange(n) % 2
    if kind == "factor":
        options, scale = [cov, 2.5 * cov], np.array([1.0, 2.5])[which]
    elif kind == "diagonal":
        variances = np.array([[0.1, 0.5, 0.0], [0.3, 0.2, 0.7]])
        options, scale = [np.diag(v) for v in variances], variances[which]
    else:
        options = [cov, full_covariance(d, seed=9)]
        scale = np.stack(options)[which]
    roots = np.stack([np.linalg.cholesky(c + 1e-15 * np.eye(d)) for c in options])
    noise = np.einsum("nij,nj->ni", roots[which], rng.normal(size=(n, d)))
    rows = corrected_rows((x + noise)[None], KnownCovariance(cov), scale)
    gradients = corrected_gradients(rows, np.full(n, 0.7), w)
    assert np.abs(z_scores(gradients, 2.0 * (x @ w - 0.7) * x)).max() <= LIMIT


@pytest.mark.parametrize("m", [1, 2, 3])
def test_noise_correlated_with_the_target(m):
    """Copies of independent noises, each correlated with the target's."""
    rng = np.random.default_rng(4)
    d, cross = 2, np.array([0.2, -0.1])
    x, w = rng.normal(size=d), rng.normal(size=d)
    noises = rng.normal(size=(m, DRAWS, d))
    n_y = (noises @ cross).sum(axis=0) + rng.normal(size=DRAWS)
    noise = KnownCovariance(np.eye(d), target_cov=cross)
    rows = corrected_rows(x + noises, noise)
    gradients = corrected_gradients(rows, 0.7 + n_y, w)
    assert np.abs(z_scores(gradients, 2.0 * (x @ w - 0.7) * x)).max() <= LIMIT
    losses = corrected_losses(rows, 0.7 + n_y, w)
    truth = (x @ w - 0.7) ** 2 + m * cross @ cross + 1.0
    assert abs(z_scores(losses, truth)) <= LIMIT
    blind = corrected_rows(x + noises, KnownCovariance(np.eye(d)))
    biased = corrected_gradients(blind, 0.7 + n_y, w)
    assert np.abs(z_scores(biased, 2.0 * (x @ w - 0.7) * x)).max() > LIMIT


KERNELS = {
    "gaussian": lambda d: Gaussian(2.0 * d),
    "gaussian per feature": lambda d: Gaussian(np.linspace(2.0, 4.0, d) * d),
    "gaussian matrix": lambda d: Gaussian(2.0 * d * np.eye(d) + full_covariance(d, 7)),
    "laplacian": lambda d: Laplacian(2.0),
    "matern": lambda d: Matern(1.5, 2.0),
    "rational quadratic": lambda d: RationalQuadratic(1.0, 2.0 * d),
}
CLOSED = ("exact", "gaussian", "laplace")


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", CLOSED)
def test_surrogate_kernel_is_unbiased(name, kernel, d):
    if name == "laplace" and kernel == "gaussian matrix":
        with pytest.raises(ValueError, match="axes"):
            Surrogate(KERNELS[kernel](d), LaplaceNoise(0.3), d)
        return
    rng = np.random.default_rng(5)
    noise, draw = instance(name, d)
    x, anchors = rng.normal(size=d), rng.normal(size=(2, d))
    surrogate = Surrogate(KERNELS[kernel](d), noise, d)
    noisy = x + draw(rng, (draws_of(name), d))
    samples = surrogate.matrix(noisy, anchors)
    truth = surrogate.clean_matrix(x[None], anchors)[0]
    assert np.abs(z_scores(samples, truth)).max() <= LIMIT
    # ... and the clean side is the kernel itself, up to the error that is reported.
    exact = _exact_kernel(surrogate.kernel, x - anchors)
    assert np.abs(truth - exact).max() <= surrogate.error + 1e-12
    assert surrogate.squared_radius == pytest.approx(
        surrogate.matrix(anchors, anchors)[0, 0]
    )


def _exact_kernel(kernel, u):
    if isinstance(kernel, Gaussian):
        width = np.asarray(kernel.width) * np.ones(u.shape[1])
        M = np.asarray(kernel.width) if np.ndim(kernel.width) == 2 else np.diag(width)
        return np.exp(-np.einsum("ni,ij,nj->n", u, np.linalg.inv(M), u))
    return kernel.value((u**2).sum(axis=1))


@pytest.mark.parametrize("name", CLOSED)
def test_one_copy_product_is_unbiased(name):
    """The surrogate of k(a, x)k(b, x), for a width beyond 4Σ."""
    d, rng = 2, np.random.default_rng(6)
    noise, draw = instance(name, d)
    x, anchors = rng.normal(size=d), rng.normal(size=(3, d))
    kernel = Gaussian(4.5 * np.eye(d) + 0.5)
    if name == "laplace":
        kernel = Gaussian([4.0, 5.0])
    single = Surrogate(kernel, noise, d)
    k = single.clean_matrix(x[None], anchors)[0]
    problem = OneCopy(kernel, noise, anchors)
    noisy = x + draw(rng, (DRAWS, d))
    blocks = np.stack([problem.gram(b) for b in np.split(noisy, 200)])
    assert np.abs(z_scores(blocks, np.outer(k, k))).max() <= LIMIT
    linear = problem.quadratic(noisy, np.full(DRAWS, 0.5)).linear
    se = single.matrix(noisy, anchors).std(axis=0) / np.sqrt(DRAWS)
    rounding = DRAWS * np.finfo(float).eps  # of a sum in whatever order
    assert np.abs((linear - 0.5 * k) / np.maximum(se, rounding)).max() <= LIMIT


@pytest.mark.parametrize("variance", [0.01, 0.2495])
def test_one_copy_gram_between_far_landmarks(variance):
    """Entry by entry from its formula: far pairs must neither overflow nor vanish."""
    rng = np.random.default_rng(12)
    far = np.array([[0.0], [0.4], [1.7], [2.5], [12.0], [30.0]])
    X = np.concatenate([rng.uniform(0.0, 30.0, size=(300, 1)), 0.5 * (far + far.T)[2]
                        [:, None]])  # fmt: skip
    gram = OneCopy(Gaussian(1.0), GaussianNoise(variance), far).gram(X)
    gap = 0.5 - 2.0 * variance
    a, b = far[:, None, 0], far[None, :, 0]
    middle = X[:, 0, None, None] - 0.5 * (a + b)
    truth = np.exp(-(middle**2) / gap).mean(axis=0) * np.exp(-0.5 * (a - b) ** 2)
    truth *= np.sqrt(0.5 / gap)
    np.testing.assert_allclose(gram, truth, rtol=1e-7, atol=1e-18)
    assert gram[2, 3] > 1e-4  # a pair that counts, at both variances


@pytest.mark.parametrize("factor", [None, 1.7])
@pytest.mark.parametrize(
    "name", [n for n, kind in NOISES.items() if kind.knows_characteristic]
)
def test_random_features_are_unbiased(name, factor):
    d, rng = 3, np.random.default_rng(7)
    noise, draw = instance(name, d)
    x = rng.normal(size=d)
    features = RandomFeatures(Gaussian(4.0 * d), noise, d, 12, rng)
    total, squares = 0.0, 0.0
    size = DRAWS // 4
    for _ in range(4):
        noisy = x + np.sqrt(1.0 if factor is None else factor) * draw(rng, (size, d))
        scale = None
        if factor is not None:  # the ratio is the same for all rows: scale the first
            scale = np.full(1, factor)
            base, own = features.noisy(noisy[:1]), features.noisy(noisy[:1], scale)
            assert own.shape == base.shape
            values = _by_blocks(features, noisy, factor)
        else:
            values = features.noisy(noisy)
        total, squares = total + values.sum(axis=0), squares + (values**2).sum(axis=0)
    mean = total / DRAWS
    spread = np.sqrt((squares / DRAWS - mean**2).clip(0.0) / DRAWS)
    truth = features.clean(x[None])[0]
    error = np.where(np.abs(mean - truth) < 1e-12, 0.0, mean - truth)
    assert np.abs(error / np.maximum(spread, 1e-15)).max() <= LIMIT


def _by_blocks(features, X, factor):
    """Rows of one factor, without asking for φ once per row."""
    many = features.noise.characteristic

    class Once:
        def characteristic(self, omega, c):
            if not hasattr(self, "value"):
                self.value = many(omega, c)
            return self.value

    kept, features.noise = features.noise, Once()
    try:
        return features.noisy(X, np.full(len(X), factor))
    finally:
        features.noise = kept


def test_random_features_approach_the_kernel():
    d, rng = 2, np.random.default_rng(8)
    A = rng.normal(size=(6, d))
    for noise in (Exact(), GaussianNoise(full_covariance(d)), LaplaceNoise(0.3)):
        for kernel in (Gaussian(3.0), Matern(2.5, 2.0)):
            features = RandomFeatures(kernel, noise, d, 40_000, rng)
            # ⟨ψ̂(a), clean(x)⟩ is the kernel of the clean rows
            product = features.noisy(A + 0.0) @ features.clean(A).T
            truth = kernel.value(((A[:, None] - A[None]) ** 2).sum(-1))
            assert np.abs(product - truth).max() <= features.error + 0.05


def test_pair_quadratic_of_surrogate_features():
    rng = np.random.default_rng(9)
    noise = GaussianNoise(full_covariance(2))
    x, anchors = rng.normal(size=2), rng.normal(size=(3, 2))
    surrogate = Surrogate(Gaussian(4.0), noise, 2)
    k = surrogate.clean_matrix(x[None], anchors)[0]
    features = np.stack(
        [surrogate.matrix(x + noise.sample(rng, (DRAWS, 2)), anchors) for _ in range(2)]
    )
    ones = np.ones(DRAWS // 200)
    blocks = np.stack(
        [pair_quadratic(b, ones).gram for b in np.split(features, 200, axis=1)]
    )
    assert np.abs(z_scores(blocks, np.outer(k, k))).max() <= LIMIT


@every_noise
def test_rescaling_the_features_rescales_the_noise(name):
    noise, _ = instance(name, 3)
    scale = np.array([0.5, 2.0, 3.0])
    other = noise.rescaled(scale, 0.7)
    if noise.knows_covariance:
        eye = np.eye(3)
        full = [np.asarray(n.covariance(3)) for n in (noise, other)]
        full = [np.diag(c) if c.ndim == 1 else c for c in full]
        shrink = eye / scale
        np.testing.assert_allclose(full[1], 0.7 * shrink @ full[0] @ shrink)
    if noise.knows_characteristic:
        omega = np.random.default_rng(0).normal(size=(5, 3))
        np.testing.assert_allclose(
            other.characteristic(omega), noise.characteristic(omega / scale, 0.7)
        )


@every_noise
def test_noises_are_parameter_objects(name):
    noise, _ = instance(name, 2)
    copy = type(noise)(**noise.get_params())
    assert copy == noise
    assert repr(noise).startswith(type(noise).__name__)


@every_noise
def test_characteristic_function_matches_draws(name):
    noise, draw = instance(name, 2)
    if not noise.knows_characteristic:
        with pytest.raises(ValueError, match="known characteristic"):
            noise.characteristic(np.zeros((1, 2)))
        return
    omega = np.array([[0.5, -1.0], [2.0, 1.0]])
    n = draw(np.random.default_rng(10), (DRAWS, 2))
    waves = np.exp(1j * n @ omega.T)
    phi = noise.characteristic(omega)
    assert np.abs(z_scores(waves.real, np.real(phi))).max() <= LIMIT
    assert np.abs(z_scores(waves.imag, np.imag(phi))).max() <= LIMIT
    cov = np.asarray(noise.covariance(2))
    cov = np.diag(cov) if cov.ndim == 1 else cov
    products = n[:, :, None] * n[:, None, :]
    assert np.abs(z_scores(products, cov)).max() <= LIMIT


def test_compiled_products_are_the_array_form():
    from lrisk._jit import jit
    from lrisk.corrections.covariances import (
        Deviations,
        RowDiagonal,
        RowFull,
        SharedDiagonal,
        SharedFull,
        average,
        covariance_times,
        matrix_of,
        rows_of,
        scaled,
        times,
    )

    @jit
    def every_row(cov, n, w, out):
        for i in range(n):
            covariance_times(cov, i, w, out[i])

    rng = np.random.default_rng(11)
    n, d = 7, 3
    matrices = np.stack([full_covariance(d, seed) for seed in range(n)])
    kinds = [
        SharedDiagonal(rng.random(d), rng.random(n)),
        SharedFull(full_covariance(d), rng.random(n)),
        RowDiagonal(rng.random((n, d))),
        RowFull(matrices),
        Deviations(rng.normal(size=(n, 2, d))),
    ]
    w = rng.normal(size=d)
    for cov in kinds:
        out = np.empty((n, d))
        every_row(cov, n, w, out)
        np.testing.assert_allclose(out, times(cov, w), rtol=1e-12)
        np.testing.assert_allclose(average(cov) @ w, out.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(times(rows_of(cov, slice(2, 5)), w), out[2:5])
        np.testing.assert_allclose(matrix_of(cov, 3) @ w, out[3], rtol=1e-12)
        np.testing.assert_allclose(times(scaled(cov, 0.3), w), 0.3 * out, rtol=1e-12)
        rows = CorrectedRows(np.zeros((n, d)), cov, np.zeros(d))
        np.testing.assert_allclose(
            corrected_gradients(rows, np.zeros(n), w), -2.0 * out, rtol=1e-12
        )

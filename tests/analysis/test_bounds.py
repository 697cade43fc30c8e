"""The papers' bounds against measurements; how tight each is, is asserted as well.

Every simulation is of a few thousand draws; where a mean is compared, its standard
error is allowed five times.
"""

import itertools

import numpy as np
import pytest
from scipy.stats import binom, chi2, norm

from lrisk import risk
from lrisk.analysis import bounds
from lrisk.corrections.bounds import surrogate_ball
from lrisk.spectra import parse_spectrum

UP = ("mean", "superquantile:0.5", "superquantile:0.9", "extremile:2.5", "esrm:2")
ALL = (*UP, "subquantile:0.6", "risk_seeking_extremile:3")


@pytest.mark.parametrize("spectrum", ALL)
def test_the_ends_of_a_density_are_its_extremes(spectrum):
    s = parse_spectrum(spectrum).density(np.linspace(0.0, 1.0, 4001)[1:-1])
    assert bounds.largest_density(spectrum) >= s.max() * (1.0 - 1e-9)
    assert bounds.largest_density(spectrum) <= s.max() * 1.01
    assert bounds.distance_to_mean(spectrum) >= np.abs(s - 1.0).max() * (1.0 - 1e-9)
    assert bounds.distance_to_mean(spectrum) <= np.abs(s - 1.0).max() * 1.01 + 1e-12


def test_a_jump_is_infinite_and_a_range_refused():
    assert bounds.largest_density("worst_case") == np.inf
    assert bounds.minibatch_bias_bound("worst_case", 9, 3, 1.0) == np.inf
    assert bounds.minibatch_bias_bound("worst_case", 9, 9, 1.0) == 0.0
    with pytest.raises(ValueError, match="monotone"):
        bounds.largest_density("ranked_range:0.1:0.8")


@pytest.mark.parametrize("spectrum", UP)
@pytest.mark.parametrize("n", [5, 40])
def test_proposition_1(spectrum, n):
    """Exponential losses, p = 4: the bound holds, 5 to 600 times the error."""
    rng = np.random.default_rng(0)
    drawn = rng.exponential(size=(3000, n))
    u = (np.arange(400_000) + 0.5) / 400_000
    quantile = -np.log1p(-u)
    truth = np.mean(parse_spectrum(spectrum).density(u) * quantile)
    errors = np.array([risk(row, spectrum) - truth for row in drawn]) ** 2
    bound = bounds.risk_error_bound(spectrum, n, moment=24.0, p=4.0)  # E Z⁴ = 4!
    assert errors.mean() + 5 * errors.std() / np.sqrt(len(errors)) <= bound
    assert 5.0 < bound / errors.mean() < 600.0


@pytest.mark.parametrize("spectrum", UP)
@pytest.mark.parametrize(("n", "m"), [(30, 2), (30, 8), (30, 29), (5, 1)])
def test_corollary_15(spectrum, n, m):
    rng = np.random.default_rng(1)
    losses = rng.exponential(size=n)
    subsets = np.array([rng.permutation(n)[:m] for _ in range(4000)])
    found = np.sort(losses[subsets], axis=1) @ parse_spectrum(spectrum).weights(m)
    bias = abs(found.mean() - risk(losses, spectrum))
    slack = 5.0 * found.std() / np.sqrt(len(found)) + 1e-12
    bound = bounds.minibatch_bias_bound(spectrum, n, m, losses.max())
    assert bias <= bound + slack
    if spectrum == "mean":
        assert bound == 0.0  # and unbiased it is (lemma 12)
    elif m == 2:
        assert bound / bias < 60.0


@pytest.mark.parametrize("spectrum", ALL)
@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("p", [2.1, 4.0, 20.0])
def test_proposition_1_for_two_values_exactly(spectrum, n, p):
    """Z = −1 or 2 with every chance: the error is a sum over binomial counts."""
    s = parse_spectrum(spectrum)

    def tail(share):  # S(1) − S(1 − share): the weight of the largest losses
        own = s.increments(np.ones(1), np.full(1, share)) if share else np.zeros(1)
        return float(own[0])

    for chance in (1e-6, 0.03, 0.2, 0.5, 0.9, 0.999):
        counts = np.arange(n + 1)
        found = np.array([-1.0 + 3.0 * tail(k / n) for k in counts])
        errors = (found - (-1.0 + 3.0 * tail(chance))) ** 2
        error = float(binom.pmf(counts, n, chance) @ errors)
        moment = (1.0 - chance) + chance * 2.0**p
        assert error <= bounds.risk_error_bound(spectrum, n, moment, p)


@pytest.mark.parametrize("spectrum", ALL)
def test_corollary_15_for_two_values_exactly(spectrum):
    """Every subset of n losses of ±1: the farthest apart that B = 1 allows."""
    s, n = parse_spectrum(spectrum), 7
    closest = 0.0
    for ones, m in itertools.product(range(1, n), range(1, n)):
        losses = np.where(np.arange(n) < ones, 1.0, -1.0)
        found = [
            np.sort(losses[list(rows)]) @ s.weights(m)
            for rows in itertools.combinations(range(n), m)
        ]
        bias = abs(np.mean(found) - risk(losses, spectrum))
        bound = bounds.minibatch_bias_bound(spectrum, n, m, 1.0)
        assert bias <= bound + 1e-12
        closest = max(closest, bias / bound if bound else 0.0)
    assert closest > 0.1 or spectrum == "mean"  # not loose for such losses


@pytest.mark.parametrize("spectrum", ["mean", "superquantile:0.5", "extremile:2"])
@pytest.mark.parametrize("m", [1, 8, 40])
def test_proposition_3(spectrum, m):
    """Algorithm 1 by hand on the logistic loss, G = max ‖x‖."""
    rng = np.random.default_rng(2)
    n, T, mu = 40, 400, 0.5
    X, y = rng.normal(size=(n, 2)), rng.choice([-1.0, 1.0], size=n)
    G = np.linalg.norm(X, axis=1).max()

    def losses(w):
        return np.logaddexp(0.0, -y * (X @ w))

    def objective(w):
        return risk(losses(w), spectrum) + 0.5 * mu * w @ w

    sigma = parse_spectrum(spectrum).weights(m)
    ends = []
    for _ in range(6):
        w, mean = np.zeros(2), np.zeros(2)
        for t in range(T):
            mean += w / T
            batch = rng.permutation(n)[:m]
            own = losses(w)[batch]
            order = batch[np.argsort(own)]
            slope = -y[order] / (1.0 + np.exp(y[order] * (X[order] @ w)))
            v = (sigma * slope) @ X[order]
            eta = 1.0 / (mu * (t + 1))
            w = (1.0 - eta * mu) * w - eta * v
        ends.append(objective(mean))
    from scipy.optimize import minimize

    least = minimize(objective, np.zeros(2), method="Nelder-Mead",
                     options={"xatol": 1e-9, "fatol": 1e-12}).fun  # fmt: skip
    largest = np.logaddexp(0.0, np.linalg.norm(X, axis=1).max() * G / mu)
    bound = bounds.sgd_bound(spectrum, n, m, T, G, mu, largest)
    assert np.mean(ends) - least <= bound.total
    assert bound.bias == 0.0 if m == n or spectrum == "mean" else bound.bias > 0.0
    assert bound.total == bound.bias + bound.optimization


def test_theorem_4_has_the_numbers_of_the_solver():
    from lrisk.solvers import LSVRG

    theory = bounds.lsvrg_theory(20, 0.1, 1.5, 0.25, 0.05)
    kappa = 20 * 0.1 * 0.25 / 0.05 + 1
    assert theory.learning_rate == pytest.approx(2.0 / ((20 + 8 * kappa) * 0.05))
    assert theory.epoch_length == np.ceil(4 * (20 + 8 * kappa))
    assert theory.nu == pytest.approx(4 * 20 * 1.5**2 / 0.05)
    assert LSVRG(checkpoint_probability=theory.checkpoint_probability)
    # Appendix E.2 writes the same with a logarithm instead of the 4.
    appendix = (20 * (1 + 8 * 0.1 * 0.25 / 0.05) + 8) * np.log(125 / 4)
    assert appendix <= theory.epoch_length


# -- subquantile -----------------------------------------------------------------------


def test_gamma_has_two_definitions():
    assert bounds.contamination_ratio(0.25) == 0.5
    assert bounds.contamination_ratio(0.25, root=True) == pytest.approx(np.sqrt(0.5))
    assert bounds.contamination_ratio(0.0) == 0.0
    with pytest.raises(ValueError, match=r"\[0, 0.5\)"):
        bounds.contamination_ratio(0.5)
    # At least n(1 − 2ε) of the n(1 − ε) kept rows are right.
    for n in (10, 100):
        wrong, kept = int(0.3 * n), int(0.7 * n)
        most = min(wrong, kept) / (kept - min(wrong, kept))
        assert most <= bounds.contamination_ratio(0.3) + 1e-12


def trimmed_descent(X, y, wrong, truth, steps):
    """Algorithm 1 from zero with step 1/β; distances and what the bound asks for."""
    n = len(y)
    h = n - wrong.sum()
    largest = np.linalg.norm(X, 2) ** 2
    w, path, smallest, pull = np.zeros(X.shape[1]), [], np.inf, 0.0
    for _ in range(steps + 1):
        path.append(np.linalg.norm(w - truth))
        residual = X @ w - y
        kept = np.argsort(residual**2, kind="stable")[:h]
        right = kept[~wrong[kept]]
        bad = kept[wrong[kept]]
        smallest = min(smallest, np.linalg.eigvalsh(X[right].T @ X[right])[0])
        off = X @ truth - y
        pull = max(
            pull,
            np.linalg.norm(X[right].T @ off[right])
            + np.linalg.norm(X[bad].T @ off[bad]),
        )
        w = w - X[kept].T @ residual[kept] / largest
    return np.array(path), smallest, largest, pull


@pytest.mark.parametrize("share", [0.0, 0.2, 0.35])
def test_theorem_7_as_corrected(share):
    """The distance stays below the unrolled equation 111, whatever is kept."""
    rng = np.random.default_rng(3)
    n, T = 120, 150
    X = rng.normal(size=(n, 3))
    truth = np.array([1.0, -2.0, 0.5])
    y = X @ truth + 0.1 * rng.normal(size=n)
    wrong = np.arange(n) < share * n
    y[wrong] = rng.normal(5.0, 5.0, size=wrong.sum())
    path, smallest, largest, pull = trimmed_descent(X, y, wrong, truth, T)
    for t, distance in enumerate(path):
        bound = bounds.trimmed_descent_bound(path[0], t, smallest, largest, pull)
        assert distance <= bound * (1.0 + 1e-9)
    # Steps after which the first part is below ε; the printed form falls with 1/ε.
    steps = bounds.trimmed_descent_steps(path[0], 1e-3, smallest / largest)
    assert (1 - smallest / largest) ** steps * path[0] == pytest.approx(1e-3)
    printed = [
        bounds.trimmed_descent_steps(2.0, eps, 0.1, printed=True)
        for eps in (1e-2, 1e-3)
    ]
    assert printed[1] == pytest.approx(10.0 * printed[0])
    assert bounds.trimmed_descent_steps(0.5, 0.1, 0.1, printed=True) < 0.0


def test_equation_112_contracts_what_does_not():
    """Its Λ contains the noise of the kept rows, which no step reduces."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, 1.0] + rng.normal(size=60)
    wrong = np.zeros(60, dtype=bool)
    wrong[:15] = True
    y[wrong] += 20.0
    path, smallest, largest, pull = trimmed_descent(X, y, wrong, np.ones(2), 2000)
    claimed = (1.0 - smallest / largest) ** 2000 * (path[0] + 2.0 * pull)
    assert claimed < 1e-9 < path[-1]


@pytest.mark.parametrize("share", [0.05, 0.2, 0.4])
def test_corollary_8_with_constant_two_and_a_statistical_term(share):
    """γσ/√λ_min alone is below the error at small ε: it lacks σ√(d/n)."""
    rng = np.random.default_rng(5)
    n, d, sigma = 400, 4, 0.5
    errors = []
    for _ in range(20):
        X = rng.normal(size=(n, d))
        y = X @ np.ones(d) + sigma * rng.normal(size=n)
        wrong = np.arange(n) < share * n
        y[wrong] = rng.normal(5.0, 5.0, size=wrong.sum())
        w = np.zeros(d)
        step = 1.0 / np.linalg.norm(X, 2) ** 2
        for _ in range(400):
            residual = X @ w - y
            kept = np.argsort(residual**2)[: n - wrong.sum()]
            w -= step * X[kept].T @ residual[kept]
        errors.append(np.linalg.norm(w - 1.0))
    rate = bounds.trimmed_regression_rate(share, sigma, 1.0)
    statistical = sigma * np.sqrt(d / (n * (1 - share)))
    assert np.mean(errors) <= 2.0 * rate + 2.0 * statistical
    assert bounds.trimmed_regression_rate(0.0, sigma, 1.0) == 0.0 < statistical


def test_theorems_9_and_10_say_little():
    """Measured error of trimmed logistic fits beside the rates with constant one."""
    from lrisk import RiskClassifier

    rng = np.random.default_rng(6)
    n, epsilon = 600, 0.1
    W = {2: np.array([[1.0, -1.0]]), 3: np.array([[1.0, 0.0], [-1.0, 1.0], [0, -1.0]])}
    for K, truth in W.items():
        X = rng.normal(size=(n, 2))
        full = np.vstack([np.zeros(2), truth]) if K == 2 else truth
        y = np.argmax(X @ full.T + rng.gumbel(size=(n, K)), axis=1)
        wrong = np.arange(n) < epsilon * n
        y[wrong] = (y[wrong] + 1) % K
        fit = RiskClassifier(
            f"subquantile:{1 - epsilon}", alpha=1.0, fit_intercept=False
        ).fit(X, y)
        found = fit.coef_ - fit.coef_.mean(axis=0) * (K > 2)
        error = np.linalg.norm(found - (truth - truth.mean(axis=0) * (K > 2)))
        square = float((X[wrong] ** 2).sum(axis=1).max())
        if K == 2:
            R = float(np.linalg.norm(truth))
            rate = bounds.trimmed_binary_rate(epsilon, n, R, 2.0, square, 1.0)
            assert rate > 1e3 * error  # vacuous: n^R e^{2R}
            more = bounds.trimmed_binary_rate(epsilon, 9 * n, R, 2.0, square, 1.0)
            assert more > rate  # and it grows with n, as R > ½
        else:
            rate = bounds.trimmed_multiclass_rate(epsilon, n, 2.0, square, 1.0)
            assert error <= 10.0 * rate + 1.0
            more = bounds.trimmed_multiclass_rate(epsilon, 100 * n, 2.0, square, 1.0)
            assert more < 0.2 * rate
    assert bounds.trimmed_multiclass_rate(0.1, 2, 2.0, 1.0, 1.0) == np.inf


@pytest.mark.parametrize("n", [2, 10, 200])
@pytest.mark.parametrize("sigma", [0.01, 1.0, 30.0])
def test_lemma_15(n, sigma):
    drawn = np.abs(np.random.default_rng(7).normal(size=(4000, n))).max(axis=1) * sigma
    bound = bounds.largest_gaussian_bound(n, sigma)
    assert drawn.mean() <= bound <= 2.0 * drawn.mean()
    units = [bounds.largest_gaussian_bound(n, s) / s for s in (0.01, 1.0, 30.0)]
    assert np.ptp(units) < 1e-12
    printed = [
        bounds.largest_gaussian_bound(n, s, printed=True) / s for s in (0.01, 30.0)
    ]
    assert np.ptp(printed) > 1.0  # a length plus an area


@pytest.mark.parametrize("n", [1, 5, 100])
@pytest.mark.parametrize("d", [1, 5, 30])
def test_lemma_19_and_its_repair(n, d):
    rng = np.random.default_rng(8)
    eigenvalues = 2.0 ** -np.arange(d)
    rows = rng.normal(size=(1000, n, d)) * np.sqrt(eigenvalues)
    largest = (rows**2).sum(axis=2).max(axis=1).mean()
    bound = bounds.largest_norm_bound(n, eigenvalues.sum())
    assert largest <= bound <= 12.0 * largest
    # Printed: below zero, and so false, where ns is well below 2 Tr Σ.
    assert bounds.largest_norm_bound(n, 1e3 * n, printed=True) < 0.0


@pytest.mark.parametrize("n", [5, 80])
def test_lemmas_20_22_and_24(n):
    rng = np.random.default_rng(9)
    eigenvalues = np.array([2.0, 1.0, 0.25])
    rows = rng.normal(size=(1500, n, 3)) * np.sqrt(eigenvalues)
    noise = 0.7 * rng.normal(size=(1500, n))
    norms = np.linalg.norm(np.einsum("rn,rnd->rd", noise, rows), axis=1)
    bound = bounds.noise_norm_bound(n, 0.7, eigenvalues.sum())
    assert norms.mean() <= bound <= 1.3 * norms.mean()
    assert bounds.noise_norm_bound(n, 0.7, eigenvalues.sum(), printed=True) > bound
    error = np.einsum("rni,rnj->rij", rows, rows) / n - np.diag(eigenvalues)
    frobenius = np.linalg.norm(error, axis=(1, 2)).mean()
    bound = bounds.covariance_error_bound(n, eigenvalues.sum())
    assert frobenius <= bound <= 6.0 * frobenius
    spectral = np.linalg.norm(error, 2, axis=(1, 2)).mean()
    bound = bounds.covariance_norm_bound(n, 3, eigenvalues.max())
    assert spectral <= bound <= 200.0 * spectral


# -- noisy features --------------------------------------------------------------------


def test_printed_regret_bounds_drop_the_cross_term():
    ours = bounds.two_copy_regret(2.0, 1.5, 0.5, 100)
    assert ours == pytest.approx(2.0 * 2 * (2.0 * 1.5 + 0.5) * 1.5 * 10)
    printed = bounds.two_copy_regret(2.0, 1.5, 0.5, 100, printed=True)
    assert printed == pytest.approx(2.0 * 2 * np.sqrt(9.25) * 1.5 * 10)
    assert printed < ours <= np.sqrt(2.0) * printed
    # E‖g‖² with ⟨w, x̃⟩ = −ỹ: between the two, so that the printed G is no bound.
    residual = 2.0 * 1.5 + 0.5
    second_moment = 4.0 * residual**2 * 1.5**2
    assert (printed / (2.0 * 10)) ** 2 < second_moment <= (ours / (2.0 * 10)) ** 2


def test_kernel_bound():
    W = surrogate_ball(1.5, 1.2, np.cos(1.0))
    R = np.sqrt(1.2)
    ours = bounds.kernel_regret(1.5, 1.2, 0.8, 400, 1.0)
    assert ours == pytest.approx(2 * W * R * (W * R + 0.8) * 20)
    assert bounds.kernel_regret(1.5, 1.2, 0.8, 400, 1.0, printed=True) > ours
    assert bounds.kernel_regret(1.5, 1.2, 0.8, 400) == pytest.approx(
        2 * 1.5 * 1.2 * (1.5 * 1.2 + 0.8) * 20
    )


def learn(X, rows, y, squared, feature, target, rounds):
    """The averaged predictor of algorithm 1, with its regret on the clean rows."""
    from lrisk.solvers.online import OnlineLinear

    solver = OnlineLinear("theory", 1.0, horizon=rounds, feature_bound=feature,
                          target_bound=target)  # fmt: skip
    path = np.empty_like(X)
    state = solver.step(solver.init(X.shape[1]), rows, y, squared, path)
    return path, solver.finish(state)


@pytest.mark.parametrize("pairs", [True, False])
def test_regret_and_the_risk_of_the_average_stay_below(pairs):
    """Regret against the truth, and the excess risk of w̄ on all rows, over seeds."""
    from lrisk.corrections import corrected_rows
    from lrisk.noise import GaussianNoise, Replicates
    from lrisk.solvers.online import squared_norms

    T, truth, sigma = 500, np.array([0.6, -0.8]), 0.4
    regrets, excesses = [], []
    fourth = (1 + 2 * sigma**2) ** 2 + 4 * sigma**2 + 4 * sigma**4
    feature = np.sqrt(1 + 2 * sigma**2) if pairs else fourth**0.25
    for seed in range(10):
        rng = np.random.default_rng(seed)
        angle = rng.uniform(0, 2 * np.pi, T)
        X = np.column_stack([np.cos(angle), np.sin(angle)])
        copies = np.stack([X + sigma * rng.normal(size=X.shape) for _ in range(2)])
        copies = copies if pairs else copies[:1]
        noise = Replicates() if pairs else GaussianNoise(sigma**2)
        rows = corrected_rows(copies, noise)
        path, mean = learn(
            X, rows, X @ truth, squared_norms(copies, rows), feature, 1.0, T
        )
        regrets.append(np.sum(((path - truth) * X).sum(axis=1) ** 2))
        excesses.append(0.5 * np.sum((mean - truth) ** 2))  # E(⟨w̄ − w, x⟩)²
    bound = bounds.two_copy_regret(1.0, feature, 1.0, T)
    if not pairs:
        bound = bounds.one_copy_regret(1.0, feature, 1.0, sigma**2, T)
    assert bound / 20.0 < np.mean(regrets) <= bound
    assert np.mean(excesses) <= bounds.online_to_batch_bound(bound, T)
    # By convexity, of the regrets themselves.
    assert np.mean(excesses) <= bounds.online_to_batch_bound(np.mean(regrets), T) * 1.1


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: bounds.risk_error_bound("mean", 0, 1.0, 4.0), "n must be"),
        (lambda: bounds.risk_error_bound("mean", 5, 1.0, 2.0), "p must be"),
        (lambda: bounds.minibatch_bias_bound("mean", 5, 6, 1.0), "at most n"),
        (lambda: bounds.sgd_bound("mean", 5, 2, 9, 1.0, 0.0, 1.0), "mu must be"),
        (lambda: bounds.lsvrg_theory(5, 0.2, 1.0, 1.0, 0.0), "mu must be"),
        (lambda: bounds.trimmed_regression_rate(0.1, 1.0, 0.0), "smallest"),
        (lambda: bounds.trimmed_binary_rate(0.1, 9, 1.0, 1.0, 1.0, 0.0), "smallest"),
        (lambda: bounds.trimmed_descent_bound(1.0, 5, 0.0, 1.0, 0.0), "smallest"),
        (lambda: bounds.trimmed_descent_steps(1.0, 0.0, 0.5), "accuracy"),
        (lambda: bounds.trimmed_descent_steps(1.0, 0.1, 1.0), "contraction"),
        (lambda: bounds.largest_gaussian_bound(1, 1.0), "n must be"),
        (lambda: bounds.online_to_batch_bound(1.0, 0), "rounds"),
        (lambda: bounds.online_to_batch_bound(np.nan, 9), "regret must be"),
        (lambda: bounds.two_copy_regret(1.0, 1.0, 1.0, 0), "rounds"),
        (lambda: bounds.two_copy_regret(-1.0, 1.0, 1.0, 9), "radius"),
        (lambda: bounds.two_copy_regret(1.0, np.nan, 1.0, 9), "feature"),
        (lambda: bounds.one_copy_regret(1.0, 1.0, 1.0, -1.0, 9), "noise"),
        (lambda: bounds.kernel_regret(1.0, 1.0, 1.0, 9, 0.0), "angle"),
        (lambda: bounds.kernel_regret(1.0, 1.0, 1.0, 9, 3.0), "angle"),
        (lambda: bounds.kernel_regret(1.0, 0.0, 1.0, 9), "squared_radius"),
        (lambda: bounds.sgd_bound("subquantile:0.5", 5, 2, 9, 1.0, 1.0, 1.0), "incr"),
        (lambda: bounds.lsvrg_theory(0, 0.2, 1.0, 1.0, 1.0), "n must be"),
        (lambda: bounds.lsvrg_theory(5, 0.1, 1.0, 1.0, 1.0), "largest_weight"),
        (lambda: bounds.lsvrg_theory(5, 0.2, 1.0, np.inf, 1.0), "smoothness"),
        (lambda: bounds.trimmed_regression_rate(0.1, -1.0, 1.0), "sigma"),
        (lambda: bounds.trimmed_binary_rate(0.5, 9, 1.0, 1.0, 1.0, 1.0), "epsilon"),
        (lambda: bounds.trimmed_binary_rate(0.1, 9, 1.0, -1.0, 1.0, 1.0), "trace"),
        (lambda: bounds.trimmed_multiclass_rate(0.7, 9, 1.0, 1.0, 1.0), "epsilon"),
        (lambda: bounds.trimmed_multiclass_rate(0.1, 9, 1.0, 1.0, 0.0), "smallest"),
        (lambda: bounds.trimmed_descent_bound(1.0, -5, 0.1, 1.0, 0.0), "steps"),
        (lambda: bounds.trimmed_descent_bound(1.0, 5, 0.1, 1.0, -1.0), "pull"),
        (lambda: bounds.trimmed_descent_bound(1.0, 5, 2.0, 1.0, 0.0), "largest"),
        (lambda: bounds.largest_gaussian_bound(5, -1.0), "sigma"),
        (lambda: bounds.largest_norm_bound(5, -1.0), "trace"),
        (lambda: bounds.largest_norm_bound(5, 0.0, printed=True), "trace"),
        (lambda: bounds.noise_norm_bound(0, 1.0, 1.0), "n must be"),
        (lambda: bounds.covariance_error_bound(5, -1.0), "trace"),
        (lambda: bounds.covariance_norm_bound(5, 3, -1.0), "largest"),
    ],
)
def test_refusals(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_nothing_times_infinity_is_nothing():
    """Losses that are all zero have no error under any spectrum, nor have zero rows."""
    assert bounds.risk_error_bound("worst_case", 5, 0.0, 4.0) == 0.0
    assert bounds.minibatch_bias_bound("worst_case", 5, 2, 0.0) == 0.0
    assert bounds.trimmed_binary_rate(0.1, 9, 1e9, 0.0, 0.0, 1.0) == 0.0
    assert bounds.trimmed_binary_rate(0.1, 9, 1e9, 1.0, 0.0, 1.0) == np.inf


# -- printed statements that fail ------------------------------------------------------


def test_proposition_16_lost_a_root():
    """P(max |μ_i| ≥ σ√(2 ln n)) ≤ √2/(e ln n) is false at n = 1,000.

    The step before has 1/√(ln n), and with it the statement is true.
    """
    n = 1000
    t = np.sqrt(2 * np.log(n))
    chance = -np.expm1(n * np.log1p(-2 * norm.sf(t)))
    assert chance > 2.0 * np.sqrt(2) / np.log(n) * np.exp(-1.0)
    for s in (1.0, 1.5):
        exact = -np.expm1(n * np.log1p(-2 * norm.sf(s * t)))
        assert exact <= n ** (1 - s**2) / (s * np.sqrt(np.pi * np.log(n)))


def test_proposition_17_holds():
    for n in (1, 2, 10, 200):
        for s in (1.0, 1.1, 2.0, 5.0):
            assert chi2.sf(n * s, n) <= np.exp(-s / 2)


def test_lemma_18_depends_on_the_unit():
    """E max μ² of two: (1 + 2/π)σ², above the printed bound for small σ."""
    largest, sigma = 1.0 + 2.0 / np.pi, 0.01
    printed = 2 * sigma**2 * np.log(2) + sigma**3 * np.sqrt(8 / np.pi) * (
        1 + 1 / np.log(2)
    )
    assert largest * sigma**2 > printed
    for n in (1, 2, 50):
        drawn = np.random.default_rng(0).normal(size=(4000, n)) ** 2
        assert drawn.max(axis=1).mean() <= bounds.largest_norm_bound(n, 1.0)


@pytest.mark.parametrize("d", [1, 4])
def test_proposition_21_holds(d):
    rows = np.random.default_rng(0).normal(size=(20_000, 5, d))
    norms = np.linalg.norm(rows.sum(axis=1), axis=1) / np.sqrt(5 * d)
    for u in (1.0, 1.5, 2.0):
        assert np.mean(norms >= u) <= np.exp(-(u**2) / 2) + 0.01


def test_proposition_23_depends_on_the_unit():
    """One row of variance 100, u = 10 = √Tr Σ: P(|χ² − 1| ≥ 10) is no e^(−5000)."""
    assert chi2.sf(11.0, 1) > 1e-4 > np.exp(-(10.0**2) * 100.0 / 2)

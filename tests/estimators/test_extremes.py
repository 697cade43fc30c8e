"""Numbers of absurd size, and masks: scaled, refused or warned of; never ignored.

Every public estimator is here. One that is added must be added here, too.
"""

import inspect
import warnings

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import lrisk
from lrisk import baselines
from lrisk.noise import GaussianNoise, KnownCovariance, Replicates

NOISE = KnownCovariance(0.01)
#: Own warnings, which say what is wrong, with a remedy; and Ridge's, inside Sever.
SPOKEN = (
    ConvergenceWarning,
    lrisk.CollapsedFitWarning,
    lrisk.NoiseMismatchWarning,
    LinAlgWarning,
)

REGRESSORS = {
    "tail": lrisk.RiskRegressor(),
    "mean": lrisk.RiskRegressor("mean"),
    "unpenalised": lrisk.RiskRegressor("mean", alpha=0.0),
    "lbfgs": lrisk.RiskRegressor("extremile:2", solver="lbfgs"),
    "huber": lrisk.RiskRegressor(loss="huber"),
    "absolute": lrisk.RiskRegressor(loss="absolute"),
    "pinball": lrisk.RiskRegressor(loss="pinball:0.9"),
    "trimmed": lrisk.RiskRegressor("subquantile:0.8", random_state=0),
    "sgd": lrisk.RiskRegressor(solver="sgd", max_iter=2, random_state=0),
    "lsvrg": lrisk.RiskRegressor(solver="lsvrg", max_iter=2, random_state=0),
    "cv": lrisk.RiskRegressorCV("mean", alphas=[0.1, 1.0], cv=2),
    "rbf": lrisk.KernelRiskRegressor(),
    "laplacian": lrisk.KernelRiskRegressor(kernel="laplacian"),
    "cosine": lrisk.KernelRiskRegressor(kernel="cosine"),
    "poly": lrisk.KernelRiskRegressor(kernel="poly"),
    "kernel absolute": lrisk.KernelRiskRegressor(loss="absolute"),
    "kernel trimmed": lrisk.KernelRiskRegressor("subquantile:0.8", random_state=0),
    "centres": lrisk.KernelRiskRegressor(n_components=10, random_state=0),
    "noise": lrisk.NoiseCorrectedRegressor(NOISE),
    "noise standardized": lrisk.NoiseCorrectedRegressor(NOISE, standardize=True),
    "noise kernel": lrisk.NoiseCorrectedKernelRegressor(GaussianNoise(0.01)),
    "torrent": baselines.TorrentRegressor("fc"),
    "torrent gd": baselines.TorrentRegressor("gd"),
    "torrent hyb": baselines.TorrentRegressor("hyb"),
    "crr": baselines.ConsistentRobustRegressor(),
    "stir": baselines.StirRegressor(),
    "sever": baselines.Sever(),
    "tilted": baselines.TiltedRegressor(),
    "tilted rbf": baselines.TiltedRegressor("rbf"),
    "robust": lrisk.RobustRegressor(random_state=0),
    "robust rbf": lrisk.RobustRegressor("rbf", random_state=0),
}
CLASSIFIERS = {
    "logistic": lrisk.RiskClassifier("superquantile:0.3"),
    "logistic mean": lrisk.RiskClassifier("mean"),
    "hinge": lrisk.RiskClassifier("mean", loss="squared_hinge"),
    "trimmed": lrisk.RiskClassifier("subquantile:0.8", random_state=0),
    "sgd": lrisk.RiskClassifier("mean", solver="sgd", max_iter=2, random_state=0),
    "cv": lrisk.RiskClassifierCV("mean", alphas=[0.1, 1.0], cv=2),
    "rbf": lrisk.KernelRiskClassifier("superquantile:0.3"),
    "centres": lrisk.KernelRiskClassifier("mean", n_components=10, random_state=0),
    "noise": lrisk.NoiseCorrectedClassifier(GaussianNoise(0.01)),
    "sever": baselines.Sever(LogisticRegression()),
    "tilted": baselines.TiltedClassifier(),
    "tilted rbf": baselines.TiltedClassifier("rbf"),
    "robust": lrisk.RobustClassifier(random_state=0),
}
OTHERS = {
    "clusters": lrisk.RiskKMeans(2, random_state=0),
    "clusters sgd": lrisk.RiskKMeans(2, solver="sgd", random_state=0),
    "clusters trimmed": lrisk.RiskKMeans(2, spectrum="subquantile:0.9", random_state=0),
    "calibration": lrisk.RegressionCalibration(NOISE),
}
ALL = [("y", m, k) for k, m in REGRESSORS.items()]
ALL += [("c", m, k) for k, m in CLASSIFIERS.items()]
ALL += [(None, m, k) for k, m in OTHERS.items()]
EVERY = pytest.mark.parametrize(
    ("target", "model"),
    [(t, m) for t, m, _ in ALL],
    ids=[f"{t} {k}" for t, _, k in ALL],
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(48, 3))
    y = X @ [1.0, 2.0, -1.0] + 0.3 * rng.normal(size=48)
    c = (y + 0.5 * rng.normal(size=48) > 0).astype(int)
    return {"X": X, "y": y, "c": c, None: None}


def fit(model, X, target=None, **more):
    """A fit of a copy, in which numpy's own warnings are errors."""
    model = type(model)(**model.get_params(deep=False))
    with warnings.catch_warnings():
        for kind in SPOKEN:
            warnings.simplefilter("ignore", kind)
        return model.fit(X, **({} if target is None else {"y": target}), **more)


def test_every_public_estimator_is_here():
    kinds = {type(model) for _, model, _ in ALL}
    public = {
        getattr(module, name)
        for module in (lrisk, baselines)
        for name in module.__all__
        if inspect.isclass(getattr(module, name))
        and hasattr(getattr(module, name), "fit")
    }
    # They predict nothing, or by what they are given: they have tests of their own.
    others = {
        lrisk.LabelErrorDetector,
        lrisk.OutlierDetector,
        lrisk.RiskMeta,
        lrisk.TablePreparation,
    }
    assert kinds == public - others


@EVERY
def test_features_beyond_the_limits_are_refused(target, model, data):
    X = data["X"]
    mixed = X * [1.0, 1e-310, 1.0]
    if isinstance(model, lrisk.RobustRegressor | lrisk.RobustClassifier):
        # They scale by robust measures, and find single rows of any size.
        for rows in (X * 1e200, X * 1e-300, mixed):
            with pytest.raises(ValueError, match=r"X must be at .* rescale"):
                fit(model, rows, data[target])
        rows = X.copy()
        rows[0] = 1e300
        fitted = fit(model, rows, data[target])
        assert np.all(np.isfinite(fitted.predict(X)))
        return
    for rows in (X * 1e200, X * 1e-200, X * 1e-300, X * 1e-310, mixed):
        with pytest.raises(ValueError, match=r"X must be at .* rescale"):
            fit(model, rows, data[target])
    fitted = fit(model, X, data[target])
    apply = fitted.predict if hasattr(fitted, "predict") else fitted.transform
    with pytest.raises(ValueError, match="X must be at most"):
        apply(X * 1e200)
    assert np.all(np.isfinite(apply(X * 1e-310)))


@pytest.mark.parametrize("name", REGRESSORS)
def test_targets_beyond_the_limits_are_refused(name, data):
    for scale in (1e300, 1e160, 1e-160, 1e-300, 1e-310):
        with pytest.raises(ValueError, match=r"y must be at .* rescale it"):
            fit(REGRESSORS[name], data["X"], data["y"] * scale)


@EVERY
def test_within_the_limits_nothing_overflows(target, model, data):
    """Powers of two close to the limits, one column of each size, both targets."""
    X, y = data["X"], data[target]
    scales = (2.0**150, 2.0**-150, np.array([2.0**150, 1.0, 2.0**-150]))
    for scale in scales:
        if getattr(model, "kernel", "") == "poly" and np.max(scale) > 1.0:
            with pytest.raises(ValueError, match=r"kernel values .* rescale"):
                fit(model, X * scale, y)
            continue
        fitted = fit(model, X * scale, y)
        apply = fitted.predict if hasattr(fitted, "predict") else fitted.transform
        assert np.all(np.isfinite(apply(X * scale)))
    if target == "y":
        for scale in (2.0**330, 2.0**-330):
            assert np.all(np.isfinite(fit(model, X, y * scale).predict(X)))


@EVERY
def test_masked_rows_are_missing_rows(target, model, data):
    X, mask = data["X"], np.zeros_like(data["X"], dtype=bool)
    mask[5, 1] = True
    with pytest.raises(ValueError, match="X contains NaN"):
        fit(model, np.ma.array(X, mask=mask), data[target])
    if target is not None:
        y = np.ma.array(data[target], mask=mask[:, 1])
        with pytest.raises(ValueError, match="y contains NaN"):
            fit(model, X, y)
    fitted = fit(model, X, data[target])
    apply = fitted.predict if hasattr(fitted, "predict") else fitted.transform
    with pytest.raises(ValueError, match="X contains NaN"):
        apply(np.ma.array(X, mask=mask))
    unharmed = fit(model, np.ma.array(X), data[target])
    apply_too = unharmed.predict if hasattr(unharmed, "predict") else unharmed.transform
    np.testing.assert_array_equal(apply_too(X), apply(X))


def test_masked_weights_and_copies_are_refused(data):
    X, y = data["X"], data["y"]
    weight = np.ma.array(np.ones(48), mask=np.arange(48) == 3)
    for model in (lrisk.RiskRegressor(), lrisk.RobustRegressor()):
        with pytest.raises(ValueError, match="sample_weight must be finite"):
            model.fit(X, y, sample_weight=weight)
    copy = np.ma.array(X, mask=X > 2.0)
    with pytest.raises(ValueError, match="X2 must be finite"):
        lrisk.NoiseCorrectedRegressor(Replicates()).fit(X, y, X2=copy)
    with pytest.raises(ValueError, match="X2 must be at most"):
        lrisk.NoiseCorrectedRegressor(Replicates()).fit(X, y, X2=X * 1e200)


@pytest.mark.parametrize(
    ("model", "power"),
    # How alpha goes with the unit of the target, and of the features: as in Ridge, so
    # that the penalty keeps its share of the objective.
    [
        (lrisk.RiskRegressor(), 0),
        (lrisk.RiskRegressor("mean"), 0),
        (lrisk.RiskRegressor("extremile:2", solver="lbfgs", tol=1e-9), 0),
        (lrisk.RiskRegressor("subquantile:0.8", random_state=0), 0),
        (lrisk.RiskRegressor(loss="absolute"), -1),
        (lrisk.RiskRegressor(loss="pinball:0.9"), -1),
    ],
    ids=["tail", "mean", "lbfgs", "trimmed", "absolute", "pinball"],
)
def test_a_fit_follows_its_units(model, power, data):
    """Targets times 2^k, features times 2^m and alpha to match: the same fit."""
    X, y = data["X"], data["y"]
    plain = fit(model, X, y)
    for k, m in ((300, 0), (-300, 0), (0, 140), (0, -140), (200, 100), (-200, -100)):
        other = type(model)(**model.get_params(deep=False))
        other.set_params(alpha=model.alpha * 2.0 ** (power * k + 2 * m))
        other.fit(X * 2.0**m, y * 2.0**k)
        scaled = other.predict(X * 2.0**m) * 2.0**-k
        np.testing.assert_allclose(scaled, plain.predict(X), rtol=1e-4, atol=1e-4)
        assert np.isclose(other.dual_gap_, plain.dual_gap_, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        lrisk.RiskRegressor("mean"),
        lrisk.RiskRegressor(),
        lrisk.KernelRiskRegressor(),
        lrisk.RiskClassifier("mean"),
        lrisk.KernelRiskClassifier("mean"),
    ],
)
def test_a_penalty_that_leaves_nothing_warns(model, data):
    y = data["c" if "Classifier" in type(model).__name__ else "y"]
    with pytest.warns(lrisk.CollapsedFitWarning, match="alpha=1 outweighs features"):
        model.fit(data["X"] * 1e-20, y)
    model.fit(data["X"], y)  # and otherwise not


@pytest.mark.parametrize("loss", ["huber", "absolute", "pinball"])
def test_so_it_does_where_targets_are_huge(loss, data):
    model = lrisk.RiskRegressor(loss=loss)
    with pytest.warns(lrisk.CollapsedFitWarning, match="or targets, of this size"):
        model.fit(data["X"], data["y"] * 1e20)


def test_constant_features_and_targets_are_nobodys_fault(data):
    X, y = data["X"], data["y"]
    lrisk.RiskRegressor("mean").fit(np.ones_like(X), y)
    lrisk.RiskRegressor("mean").fit(X, np.ones_like(y))


def test_paths_weights_and_certificates(data):
    X, y = data["X"], data["y"]
    with pytest.raises(ValueError, match="X must be at most"):
        lrisk.risk_path(X * 1e200, y, alphas=[1.0])
    with pytest.raises(ValueError, match="y must be at most"):
        lrisk.certify(lrisk.RiskRegressor().fit(X, y), X, y * 1e200)
    for size in (1e300, 1e-300):
        with pytest.raises(ValueError, match="sample_weight must be at"):
            lrisk.RiskRegressor().fit(X, y, sample_weight=np.full(48, size))
    mixed = np.where(np.arange(48) % 2, 1.0, 1e-300)
    half = lrisk.RiskRegressor().fit(X[1::2], y[1::2])
    both = lrisk.RiskRegressor().fit(X, y, sample_weight=mixed)
    np.testing.assert_allclose(both.predict(X), half.predict(X), atol=1e-3)


@pytest.mark.parametrize("size", [1e300, 1e-300, 5e-324])
def test_risks_of_any_finite_losses(size):
    losses = size * np.array([1.0, 2.0, 3.0, 4.0])
    for spectrum, factor in (("superquantile:0.5", 3.5), ("mean", 2.5)):
        assert np.isclose(
            lrisk.risk(losses, spectrum), factor * size, rtol=1e-9, atol=0
        )
    for smoothing in (None, "l2", "entropy"):
        options = {} if smoothing is None else {"smoothing": smoothing, "nu": 1.0}
        weights = lrisk.risk_weights(losses, "superquantile:0.5", **options)
        assert np.isclose(weights.sum(), 1.0)
        assert np.all(np.diff(weights) >= -1e-12)

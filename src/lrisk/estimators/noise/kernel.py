"""Kernel regression from features observed with noise, online and batch."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..._params import refused
from ..._typing import Floats
from ..._validation import random_state_of, unchanged_on_error, validate_data
from ..._warnings import NoiseMismatchWarning
from ...corrections import CorrectableKernel, Gaussian, RandomFeatures, Surrogate
from ...corrections.bounds import surrogate_ball
from ...corrections.checks import refuse_target_covariance
from ...corrections.surrogates import check_closed_form, natural_width, terms_matrix
from ...noise import Exact, Noise
from ...procedures.noise.batch import (
    Problem,
    best_fit,
    feature_problem,
    landmark_problem,
)
from ...procedures.noise.rounds import (
    BLOCK,
    Rounds,
    bound_is_proven,
    feature_rounds,
    kernel_rounds,
)
from ...solvers.online import OnlineKernel
from .base import ONLINE, NoiseEstimator, check_kernel_parameters

#: What a stream begins with and cannot change.
FIXED = (
    "noise",
    "kernel",
    "gamma",
    "correction",
    "standardize",
    "budget",
    "n_components",
    "random_features",
    "fit_intercept",
)


#: What `theory_bound_` rests on besides: one value for the whole stream.
PROMISES = ("radius", "angle", "learning_rate", "horizon", "target_bound")


class NoiseCorrectedKernelRegressor(RegressorMixin, NoiseEstimator):
    r"""Kernel regression of the clean features, learned from noisy ones.

    The rows are observed as x̃ = x + n with a noise of known distribution. A surrogate
    kernel k̂ with :math:`E\,\hat k(a, \tilde x) = k(a, x)` makes inner products of noisy
    rows unbiased for those of clean rows (paper 3, section 5). `partial_fit` is online
    gradient descent in the surrogate's space (algorithm 2) from two copies of each row,
    in one of three forms: exact, with every row a support vector and O(t) a round;
    ``budget=B``, O(B²) a round; ``random_features=True`` with ``n_components=D``, O(D)
    a round. `fit` solves the corrected least squares on landmarks (or random features),
    from two copies or, for a Gaussian kernel with 1/gamma beyond 4Σ, from one. Under
    Gaussian noise m copies enter a Gaussian kernel's `fit` as their mean, of noise Σ/m,
    which says all that they say: among unbiased risks that one varies least.

    Predictions are for **clean** features.

    Parameters
    ----------
    noise : Noise or None, default=None
        `GaussianNoise`, `LaplaceNoise` or `Exact`; `CharacteristicNoise` needs
        `random_features`.
    kernel : {"rbf"} or CorrectableKernel, default="rbf"
        ``"rbf"`` is exp(−gamma‖u‖²). Objects of `lrisk.corrections`: `Gaussian` (also
        per feature, or a matrix), `Laplacian`, `Matern`, `RationalQuadratic`.
    gamma : "auto" or float, default="auto"
        Of ``kernel="rbf"``. ``"auto"`` is one over the total variance of the clean
        features, or the largest value that the noise allows.
    radius : "auto" or float, default="auto"
        B_w, the norm of the functions to compete with online.
    angle : float in (0, π/2], default=np.pi / 2
        The angle β between the positive and the negative part of those functions; the
        ball online has the radius W = R·B_w/√(1 − cos β).
    learning_rate : {"auto", "theory"} or float, default="auto"
        Online step (see `NoiseCorrectedRegressor`).
    average : bool, default=True
        Predict with the average of the online iterates. It matters: the last one is
        several times worse.
    correction : float in [0, 1], default=1.0
        Factor on the noise covariance.
    standardize : bool, default=False
        Standardise the features inside, with the noise.
    budget : int or None, default=None
        Largest number of support vectors online.
    tol : float, default=1e-3
        How far from the span of the support, squared and relative, a row must be to
        enter it; only used with a `budget`.
    n_components : int or None, default=200
        Landmarks of the batch fit, drawn from the rows, as in ``Nystroem``; None takes
        all rows. With `random_features` their number, online too.
    random_features : bool, default=False
        Whether to use random features, as ``RBFSampler`` does, instead of the rows.
    alpha : "auto" or float, default="auto"
        Batch penalty, as in ``KernelRidge(alpha=alpha)``. ``"auto"`` chooses by a
        corrected cross-validation, which needs no clean data, among corrected fits,
        fits without correction and the mean of the targets (see `correction_`). A
        number is taken as it is, unless the corrected fit leaves the range of the
        targets: then the fit without correction is taken, with a warning.
    fit_intercept : bool, default=True
        Learn the targets' distance from their mean; online, from the mean of the first
        call's targets (from zero if they are fewer than ten).
    horizon : int or None, default=None
        Number of online rounds, if known, for ``learning_rate="theory"``.
    target_bound : float or None, default=None
        B_y of theorem 2, of the targets less the intercept; by default the running root
        mean square.
    random_state : int, RandomState instance or None, default=None
        For random features and landmarks.

    Attributes
    ----------
    support_ : array of shape (n_support, n_features)
        Landmarks or support vectors, in standardised units; absent with random
        features.
    dual_coef_ : array of shape (n_support,)
        Their coefficients, or those of the random features.
    intercept_ : float
    gamma_ : float
        The gamma used with ``kernel="rbf"``.
    kernel_error_ : float
        Bound on the error that clamped widths or dropped frequencies make in the
        kernel; 0 for a Gaussian kernel and noise.
    surrogate_radius_ : float
        R = √k̂(0): how much the noise costs.
    alpha_ : float
        Batch penalty used; infinite where only the mean of the targets was left.
    correction_ : float
        Of a batch fit: `correction`, or 0 if the fit without correction, or the mean of
        the targets, is not shown to be worse: only a corrected risk on held-out rows
        that is smaller by 1.5 standard errors counts. Correcting pays with many rows;
        with few it may cost more than the noise does. Where no corrected fit is better
        than the mean in that sense, the fit warns.
    n_rounds_, learning_rate_, radius_, progressive_loss_, theory_bound_ :
        As in `NoiseCorrectedRegressor`, with theorem 2; `radius_` is W. The bound is
        proven for the exact form only, under Gaussian noise (or none) corrected in
        full, with `gamma` and `target_bound` given, without `standardize` and with
        ``fit_intercept=False`` (a centre of noisy targets, too, has their noise);
        infinite otherwise. It is against functions of the kernel that predicts: where
        `kernel_error_` is not 0, of the mixture of Gaussians that stands for `kernel`.
    location_, scale_ : arrays of shape (n_features,)
        As in `NoiseCorrectedRegressor`.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    NoiseCorrectedRegressor : For linear relations.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import NoiseCorrectedKernelRegressor
    >>> from lrisk.noise import GaussianNoise
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-2, 2, size=(5000, 1))
    >>> y = np.sin(2 * x[:, 0])
    >>> X, X2 = (x + 0.4 * rng.normal(size=x.shape) for _ in range(2))
    >>> model = NoiseCorrectedKernelRegressor(GaussianNoise(0.16), random_state=0)
    >>> model = model.fit(X, y, X2=X2)
    >>> bool(np.mean((model.predict(x) - y) ** 2) < 0.02)
    True
    """

    _remedy = (
        "pass its distribution, such as lrisk.noise.GaussianNoise(cov), or "
        "lrisk.noise.Exact() for none"
    )

    def __init__(
        self,
        noise: Noise | None = None,
        kernel: str | CorrectableKernel = "rbf",
        *,
        gamma: float | str = "auto",
        radius: float | str = "auto",
        angle: float = np.pi / 2,
        learning_rate: float | str = "auto",
        average: bool = True,
        correction: float = 1.0,
        standardize: bool = False,
        budget: int | None = None,
        tol: float = 1e-3,
        n_components: int | None = 200,
        random_features: bool = False,
        alpha: float | str = "auto",
        fit_intercept: bool = True,
        horizon: int | None = None,
        target_bound: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.noise = noise
        self.kernel = kernel
        self.gamma = gamma
        self.radius = radius
        self.angle = angle
        self.learning_rate = learning_rate
        self.average = average
        self.correction = correction
        self.standardize = standardize
        self.budget = budget
        self.tol = tol
        self.n_components = n_components
        self.random_features = random_features
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.horizon = horizon
        self.target_bound = target_bound
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        X2: Any = None,
        noise_scale: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Solve the corrected least squares on landmarks or random features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Noisy rows.
        y : array-like of shape (n_samples,)
        X2 : array-like of shape (n_samples, n_features) or None, default=None
            A second, independent copy of the rows; shape (n_samples, m, n_features) for
            m further copies.
        noise_scale : array-like of shape (n_samples,) or None, default=None
            A factor on the noise's covariance for each row (with `random_features`).
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A row of weight k counts as k rows, each with noise of its own. With
            ``alpha="auto"`` a row lies in one fold of the cross-validation, however
            large its weight.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            copies, y, noise, factor = self._prepared(X, y, X2, noise_scale, True)
            copies, y, factor, weights = self._weighted(
                sample_weight, copies, y, factor
            )
            weights = np.ones(len(y)) if weights is None else weights
            self._forget(*ONLINE)
            self._set_standard(copies[0], weights)
            copies = np.stack([self._standard(c) for c in copies])
            one = len(copies) == 1
            self._set_world(copies, noise, one_copy=one, weights=weights)
            rng = random_state_of(self.random_state)
            problem, values, K = self._batch_problem(copies, factor, weights, rng)
            centre = float(np.average(y, weights=weights))
            self.intercept_ = centre if self.fit_intercept else 0.0
            alpha = None if isinstance(self.alpha, str) else float(self.alpha)
            best = best_fit(problem, values, K, y - self.intercept_, alpha, weights)
            self.dual_coef_ = best.coefficients
            self.alpha_ = best.penalty * float(weights.sum())
            kept = best.corrected and np.isfinite(best.penalty)
            self.correction_ = float(self.correction) if kept else 0.0
        if not best.trusted:
            message = f"{type(self).__name__}: {best.doubt}"
            warnings.warn(message, NoiseMismatchWarning, stacklevel=2)
        return self

    def partial_fit(
        self, X: Any, y: Any, X2: Any = None, noise_scale: Any = None
    ) -> Self:
        """Learn from each row's two copies in turn; parameters as in `fit`.

        After `fit` it begins anew. With ``gamma="auto"`` or `standardize` gamma and the
        scale are taken from the first call's rows. The noise, the kernel and the
        form cannot change during a stream.
        """
        with unchanged_on_error(self):
            first = not hasattr(self, "_state")
            self._check_stream(FIXED)
            copies, y, noise, factor = self._prepared(X, y, X2, noise_scale, first)
            if len(copies) == 1:
                if not isinstance(noise, Exact):
                    rule = "given: online kernel learning needs two copies of each row"
                    remedy = "pass X2, or use fit, which can do with one"
                    raise ValueError(refused(self, "X2", rule, None, remedy))
                copies = [copies[0], copies[0]]
            if first:
                self._set_standard(copies[0])
            copies = [self._standard(c) for c in copies]
            if first:
                self._set_world(np.stack(copies), noise, one_copy=False)
                centred = self.fit_intercept and len(y) >= 10
                self.intercept_ = float(y.mean()) if centred else 0.0
                self._centre_is_drawn = centred and not isinstance(noise, Exact)
            y = y - self.intercept_
            self._store_rounds(self._rounds(copies, y, factor))
        return self

    def predict(self, X: Any) -> Floats:
        """Predict from clean rows; shape (n_samples,)."""
        check_is_fitted(self)
        X = self._standard(validate_data(self, X, reset=False, dtype=np.float64))
        return self._by_blocks(X, noisy=False)

    def predict_from_noisy(self, X: Any, X2: Any = None) -> Floats:
        """Unbiased estimates of the clean rows' predictions from noisy rows."""
        check_is_fitted(self)
        copies, _ = self._check_copies(X, X2, reset=False)
        copies = self._deducted(self.noise, copies)
        values = [self._by_blocks(self._standard(c), noisy=True) for c in copies]
        return np.asarray(np.mean(values, axis=0))

    # -- checks and set-up -------------------------------------------------------------

    def _prepared(
        self, X: Any, y: Any, X2: Any, noise_scale: Any, reset: bool
    ) -> tuple[Any, Floats, Noise, Floats | None]:
        self._check_shared_parameters()
        check_kernel_parameters(self)
        self._solver()  # checks its parameters
        noise = self._check_noise(X2)
        if not noise.knows_characteristic:
            check_closed_form(noise)  # raises, saying what is needed
        copies, y = self._check_copies(X, X2, y, reset=reset, y_numeric=True)
        refuse_target_covariance(self, noise, copies[0].shape[1])
        factor = self._check_noise_scale(noise_scale, noise, copies[0].shape)
        if factor is None:
            self._warn_of_excess(noise, copies[0])
        elif factor.ndim > 1 or not self.random_features:
            rule = "one factor per row, with random_features"
            remedy = "use random_features=True for noise that changes"
            raise ValueError(refused(self, "noise_scale", rule, factor.shape, remedy))
        y = np.asarray(y, dtype=np.float64) - noise.target_mean
        return self._deducted(noise, copies), y, noise.centred(), factor

    def _set_world(
        self,
        copies: Floats,
        noise: Noise,
        *,
        one_copy: bool,
        weights: Floats | None = None,
    ) -> None:
        """The kernel and its surrogate, fixed for all rounds to come."""
        self._forget(
            "alpha_", "correction_", "gamma_", "support_", "_support", "_surrogate"
        )
        d = copies.shape[2]
        self._world_noise = noise.rescaled(self.scale_, self.correction)
        kernel = self.kernel
        if not isinstance(kernel, CorrectableKernel):
            if isinstance(self.gamma, str):
                noise = self._world_noise
                width = natural_width(copies[0], noise, one_copy, weights)
                self.gamma_ = 1.0 / width
            else:
                self.gamma_ = float(self.gamma)
                width = 1.0 / self.gamma_
            kernel = Gaussian(width)
        self._world_kernel = kernel
        self._features: RandomFeatures | None = None
        if not self.random_features:
            self._surrogate = Surrogate(kernel, self._world_noise, d)
            squared = self._surrogate.squared_radius
            self.kernel_error_ = self._surrogate.error
        else:
            seed = random_state_of(self.random_state).randint(2**31)
            rng = np.random.default_rng(seed)
            count = int(self.n_components or 0)
            self._features = RandomFeatures(kernel, self._world_noise, d, count, rng)
            squared = self._features.squared_radius
            self.kernel_error_ = self._features.error
        self.surrogate_radius_ = float(np.sqrt(squared))

    # -- online ------------------------------------------------------------------------

    def _solver(self) -> OnlineKernel:
        return OnlineKernel(
            self.learning_rate,  # type: ignore[arg-type]
            self._ball(),
            average=self.average,
            horizon=self.horizon,
            target_bound=self.target_bound,
            budget=self.budget,
            tol=self.tol,
        )

    def _ball(self) -> float | str:
        """W = R·B_w/√(1 − cos β) once R is known."""
        if isinstance(self.radius, str) or not hasattr(self, "surrogate_radius_"):
            return self.radius
        cosine = float(np.cos(self.angle))
        return surrogate_ball(float(self.radius), self.surrogate_radius_**2, cosine)

    def _rounds(self, copies: list[Floats], y: Floats, factor: Floats | None) -> Rounds:
        """Go on from the state of the last call, if there is one."""
        solver, state = self._solver(), getattr(self, "_state", None)
        if self._features is None:
            return kernel_rounds(solver, self._surrogate, state, copies, y)
        bound = self.surrogate_radius_
        return feature_rounds(solver, self._features, bound, state, copies, y, factor)

    def _store_rounds(self, rounds: Rounds) -> None:
        self._state, self.dual_coef_ = rounds.state, rounds.coefficients
        if rounds.support is not None:
            self._support = rounds.support
            self.support_ = self._support @ np.linalg.inv(self._surrogate.rotation)
        self.n_rounds_, report = self._state.rounds, rounds.report
        self.learning_rate_, self.radius_ = report["step"], report["radius"]
        self.progressive_loss_ = report["loss"]
        named = isinstance(self.kernel, str) and isinstance(self.gamma, str)
        proven = bound_is_proven(
            self._world_noise,
            self._solver(),
            correction=self.correction,
            chosen=self.standardize or named or self._centre_is_drawn,
            exact=self._features is None,
        )
        proven = self._keeps_promise(PROMISES, None) and proven
        self.theory_bound_ = report["bound"] if proven else np.inf

    # -- batch -------------------------------------------------------------------------

    def _batch_problem(
        self, copies: Floats, factor: Floats | None, weights: Floats, rng: Any
    ) -> tuple[Problem, Floats | None, Floats]:
        """The risk, the features of the rows as they are, the matrix of the penalty.

        Without noise the two risks are the same, and the features are left out.
        """
        exact = isinstance(self._world_noise, Exact)
        n, mean = copies.shape[1], copies.mean(axis=0)
        if self._features is not None:
            problem = feature_problem(self, self._features, copies, factor, weights)
            values = None if exact else self._features.clean(mean)
            return problem, values, np.eye(self._features.n_components)
        count = n if self.n_components is None else min(self.n_components, n)
        chosen = np.arange(n) if count == n else rng.choice(n, count, replace=False)
        self.support_ = mean[np.sort(chosen)]
        self._support = self._surrogate.transform(self.support_)
        K = self._surrogate.clean_matrix(self.support_, self.support_)
        problem = landmark_problem(
            self._world_kernel, self._surrogate, copies, self.support_, weights
        )
        values = None if exact else self._surrogate.clean_matrix(mean, self.support_)
        return problem, values, K

    def _by_blocks(self, X: Floats, *, noisy: bool) -> Floats:
        out = np.empty(len(X))
        for start in range(0, len(X), BLOCK):
            block = X[start : start + BLOCK]
            if self._features is not None:
                features = self._features
                psi = features.noisy(block) if noisy else features.clean(block)
            else:
                surrogate = self._surrogate
                terms = surrogate.terms if noisy else surrogate.clean_terms
                psi = terms_matrix(terms, surrogate.transform(block), self._support)
            out[start : start + BLOCK] = psi @ self.dual_coef_ + self.intercept_
        return out

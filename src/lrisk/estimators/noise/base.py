"""What the noise-corrected estimators share: the checks of noise, copies and scales."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..._params import Parameters, check_choice, check_count, check_real, refused
from ..._typing import Floats
from ..._validation import check_flag, validate_data
from ..._warnings import NoiseMismatchWarning
from ...corrections import KERNELS, CorrectableKernel
from ...corrections.checks import check_noise_scale, further_copies
from ...corrections.covariances import CorrectedRows, corrected_rows
from ...noise import Noise, Replicates
from ...ranking import check_row_weights

#: Attributes of online fits.
ONLINE = (
    "_state",
    "_began_with",
    "n_rounds_",
    "learning_rate_",
    "radius_",
    "progressive_loss_",
    "theory_bound_",
    "_promised",
)
#: Rows a stream is read in at a time.
BLOCK = 8192


class NoiseEstimator(BaseEstimator):
    """Base of the estimators that know of noise in their features."""

    noise: Noise | None
    correction: float
    standardize: bool
    learning_rate: float | str
    #: What to do where nothing is said of the noise.
    _remedy = (
        "pass X2 (a second copy of the rows) to fit, a noise such as "
        "lrisk.noise.KnownCovariance(cov), or lrisk.noise.Exact() for none"
    )

    def _check_noise(self, X2: Any) -> Noise:
        """The noise, or `Replicates` if only a second copy is given."""
        if self.noise is None:
            if X2 is not None:
                return Replicates()
            rule = "given, so that nobody is uncorrected without knowing it"
            raise ValueError(refused(self, "noise", rule, None, self._remedy))
        if not isinstance(self.noise, Noise):
            rule, remedy = "an object of lrisk.noise or None", "see lrisk.noise"
            raise TypeError(refused(self, "noise", rule, self.noise, remedy))
        self.noise.validate()
        return self.noise

    def _check_stream(self, fixed: tuple[str, ...]) -> None:
        """Take note of parameters that give a stream its form, or that they changed.

        The steps of ``learning_rate="auto"`` run side by side: there is no way there
        from a single one, or back.
        """
        now = {name: getattr(self, name) for name in fixed}
        now["learning_rate"] = isinstance(self.learning_rate, str) and (
            self.learning_rate == "auto"
        )
        if not hasattr(self, "_state"):
            kept = {k: v for k, v in now.items() if isinstance(v, Parameters)}
            # Noises and kernels can be changed in place: remember them as they were.
            kept = {k: type(v)(**v.get_params()) for k, v in kept.items()}
            self._began_with = {**now, **kept}
            return
        for name, value in now.items():
            before = self._began_with[name]
            if value is before or value == before:
                continue
            if name == "learning_rate":
                value = self.learning_rate
                before = "'auto'" if before else "a single step"
            rule = f"what the stream began with ({before})"
            remedy = "use a fresh estimator, or fit"
            raise ValueError(refused(self, name, rule, value, remedy))

    def _check_shared_parameters(self) -> None:
        remedy = "1 corrects in full, 0 not at all"
        check_real(self, "correction", self.correction, low=0, high=1, remedy=remedy)
        check_flag(self, "standardize", self.standardize)

    def _check_copies(
        self, X: Any, X2: Any, y: Any = "no_validation", *, reset: bool, **options: Any
    ) -> tuple[list[Any], Any]:
        """Every copy of the rows, shapes (n, d), and the targets if there are any."""
        options = {"dtype": np.float64, "reset": reset, **options}
        if y is None:
            options.pop("y_numeric", None)  # scikit-learn then asks for y itself
        names = X
        checked = validate_data(self, X, y, **options)
        X, y = checked if isinstance(checked, tuple) else (checked, None)
        copies = [X]
        if X2 is not None:
            others = further_copies(self, names, X, X2)
            copies += [others[:, a] for a in range(others.shape[1])]
            self._warn_of_mismatch(copies)
        return copies, y

    def _deducted(self, noise: Noise | None, copies: list[Any]) -> list[Any]:
        """The copies less the known mean of their noise (paper 3, section 2)."""
        if noise is None or not np.any(noise.mean):
            return copies
        mean = noise.expectation(copies[0].shape[1])
        return [copy - mean for copy in copies]

    def _weighted(
        self, sample_weight: Any, copies: list[Any], y: Any, scale: Floats | None
    ) -> tuple[list[Any], Any, Floats | None, Floats | None]:
        """Rows of positive weight, their targets, noise scales and weights."""
        weights = check_row_weights(sample_weight, len(y))
        if weights is None:
            return copies, y, scale, None
        kept = weights > 0
        total = float(weights.sum())
        if total < min(2.0, float(kept.sum())):
            # The mean of the rows takes a share 1/n of the noise: n must be known.
            rule = "counts of rows, so of sum 2 or more"
            remedy = "multiply them by the number of rows over their sum"
            raise ValueError(refused(self, "sample_weight", rule, total, remedy))
        scale = None if scale is None else scale[kept]
        return [copy[kept] for copy in copies], y[kept], scale, weights[kept]

    def _warn_of_mismatch(self, copies: list[Any]) -> None:
        first, n = copies[0], len(copies[0])
        if n < 10:
            return
        spread = first.std(axis=0)
        for other in copies[1:]:
            own = other.std(axis=0)
            shift = np.abs(other.mean(axis=0) - first.mean(axis=0))
            far = shift > np.maximum(spread, own) + 1e-12
            ratio = (own > 4.0 * spread + 1e-12) | (spread > 4.0 * own + 1e-12)
            if np.any(far | ratio):
                feature = int(np.argmax(far | ratio))
                warnings.warn(
                    f"{type(self).__name__}: X2 differs grossly from X in location or "
                    f"scale (feature {feature}: means {first.mean(axis=0)[feature]:.4g}"
                    f" and {other.mean(axis=0)[feature]:.4g}, deviations "
                    f"{spread[feature]:.4g} and {own[feature]:.4g}). Was only X "
                    "scaled? Use standardize=True, or transform_input=['X2'] in the "
                    "pipeline.",
                    NoiseMismatchWarning,
                    stacklevel=5,
                )

    def _warn_of_excess(self, noise: Noise, X: Any, depth: int = 4) -> None:
        """Say so if the noise is stated larger than all there is to see.

        `depth` is the number of frames up to the user's.
        """
        if not noise.knows_covariance or len(X) < 20:
            return
        cov = noise.covariance(X.shape[1])
        variances = self.correction * (cov if cov.ndim == 1 else np.diag(cov))
        excess = variances > 1.2 * X.var(axis=0) + 1e-12
        if np.any(excess):
            feature = int(np.argmax(excess))
            warnings.warn(
                f"{type(self).__name__}: the noise variance {variances[feature]:.4g} "
                f"stated for feature {feature} is larger than the variance observed, "
                f"{X.var(axis=0)[feature]:.4g}. Over-stated noise hurts more than "
                "under-stated: check its units, or lower correction.",
                NoiseMismatchWarning,
                stacklevel=depth,
            )

    def _check_noise_scale(
        self, noise_scale: Any, noise: Noise, shape: tuple[int, int]
    ) -> Floats | None:
        return check_noise_scale(self, noise_scale, noise, shape)

    def _keeps_promise(self, names: tuple[str, ...], form: object) -> bool:
        """Whether what the regret bound rests on has been the same in every round."""
        now = (*(getattr(self, name) for name in names), form)
        if getattr(self, "_promised", now) != now:
            now = ()
        self._promised = now
        return bool(now)

    def _forget(self, *names: str) -> None:
        """Drop what an earlier fit of another kind left behind."""
        for name in names:
            self.__dict__.pop(name, None)

    # -- standardising -----------------------------------------------------------------

    def _set_standard(self, X: Any, weights: Floats | None = None) -> None:
        """Take location and scale from noisy rows (`standardize`), or leave them be."""
        d = X.shape[1]
        self.location_, self.scale_ = np.zeros(d), np.ones(d)
        if self.standardize:
            if len(X) < 2:
                rule, remedy = "two rows or more to standardize", "pass more rows"
                raise ValueError(refused(self, "X", rule, "one sample", remedy))
            self.location_ = np.average(X, axis=0, weights=weights)
            square = np.average((X - self.location_) ** 2, axis=0, weights=weights)
            spread = np.sqrt(square)
            # As StandardScaler: what rounding alone can make is no spread.
            rounding = len(X) * np.finfo(np.float64).eps
            least = rounding * spread**2 + (rounding * self.location_) ** 2
            self.scale_ = np.where(spread**2 > least, spread, 1.0)

    def _standard(self, X: Any) -> Floats:
        if not self.standardize:
            return np.asarray(X)
        return np.asarray((X - self.location_) / self.scale_)

    def _standard_scale(self, noise_scale: Floats | None) -> Floats | None:
        """Per-row covariances in standard units; factors have none."""
        if noise_scale is None or noise_scale.ndim == 1:
            return noise_scale
        if noise_scale.ndim == 2:
            return np.asarray(noise_scale / self.scale_**2)
        return np.asarray(noise_scale / np.outer(self.scale_, self.scale_))

    def _corrected(
        self, copies: list[Any], noise: Noise, noise_scale: Floats | None
    ) -> tuple[Floats, CorrectedRows]:
        """Copies in standard units, and with them means and their covariances."""
        stacked = np.stack([self._standard(copy) for copy in copies])
        rescaled = noise.rescaled(self.scale_)
        scale = self._standard_scale(noise_scale)
        return stacked, corrected_rows(stacked, rescaled, scale, self.correction)


def check_kernel_parameters(estimator: Any) -> None:
    """Refuse parameters of a kernel estimator that cannot be."""
    check_flag(estimator, "average", estimator.average)
    check_flag(estimator, "fit_intercept", estimator.fit_intercept)
    check_real(
        estimator, "angle", estimator.angle, low=0, high=np.pi / 2, low_open=True,
        remedy="π/2 unless you know better",
    )  # fmt: skip
    check_real(
        estimator, "tol", estimator.tol, low=0, high=1, low_open=True,
        remedy="1e-3 is the default",
    )  # fmt: skip
    if isinstance(estimator.gamma, str):
        check_choice(estimator, "gamma", estimator.gamma, ("auto",))
    else:
        remedy = "'auto' sets it"
        check_real(
            estimator, "gamma", estimator.gamma, low=0, low_open=True, remedy=remedy
        )
    if isinstance(estimator.alpha, str):
        check_choice(estimator, "alpha", estimator.alpha, ("auto",))
    else:
        remedy = "'auto' chooses it"
        check_real(estimator, "alpha", estimator.alpha, low=0, remedy=remedy)
    if estimator.n_components is not None:
        check_count(estimator, "n_components", estimator.n_components, low=1)
    elif estimator.random_features:
        rule, remedy = "a number with random_features=True", "500 is often enough"
        raise ValueError(refused(estimator, "n_components", rule, None, remedy))
    check_flag(estimator, "random_features", estimator.random_features)
    if estimator.random_features and estimator.budget is not None:
        rule, remedy = "None with random_features=True", "choose one of the two"
        raise ValueError(refused(estimator, "budget", rule, estimator.budget, remedy))
    if isinstance(estimator.kernel, CorrectableKernel):
        estimator.kernel.validate()
        if estimator.gamma != "auto":
            rule, remedy = "left alone when kernel is an object", "set it there"
            raise ValueError(refused(estimator, "gamma", rule, estimator.gamma, remedy))
    elif not (isinstance(estimator.kernel, str) and estimator.kernel == "rbf"):
        names = ", ".join(kind.__name__ for kind in KERNELS.values())
        rule = f"'rbf' or an object of lrisk.corrections ({names})"
        raise ValueError(
            refused(estimator, "kernel", rule, estimator.kernel, "pass one")
        )

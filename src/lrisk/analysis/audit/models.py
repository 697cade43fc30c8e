"""The fits that an audit compares, for one task and one kernel."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

from ..._typing import AnyArray, Bools, Floats, Indices
from ..._warnings import CollapsedFitWarning
from ...estimators import (
    RiskClassifier,
    RiskRegressor,
    RobustClassifier,
    RobustRegressor,
)
from ...spectra import parse_spectrum
from ...tables import Preparation
from .own_model import OwnModel

#: Landmarks by which kernel fits of the mean and of the tail are approximated.
LANDMARKS = 300
#: Milder and milder spectra, for tail fits that collapse.
MILDER = ("superquantile:0.9", "superquantile:0.7", "superquantile:0.5",
          "superquantile:0.3", "extremile:1.5", "mean")  # fmt: skip
#: Least noise scale, as a share of the median size of targets: what is less is the
#: rounding of sums and says nothing (4,500 units in the last place).
ROUNDING = 1e-12
#: Classes from which on L-BFGS is faster than Newton, whose Hessian has k² blocks: on
#: 320 rows of 8 columns as fast with 12 to 25, five times as fast with 60.
MANY_CLASSES = 20
#: Probabilities are cut off here: one impossible row must not decide a mean.
LEAST_PROBABILITY = 1e-6
#: Share of wrong labels under which rows are put in order where none was found.
RANKED_UNDER = 0.01


class Recipe(NamedTuple):
    """How to make the three fits; `classes` is how many there are, 0 of quantities."""

    task: str
    kernel: str
    spectrum: str
    contamination: str | float
    random_state: int
    flexible: str | None = None
    own: OwnModel | None = None
    classes: int = 0

    @property
    def regression(self) -> bool:
        """Whether targets are numbers."""
        return self.task == "regression"

    @property
    def judging_kernel(self) -> str:
        """The kernel of the fit that rows are judged by."""
        return self.kernel if self.flexible is None else self.flexible

    def judging(self, X: Floats, y: AnyArray, fold: Indices) -> "Recipe":
        """The recipe with the kernel that rows of classes are judged by.

        `RobustRegressor` compares rows with a flexible reference whatever its kernel.
        Of classes a plane sees no boundary but planes: rows are judged by an rbf fit
        where that is right in more rows it has not seen, by two standard errors.
        """
        if self.regression or self.kernel != "linear":
            return self
        rbf, right = self._replace(kernel="rbf"), np.zeros((2, len(y)), dtype=bool)
        for k in (0, 1):
            own, other = fold % 2 == k, fold % 2 != k
            if len(np.unique(y[other])) < 2:
                return self
            for i, recipe in enumerate((self, rbf)):
                model, _ = fitted(recipe.under("mean"), X[other], y[other])
                right[i, own] = recipe.right(model, X[own], y[own])
        gain = right[1].astype(float) - right[0]
        better = gain.mean() > 2.0 * gain.std() / np.sqrt(len(y))
        return self._replace(flexible="rbf") if better else self

    def robust(self) -> Any:
        """The estimator that resists wrong rows."""
        make = RobustRegressor if self.regression else RobustClassifier
        return make(
            self.judging_kernel,
            contamination=self.contamination,
            random_state=self.random_state,
        )

    def under(self, spectrum: str) -> Any:
        """The fit of smallest spectral risk; "mean" is the ordinary fit."""
        make: Any = RiskRegressor if self.regression else RiskClassifier
        solver = "lbfgs" if self.classes >= MANY_CLASSES else "auto"
        model = make(spectrum, solver=solver, random_state=self.random_state)
        if self.kernel == "linear":
            return model
        return make_pipeline(_Landmarks(self.kernel, self.random_state), model)

    def losses(self, model: Any, X: Floats, y: AnyArray) -> Floats:
        """|residual|, or −log of the label's probability."""
        if self.regression:
            return np.asarray(np.abs(y - model.predict(X)))
        table = model.predict_proba(X)
        p = table[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        return np.asarray(-np.log(np.maximum(p, LEAST_PROBABILITY)))

    def right(self, model: Any, X: Floats, y: AnyArray) -> Bools:
        """Which rows have the class that the model predicts; of quantities none."""
        if self.regression:
            return np.zeros(len(y), dtype=bool)
        return np.asarray(model.predict(X) == y)


def rounding(y: AnyArray) -> float:
    """The least noise scale that targets can tell, in their units.

    By the median of those that are not zero, so that wrong ones do not raise it.

    Examples
    --------
    >>> rounding(np.array([0.0, 0.0, 0.0, 2.0, -3.0, 1e12])) == 3.0 * ROUNDING
    True
    """
    sizes = np.abs(y[y != 0])
    return ROUNDING * float(np.median(sizes)) if len(sizes) else ROUNDING


def expect(robust: Any, X: Floats, least: float) -> tuple[Floats, Floats]:
    """What a robust regression expects of rows, and the noise there, never none.

    Where targets follow exactly from the features the noise is that of rounding, and
    may come out as zero.
    """
    expected, scale = robust.expect(X)
    return expected, np.maximum(scale, least)


class _Landmarks(Nystroem):
    """Nyström features, never more than there are rows."""

    def __init__(self, kernel: str = "rbf", random_state: Any = None) -> None:
        super().__init__(kernel, random_state=random_state)

    def fit(self, X: Floats, y: Any = None) -> "_Landmarks":
        """Choose landmarks among the rows."""
        self.n_components = min(LANDMARKS, len(X))
        super().fit(X)
        return self


def fitted(model: Any, X: Floats, y: AnyArray) -> tuple[Any, bool]:
    """The fitted model, and whether it collapsed to a constant."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    known = (CollapsedFitWarning, ConvergenceWarning)
    for warning in caught:
        if not issubclass(warning.category, known):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return model, any(issubclass(w.category, CollapsedFitWarning) for w in caught)


def is_constant(model: Any, X: Floats, y: AnyArray) -> bool:
    """Whether predictions vary by less than a thousandth of the mean fit's."""
    predict: Callable[[Floats], Floats]
    predict = getattr(model, "decision_function", model.predict)
    spread = np.std(np.asarray(predict(X), dtype=np.float64))
    return bool(spread <= 1e-3 * max(float(np.std(y)), 1e-300))


def tail_fit(recipe: Recipe, X: Floats, y: AnyArray) -> tuple[str, Any]:
    """The spectrum asked for, or a milder one whose fit uses the features; that fit."""
    strength = _weight_on_tail(recipe.spectrum)
    ladder = [recipe.spectrum]
    ladder += [name for name in MILDER if _weight_on_tail(name) < strength]
    for name in ladder:
        model, collapsed = fitted(recipe.under(name), X, y)
        if not collapsed and not is_constant(model, X, y):
            break
    return name, model


def _weight_on_tail(spectrum: str) -> float:
    """Weight of the worst tenth of the rows."""
    return float(1.0 - parse_spectrum(spectrum).cumulative(np.array([0.9]))[0])


class LabelJudge(NamedTuple):
    """What is said of the labels of all rows by a fit to some of them.

    Attributes as those of `RobustClassifier`.
    """

    contamination_: float
    contamination_interval_: tuple[float, float]
    noise_matrix_: Floats
    outlier_score_: Floats
    label_suggestion_: Indices

    @classmethod
    def of(
        cls,
        robust: Any,
        preparation: Preparation,
        rows: Indices,
        y: AnyArray,
        training: Indices,
        block: int,
    ) -> "LabelJudge":
        """Of rows of a table, a `block` of them at a time.

        Parameters
        ----------
        robust : RobustClassifier
            Fitted to the rows at `training`.
        preparation : Preparation
        rows, y : arrays of shape (m,)
            Rows of the table, and codes of their labels.
        training : array of shape (k,)
            Positions among the rows.
        block : int
        """
        share = None if robust.contamination_ > 0.0 else RANKED_UNDER
        scores, suggested = np.zeros(len(rows)), np.array(y)
        for start in range(0, len(rows), block):
            at = np.s_[start : start + block]
            X = preparation.transform(rows[at])
            scores[at] = robust.score_outliers(X, y[at], contamination=share)
            suggested[at] = np.where(scores[at] > 0.5, robust.predict(X), y[at])
        scores[training] = robust.outlier_score_
        suggested[training] = robust.label_suggestion_
        return cls(
            robust.contamination_, robust.contamination_interval_, robust.noise_matrix_,
            scores, suggested,
        )  # fmt: skip

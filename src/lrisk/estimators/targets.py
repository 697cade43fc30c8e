"""What regressors and classifiers do with targets and scores, whatever their space."""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from .._params import refused
from .._typing import AnyArray, Floats
from .._warnings import CollapsedFitWarning
from ..certificate import relative_gap
from ..losses import (
    CLASS_LOSSES,
    NUMBER_LOSSES,
    Logistic,
    Loss,
    Multinomial,
    parse_loss,
)
from ..losses.multinomial import softmax
from ..objective import Objective
from ..solvers import Newton, Solution, automatic_solver
from ..spaces import LinearSpace
from .base import RiskEstimator, nearly_constant, trims


class NumberTargets(RegressorMixin, RiskEstimator):
    """Numbers, under any loss of a residual."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        parse_loss(self.loss, NUMBER_LOSSES).validate()

    def _check_data(self, X: Any, y: Any, reset: bool = True) -> tuple[Any, Any]:
        X, y = self._check_matrix(X, y, y_numeric=True, reset=reset)
        return X, np.asarray(y, dtype=np.float64)

    def _encode(self, y: Any) -> Floats:
        return np.asarray(y, dtype=np.float64)

    def _loss(self) -> tuple[Loss, int]:
        return parse_loss(self.loss, NUMBER_LOSSES), 1


def has_probabilities(estimator: Any) -> bool:
    """Whether the scores are log-odds; a loss that `fit` will refuse counts as such."""
    try:
        return isinstance(parse_loss(estimator.loss, CLASS_LOSSES), Logistic)
    except (TypeError, ValueError):
        return True


class ClassTargets(ClassifierMixin, RiskEstimator):
    """Classes under logistic, multinomial or squared hinge loss."""

    classes_: AnyArray

    def decision_function(self, X: Any) -> Floats:
        """Scores: (n_samples,) for two classes, (n_samples, n_classes) for more."""
        raise NotImplementedError

    def predict(self, X: Any) -> AnyArray:
        """Predict classes; shape (n_samples,)."""
        scores = self.decision_function(X)
        best = (
            (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        )
        return np.asarray(self.classes_[best])

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities in the order of `classes_`; shape (n_samples, n_classes)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(scores)

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities; shape (n_samples, n_classes)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        parse_loss(self.loss, CLASS_LOSSES).validate()

    def _check_data(self, X: Any, y: Any, reset: bool = True) -> tuple[Any, Any]:
        X, y = self._check_matrix(X, y, reset=reset)
        check_classification_targets(y)
        return X, y

    def _encode(self, y: Any) -> Floats:
        self.classes_, codes = _classes_and_codes(y)
        if len(self.classes_) < 2:
            rule = "of at least two classes among rows of positive weight"
            remedy = "add rows of another class"
            seen = f"one class, {self.classes_[0]!r}"
            raise ValueError(refused(self, "y", rule, seen, remedy))
        return codes.astype(np.float64)

    def _encode_again(self, y: Any) -> Floats:
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        unseen = np.flatnonzero(self.classes_[codes] != y)
        if unseen.size:
            rule, remedy = f"among {list(self.classes_)}", "use the classes of the fit"
            raise ValueError(refused(self, "y", rule, y[unseen[0]], remedy))
        return np.asarray(codes, dtype=np.float64)

    def _loss(self) -> tuple[Loss, int]:
        loss, n_classes = parse_loss(self.loss, CLASS_LOSSES), len(self.classes_)
        if n_classes == 2:
            return loss, 1
        if isinstance(loss, Logistic):
            return Multinomial(), n_classes
        rule = f"of two classes with loss={loss.name!r}"
        remedy = (
            "Only binary classification is supported. Use loss='logistic', or "
            "sklearn.multiclass.OneVsRestClassifier"
        )
        seen = f"{n_classes} classes"
        raise ValueError(refused(self, "y", rule, seen, remedy))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = has_probabilities(self)
        return tags

    def _collapse(self, objective: Objective, solution: Solution) -> Floats | None:
        """Intercepts of the constant fit if that is proven to be the best, else None.

        A fit that looks constant is first solved to a tight gap, whatever `tol`, since
        a loose one proves nothing. Under the mean spectrum a constant fit is ordinary.
        Without intercepts, as in a kernel space, the constant is zero.
        """
        flat = objective.ranking.spectrum.monotone == "flat"
        if flat or not solution.gap < 0.1:
            return None
        space = objective.space
        if solution.solver == "collapse":  # proven already
            return np.zeros(space.n_scores)
        if not nearly_constant(space, solution.theta, 0.1):
            return None
        bare = objective.with_space(
            LinearSpace(
                np.empty((space.n_rows, 0)),
                intercept=space.intercept,
                n_scores=space.n_scores,
            )
        )
        intercepts = np.zeros(space.n_scores)
        if space.intercept:
            intercepts = Newton(tol=1e-11).solve(bare).theta
        value = bare.value(bare.at(intercepts if space.intercept else np.zeros(0)))
        solver: Any = automatic_solver(objective)
        tight = solver(tol=1e-8)
        if solution.gap > tight.tol and value <= solution.objective * (1.0 + 1e-6):
            better = tight.solve(objective, solution.theta, weights=solution.weights)
            solution.dual = max(solution.dual, better.dual)
            if better.objective < solution.objective:
                solution.theta, solution.objective = better.theta, better.objective
        if value > max(solution.dual, 0.0) * (1.0 + 1e-7):
            return None
        solution.objective = value
        solution.gap = relative_gap(objective, value, max(value - solution.dual, 0.0))
        return intercepts

    def _complaints(
        self, objective: Objective, solution: Solution, tol: float, collapsed: bool
    ) -> list[tuple[str, type[Warning]]]:
        complaints = super()._complaints(objective, solution, tol, collapsed)
        if collapsed:
            message = (
                f"{type(self).__name__}: under spectrum={self.spectrum!r} no use of "
                "the features lowers the risk, so the best fit is constant. Use a "
                "milder spectrum, such as 'superquantile:0.3' or 'extremile:1.5'."
            )
            complaints.append((message, CollapsedFitWarning))
        left = np.unique(objective.y[solution.weights > 0])
        if trims(objective) and len(left) == 1:
            only = self.classes_[int(left[0])]
            only = only.item() if isinstance(only, np.generic) else only
            message = (
                f"{type(self).__name__}: under spectrum={self.spectrum!r} all kept "
                f"rows are of class {only!r}, so the fit is nearly constant. Keep more "
                "rows, or trim within classes with solver=lrisk.solvers.Concentration("
                "class_balanced=True)."
            )
            complaints.append((message, CollapsedFitWarning))
        return complaints


def _classes_and_codes(y: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Sorted classes, and the number of each row's; two numbers without sorting."""
    if y.dtype.kind in "biuf":
        others = y[y != y[0]]
        if others.size and np.all(others == others[0]):
            classes = np.sort(np.array([y[0], others[0]]))
            return classes, y == classes[1]
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes

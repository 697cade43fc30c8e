"""What regressors and classifiers do with targets and scores, whatever their space."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from .._params import refused
from .._typing import AnyArray, Floats
from .._validation import classes_and_codes
from .._warnings import CollapsedFitWarning
from ..class_scores import ClassScores, known_codes
from ..losses import (
    CLASS_LOSSES,
    NUMBER_LOSSES,
    Logistic,
    Loss,
    Multinomial,
    parse_loss,
)
from ..objective import Objective
from ..procedures.constant_fit import without_features
from ..solvers import Solution
from .base import RiskEstimator
from .class_weights import ClassWeight, check_class_weight, weighted_by_class
from .complaints import collapsed
from .problem import Fit, Problem


class NumberTargets(RegressorMixin, RiskEstimator):
    """Numbers, under any loss of a residual."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        parse_loss(self.loss, NUMBER_LOSSES).validate()

    def _check_data(self, X: Any, y: Any, reset: bool = True) -> tuple[Any, Any]:
        X, y = self._check_matrix(X, y, y_numeric=True, reset=reset)
        return X, np.asarray(y, dtype=np.float64)

    def _encode(self, y: Any) -> tuple[AnyArray | None, Floats]:
        return None, np.asarray(y, dtype=np.float64)

    def _loss(self, classes: AnyArray | None) -> tuple[Loss, int]:
        return parse_loss(self.loss, NUMBER_LOSSES), 1


def has_probabilities(estimator: Any) -> bool:
    """Whether the scores are log-odds; a loss that `fit` will refuse counts as such."""
    try:
        return isinstance(parse_loss(estimator.loss, CLASS_LOSSES), Logistic)
    except (TypeError, ValueError):
        return True


class ClassTargets(ClassScores, RiskEstimator):
    """Classes under logistic, multinomial or squared hinge loss."""

    class_weight: ClassWeight

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities in the order of `classes_`; shape (n_samples, n_classes)."""
        return super().predict_proba(X)

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities; shape (n_samples, n_classes)."""
        return super().predict_log_proba(X)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        parse_loss(self.loss, CLASS_LOSSES).validate()
        check_class_weight(self, self.class_weight)

    def _row_weights(self, y: Any, sample_weight: Any) -> Floats | None:
        weight = super()._row_weights(y, sample_weight)
        return weighted_by_class(self, self.class_weight, y, weight)

    def _check_data(self, X: Any, y: Any, reset: bool = True) -> tuple[Any, Any]:
        X, y = self._check_matrix(X, y, reset=reset)
        check_classification_targets(y)
        return X, y

    def _encode(self, y: Any) -> tuple[AnyArray | None, Floats]:
        return classes_and_codes(self, y)

    def _encode_again(self, y: Any) -> Floats:
        return known_codes(self, self.classes_, y).astype(np.float64)

    def _loss(self, classes: AnyArray | None) -> tuple[Loss, int]:
        assert classes is not None
        loss, n_classes = parse_loss(self.loss, CLASS_LOSSES), len(classes)
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

    def _settle(self, problem: Problem, solution: Solution) -> Fit:
        return Fit(*without_features(problem.objective, solution))

    def _store(self, problem: Problem, fit: Fit) -> None:
        assert problem.classes is not None
        self.classes_ = problem.classes
        super()._store(problem, fit)

    def _complaints(
        self, objective: Objective, fit: Fit, tol: float
    ) -> list[tuple[str, type[Warning]]]:
        complaints = super()._complaints(objective, fit, tol)
        if fit.collapsed:
            complaints.append(collapsed(self))
        left = np.unique(objective.y[fit.solution.weights > 0])
        if objective.ranking.spectrum.trims and len(left) == 1:
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

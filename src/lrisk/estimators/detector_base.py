"""What detectors, which judge rows but fit no model of their own, have in common."""

from typing import Any

from sklearn.base import BaseEstimator

from .._params import check_real, refused
from .._typing import Floats, Indices
from ..procedures.outliers import equal_rows, joined_places
from .row_facts import check_groups


class RowDetector(BaseEstimator):
    """Base of `OutlierDetector` and `LabelErrorDetector`."""

    def __init__(
        self,
        estimator: Any = None,
        *,
        contamination: str | float = "auto",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.contamination = contamination
        self.random_state = random_state

    def _told(self) -> float | None:
        """The share of wrong rows, if it was given."""
        if isinstance(self.contamination, str) and self.contamination == "auto":
            return None
        check_real(self, "contamination", self.contamination, low=0, high=0.5,
                   high_open=True, remedy="or 'auto'")  # fmt: skip
        return float(self.contamination)

    def _check_estimator(self, method: str, remedy: str) -> None:
        """Refuse what cannot be fitted, or lacks the method that is asked."""
        model = self.estimator
        lacking = not (hasattr(model, "fit") and hasattr(model, method))
        if model is not None and (lacking or isinstance(model, type)):
            if isinstance(model, type):
                remedy = "pass an instance, not the class"
            rule = f"None or an estimator with fit and {method}"
            raise ValueError(refused(self, "estimator", rule, model, remedy))

    def _places(self, X: Floats, groups: Any) -> Indices:
        """Numbers of rows; those with the same, equal or of a group, share a fold."""
        numbers = check_groups(self, groups, len(X))
        return equal_rows(X) if numbers is None else joined_places(X, numbers)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

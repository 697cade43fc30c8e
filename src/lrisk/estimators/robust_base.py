"""What the estimators for an unknown share of wrong rows have in common."""

import sys
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from .._params import check_real, check_verbose
from .._typing import Bools, Floats, Indices
from ..spaces import Kernel

KernelParameter = str | Callable[..., float]


class RobustEstimator(BaseEstimator):
    """Base of `RobustRegressor` and `RobustClassifier`."""

    kernel: KernelParameter
    contamination: str | float
    alpha: str | float
    gamma: str | float
    degree: int
    coef0: float
    kernel_params: Mapping[str, Any] | None
    verbose: int

    selected_: Any
    alpha_: float
    contamination_: float
    contamination_interval_: tuple[float, float]
    outlier_score_: Floats
    inlier_mask_: Bools
    leverage_mask_: Bools
    expected_false_flags_: float

    _only_predicts: bool

    def predicting_only(self) -> Self:
        """A copy that predicts and scores but no longer judges rows: a model file's.

        It keeps the parameters and the public attributes of the fit, which are arrays,
        numbers and words. What rows are judged by is private, and may be of any kind.
        """
        own = copy(self)
        for name in [name for name in vars(own) if name.startswith("_")]:
            delattr(own, name)
        own._only_predicts = True
        return own

    def __getattr__(self, name: str) -> Any:
        """Say of what `predicting_only` left out why it is not there."""
        what = type(self).__name__
        private = name.startswith("_") and not name.startswith("__")
        if private and vars(self).get("_only_predicts"):
            raise AttributeError(
                f"{what} cannot judge rows: it comes from a model file, which holds "
                "only what predictions need; fit it anew to judge rows."
            )
        raise AttributeError(f"{what!r} object has no attribute {name!r}")

    def _check_parameters(self) -> None:
        share: dict[str, Any] = {"low": 0, "high": 0.5, "high_open": True}
        positive: dict[str, Any] = {"low": 0, "low_open": True}
        rules = {"contamination": share, "alpha": positive, "gamma": positive}
        for name, rule_of in rules.items():
            value = getattr(self, name)
            if not (isinstance(value, str) and value == "auto"):
                check_real(self, name, value, remedy="or 'auto'", **rule_of)
        check_verbose(self, self.verbose)
        self._kernel(given(self.gamma)).validate(self)

    def _kernel(self, gamma: float | None) -> Kernel:
        return Kernel(
            self.kernel,
            gamma=gamma,
            degree=self.degree,
            coef0=self.coef0,
            params=self.kernel_params,
        )

    def _to_all_rows(
        self, score: Floats, flagged: Bools, leverage_rows: Bools, index: Indices
    ) -> None:
        """Give every row of the table what was found of the distinct row it equals."""
        known = index >= 0
        self.outlier_score_ = np.zeros(len(index))
        self.outlier_score_[known] = np.clip(score, 0.0, 1.0)[index[known]]
        self.inlier_mask_ = np.ones(len(index), dtype=bool)
        self.inlier_mask_[known] = ~flagged[index[known]]
        self.leverage_mask_ = np.zeros(len(index), dtype=bool)
        self.leverage_mask_[known] = leverage_rows[index[known]]
        doubt = 1.0 - self.outlier_score_[~self.inlier_mask_]
        self.expected_false_flags_ = float(doubt.sum())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _tell(self) -> None:
        low, high = self.contamination_interval_
        sys.stdout.write(
            f"{self.selected_.name}: contamination {self.contamination_:.2f} "
            f"({low:.2f} to {high:.2f}), flagged {int(np.sum(~self.inlier_mask_))} "
            f"rows of which {self.expected_false_flags_:.1f} expected false, "
            f"alpha {self.alpha_:.3g}\n"
        )


def given(value: str | float) -> float | None:
    """The number that was given; None for "auto"."""
    return None if isinstance(value, str) else float(value)

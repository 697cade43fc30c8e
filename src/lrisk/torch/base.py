"""A fit of rows that are tensors: check, solve where they lie, store."""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from .._threads import blas_threads_for
from .._validation import (
    FIT_DEPTH,
    IterationCallbacks,
    unchanged_on_error,
    with_callbacks,
)
from ..estimators.base import SpectrumEstimator, progress
from ..estimators.parted import start_of, store_parted, warn_of_parted
from ..losses import Loss
from ..partitions.engine import Local
from ..partitions.objective import PartitionedObjective
from ..solvers.partitioned import check_partitionable, minimise_in_parts
from ..solvers.solution import Solution
from ..spectra import parse_spectrum
from .given import check_matrix, check_weight
from .part import TorchPart
from .rows import TensorRows, in_memory, on_device


class Target(NamedTuple):
    """Targets as the loss wants them, and weights; of 64 bits.

    weight : None where all of them are one
    labels : of two classes, in memory; None for numbers
    """

    y: Tensor
    weight: Tensor | None
    labels: Any = None


class RiskEstimator(SpectrumEstimator):
    """Base of both: check, solve, store."""

    loss: str | Loss
    alpha: float
    fit_intercept: bool
    tol: float
    max_iter: int | None
    warm_start: bool
    verbose: int
    coef_: Tensor
    intercept_: Tensor
    risk_weights_: Tensor

    _memory: ClassVar[type[Any]]

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimise the spectral risk where the rows lie.

        Parameters
        ----------
        X : tensor of shape (n_samples, n_features)
            Of float32 or float64, on any device; not copied.
        y : tensor of shape (n_samples,)
            On the device of X.
        sample_weight : tensor of shape (n_samples,) or None, default=None
            Non-negative; a weight k counts like k rows, exactly, and 0 like no row.

        Returns
        -------
        self
        """
        callbacks = IterationCallbacks(self)
        with unchanged_on_error(self), torch.no_grad(), blas_threads_for(0):
            plain = self._plain()
            plain._check_parameters()
            spectrum = parse_spectrum(self.spectrum)
            loss = plain._loss(np.arange(2))[0]
            check_partitionable(loss, spectrum, self)
            X = check_matrix(self, X)
            target = self._target(y, check_weight(self, sample_weight, X), X)
            part, kept = _part(X, target, loss)
            parted = PartitionedObjective(
                Local([part]),
                spectrum,
                loss,
                float(self.alpha),
                self.fit_intercept,
                most_binned=0,  # to read X twice is faster than to add up by bins
                sampler=lambda rows, offset: Local([part.sampled(rows, offset)]),
            )
            start = None
            if self.warm_start and hasattr(self, "coef_"):
                start = start_of(self.to_memory(), parted)
            solution = minimise_in_parts(
                parted,
                start,
                tol=self.tol,
                monitor=progress(callbacks, self.verbose),
                max_iter=200 if self.max_iter is None else self.max_iter,
            )
            if target.labels is not None:
                plain.classes_ = target.labels
            store_parted(plain, parted, solution)
            self._store(plain, X.device)
            self.risk_weights_ = _risk_weights(parted, part, solution, kept)
        callbacks.end()
        warn_of_parted(plain, parted, solution, depth=FIT_DEPTH)
        return self

    def to_memory(self) -> Any:
        """The fitted estimator as one of `lrisk`: for arrays, and to be saved.

        Returns
        -------
        lrisk.RiskRegressor or lrisk.RiskClassifier
            Without `risk_weights_`.
        """
        check_is_fitted(self)
        plain = self._plain()
        own = {k: v for k, v in vars(self).items() if k.endswith("_")}
        own.pop("risk_weights_", None)
        for name, value in own.items():
            setattr(plain, name, in_memory(value) if torch.is_tensor(value) else value)
        if plain.intercept_.ndim == 0:
            plain.intercept_ = float(plain.intercept_)
        return plain

    # -- inner -------------------------------------------------------------------------

    def _target(self, y: Any, weight: Tensor | None, X: Tensor) -> Target:
        """Targets as the loss wants them, and all that weighs rows."""
        raise NotImplementedError

    def _plain(self) -> Any:
        """The same for arrays, not fitted."""
        return self._memory(**self.get_params(deep=False))

    def _store(self, plain: Any, device: torch.device) -> None:
        for name, value in vars(plain).items():
            if not name.endswith("_"):
                continue
            array = isinstance(value, np.ndarray) or name == "intercept_"
            setattr(self, name, on_device(value, device) if array else value)

    def _scores(self, X: Any) -> Tensor:
        """X·w + b, of 64 bits; shape (n_samples,)."""
        check_is_fitted(self)
        coef = torch.atleast_2d(self.coef_)
        with torch.no_grad():
            X = check_matrix(self, X, coef)
            theta = torch.cat([coef[0], self.intercept_.reshape(1)])
            return TensorRows(X).scores(theta)


def _part(X: Tensor, target: Target, loss: Loss) -> tuple[TorchPart, Tensor | None]:
    """Rows that have weight as a part, and which these are; None means all."""
    y, weight = target.y, target.weight
    if weight is None or bool((weight > 0.0).all()):
        return TorchPart(X, y, weight, loss), None
    kept = weight > 0.0
    return TorchPart(X[kept], y[kept], weight[kept], loss), kept


def _risk_weights(
    parted: PartitionedObjective,
    part: TorchPart,
    solution: Solution,
    kept: Tensor | None,
) -> Tensor:
    """λ of all rows, in the order in which they were given."""
    if solution.weights is None:  # of the mean
        part.weights = part.even() / parted.total
    else:
        parted.hold(solution.weights, read=True)
    if kept is None:
        return part.weights
    weights = torch.zeros(len(kept), dtype=torch.float64, device=kept.device)
    weights[kept] = part.weights
    return weights

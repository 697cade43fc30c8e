"""`partial_fit` for the linear estimators."""

import copy
from typing import Any, Self

import numpy as np

from .._params import refused
from .._validation import unchanged_on_error
from ..compatibility import check_loss, check_spectrum
from ..objective import Objective
from ..ranking import Ranking
from ..solvers import SGD
from ..solvers.stochastic.stream import Stream
from ..spaces import LinearSpace
from ..spectra import parse_spectrum
from .base import RiskEstimator


class Streaming(RiskEstimator):
    """Linear estimators that can learn from a stream, with ``solver="sgd"``."""

    _stream: Stream

    def _partial_fit(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None
    ) -> Self:
        """Take steps on the next rows; see `lrisk.solvers.stochastic.stream`."""
        with unchanged_on_error(self):
            self._check_parameters()
            first = not hasattr(self, "_stream")
            X, y = self._check_data(X, y, reset=not hasattr(self, "coef_"))
            weight = self._row_weights(y, sample_weight)
            if weight is not None:
                X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
            if first and classes is not None:
                self.classes_ = np.unique(classes)
            target = self._encode_again(y)
            solver = self.solver if isinstance(self.solver, SGD) else SGD()
            loss, n_scores = self._loss(getattr(self, "classes_", None))
            spectrum = parse_spectrum(self.spectrum)
            check_spectrum(type(self).__name__, spectrum, solver.spectra, solver.name)
            check_loss(type(self).__name__, loss, solver.kinks, solver.name)
            columns = X.shape[1] + self.fit_intercept
            if first:
                stream = Stream.begin(np.zeros(columns * n_scores))
                if hasattr(self, "coef_"):  # go on from a fit
                    plain = LinearSpace(
                        X, intercept=self.fit_intercept, n_scores=n_scores
                    )
                    theta = plain.join(*self._linear_coefficients())
                    stream = Stream.begin(theta, self.weight_sum_)
            else:
                stream = copy.deepcopy(self._stream)
            if stream.theta.size != columns * n_scores:
                rule, remedy = "the same throughout a stream", "start anew with clone"
                value = self.fit_intercept
                raise ValueError(refused(self, "fit_intercept", rule, value, remedy))
            size = solver.batch_size or 64
            for start in range(0, X.shape[0], size):
                rows = slice(start, min(start + size, X.shape[0]))
                part = None if weight is None else weight[rows]
                ranking = Ranking(spectrum, rows.stop - rows.start, part)
                space = LinearSpace(
                    X[rows], intercept=self.fit_intercept, n_scores=n_scores
                )
                alpha = float(self.alpha)
                batch = Objective(ranking, loss, space, target[rows], alpha)
                stream.step(solver, batch)
            theta = stream.finish(solver)
            if not np.all(np.isfinite(theta)):
                rule, remedy = "small enough for these data", "lower it or use 'auto'"
                rate = solver.learning_rate
                raise ValueError(refused(self, "learning_rate", rule, rate, remedy))
            for name in ("objective_", "dual_gap_", "history_", "risk_weights_"):
                self.__dict__.pop(name, None)  # they speak of a fit that is over
            self._stream = stream
            self.weight_sum_ = stream.weight
            self.n_iter_ = stream.steps
            self.solver_ = solver.name
            self._store_coefficients(*space.uncentred(theta))
        return self

"""Regression for river, one row at a time, corrected for noise in the features.

Needs the extra ``river``; nothing else in lrisk imports this module. Rows are
dictionaries, as everywhere in river; features may appear and vanish.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._arrays import FEATURE, TARGET
from ._extras import optional
from ._params import check_real, refused
from ._typing import Floats
from .corrections.covariances import corrected_rows, with_constant
from .estimators import NoiseCorrectedKernelRegressor
from .noise import Exact, KnownCovariance, Noise, Replicates
from .solvers.online.linear import LinearState, OnlineLinear, squared_norms

optional("river", "lrisk.river")

from river import base  # noqa: E402

Row = dict[Any, Any]

__all__ = ["KernelRegressor", "LinearRegressor"]


class LinearRegressor(base.Regressor):
    """Online linear regression for river, corrected for noise in the features.

    A feature that is missing from a row counts as an exact zero; `x2` must have the
    features of `x`.

    As `lrisk.NoiseCorrectedRegressor` does it.

    Parameters
    ----------
    noise : Noise or None, default=None
        What is known of the noise; None needs `x2` in every call. A covariance per
        feature, or in full, is in the order in which features first appear, and may be
        for more features than have appeared so far.
    learning_rate : "auto", "theory" or float, default="auto"
        Size of the online step, as in `lrisk.NoiseCorrectedRegressor`.
    radius : "auto" or float, default="auto"
        Largest length of the coefficients, as in `lrisk.NoiseCorrectedRegressor`.
    average : bool, default=True
        Predict with the average of the online iterates.
    correction : float in [0, 1], default=1.0
        Share of the noise to correct for; 0 ignores it.
    fit_intercept : bool, default=True
        Learn a constant besides the slopes.

    See Also
    --------
    KernelRegressor : For relations that are not linear.
    lrisk.NoiseCorrectedRegressor : The same for arrays, in scikit-learn's way.

    Examples
    --------
    >>> from lrisk.noise import KnownCovariance
    >>> from lrisk.river import LinearRegressor
    >>> model = LinearRegressor(KnownCovariance(0.1), learning_rate=0.05)
    >>> for _ in range(100):
    ...     model.learn_one({"a": 1.0, "b": 0.0}, 2.0)
    ...     model.learn_one({"a": 0.0, "b": 1.0}, -1.0)
    >>> model.predict_one({"a": 1.0}) > 1.5
    True
    """

    def __init__(
        self,
        noise: Noise | None = None,
        learning_rate: Any = "auto",
        radius: float | str = "auto",
        average: bool = True,
        correction: float = 1.0,
        fit_intercept: bool = True,
    ) -> None:
        self.noise = noise
        self.learning_rate = learning_rate
        self.radius = radius
        self.average = average
        self.correction = correction
        self.fit_intercept = fit_intercept
        remedy = "1 corrects in full, 0 not at all"
        check_real(self, "correction", correction, low=0, high=1, remedy=remedy)
        self._solver = OnlineLinear(learning_rate, radius, average=average)
        self._places: dict[Any, int] = {}
        self._state: LinearState | None = None

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"noise": Exact()}

    def learn_one(
        self, x: Row, y: float, x2: Row | None = None, noise_scale: float | None = None
    ) -> None:
        """Learn from one row.

        Parameters
        ----------
        x : dict
            Noisy features.
        y : float
        x2 : dict or None, default=None
            A second copy of the features.
        noise_scale : float or None, default=None
            Factor on the noise's covariance in this row.
        """
        noise = _noise(self, self.noise, x2)
        _check_row(self, x, y, x2, noise_scale)
        places = dict(self._places)
        for name in x:
            places.setdefault(name, len(places))
        d = len(places)
        rows = [_vector(row, places) for row in (x, x2) if row is not None]
        present = [name in x for name in places]
        copies = np.stack(rows)[:, None] - _mean_of_row(noise, present)
        target = float(y) - noise.target_mean
        noise = _of_row(noise.centred(), present, noise_scale)
        corrected = corrected_rows(copies, noise, None, self.correction)
        squared = squared_norms(copies, corrected)
        size = d + int(self.fit_intercept)
        if self.fit_intercept:
            corrected, squared = with_constant(corrected), squared + 1.0
        state = self._state or self._solver.init(size)
        if state.W.shape[1] < size:
            # The constant comes last: new features go before it.
            state = self._solver.grow(state, size, int(self.fit_intercept))
        self._places = places
        self._state = self._solver.step(state, corrected, np.array([target]), squared)

    def predict_one(self, x: Row) -> float:
        """Predict from the clean features of one row."""
        if self._state is None:
            return 0.0
        theta = self._solver.finish(self._state)
        value = float(theta[-1]) if self.fit_intercept else 0.0
        for name, entry in x.items():
            if name in self._places:
                value += float(theta[self._places[name]]) * float(entry)
        return value

    @property
    def weights(self) -> dict[Any, float]:
        """Coefficient of each feature."""
        if self._state is None:
            return {}
        theta = self._solver.finish(self._state)
        return {name: float(theta[place]) for name, place in self._places.items()}


class KernelRegressor(base.Regressor):
    """Online kernel regression for river, corrected for noise in the features.

    The features are those of the first row, sorted by name; a missing one counts as
    zero and an unknown one is refused.

    Parameters
    ----------
    estimator : NoiseCorrectedKernelRegressor
        With `gamma` set, and a `budget` or `random_features` for endless streams.

    See Also
    --------
    LinearRegressor : The same for linear relations.
    lrisk.NoiseCorrectedKernelRegressor : The same for arrays, in scikit-learn's way.

    Examples
    --------
    >>> from lrisk import NoiseCorrectedKernelRegressor
    >>> from lrisk.noise import Exact
    >>> from lrisk.river import KernelRegressor
    >>> model = KernelRegressor(
    ...     NoiseCorrectedKernelRegressor(Exact(), gamma=1.0, budget=20)
    ... )
    >>> for t in range(50):
    ...     model.learn_one({"a": t % 5}, float(t % 5 == 2))
    >>> model.predict_one({"a": 2}) > model.predict_one({"a": 4})
    True
    """

    def __init__(self, estimator: NoiseCorrectedKernelRegressor) -> None:
        self.estimator = estimator
        self._own: Any = None
        self._places: dict[Any, int] = {}

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": NoiseCorrectedKernelRegressor(Exact(), gamma=1.0, budget=9)}

    def learn_one(
        self, x: Row, y: float, x2: Row | None = None, noise_scale: float | None = None
    ) -> None:
        """Learn from one row; as in `LinearRegressor`."""
        _check_row(self, x, y, x2, noise_scale)
        names = sorted(x, key=str)
        places = self._places or {name: place for place, name in enumerate(names)}
        unknown = [name for name in {**x, **(x2 or {})} if name not in places]
        if unknown:
            rule = f"made of the first row's features, {list(places)}"
            remedy = "select features before this step"
            raise ValueError(refused(self, "x", rule, unknown[0], remedy))
        own = self._own
        if own is None:
            own = type(self.estimator)(**self.estimator.get_params(deep=False))
        own.partial_fit(
            _vector(x, places)[None],
            [float(y)],
            X2=None if x2 is None else _vector(x2, places)[None],
            noise_scale=None if noise_scale is None else [noise_scale],
        )
        self._own, self._places = own, places

    def predict_one(self, x: Row) -> float:
        """Predict from the clean features of one row."""
        if self._own is None:
            return 0.0
        return float(self._own.predict(_vector(x, self._places)[None])[0])


def _noise(owner: object, noise: Noise | None, x2: Row | None) -> Noise:
    if noise is None and x2 is None:
        rule, remedy = "given without x2", "pass a noise, Exact(), or x2"
        raise ValueError(refused(owner, "noise", rule, None, remedy))
    return Replicates() if noise is None else noise


def _vector(x: Row, places: dict[Any, int]) -> Floats:
    vector = np.zeros(len(places))
    for name, value in x.items():
        if name in places:
            vector[places[name]] = value
    return vector


def _check_row(
    owner: object, x: Row, y: float, x2: Row | None, noise_scale: float | None
) -> None:
    """Refuse, before anything is learned, what would spoil all later rounds."""
    for row, limit in ((x, FEATURE), (x2 or {}, FEATURE), ({"y": y}, TARGET)):
        for name, value in row.items():
            rule, remedy = "finite", "drop the row, or impute before this step"
            if math.isfinite(value):
                rule, remedy = f"at most {limit:.2g} in size", "rescale it"
                if abs(value) <= limit:
                    continue
            what = f"the value of {name!r}"
            raise ValueError(refused(owner, what, rule, value, remedy))
    if x2 is not None and set(x) != set(x2):
        rule = "of the features of x: a zero in one copy alone is no observation"
        seen = sorted(set(x) ^ set(x2), key=str)[0]
        raise ValueError(refused(owner, "x2", rule, seen, "drop it from both copies"))
    if noise_scale is not None:
        remedy = "1 is the stated noise"
        check_real(owner, "noise_scale", noise_scale, low=0, remedy=remedy)


def _stated(noise: Noise, d: int) -> int:
    """Number of features the noise is stated for, those yet to appear included."""
    sizes = [np.size(value, 0) for value in vars(noise).values() if np.ndim(value)]
    return max([d, *sizes])


def _mean_of_row(noise: Noise, present: list[bool]) -> Floats:
    """E n of the features that are there."""
    d = len(present)
    return np.where(present, noise.expectation(_stated(noise, d))[:d], 0.0)


def _of_row(noise: Noise, present: list[bool], factor: float | None) -> Noise:
    """The noise of one row: of the features seen so far, none where they are missing.

    What is stated for features yet to appear is left for later.
    """
    if not noise.knows_covariance:
        return noise
    d = len(present)
    stated = _stated(noise, d)
    if factor is None and stated == d and all(present):
        return noise
    cov = noise.covariance(stated)
    cov = cov[:d] if cov.ndim == 1 else cov[:d, :d]
    mask = np.array(present, dtype=np.float64)
    cov = (1.0 if factor is None else float(factor)) * cov
    cov = cov * mask if cov.ndim == 1 else cov * np.outer(mask, mask)
    return KnownCovariance(cov, target_cov=noise.target_covariance(stated)[:d] * mask)

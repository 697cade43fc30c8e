"""`RiskRegressor` and `RiskClassifier` of rows on a cluster."""

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import dask.array as da
import distributed
import numpy as np
from dask.delayed import delayed
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .. import estimators as memory
from .._arrays import check_features, check_targets
from .._params import refused
from .._typing import Floats
from .._validation import (
    FIT_DEPTH,
    IterationCallbacks,
    classes_and_codes,
    unchanged_on_error,
    with_callbacks,
)
from ..estimators.base import SpectrumEstimator, progress
from ..estimators.class_weights import ClassWeight, weighted_by_class
from ..estimators.complaints import collapsed, unfinished
from ..losses import Loss
from ..partitions.grid import Grid
from ..partitions.objective import PartitionedObjective, RankWeights
from ..partitions.replay import Told
from ..ranking import check_row_weights
from ..solvers.partitioned import check_partitionable, minimise_in_parts
from ..solvers.solution import Solution, Status
from ..spectra import Spectrum, parse_spectrum
from .actors import Actors
from .chunks import Facts, Recipe, Steps, Weighing, checked
from .collections import laid_out, mapped

#: Entries of an answer up to which gradients by bin are sent instead of a second pass:
#: 4 MB take as long on a network as a pass over some 50,000 rows of 50 features.
MOST_BINNED = 500_000


class RiskEstimator(SpectrumEstimator):
    """Base of both: lay out, load, solve, store."""

    loss: str | Loss
    alpha: float
    fit_intercept: bool
    tol: float
    max_iter: int | None
    verbose: int
    coef_: Floats

    _memory: ClassVar[type[Any]]
    _numeric: ClassVar[bool]
    _client: Any = None

    @property
    def client(self) -> Any:
        """The `distributed.Client` to use; None means the current one.

        Where there is none, a fit runs on the threads of this process. It is no
        parameter: copies and pickles of an estimator have none.
        """
        return self._client

    @client.setter
    def client(self, client: Any) -> None:
        self._client = client

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_client"}

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimise the spectral risk, rows staying on their workers.

        Parameters
        ----------
        X : dask array or dataframe, or list of Delayed
            Rows in chunks; of an array the columns may be cut too. Partitions of a list
            are arrays or dataframes.
        y, sample_weight : dask array, series or list of Delayed
            In the same chunks as X, or arrays of known length. Weights are
            non-negative; a weight k counts like k rows.

        Returns
        -------
        self
        """
        callbacks = IterationCallbacks(self)
        with unchanged_on_error(self):
            plain = self._plain()
            plain._check_parameters()
            spectrum = parse_spectrum(self.spectrum)
            loss = plain._loss(np.arange(2))[0]
            check_partitionable(loss, spectrum, self)
            rows = laid_out(self, X, y, sample_weight)
            plain.n_features_in_ = rows.n_features
            if rows.names is not None:
                plain.feature_names_in_ = rows.names
            load = delayed(checked, pure=False)
            chunks = [load(plain, *part, numeric=self._numeric) for part in rows.parts]
            with _connected(self._client) as client:
                engine = Actors(client, chunks, self._numeric)
                try:
                    recipe = self._recipe(plain, loss, engine.facts)
                    engine.make(recipe)
                    parted = PartitionedObjective(
                        engine,
                        spectrum,
                        loss,
                        float(self.alpha),
                        self.fit_intercept,
                        most_binned=MOST_BINNED,
                    )
                    solution = minimise_in_parts(
                        parted,
                        tol=self.tol,
                        monitor=progress(callbacks, self.verbose),
                        max_iter=200 if self.max_iter is None else self.max_iter,
                    )
                    self._store(plain, parted, solution)
                    calls = _weighing(parted, engine, solution)
                finally:
                    engine.close()
            self.risk_weights_ = _risk_weights(engine, chunks, recipe, calls)
        callbacks.end()
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt(solution.status.value)
        complaints = unfinished(self, solution, self.tol)
        bent = not self._numeric and spectrum.monotone != "flat"
        if not complaints and bent and not np.any(self.coef_):
            complaints = [collapsed(self)]
        for message, kind in complaints:
            warnings.warn(message, kind, stacklevel=FIT_DEPTH)
        return self

    def to_memory(self) -> Any:
        """The fitted estimator as one of `lrisk`: for rows in memory, and to be saved.

        Returns
        -------
        lrisk.RiskRegressor or lrisk.RiskClassifier
            Without `risk_weights_`.
        """
        check_is_fitted(self)
        plain = self._plain()
        own = {k: v for k, v in vars(self).items() if k.endswith("_")}
        vars(plain).update({k: v for k, v in own.items() if k != "risk_weights_"})
        return plain

    # -- inner -------------------------------------------------------------------------

    def _plain(self) -> Any:
        """The same in memory, not fitted."""
        return self._memory(**self.get_params(deep=False))

    def _recipe(self, plain: Any, loss: Loss, facts: list[Facts]) -> Recipe:
        """How to make parts, after a look at what is known of all chunks."""
        if sum(fact.rows for fact in facts) == 0:
            rule, remedy = "of at least one row", "look at how it was read"
            raise ValueError(refused(self, "X", rule, "none", remedy))
        check_row_weights([fact.total for fact in facts], len(facts))
        sizes = np.max([fact.sizes for fact in facts], axis=0)
        names = getattr(plain, "feature_names_in_", None)
        check_features(self, "X", sizes[None, :], names=names)
        check_targets(self, "y", np.array([fact.size for fact in facts]))
        return Recipe(loss, any(fact.weighted for fact in facts))

    def _store(
        self, plain: Any, parted: PartitionedObjective, solution: Solution
    ) -> None:
        if not np.isfinite(solution.objective):
            if solution.status is Status.INTERRUPTED:
                raise KeyboardInterrupt(solution.status.value)
            rule, remedy = "small enough for its squares", "rescale the data"
            raise ValueError(refused(self, "X or y", rule, "overflow", remedy))
        raw = parted.raw(solution.theta)
        shift = np.array([parted.shift if self.fit_intercept else 0.0])
        plain._store_coefficients(raw[:-1, None], raw[-1:] + shift)
        for name in ("coef_", "intercept_", "n_features_in_"):
            setattr(self, name, getattr(plain, name))
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(plain, "feature_names_in_"):
            self.feature_names_in_ = plain.feature_names_in_
        self.objective_, self.dual_gap_ = solution.objective, solution.gap
        self.n_iter_, self.history_ = solution.n_iter, solution.history
        self.weight_sum_ = parted.total

    def _mapped(self, method: str, X: Any, dtype: Any, columns: Any = None) -> Any:
        return mapped(getattr(self.to_memory(), method), X, dtype, columns)


class RiskRegressor(RegressorMixin, RiskEstimator):
    """`lrisk.RiskRegressor` for rows on a Dask cluster.

    The same objective and the same certificate, proven over all rows where they lie.
    Every worker keeps its chunks in memory and answers in sums; the result depends on
    the chunks and on how many threads the cluster has, never on timing. Where a worker
    dies its chunks are computed again by their graph, and the fit goes on.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        The mean, a superquantile, an extremile or an ESRM.
    loss : {"squared"} or Loss, default="squared"
    alpha : float ≥ 0, default=1.0
    fit_intercept : bool, default=True
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int or None, default=None
        Limit on iterations; None means 200.
    verbose : int, default=0
        Print a line for each iteration if positive.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    objective_, dual_gap_, weight_sum_ : float
        As of `lrisk.RiskRegressor`.
    risk_weights_ : dask array of shape (n_samples,)
        λ, computed from the rows when it is asked for. It holds on to the graph of the
        rows; `to_memory` gives an estimator that does not.
    n_iter_ : int
    history_ : list of dict
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)

    Notes
    -----
    An interrupted fit (Ctrl-C) keeps the best point it has found, with what is proven
    of it, and raises `KeyboardInterrupt`.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from lrisk.dask import RiskRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.standard_t(4, size=2000)
    >>> X, y = da.from_array(X, chunks=(500, 3)), da.from_array(y, chunks=500)
    >>> model = RiskRegressor("extremile:2").fit(X, y)
    >>> bool(model.dual_gap_ <= 1e-6)
    True
    >>> model.predict(X).chunks
    ((500, 500, 500, 500),)
    """

    _memory = memory.RiskRegressor
    _numeric = True

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        loss: str | Loss = "squared",
        alpha: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def predict(self, X: Any) -> Any:
        """Predict targets, lazily: an array, series or list of Delayed, as X is."""
        return self._mapped("predict", X, np.float64)


class RiskClassifier(ClassifierMixin, RiskEstimator):
    """`lrisk.RiskClassifier` of two classes for rows on a Dask cluster.

    See `lrisk.dask.RiskRegressor` for what a cluster changes.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        The mean, a superquantile, an extremile or an ESRM.
    loss : {"logistic"} or Loss, default="logistic"
    alpha : float ≥ 0, default=1.0
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows of each class.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int or None, default=None
        Limit on iterations; None means 200.
    verbose : int, default=0
        Print a line for each iteration if positive.

    Attributes
    ----------
    classes_ : array of shape (2,)
    coef_ : array of shape (1, n_features)
    intercept_ : array of shape (1,)
    objective_, dual_gap_, weight_sum_ : float
        As of `lrisk.RiskClassifier`.
    risk_weights_ : dask array of shape (n_samples,)
        λ, computed from the rows when it is asked for.
    n_iter_ : int
    history_ : list of dict
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from lrisk.dask import RiskClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = np.where(X[:, 0] + 0.1 * rng.normal(size=2000) > 0, "yes", "no")
    >>> X, y = da.from_array(X, chunks=(500, 2)), da.from_array(y, chunks=500)
    >>> model = RiskClassifier("extremile:2").fit(X, y)
    >>> model.predict_proba(X).chunks
    ((500, 500, 500, 500), (2,))
    """

    _memory = memory.RiskClassifier
    _numeric = False

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        loss: str | Loss = "logistic",
        alpha: float = 1.0,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def predict(self, X: Any) -> Any:
        """Predict classes, lazily: an array, series or list of Delayed, as X is."""
        check_is_fitted(self)
        return self._mapped("predict", X, self.classes_.dtype)

    def decision_function(self, X: Any) -> Any:
        """Log-odds of the second class, lazily."""
        return self._mapped("decision_function", X, np.float64)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities in the order of `classes_`, lazily."""
        check_is_fitted(self)
        return self._mapped("predict_proba", X, np.float64, self.classes_.tolist())

    def _recipe(self, plain: Any, loss: Loss, facts: list[Facts]) -> Recipe:
        given = super()._recipe(plain, loss, facts).weighted
        some = [fact for fact in facts if len(fact.labels)]
        labels = np.concatenate([fact.labels for fact in some])
        masses = np.concatenate([fact.masses for fact in some])
        check_classification_targets(labels)
        names, codes = np.unique(labels, return_inverse=True)
        before: Floats = np.bincount(codes, masses).astype(np.float64)
        weighted = weighted_by_class(self, self.class_weight, names, before)
        after = before if weighted is None else weighted
        kept = after > 0.0
        classes, _ = classes_and_codes(self, names[kept])
        if len(classes) > 2:
            rule, seen = "of two classes on a cluster", f"{len(classes)} or more"
            remedy = "fit each against the others, or fit in memory"
            raise ValueError(refused(self, "y", rule, seen, remedy))
        self.classes_ = classes
        factors = after[kept] / before[kept]
        own = given or not kept.all() or bool(np.any(factors != 1.0))
        return Recipe(loss, own, classes, factors)


def _weighing(
    parted: PartitionedObjective, engine: Actors, solution: Solution
) -> list[Told]:
    """What each part is told for the λ of a solution."""
    weights: Any = solution.weights
    if weights is None:  # that of the mean: all losses in one bin
        calls: Told = [("hold", (Grid(0, 62, 1), np.array([1.0 / parted.total])))]
    elif isinstance(weights, RankWeights):
        grid, density = weights.ranks.grid, weights.ranks.density
        at = ("at", (parted.raw(weights.theta), grid))
        holding = ("hold", (grid, Steps.of(density)))
        calls = [("prepare", (parted.shift,)), at, holding]
    else:
        parted.hold(weights)
        return [engine.journal.of_part(i) for i in range(engine.n_parts)]
    return [calls] * engine.n_parts


def _risk_weights(
    engine: Actors,
    chunks: list[Any],
    recipe: Recipe,
    calls: list[Told],
) -> Any:
    """λ of all rows, found from them when it is asked for."""
    pieces, rules = [], {}
    for part, own in zip(engine.parts, calls, strict=True):
        if id(own) not in rules:  # one node of the graph, which may be megabytes
            rule = delayed(Weighing(recipe, own), traverse=False, pure=False)
            rules[id(own)] = rule
        start = 0
        for k in part:
            facts = engine.facts[k]
            piece = rules[id(own)](chunks[k], start)
            pieces.append(da.from_delayed(piece, (facts.rows,), np.float64))
            start += recipe.kept(facts)
    return da.concatenate(pieces)


@contextlib.contextmanager
def _connected(client: Any) -> Iterator[Any]:
    """The client given, or the current one, or threads of this process for a while."""
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError:
            own = {"processes": False, "dashboard_address": ":0"}
            with (
                distributed.LocalCluster(**own) as cluster,
                distributed.Client(cluster) as client,
            ):
                yield client
            return
    if getattr(client, "asynchronous", False):
        rule, remedy = "one that waits", "make it with asynchronous=False"
        raise ValueError(refused("lrisk", "client", rule, client, remedy))
    yield client

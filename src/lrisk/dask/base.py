"""A fit of rows on a cluster: lay out, load, solve, store."""

import contextlib
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import distributed
import numpy as np
from dask.delayed import delayed
from sklearn.utils.validation import check_is_fitted

from .._arrays import check_features, check_targets
from .._params import refused
from .._typing import Floats
from .._validation import (
    FIT_DEPTH,
    IterationCallbacks,
    unchanged_on_error,
    with_callbacks,
)
from ..estimators.base import SpectrumEstimator, progress
from ..estimators.parted import store_parted, warn_of_parted
from ..losses import Loss
from ..partitions.objective import PartitionedObjective
from ..ranking import check_row_weights
from ..solvers.partitioned import check_partitionable, minimise_in_parts
from ..solvers.solution import Solution
from ..spectra import parse_spectrum
from .actors import Actors
from .chunks import Facts, Recipe, checked
from .collections import laid_out, mapped
from .weights import risk_weights, weighing

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
        y : dask array, series or list of Delayed
            In the same chunks as X, or an array of known length.
        sample_weight : the same or None, default=None
            Non-negative; a weight k counts like k rows.

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
                    calls = weighing(parted, engine, solution)
                finally:
                    engine.close()
            self.risk_weights_ = risk_weights(engine, chunks, recipe, calls)
        callbacks.end()
        warn_of_parted(self, parted, solution, depth=FIT_DEPTH)
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
        store_parted(plain, parted, solution, getattr(plain, "feature_names_in_", None))
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update({k: v for k, v in vars(plain).items() if k.endswith("_")})

    def _mapped(self, method: str, X: Any, dtype: Any, columns: Any = None) -> Any:
        return mapped(getattr(self.to_memory(), method), X, dtype, columns)


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
    if not isinstance(client, distributed.Client):
        rule, remedy = "a distributed.Client", "make one for the scheduler's address"
        raise TypeError(refused("lrisk", "client", rule, client, remedy))
    if getattr(client, "asynchronous", False):
        rule, remedy = "one that waits", "make it with asynchronous=False"
        raise ValueError(refused("lrisk", "client", rule, client, remedy))
    yield client

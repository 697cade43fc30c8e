"""Clusters in dirty data."""

import copy
import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._params import check_choice, check_count, check_real, check_verbose, refused
from .._threads import blas_threads_for
from .._typing import AnyArray, Floats
from .._validation import (
    FIT_DEPTH,
    IterationCallbacks,
    check_flag,
    generator,
    streams_by_sgd,
    unchanged_on_error,
    validate_data,
    with_callbacks,
)
from ..objective import Objective
from ..ranking import Ranking, check_row_weights
from ..solvers.clustering.centers import Alternating, CenterSGD, clustering
from ..solvers.clustering.starts import check_enough_rows, first_centers, lowest, seeds
from ..solvers.solution import Solver, Status
from ..solvers.stochastic.stream import Stream
from ..spaces import CenterSpace
from ..spectra import Spectrum, parse_spectrum
from .base import SpectrumEstimator, as_csr, progress


class RiskKMeans(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, SpectrumEstimator
):
    r"""K-means whose centres far rows do not move (trimmed k-means).

    ``KMeans`` minimises the mean squared distance to the nearest centre; one far row
    can take a centre for itself. This minimises a weighted mean of the *sorted*
    distances, by default that of the nearest four fifths of the rows:

    .. math:: \sum_i \sigma_i \ell_{(i)}(C)

    over k centres C, where ℓ_i(C) is the squared distance of row i to the nearest
    centre and ℓ_(1) ≤ … ≤ ℓ_(n) (paper 1, section 4.3). The mean is plain k-means; a
    spectrum that weights large losses less leaves rows far from every centre out of
    account.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    spectrum : str or Spectrum, default="subquantile"
        ``"subquantile:p"`` keeps the mass p nearest to the centres: rows far out, up to
        a mass of 1 − p, do not move them, however far (a fifth of the rows by default).
        ``"risk_seeking_extremile:r"`` fades instead of cutting: a single row that is
        far enough takes a centre for itself. Increasing spectra are taken, too, and
        pull the centres towards the far rows.
    init : {"k-means++", "zeros"} or array, default="k-means++"
        First centres; an array has the shape (n_clusters, n_features).
        ``"k-means++"`` draws rows by their share of this very objective, so that it
        does not seed on outliers; ``"zeros"`` is the paper's start, and meant for
        ``solver="sgd"``.
    n_init : "auto" or int, default="auto"
        Starts, of which the lowest objective is kept. Automatic is ten for k-means++
        with ``"alternating"``, else one.
    solver : {"alternating", "sgd"}, default="alternating"
        Assign, sort, average; or the paper's minibatch stochastic subgradients, which
        trim each batch by itself: a batch with more than its share of far rows moves
        the centres, so keep `batch_size` large where outliers are many. Under
        a decreasing spectrum and the mean each alternating step is an exact
        minimisation and the objective never rises; under others the step is shortened
        until it does not rise, and may end at a kink, short of a local minimum.
    batch_size : int, default=64
        Rows in a step of ``"sgd"``.
    learning_rate : "auto" or float, default="auto"
        Step of ``"sgd"``; automatic is 1/8, and above 1 it may diverge.
    average : bool, default=True
        Whether ``"sgd"`` returns the mean of its iterates, later ones weighing more.
    max_iter : int or None, default=None
        Moves of the centres for ``"alternating"`` (None: 300), passes over the rows
        for ``"sgd"`` (None: 64).
    tol : float, default=1e-6
        ``"alternating"`` stops when the objective falls by no more than this share.
    mark_trimmed : bool, default=False
        Whether ``labels_`` of trimmed rows is −1 instead of the nearest centre's.
    random_state : int, RandomState, Generator or None, default=None
        For the starts, and the batches of ``"sgd"``.
    verbose : int, default=0
        Print a line for each iteration if positive.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : array of shape (n_samples,)
        Nearest centre of each training row.
    losses_ : array of shape (n_samples,)
        Squared distance to it.
    inlier_mask_ : array of bool of shape (n_samples,)
        False for the rows that the spectrum trims; the row that is kept in part counts
        as kept. All True for spectra that trim nothing.
    objective_ : float
        The spectral risk of the losses.
    inertia_ : float
        Σ w_i ℓ_i over the kept mass: scikit-learn's, under the mean.
    n_iter_ : int
    history_ : list of dict
        One record for each iteration of the best start.
    n_features_in_, feature_names_in_

    See Also
    --------
    lrisk.metrics.clustering_accuracy : Share of rows in the right cluster.
    lrisk.displays.ClusterDisplay : Rows, centres and trimmed rows in the plane.

    Notes
    -----
    A weight k in `sample_weight` counts like k rows, exactly, for the objective and for
    every alternating step; the draws of k-means++ and of ``"sgd"`` agree only in
    distribution. After `partial_fit` the attributes that speak of rows are those of
    the last call's.

    Examples
    --------
    >>> from lrisk import RiskKMeans
    >>> from lrisk.datasets import make_dirty_clouds
    >>> X, cloud = make_dirty_clouds(random_state=0)
    >>> model = RiskKMeans(3, spectrum="subquantile:0.75", random_state=0).fit(X)
    >>> centres = model.cluster_centers_
    >>> centres[centres[:, 0].argsort()].round(1) + 0.0
    array([[-3.,  0.],
           [ 0.,  1.],
           [ 3.,  0.]])
    >>> int(model.inlier_mask_[cloud == -1].sum())  # of a hundred
    2
    """

    _stream: Stream
    cluster_centers_: Floats

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        spectrum: str | Spectrum = "subquantile",
        init: Any = "k-means++",
        n_init: int | str = "auto",
        solver: str = "alternating",
        batch_size: int = 64,
        learning_rate: str | float = "auto",
        average: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-6,
        mark_trimmed: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.spectrum = spectrum
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.mark_trimmed = mark_trimmed
        self.random_state = random_state
        self.verbose = verbose

    # -- fitting -----------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the centres.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored, default=None
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative; a weight k counts like k rows and 0 like no row.

        Returns
        -------
        self
        """
        callbacks = IterationCallbacks(self)
        with unchanged_on_error(self):
            self._check_parameters()
            X = self._check_data(X, reset=True)
            weight = check_row_weights(sample_weight, X.shape[0])
            space = CenterSpace(X, self.n_clusters)
            ranking = Ranking(parse_spectrum(self.spectrum), X.shape[0], weight)
            objective = self._objective(X, weight)
            rng, solver = generator(self.random_state), self._solver()
            tell = progress(callbacks, self.verbose)
            with blas_threads_for(space.n_rows * space.n_features):
                starts = (self._start(objective, rng) for _ in range(self._n_starts()))
                solution = lowest(objective, solver, starts, rng=rng, monitor=tell)
                if solution.status is Status.DIVERGED:
                    raise self._diverged()
                self._store(space, ranking, solution.theta)
            self.n_iter_ = solution.n_iter
            self.history_ = solution.history
            if hasattr(self, "_stream"):
                del self._stream  # a fit ends any stream
        callbacks.end()
        if solution.status is Status.MAX_ITER:
            message = (
                f"RiskKMeans: {solution.status.value}; the centres found are kept. To "
                "go further raise max_iter or loosen tol."
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=FIT_DEPTH)
        return self

    @available_if(streams_by_sgd)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take steps of ``"sgd"`` on these rows, ``batch_size`` at a time.

        The first call chooses the first centres from its rows, unless there was a fit
        to go on from. Centres that no row comes near stay where they are.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored, default=None
        sample_weight : array-like of shape (n_samples,) or None, default=None

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            first = not hasattr(self, "cluster_centers_")
            X = self._check_data(X, reset=first)
            weight = check_row_weights(sample_weight, X.shape[0])
            space = CenterSpace(X, self.n_clusters)
            ranking = Ranking(parse_spectrum(self.spectrum), X.shape[0], weight)
            kept = slice(None) if weight is None else weight > 0
            rows, part = X[kept], None if weight is None else weight[kept]
            if hasattr(self, "_stream"):
                stream = copy.deepcopy(self._stream)
            elif first:
                objective = self._objective(X, weight)
                rng = generator(self.random_state)
                stream = Stream.begin(self._start(objective, rng))
            else:
                stream = Stream.begin(self.cluster_centers_.ravel())
            self._check_same_clusters(stream.theta.size, X.shape[1])
            stepper, size = self._sgd().stepper(), self.batch_size
            with np.errstate(over="ignore", invalid="ignore"):
                for begin in range(0, rows.shape[0], size):
                    batch = rows[begin : begin + size]
                    weights = None if part is None else part[begin : begin + size]
                    order = Ranking(ranking.spectrum, batch.shape[0], weights)
                    stream.step(stepper, clustering(space.at(batch), order))
            theta = stream.finish(stepper)
            if not np.all(np.isfinite(theta)):
                raise self._diverged()
            self._store(space, ranking, theta)
            self._stream, self.n_iter_ = stream, stream.steps
            if hasattr(self, "history_"):
                del self.history_  # that of a fit before
        return self

    # -- using -------------------------------------------------------------------------

    def predict(self, X: Any) -> AnyArray:
        """Index of the nearest centre, shape (n_samples,)."""
        return self._nearest(X)[0]

    def transform(self, X: Any) -> Floats:
        """Euclidean distances to the centres, shape (n_samples, n_clusters)."""
        space = self._fitted_space(X)
        return np.sqrt(space.scores(self.cluster_centers_.ravel()))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the spectral risk of the squared distances of these rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored, default=None
        sample_weight : array-like of shape (n_samples,) or None, default=None

        Returns
        -------
        float
        """
        losses = self._nearest(X)[1]
        weight = check_row_weights(sample_weight, len(losses))
        if weight is not None:
            losses, weight = losses[weight > 0], weight[weight > 0]
        ranking = Ranking(parse_spectrum(self.spectrum), len(losses), weight)
        return -ranking.risk(losses)

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[0])

    def _fitted_space(self, X: Any) -> CenterSpace:
        check_is_fitted(self)
        return CenterSpace(self._check_data(X, reset=False), self._n_features_out)

    def _nearest(self, X: Any) -> tuple[AnyArray, Floats]:
        return self._fitted_space(X).nearest(self.cluster_centers_.ravel())

    # -- building ----------------------------------------------------------------------

    def _objective(self, X: Any, weight: Floats | None) -> Objective:
        """The objective over the rows with weight, if they are enough."""
        if weight is not None and not np.all(weight > 0):
            X, weight = X[weight > 0], weight[weight > 0]
        space = CenterSpace(X, self.n_clusters)
        ranking = Ranking(parse_spectrum(self.spectrum), X.shape[0], weight)
        check_enough_rows(self, space, ranking)
        return clustering(space, ranking)

    def _start(self, objective: Objective, rng: np.random.Generator) -> Floats:
        space: Any = objective.space
        if not isinstance(self.init, str):
            return first_centers(self, self.init, space)
        if self.init == "zeros":
            return np.zeros(space.size)
        return seeds(self, space, objective.ranking, rng)

    def _n_starts(self) -> int:
        drawn = isinstance(self.init, str) and self.init == "k-means++"
        if not drawn and self.solver == "alternating":
            return 1  # all would be the same
        if self.n_init != "auto":
            return int(self.n_init)
        return 10 if drawn and self.solver == "alternating" else 1

    def _solver(self) -> Solver:
        if self.solver == "sgd":
            return self._sgd()
        limit = {} if self.max_iter is None else {"max_iter": self.max_iter}
        return Alternating(self.tol, **limit)

    def _sgd(self) -> CenterSGD:
        limit = {} if self.max_iter is None else {"max_epochs": self.max_iter}
        return CenterSGD(self.batch_size, self.learning_rate, self.average, **limit)

    def _store(self, space: CenterSpace, ranking: Ranking, theta: Floats) -> None:
        """Set what the centres say of all rows, those without weight included."""
        labels, losses = space.nearest(theta)
        shares = ranking.kept_shares(losses)
        weights = ranking.row_weight
        counted = weights > 0
        inner = Ranking(
            ranking.spectrum,
            int(counted.sum()),
            None if counted.all() and ranking.equal else weights[counted],
        )
        self.cluster_centers_ = space.centers(theta).copy()
        self.losses_ = losses
        self.inlier_mask_ = shares > 0
        self.labels_ = np.where(self.inlier_mask_, labels, -1)
        if not self.mark_trimmed:
            self.labels_ = labels
        self.objective_ = inner.risk(losses[counted])
        self.inertia_ = float((weights * shares) @ losses)

    # -- checks ------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_count(self, "n_clusters", self.n_clusters)
        parse_spectrum(self.spectrum)
        check_choice(self, "solver", self.solver, ("alternating", "sgd"))
        if isinstance(self.init, str):
            check_choice(self, "init", self.init, ("k-means++", "zeros"))
        if not (isinstance(self.n_init, str) and self.n_init == "auto"):
            check_count(self, "n_init", self.n_init)
        check_count(self, "batch_size", self.batch_size)
        rate = self.learning_rate
        if not (isinstance(rate, str) and rate == "auto"):
            remedy = "use 'auto' or a number such as 0.1"
            limits: Any = {"low": 0, "low_open": True, "remedy": remedy}
            check_real(self, "learning_rate", rate, **limits)
        if self.max_iter is not None:
            check_count(self, "max_iter", self.max_iter)
        check_real(self, "tol", self.tol, low=0, remedy="1e-6 is the usual choice")
        for name in ("average", "mark_trimmed"):
            check_flag(self, name, getattr(self, name))
        check_verbose(self, self.verbose)

    def _check_data(self, X: Any, reset: bool) -> Any:
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            reset=reset,
        )
        return as_csr(X) if sp.issparse(X) else X

    def _check_same_clusters(self, size: int, n_features: int) -> None:
        if size != self.n_clusters * n_features:
            rule = f"{size // n_features} as in the calls before"
            remedy = "begin anew with fit"
            raise ValueError(refused(self, "n_clusters", rule, self.n_clusters, remedy))

    def _diverged(self) -> ValueError:
        rule, remedy = "small enough for these data", "lower it or use 'auto'"
        message = refused(self, "learning_rate", rule, self.learning_rate, remedy)
        return ValueError(message)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

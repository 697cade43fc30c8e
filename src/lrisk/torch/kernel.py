"""`KernelRiskRegressor` of rows that are tensors."""

import warnings
from typing import Any, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from .. import estimators as memory
from .._params import refused
from .._threads import blas_threads_for
from .._validation import (
    FIT_DEPTH,
    IterationCallbacks,
    unchanged_on_error,
    with_callbacks,
)
from ..estimators.base import SpectrumEstimator, progress
from ..solvers import Concentration
from ..spaces import Kernel
from ..spectra import Spectrum, parse_spectrum
from .centres import DeviceRows, summed
from .estimators import NumberScores
from .given import check_matrix, check_numbers, check_weight
from .kernel_fit import KernelRiskRegressor as _OnDevice
from .kernel_values import TensorKernel, check_kernel
from .rows import in_memory, on_device

#: Rows up to which an exact model is fitted in memory: seconds there, and with the
#: elimination and the exchanges of rows that a device does not make.
FEW_ROWS = 5_000


class KernelRiskRegressor(NumberScores, SpectrumEstimator):
    r"""`lrisk.KernelRiskRegressor` of tensors, with its matrices on their device.

    Squared loss under the mean or a subquantile. Exact models need the kernel matrix of
    all rows and a factor of it there, 16n² bytes and as much again while it is made;
    with `n_components` centres (Nyström) two matrices of these and a block of rows.

    Parameters
    ----------
    spectrum : str or Spectrum, default="mean"
        ``"mean"`` or ``"subquantile:p"``, which leaves the rows of largest loss out.
    kernel : {"rbf", "linear", "poly", "laplacian", "cosine"}, default="rbf"
        As of `lrisk.KernelRiskRegressor`.
    gamma : float or None, default=None
        None means 1/n_features.
    degree : int, default=3
        Degree of the ``"poly"`` kernel.
    coef0 : float ≥ 0, default=1
        Constant term of the ``"poly"`` kernel.
    alpha : float > 0, default=1.0
        Penalty, as of `KernelRidge`.
    n_components : int or None, default=None
        Number of centres; None, or as many as there are rows, means the exact model.
    solver : "auto" or Concentration, default="auto"
        How far to go. ``"auto"`` fits exact models of up to 5,000 rows in memory, as
        `lrisk.KernelRiskRegressor` does, and larger ones along the path of penalties
        alone, which is ``Concentration(starts=0, swaps=0)``. Linear kernels of few
        features, which need no kernel matrix, are fitted in memory.
    tol : float, default=1e-6
        As of `lrisk.KernelRiskRegressor`: it only decides on a warning.
    max_iter : int or None, default=None
        Limit on C-steps from one start, or on fits over all rows with centres.
    random_state : int, RandomState instance or None, default=None
        For the draw of the centres.
    verbose : int, default=0
        Print a line for each C-step if positive.

    Attributes
    ----------
    dual_coef_ : tensor of shape (n_samples,)
        As all tensors here of float64 but `X_fit_`, on the device of the rows. With
        `n_components` one for each centre.
    X_fit_ : tensor of shape (n_samples, n_features)
        The training rows themselves; with `n_components` the centres.
    losses_, inlier_mask_ : tensors of shape (n_samples,)
        Under a subquantile: each row's loss at the fit (NaN where it has no weight),
        and which rows are not left out.
    risk_weights_ : tensor of shape (n_samples,)
        λ, the weight of each row.
    objective_, weight_sum_ : float
    dual_gap_ : float
        Infinite: nothing is proven here, for the mean either.
    n_iter_ : int
    history_ : list of dict
    n_features_in_ : int

    See Also
    --------
    lrisk.KernelRiskRegressor : For arrays, with more losses, spectra and kernels.

    Notes
    -----
    The C-steps are those in memory, and so is their order; what a device does is the
    algebra of each refit. Exact refits are solved by conjugate gradients to a residual
    of 1e-11 of the targets, with one Cholesky factor of the whole matrix, or under
    heavier penalties an approximation by some of its rows, for all refits of one
    penalty. Centres are the rows that are drawn in memory, too.

    Examples
    --------
    >>> import torch
    >>> from lrisk.torch import KernelRiskRegressor
    >>> X = torch.linspace(-3, 3, 60)[:, None]
    >>> y = torch.sin(X[:, 0])
    >>> y[::6] = 8.0  # a sixth of the labels is wrong
    >>> model = KernelRiskRegressor("subquantile:0.8", alpha=0.1).fit(X, y)
    >>> bool(model.inlier_mask_[::6].any())
    False
    """

    dual_coef_: Tensor
    X_fit_: Tensor
    risk_weights_: Tensor

    def __init__(
        self,
        spectrum: str | Spectrum = "mean",
        *,
        kernel: str = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        alpha: float = 1.0,
        n_components: int | None = None,
        solver: str | Concentration = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.n_components = n_components
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimise the risk of the kept rows, and choose these.

        Parameters
        ----------
        X : tensor of shape (n_samples, n_features)
            Of float32 or float64, on any device; not copied.
        y : tensor of shape (n_samples,)
            On the device of X.
        sample_weight : tensor of shape (n_samples,) or None, default=None
            Non-negative; a weight k counts like k rows, and 0 like no row.

        Returns
        -------
        self
        """
        callbacks = IterationCallbacks(self)
        with unchanged_on_error(self), torch.no_grad():
            plain = memory.KernelRiskRegressor(**self.get_params(deep=False))
            plain._check_parameters()
            self._check_covered()
            X = check_matrix(self, X)
            target = in_memory(check_numbers(self, y, X))
            weight = check_weight(self, sample_weight, X)
            rows = None if weight is None else in_memory(weight)
            if self._by_device(*X.shape):
                complaints = self._fit_there(X, target, rows, callbacks)
            else:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    plain.fit(in_memory(X), target, rows)
                complaints = [(str(w.message), w.category) for w in caught]
                self._store(plain, X)
        callbacks.end()
        for message, kind in complaints:
            warnings.warn(message, kind, stacklevel=FIT_DEPTH)
        return self

    def predict(self, X: Any) -> Tensor:
        """Predict targets; a tensor of shape (n_samples,)."""
        check_is_fitted(self)
        with torch.no_grad():
            X = check_matrix(self, X, self.X_fit_)
            used = self.dual_coef_ != 0.0
            if not bool(used.any()):
                return torch.zeros(len(X), dtype=torch.float64, device=X.device)
            centres = self.X_fit_[used].double()
            values = TensorKernel(Kernel.of(self), centres)
            return summed(values, X, self.dual_coef_[used])

    def to_memory(self) -> memory.KernelRiskRegressor:
        """The fitted estimator as one of `lrisk`: for arrays, and to be saved.

        Returns
        -------
        lrisk.KernelRiskRegressor
        """
        check_is_fitted(self)
        plain = memory.KernelRiskRegressor(**self.get_params(deep=False))
        for name, value in vars(self).items():
            if name.endswith("_") or name == "_has_weight":
                own = in_memory(value) if torch.is_tensor(value) else value
                setattr(plain, name, own)
        return plain

    # -- inner -------------------------------------------------------------------------

    def _check_covered(self) -> None:
        """Refuse what has no form for tensors."""
        check_kernel(self, Kernel.of(self))
        spectrum = parse_spectrum(self.spectrum)
        if not (spectrum.keeps or spectrum.monotone == "flat"):
            rule, remedy = "the mean or a subquantile", "fit in memory"
            raise ValueError(refused(self, "spectrum", rule, spectrum, remedy))
        if self.solver not in ("auto", "concentration") and not isinstance(
            self.solver, Concentration
        ):
            rule, remedy = "'auto' or a Concentration", "fit in memory"
            raise ValueError(refused(self, "solver", rule, self.solver, remedy))

    def _by_device(self, n_rows: int, n_features: int) -> bool:
        """Whether a fit of so many rows is to be made on the device."""
        solver = self.solver
        if self.n_components is not None and self.n_components < n_rows:
            return True
        if self.kernel == "linear" and n_features <= n_rows:
            return False  # it is a linear model in memory, with starts of its own
        if not isinstance(solver, Concentration):
            return n_rows > FEW_ROWS
        if solver.starts == 0 and solver.swaps == 0:
            return True
        if n_rows > FEW_ROWS:
            rule = f"with starts=0 and swaps=0 for more than {FEW_ROWS} rows"
            remedy = "rows are eliminated and exchanged in memory only"
            raise ValueError(refused(self, "solver", rule, solver, remedy))
        return False

    def _fit_there(
        self, X: Tensor, target: Any, weight: Any, callbacks: IterationCallbacks
    ) -> list[tuple[str, type[Warning]]]:
        """The steps of a fit in memory; what is to be warned of."""
        plain = _OnDevice.of(self.get_params(deep=False))
        kept = np.ones(len(X), dtype=bool) if weight is None else weight > 0.0
        if weight is not None:
            weight = weight[kept]
        monitor = progress(callbacks, self.verbose)
        with blas_threads_for(X.numel()):
            problem = plain._problem(DeviceRows(X), target[kept], weight, kept, None)
            solver = plain._solver(problem)
            solution = plain._solve(solver, problem, None, None, monitor)
            if not np.isfinite(solution.objective):
                rule, remedy = "small enough for its squares", "rescale the data"
                raise ValueError(refused(self, "X or y", rule, "overflow", remedy))
            found = plain._settle(problem, solution)
            plain._store(problem, found)
            plain.n_features_in_, plain.solver_ = X.shape[1], solver.name
            complaints = plain._complaints(problem.objective, found, solver.tol)
        self._store(plain, X)
        return complaints

    def _store(self, plain: Any, X: Tensor) -> None:
        """Take over the fitted attributes; X itself where all rows are centres."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        for name, value in vars(plain).items():
            if name.endswith("_") or name == "_has_weight":
                array = isinstance(value, np.ndarray)
                setattr(self, name, on_device(value, X.device) if array else value)
        if not plain._centred_:
            self.X_fit_ = X

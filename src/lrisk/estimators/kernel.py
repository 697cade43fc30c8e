"""Kernel models under a spectral risk: robust by trimming, or careful of the tail."""

from collections.abc import Mapping
from typing import Any

from .._typing import Floats
from ..losses import Loss
from ..solvers import Solver
from ..spectra import Spectrum
from .class_weights import ClassWeight
from .kernel_base import KernelParameter, KernelRiskEstimator
from .targets import ClassTargets, NumberTargets


class KernelRiskRegressor(KernelRiskEstimator, NumberTargets):
    r"""Kernel regression without the rows of largest error, or for them.

    ``KernelRidge`` minimises the mean of the squared errors. This minimises a weighted
    mean of the *sorted* ones (see `RiskRegressor`) over f in the kernel's space:

    .. math:: \sum_i \sigma_i \ell_{(i)} + \frac{\alpha}{2W} \|f\|^2,
              \qquad \ell_i = \ell(y_i, f(x_i))

    with :math:`\ell_{(1)} \le \dots \le \ell_{(n)}` the sorted losses, σ the weights of
    the spectrum and W the sum of the sample weights. ``"subquantile:p"`` fits the rows
    of lowest loss and leaves out the others, which may be wrong (paper 2, equation 6
    with its missing 1/(np)); increasing spectra care for the largest losses. There is
    no intercept, as in ``KernelRidge``: centre the targets if their mean is far from 0.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        For example ``"subquantile:0.8"``, ``"superquantile:0.9"``, ``"mean"``,
        ``"ranked_range:0.1:0.8"``.
    loss : {"squared", "huber", "absolute", "pinball"} or Loss, default="squared"
        As in `RiskRegressor`; absolute and pinball loss for increasing spectra only.
    kernel : str or callable, default="rbf"
        One of ``"rbf"``, ``"linear"``, ``"poly"``, ``"laplacian"``, ``"cosine"`` and
        ``"precomputed"``, as in scikit-learn's ``KernelRidge``; positive definite
        kernels only. A callable takes two rows.
    gamma : float or None, default=None
        None means 1/n_features.
    degree : int, default=3
        Degree of the ``"poly"`` kernel; other kernels ignore it.
    coef0 : float ≥ 0, default=1
        Constant term of the ``"poly"`` kernel; other kernels ignore it.
    kernel_params : mapping or None, default=None
        Keyword arguments of a callable kernel.
    alpha : float > 0, default=1.0
        Penalty. With ``spectrum="mean"`` the fit is that of
        ``KernelRidge(alpha=alpha)``; the papers' μ is alpha/n.
    radius : float or None, default=None
        Largest ‖f‖, for ``solver="subquantile"``.
    n_components : int or None, default=None
        Number m of centres (Nyström): f = Σ_j c_j k(z_j, ·) over m of the rows, so that
        many rows can be fitted; see Notes. None, or as many as there are rows, means
        the exact model.
    solver : str or Solver, default="auto"
        One of ``"auto"``, ``"newton"``, ``"lbfgs"``, ``"concentration"`` and
        ``"subquantile"``. For decreasing spectra ``"auto"`` is exact concentration
        along a path of penalties and ``"subquantile"`` the paper's gradient method; for
        increasing ones the certified solvers run on a factor of the kernel matrix.
    tol : float, default=1e-6
        Relative duality gap at which to stop. Trimmed fits, which have no such proof,
        go on until the same rows are kept; there it only decides on a warning.
    max_iter : int or None, default=None
        Limit on what the solver counts (Newton steps, L-BFGS iterations, C-steps from
        one start, gradient steps); None means the solver's own default.
    warm_start : bool, default=False
        Start from the last fit's coefficients if the rows are as many.
    random_state : int, RandomState instance or None, default=None
        For random starts.
    verbose : int, default=0
        Print a line for each iteration if positive.

    Attributes
    ----------
    dual_coef_ : array of shape (n_samples,)
        f = Σ dual_coef_i k(x_i, ·), zero where a row does not enter. With
        `n_components` one for each centre.
    X_fit_ : array or CSR array of shape (n_samples, n_features)
        The training rows; with `n_components` the centres.
    losses_, inlier_mask_ : arrays of shape (n_samples,)
        Only under spectra that leave rows out: the loss of every training row at the
        fit (NaN where a row has no weight), and which rows are not left out for their
        large losses.
    risk_weights_ : array of shape (n_samples,)
        λ, the weight of each training row.
    objective_ : float
        The value reached, penalty included.
    dual_gap_ : float
        Proven relative distance from the minimum; infinite for decreasing spectra,
        whose objective is not convex.
    weight_sum_, n_iter_, solver_, history_
        As in `RiskRegressor`.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    RobustRegressor : For an unknown share of wrong rows.
    lrisk.displays.LossDisplay : The losses and the cut between kept and left out.

    Notes
    -----
    With `n_components` the centres are distinct rows drawn at random, the same for any
    order of the rows. Under spectra that leave rows out an exact pilot on 1,500 rows,
    under the same spectrum and `alpha`, says which rows to keep, and the centres are
    drawn from these. `max_iter` is then the number of fits over all rows (C-steps): by
    default 3 or, for more than 40 m rows, 1 after three on a sample of 20 m rows. More
    of them lower the objective, that of the centres' span, but rarely the error.
    Increasing spectra are solved to a certified optimum within that span, in many
    passes.

    X is read in blocks, also from a memory map, and never copied whole. Up to
    n_samples·m = 5·10⁷ the features of all rows are held (400 MB); above, a fit that
    leaves rows out needs some ten numbers for each row and a few m × m matrices, and an
    increasing spectrum a sample of at most 50,000·m numbers besides. `warm_start` has
    no effect.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk import KernelRiskRegressor
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> y[::6] = 8.0  # a sixth of the labels is wrong
    >>> model = KernelRiskRegressor("subquantile:0.8", alpha=0.1).fit(X, y)
    >>> bool(model.inlier_mask_[::6].any())
    False

    Ten centres instead of sixty:

    >>> model.set_params(n_components=10, random_state=0).fit(X, y).X_fit_.shape
    (10, 1)
    >>> bool(model.inlier_mask_[::6].any())
    False
    """

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        loss: str | Loss = "squared",
        kernel: KernelParameter = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        alpha: float = 1.0,
        radius: float | None = None,
        n_components: int | None = None,
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.radius = radius
        self.n_components = n_components
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def predict(self, X: Any) -> Floats:
        """Predict targets; shape (n_samples,). k(x, x_i) if precomputed."""
        return self._scores(X)


class KernelRiskClassifier(KernelRiskEstimator, ClassTargets):
    r"""Kernel classification without the rows predicted worst, or for them.

    Minimises Σσ_iℓ_(i) + α/(2W)‖f‖², a weighted mean of the *sorted* losses (see
    `RiskClassifier`), over f in the kernel's space, without an intercept. The loss is
    the logistic one for two classes and the multinomial one for more (paper 2,
    algorithm 1), or the squared hinge loss for two.

    Parameters
    ----------
    spectrum : str or Spectrum, default="superquantile"
        For example ``"subquantile:0.8"``, which leaves the fifth of largest loss out.
    loss : {"logistic", "squared_hinge"} or Loss, default="logistic"
        As in `RiskClassifier`.
    kernel : str or callable, default="rbf"
        One of ``"rbf"``, ``"linear"``, ``"poly"``, ``"laplacian"``, ``"cosine"`` and
        ``"precomputed"``, as in scikit-learn; positive definite kernels only. A
        callable takes two rows.
    gamma : float or None, default=None
        None means 1/n_features.
    degree : int, default=3
        Degree of the ``"poly"`` kernel; other kernels ignore it.
    coef0 : float ≥ 0, default=1
        Constant term of the ``"poly"`` kernel; other kernels ignore it.
    kernel_params : mapping or None, default=None
        Keyword arguments of a callable kernel.
    alpha : float > 0, default=1.0
        Penalty, on the scale of ``LogisticRegression(C=1/alpha)`` without intercept.
    class_weight : dict, "balanced" or None, default=None
        As in `RiskClassifier`. As there is no intercept, the weights of a class have no
        say where none of its rows is near.
    radius : float or None, default=None
        Largest ‖f‖, for ``solver="subquantile"``.
    n_components : int or None, default=None
        Number of centres, for many rows, as in `KernelRiskRegressor`.
    solver : str or Solver, default="auto"
        One of ``"auto"``, ``"newton"``, ``"lbfgs"``, ``"concentration"`` and
        ``"subquantile"``, as in `KernelRiskRegressor`.
        ``Concentration(class_balanced=True)`` trims within classes.
    tol : float, default=1e-6
        Relative duality gap at which to stop, as in `KernelRiskRegressor`.
    max_iter : int or None, default=None
        Limit on what the solver counts; None means the solver's own default.
    warm_start : bool, default=False
        Start from the last fit's coefficients if the rows are as many.
    random_state : int, RandomState instance or None, default=None
        For random starts.
    verbose : int, default=0
        Print a line for each iteration if positive.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    dual_coef_ : array of shape (n_samples,), or (n_samples, n_classes) for more classes
    X_fit_, losses_, inlier_mask_, risk_weights_, objective_, dual_gap_
        As in `KernelRiskRegressor`.
    weight_sum_, n_iter_, solver_, history_
        As in `RiskClassifier`.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)

    See Also
    --------
    KernelRiskRegressor : The same for numbers.
    RobustClassifier : For an unknown share of wrong labels.

    Notes
    -----
    Trimming rows by their loss can remove a class as a whole, and under a strong
    increasing spectrum the best fit may be constant: both warn with
    `lrisk.CollapsedFitWarning`. Under heavy label noise a flexible kernel fits wrong
    labels as easily as right ones; compare with ``spectrum="mean"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lrisk import KernelRiskClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelRiskClassifier("subquantile:0.9", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        spectrum: str | Spectrum = "superquantile",
        *,
        loss: str | Loss = "logistic",
        kernel: KernelParameter = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        alpha: float = 1.0,
        class_weight: ClassWeight = None,
        radius: float | None = None,
        n_components: int | None = None,
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.spectrum = spectrum
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.class_weight = class_weight
        self.radius = radius
        self.n_components = n_components
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def decision_function(self, X: Any) -> Floats:
        """Scores: (n_samples,) for two classes, (n_samples, n_classes) for more."""
        return self._scores(X)

"""Warnings of lrisk's own."""


class CollapsedFitWarning(UserWarning):
    """Warns that a fit predicts the same for all rows, or the same class.

    The weighting of the losses (the spectrum) or the penalty is too strong, or trimming
    removed a class as a whole. The message says which, and what to do.

    See Also
    --------
    lrisk.RiskClassifier : Warns so; its notes say why fits collapse.
    sklearn.exceptions.ConvergenceWarning : For fits that stop before their end.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_diabetes
    >>> import lrisk
    >>> X, y = load_diabetes(return_X_y=True)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = lrisk.RiskRegressor("mean", alpha=1e30).fit(X, y)
    >>> caught[0].category.__name__
    'CollapsedFitWarning'
    """


class NoiseMismatchWarning(UserWarning):
    """Warns that the stated noise, or the second copy, does not fit the rows.

    For example if only one of two copies was scaled, or if the noise is stated to be
    larger than all there is to see.

    See Also
    --------
    lrisk.NoiseCorrectedRegressor : Warns so; also the other corrected estimators.
    lrisk.noise : What can be stated of the noise.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import lrisk
    >>> X = np.random.default_rng(0).normal(size=(100, 1))  # variance one
    >>> model = lrisk.NoiseCorrectedRegressor(lrisk.noise.KnownCovariance(50.0))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = model.fit(X, X[:, 0])
    >>> caught[0].category.__name__
    'NoiseMismatchWarning'
    """

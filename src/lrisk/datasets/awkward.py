"""Clean data on which robust methods are tempted to see outliers."""

from collections.abc import Callable

import numpy as np

from .._params import check_choice, check_count, check_real
from .._typing import Floats
from .._validation import generator
from .corruption import RandomState

#: Slopes of the linear relation; further features do nothing.
SLOPES = np.array([1.0, -1.0, 0.7, 0.5])


def _linear(X: Floats) -> Floats:
    used = min(X.shape[1], len(SLOPES))
    signal: Floats = X[:, :used] @ SLOPES[:used]
    return signal


def _gaussian(X: Floats, noise: float, rng: np.random.Generator) -> Floats:
    return _linear(X) + noise * rng.standard_normal(len(X))


def _lognormal(X: Floats, noise: float, rng: np.random.Generator) -> Floats:
    skewed = np.exp(rng.standard_normal(len(X)))
    return np.asarray(_linear(X) + noise * (skewed - np.exp(0.5)))


def _t3(X: Floats, noise: float, rng: np.random.Generator) -> Floats:
    return _linear(X) + noise * rng.standard_t(3, len(X))


def _heteroscedastic(X: Floats, noise: float, rng: np.random.Generator) -> Floats:
    level = np.exp(0.8 * X[:, 0])
    return _linear(X) + noise * level * rng.standard_normal(len(X))


def _nonlinear(X: Floats, noise: float, rng: np.random.Generator) -> Floats:
    wide = np.column_stack([X, np.zeros((len(X), max(0, 4 - X.shape[1])))])
    signal = 2.0 * np.sin(2.0 * wide[:, 0]) + wide[:, 1] ** 2 + wide[:, 2] * wide[:, 3]
    return np.asarray(signal + 0.5 * noise * rng.standard_normal(len(X)))


def _ties(X: Floats, noise: float, rng: np.random.Generator) -> Floats:
    return np.round(_gaussian(X, noise, rng))


Recipe = Callable[[Floats, float, np.random.Generator], Floats]

#: Every kind of `make_awkward`, by name.
AWKWARD: dict[str, Recipe] = {
    "gaussian": _gaussian,
    "lognormal": _lognormal,
    "t3": _t3,
    "heteroscedastic": _heteroscedastic,
    "nonlinear": _nonlinear,
    "ties": _ties,
}


def make_awkward(
    kind: str = "lognormal",
    n_samples: int = 1000,
    n_features: int = 6,
    *,
    noise: float = 0.6,
    random_state: RandomState = None,
) -> tuple[Floats, Floats]:
    r"""Make regression data without a wrong row, but with awkward noise.

    Features are standard normal, f(x) = x₁ − x₂ + 0.7x₃ + 0.5x₄, e is standard normal:

    ================  ==================================================
    kind              y
    ================  ==================================================
    gaussian          f + noise·e (the easy case)
    lognormal         f + noise·(exp(e) − exp(½)), skewed, mean zero
    t3                f + noise·t with three degrees of freedom
    heteroscedastic   f + noise·exp(0.8x₁)·e
    nonlinear         2 sin 2x₁ + x₂² + x₃x₄ + noise/2·e
    ties              f + noise·e rounded to whole numbers
    ================  ==================================================

    Parameters
    ----------
    kind : str, default="lognormal"
        Which of the relations above.
    n_samples : int, default=1000
        How many rows to draw.
    n_features : int, default=6
        Those after the fourth do nothing; with fewer the terms are left out.
    noise : float ≥ 0, default=0.6
        Size of the noise, as in the table above.
    random_state : int, Generator, RandomState or None, default=None
        Decides the draw; pass an int for the same data in every call.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The features.
    y : array of shape (n_samples,)
        The targets, none of them wrong.

    See Also
    --------
    make_hidden_group : Regression in which a small group differs.
    corrupt_labels : Makes some of the rows wrong.

    Examples
    --------
    >>> from lrisk.datasets import make_awkward
    >>> X, y = make_awkward("ties", 500, random_state=0)
    >>> X.shape, bool((y == y.round()).all())
    ((500, 6), True)
    """
    owner = "make_awkward"
    check_choice(owner, "kind", kind, tuple(AWKWARD))
    check_count(owner, "n_samples", n_samples)
    check_count(owner, "n_features", n_features)
    check_real(owner, "noise", noise, low=0, remedy="0 means none")
    rng = generator(random_state)
    X = rng.standard_normal((n_samples, n_features))
    return X, AWKWARD[kind](X, noise, rng)

"""Checks of what comes with the rows: further copies, and the noise of each row."""

from typing import Any

import numpy as np

from .._arrays import FEATURE, check_features, unmasked
from .._params import refused
from .._typing import Floats
from ..noise import Noise
from ..noise.base import check_same_columns, check_size


def further_copies(owner: object, named: Any, X: Floats, X2: Any) -> Floats:
    """Further copies of the rows X, shape (n, copies, d), or one clear error.

    Parameters
    ----------
    named : table
        X as the user gave it, with the names of its columns if it has any.
    X : array of shape (n, d)
    X2 : array-like of shape (n, d) or (n, copies, d)
    """
    check_same_columns(owner, "X2", named, X2)
    others = np.asarray(unmasked(X2), dtype=np.float64)
    others = others[:, None] if others.ndim == 2 else others
    fits = others.ndim == 3 and (others.shape[0], others.shape[2]) == X.shape
    if not fits or others.shape[1] == 0:
        rule = f"of the shape of X, {X.shape}, or (n, copies, d) for more copies"
        remedy = "pass another observation of the same rows"
        raise ValueError(refused(owner, "X2", rule, np.shape(X2), remedy))
    if not np.all(np.isfinite(others)):
        remedy = "remove NaN and infinity"
        raise ValueError(refused(owner, "X2", "finite", "NaN or inf", remedy))
    check_features(owner, "X2", others.reshape(-1, X.shape[1]), fitted=True)
    return others


def check_noise_scale(
    owner: object, noise_scale: Any, noise: Noise, shape: tuple[int, int]
) -> Floats | None:
    """Factors (n,), variances (n, d) or covariances (n, d, d) of each row."""
    if noise_scale is None:
        return None
    n, d = shape
    if not noise.knows_covariance:
        rule, remedy = "left out where the noise is unknown", "give a noise"
        raise ValueError(refused(owner, "noise_scale", rule, "an array", remedy))
    array = np.asarray(unmasked(noise_scale), dtype=np.float64)
    if array.shape not in ((n,), (n, d), (n, d, d)):
        rule = f"of shape {(n,)}, {(n, d)} or {(n, d, d)}"
        remedy = "give each row a factor, its variances or its covariance"
        raise ValueError(refused(owner, "noise_scale", rule, array.shape, remedy))
    rule, remedy = "finite and not negative (semi-definite)", "check it"
    if not np.all(np.isfinite(array)):
        raise ValueError(refused(owner, "noise_scale", rule, "NaN or inf", remedy))
    check_size(owner, "noise_scale", array, FEATURE**2)
    lowest = float(array.min(initial=0.0))
    if array.ndim == 3:
        if not np.allclose(array, array.transpose(0, 2, 1)):
            seen, remedy = "an asymmetric covariance", "symmetrise each matrix"
            raise ValueError(refused(owner, "noise_scale", "symmetric", seen, remedy))
        size = float(np.abs(array).max(initial=0.0))
        lowest = float(np.linalg.eigvalsh(array).min(initial=0.0))
        lowest = 0.0 if lowest > -1e-8 * size else lowest
    if lowest < 0:
        raise ValueError(refused(owner, "noise_scale", rule, lowest, remedy))
    return array


def refuse_target_covariance(owner: object, noise: Noise, n_features: int) -> None:
    """Refuse noise correlated with the target's, where no correction is known."""
    cross = noise.target_covariance(n_features)
    if np.any(cross):
        rule = "without target_cov: only the linear regressor corrects for it"
        remedy = "use NoiseCorrectedRegressor, or leave target_cov out"
        raise ValueError(refused(owner, "noise", rule, noise, remedy))

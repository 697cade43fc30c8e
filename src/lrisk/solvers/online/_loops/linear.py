"""Rounds of corrected online gradient descent, for several step sizes side by side."""

import numpy as np

from ...._jit import jit
from ....corrections.covariances import covariance_times

# Places in the array of running sums.
COUNT, SQUARED, FOURTH, TARGET, NOISE, SIGNAL, WEIGHT = 0, 1, 2, 3, 4, 5, 6
# How a step is given: as it is, relative to 1/E‖x̃‖², or by the theory.
ABSOLUTE, RELATIVE, THEORY = 0, 1, 2


@jit
def choose_radius(radius, sums, d):  # type: ignore[no-untyped-def]
    """The radius, or three times the norm that explains all of y if it is negative.

    E(w·x)² = ‖w‖² E‖x‖²/d for rows of no preferred direction; E‖x‖² of the clean rows
    is the noisy one less the noise, at least a tenth of it.
    """
    if radius >= 0.0:
        return radius
    signal = max(sums[SIGNAL], 0.1 * sums[SQUARED])
    if signal <= 0.0:
        return 1.0
    return 3.0 * np.sqrt(sums[TARGET] * d / signal)


@jit
def gradient_size(radius, bounds, pairs, sums):  # type: ignore[no-untyped-def]
    """√G: what E‖g‖² stays below (see `lrisk.corrections.bounds`).

    A stated B_x̃ bounds the fourth moment too, E‖x̃‖⁴ ≤ B_x̃⁴, so that no step depends on
    the noise of its row.
    """
    count = max(sums[COUNT], 1.0)
    feature = bounds[0] if bounds[0] >= 0.0 else np.sqrt(sums[SQUARED] / count)
    target = bounds[1] if bounds[1] >= 0.0 else np.sqrt(sums[TARGET] / count)
    if pairs:
        return 2.0 * (radius * feature + target) * feature
    fourth = feature * feature
    if bounds[0] < 0.0:
        fourth = max(np.sqrt(sums[FOURTH] / count), fourth)
    return 2.0 * (radius * fourth + target * feature + sums[NOISE] * radius)


@jit
def step_size(step, mode, radius, root, horizon, sums):  # type: ignore[no-untyped-def]
    """The step of this round."""
    if mode == ABSOLUTE:
        return step
    if mode == RELATIVE:
        return step * sums[COUNT] / max(sums[SQUARED], 1e-300)
    root = max(root, 1e-300)
    if horizon > 0.0:
        return radius / (root * np.sqrt(horizon))
    return np.sqrt(2.0) * radius / (root * np.sqrt(sums[COUNT]))


@jit
def linear_rounds(  # type: ignore[no-untyped-def]
    X, y, squared, trace, largest, cov, cross, pairs, steps, mode, radius, horizon,
    bounds, power, judged, W, A, sums, losses, path,
):  # fmt: skip
    """Run one round for every row: judge, correct, step, project, average.

    Parameters
    ----------
    X : array of shape (n, d)
        x̄, the means of each row's copies.
    y : array of shape (n,)
    squared, trace, largest : arrays of shape (n,)
        ‖x̃‖², the trace and the largest eigenvalue of C.
    cov : Covariance
        C of each row's mean.
    cross : array of shape (d,)
        Cov(n, noise of y).
    pairs : bool
        Whether C comes from the copies themselves.
    steps : array of shape (k,)
        Candidates.
    mode : int
        What the steps mean.
    radius : float
        Of the ball; negative: from running moments.
    horizon : float
        Rounds in all, 0 if unknown.
    bounds : array of shape (2,)
        B_x̃ and B_ỹ; negative: running root mean squares.
    power : float
        Round t enters the average with a weight proportional to t^power.
    judged : bool
        Whether the averages, not the iterates, are judged.
    W, A : arrays of shape (k, d)
        Iterates and averages, changed in place.
    sums : array of shape (7,)
        Running sums, changed in place.
    losses : array of shape (k,)
        Corrected losses before each round, weighted by t, changed in place.
    path : array of shape (n, d) or (0, d)
        Receives the first candidate's iterate before each round.
    """
    n, d = X.shape
    pull = np.empty(d)
    for i in range(n):
        if path.shape[0] > 0:
            path[i] = W[0]
        sums[COUNT] += 1.0
        sums[SQUARED] += squared[i]
        sums[FOURTH] += squared[i] * squared[i]
        sums[TARGET] += y[i] * y[i]
        sums[NOISE] = max(sums[NOISE], largest[i])
        sums[SIGNAL] += squared[i] - trace[i]
        ball = choose_radius(radius, sums, d)
        root = gradient_size(ball, bounds, pairs, sums)
        weight = sums[COUNT] ** power
        sums[WEIGHT] += weight
        share = weight / sums[WEIGHT]
        for k in range(steps.shape[0]):
            w, a = W[k], A[k]
            shown = a if judged else w
            covariance_times(cov, i, shown, pull)
            residual = -y[i]
            less = 0.0
            for j in range(d):
                residual += X[i, j] * shown[j]
                less += shown[j] * (pull[j] - 2.0 * cross[j])
            losses[k] += sums[COUNT] * (residual * residual - less)

            if judged:
                covariance_times(cov, i, w, pull)
                residual = -y[i]
                for j in range(d):
                    residual += X[i, j] * w[j]
            rate = 2.0 * step_size(steps[k], mode, ball, root, horizon, sums)
            norm = 0.0
            for j in range(d):
                w[j] -= rate * (residual * X[i, j] - pull[j] + cross[j])
                norm += w[j] * w[j]
            shrink = 1.0
            if norm > ball * ball:
                shrink = ball / np.sqrt(norm)
            for j in range(d):
                w[j] *= shrink
                a[j] += share * (w[j] - a[j])

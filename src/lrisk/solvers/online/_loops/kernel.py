"""Rounds of online gradient descent in a surrogate space (paper 3, algorithm 2).

Several step sizes run side by side: they share the support and the kernel values, which
are the cost. Coefficients are kept as scale·c, so that a projection costs one number.
"""

import numpy as np

from ...._jit import jit
from ....corrections.surrogates import surrogate_value
from .linear import COUNT, TARGET, WEIGHT, step_size


@jit
def choose_ball(radius, sums, R2):  # type: ignore[no-untyped-def]
    """W, or twenty times R times the root mean square of y if it is negative."""
    if radius >= 0.0:
        return radius
    return 20.0 * np.sqrt(R2 * sums[TARGET] / max(sums[COUNT], 1.0))


@jit
def gradient_size(ball, bounds, R2, sums):  # type: ignore[no-untyped-def]
    """√G = 2R(WR + B_y)."""
    running = np.sqrt(sums[TARGET] / max(sums[COUNT], 1.0))
    target = bounds[1] if bounds[1] >= 0.0 else running
    R = np.sqrt(R2)
    return 2.0 * R * (ball * R + target)


@jit
def start_round(yi, R2, power, sums):  # type: ignore[no-untyped-def]
    """Count the round; return its weight in the averages."""
    sums[COUNT] += 1.0
    sums[1] += R2
    sums[TARGET] += yi * yi
    weight = sums[COUNT] ** power
    sums[WEIGHT] += weight
    return weight


@jit
def mean_value(terms, Z, s, copies):  # type: ignore[no-untyped-def]
    """Mean of k̂ between row s of Z and copies of shape (m, d).

    It is k̂ that is averaged, never the copies: their mean has another noise.
    """
    total = 0.0
    for a in range(copies.shape[0]):
        total += surrogate_value(terms, Z, s, copies[a])
    return total / copies.shape[0]


@jit
def exact_rounds(  # type: ignore[no-untyped-def]
    P, Q, y, terms, R2, steps, mode, radius, horizon, bounds, power, judged,
    Z, c, seen, scale, norm, mass, sums, losses, scales,
):  # fmt: skip
    """Run one round in O(t) for every row; every row becomes a support vector.

    Parameters
    ----------
    P : array of shape (n, d)
        The first copy of each row.
    Q : array of shape (n, m, d)
        The other copies.
    terms : Terms
        The surrogate kernel, of value R2 at zero.
    Z : array of shape (≥ rounds + n, d)
        Support.
    c, seen : arrays of shape (k, ≥ rounds + n)
        Coefficients over their scale; the candidate's `mass` when each one entered.
    scale, norm, mass : arrays of shape (k,)
        Scale of the coefficients, squared norm of the function, Σ weight·scale.
    scales : array of shape (≥ rounds + n,)
        Receives the first candidate's scale before each round.
    """
    n, many = P.shape[0], steps.shape[0]
    first = int(sums[COUNT])
    fa, fb = np.empty(many), np.empty(many)
    ga, gb = np.empty(many), np.empty(many)
    for i in range(n):
        t = first + i
        weight = start_round(y[i], R2, power, sums)
        fa[:] = 0.0
        fb[:] = 0.0
        ga[:] = 0.0
        gb[:] = 0.0
        for s in range(t):
            ka = surrogate_value(terms, Z, s, P[i])
            kb = mean_value(terms, Z, s, Q[i])
            for k in range(many):
                fa[k] += c[k, s] * ka
                fb[k] += c[k, s] * kb
                ga[k] += c[k, s] * (mass[k] - seen[k, s]) * ka
                gb[k] += c[k, s] * (mass[k] - seen[k, s]) * kb
        ball = choose_ball(radius, sums, R2)
        root = gradient_size(ball, bounds, R2, sums)
        past = max(sums[WEIGHT] - weight, 1e-300)
        Z[t] = P[i]
        scales[t] = scale[0]
        for k in range(many):
            here, there = scale[k] * fa[k], scale[k] * fb[k]
            if judged:
                losses[k] += (t + 1.0) * (ga[k] / past - y[i]) * (gb[k] / past - y[i])
            else:
                losses[k] += (t + 1.0) * (here - y[i]) * (there - y[i])
            rate = step_size(steps[k], mode, ball, root, horizon, sums)
            alpha = -2.0 * rate * (there - y[i])
            c[k, t] = alpha / scale[k]
            seen[k, t] = mass[k]
            norm[k] += 2.0 * alpha * here + alpha * alpha * R2
            if norm[k] > ball * ball:
                scale[k] *= ball / np.sqrt(norm[k])
                norm[k] = ball * ball
            mass[k] += weight * scale[k]


@jit
def refresh(  # type: ignore[no-untyped-def]
    terms, Z, t, c, seen, scale, norm, mass, scales
):  # fmt: skip
    """Recompute the norms from the coefficients and fold the scales into them."""
    many = scale.shape[0]
    norm[:] = 0.0
    for s in range(t):
        for u in range(s + 1):
            value = surrogate_value(terms, Z, s, Z[u])
            value = value if u == s else 2.0 * value
            for k in range(many):
                norm[k] += c[k, s] * c[k, u] * value
    for s in range(t):
        scales[s] /= scale[0]
    for k in range(many):
        norm[k] *= scale[k] * scale[k]
        for s in range(t):
            c[k, s] *= scale[k]
            seen[k, s] /= scale[k]
        mass[k] /= scale[k]
        scale[k] = 1.0


@jit
def _solve(inverse, size, values, out):  # type: ignore[no-untyped-def]
    """Set out = inverse·values over the first `size` entries; returns values·out."""
    total = 0.0
    for a in range(size):
        s = 0.0
        for b in range(size):
            s += inverse[a, b] * values[b]
        out[a] = s
        total += s * values[a]
    return total


@jit
def _admit(inverse, size, q, rest):  # type: ignore[no-untyped-def]
    """Grow the inverse by the vector whose projection is q and remainder `rest`."""
    for a in range(size):
        for b in range(size):
            inverse[a, b] += q[a] * q[b] / rest
        inverse[a, size] = -q[a] / rest
        inverse[size, a] = -q[a] / rest
    inverse[size, size] = 1.0 / rest


@jit
def budgeted_rounds(  # type: ignore[no-untyped-def]
    P, Q, y, terms, R2, steps, mode, radius, horizon, bounds, power, judged,
    tolerance, Z, inverse, K, W, A, norm, sums, losses, size,
):  # fmt: skip
    """Run one round in O(B²) for every row, whatever their number; returns the size.

    A copy whose surrogate feature is farther than `tolerance`·R² (squared) from the
    span of the support enters it while there is room; everything else is projected
    onto the span (approximate linear dependence). Both sides of a row, its first copy
    and the others, are used in both roles, which halves the variance.
    """
    n, many, room = P.shape[0], steps.shape[0], Z.shape[0]
    ka, kb = np.empty(room), np.empty(room)
    qa, qb = np.empty(room), np.empty(room)
    for i in range(n):
        weight = start_round(y[i], R2, power, sums)
        for s in range(size):
            ka[s] = surrogate_value(terms, Z, s, P[i])
            kb[s] = mean_value(terms, Z, s, Q[i])
        within = _solve(inverse, size, ka, qa)
        if size < room and R2 - within > tolerance * R2:
            _admit(inverse, size, qa, R2 - within)
            for s in range(size):
                K[s, size] = ka[s]
                K[size, s] = ka[s]
                qa[s] = 0.0
            K[size, size] = R2
            Z[size] = P[i]
            ka[size] = R2
            qa[size] = 1.0
            kb[size] = mean_value(terms, Z, size, Q[i])
            size += 1
            within = R2
        other = _solve(inverse, size, kb, qb)
        between = 0.0
        for s in range(size):
            between += qa[s] * kb[s]
        ball = choose_ball(radius, sums, R2)
        root = gradient_size(ball, bounds, R2, sums)
        share = weight / sums[WEIGHT]
        for k in range(many):
            fa, fb, ga, gb = 0.0, 0.0, 0.0, 0.0
            for s in range(size):
                fa += W[k, s] * ka[s]
                fb += W[k, s] * kb[s]
                ga += A[k, s] * ka[s]
                gb += A[k, s] * kb[s]
            if judged:
                losses[k] += sums[COUNT] * (ga - y[i]) * (gb - y[i])
            else:
                losses[k] += sums[COUNT] * (fa - y[i]) * (fb - y[i])
            rate = step_size(steps[k], mode, ball, root, horizon, sums)
            a, b = -rate * (fb - y[i]), -rate * (fa - y[i])
            norm[k] += 2.0 * (a * fa + b * fb + a * b * between)
            norm[k] += a * a * within + b * b * other
            shrink = 1.0
            if norm[k] > ball * ball:
                shrink = ball / np.sqrt(norm[k])
                norm[k] = ball * ball
            for s in range(size):
                W[k, s] = shrink * (W[k, s] + a * qa[s] + b * qb[s])
                A[k, s] += share * (W[k, s] - A[k, s])
        if sums[COUNT] % 1000.0 == 0.0:  # rounding must not build up in the norms
            for k in range(many):
                norm[k] = 0.0
                for s in range(size):
                    for u in range(size):
                        norm[k] += W[k, s] * K[s, u] * W[k, u]
    return size

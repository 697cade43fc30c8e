"""The algorithms as the papers print them, in plain numpy, for scalar losses.

Written from the papers, not from the solvers: one gradient for each row and step, no
lazy products, no compiled code. Random draws are taken in the solvers' order.
"""

import numpy as np


class Problem:
    """Rows, slopes and losses of a squared or logistic problem without intercept."""

    def __init__(self, X, y, loss, mu, spectrum):
        self.X, self.y, self.loss, self.mu = X, y, loss, mu
        self.n = len(y)
        self.spectrum = spectrum
        self.sigma = spectrum.weights(self.n)

    def losses(self, w):
        z = self.X @ w
        if self.loss == "squared":
            return 0.5 * (z - self.y) ** 2
        return np.logaddexp(0.0, z) - self.y * z

    def slope(self, w, i):
        z = self.X[i] @ w
        return (
            z - self.y[i]
            if self.loss == "squared"
            else 1 / (1 + np.exp(-z)) - self.y[i]
        )

    def gradient(self, w, i):
        return self.slope(w, i) * self.X[i]

    def weights(self, losses):
        """σ at the rank of each row: λ = (σ_{π⁻¹(i)})."""
        weights = np.empty(self.n)
        weights[np.argsort(losses, kind="stable")] = self.sigma
        return weights


def uniform_rows(rng, n, count):
    """The rows an epoch visits; the solvers draw many epochs' at once."""
    return rng.integers(0, n, max(count, min(32 * count, 32768)))


def lsvrg(problem, rate, epochs, rng, *, spectral=False, weigh=None):
    """Algorithms 2 (uniform) and 7 (spectral), N = n, q* = 0; 5 through `weigh`."""
    p, w = problem, np.zeros(problem.X.shape[1])
    stream = None if spectral else uniform_rows(rng, p.n, p.n)
    for epoch in range(epochs):
        losses = p.losses(w)
        order = np.argsort(losses, kind="stable")
        weights = p.weights(losses) if weigh is None else weigh(losses)
        bar = w.copy()
        full = sum(weights[i] * p.gradient(bar, i) for i in range(p.n))
        if spectral:
            places = np.ceil(p.n * p.spectrum.inverse(rng.random(p.n))) - 1
            rows = order[places.clip(0, p.n - 1).astype(int)]
        else:
            rows = stream[epoch * p.n : (epoch + 1) * p.n]
        for i in rows:
            gain = 1.0 if spectral else p.n * weights[i]
            v = gain * p.gradient(w, i) - gain * p.gradient(bar, i) + full
            w = (1 - rate * p.mu) * w - rate * v
    return w


def subsets(rng, n, m, count, pool):
    """Subsets without replacement by a partial shuffle."""
    uniforms = rng.random((count, m))
    for row in uniforms:
        for j, u in enumerate(row):
            other = j + int(u * (n - j))
            pool[j], pool[other] = pool[other], pool[j]
        yield pool[:m].copy()


def batch_gradient(p, w, rows, sigma):
    losses = p.losses(w)[rows]
    ranked = rows[np.argsort(losses, kind="stable")]
    return sum(s * p.gradient(w, i) for s, i in zip(sigma, ranked))


def sgd(problem, rate, epochs, rng, m):
    """Algorithm 1; returns the average and the last iterate."""
    p, w = problem, np.zeros(problem.X.shape[1])
    sigma, pool, total, t = p.spectrum.weights(m), np.arange(p.n), 0.0, 0
    for _ in range(epochs):
        for rows in subsets(rng, p.n, m, p.n // m, pool):
            total, t = total + w, t + 1
            v = batch_gradient(p, w, rows, sigma)
            w = (1 - rate * p.mu) * w - rate * v
    return total / t, w


def srda(problem, rate, epochs, rng, m):
    """Appendix F.3, with ḡ the mean of the gradients."""
    p, w = problem, np.zeros(problem.X.shape[1])
    sigma, pool, gradients = p.spectrum.weights(m), np.arange(p.n), []
    for _ in range(epochs):
        for rows in subsets(rng, p.n, m, p.n // m, pool):
            gradients.append(batch_gradient(p, w, rows, sigma))
            w = -np.mean(gradients, axis=0) / (p.mu + 1 / (rate * len(gradients)))
    return w


def prospect(problem, rate, epochs, rng, weigh=None):
    """Tables l, g, ρ, q, with q computed from scratch after every step."""
    p, w = problem, np.zeros(problem.X.shape[1])
    weigh = p.weights if weigh is None else weigh
    table = p.losses(w)
    g = np.array([p.gradient(w, i) for i in range(p.n)])
    q = weigh(table)
    rho = q.copy()
    rows = uniform_rows(rng, p.n, p.n)
    for i in rows[: epochs * p.n]:
        gradient = p.gradient(w, i)
        full = rho @ g
        v = p.n * q[i] * gradient - p.n * rho[i] * g[i] + full
        value = p.losses(w)[i]
        w = w - rate * (v + p.mu * w)
        table[i], g[i], rho[i] = value, gradient, q[i]
        q = weigh(table)
    return w


def sorel(problem, rate, epochs, rng, project, c_d=0.1, c_x=20.0):
    """Primal-dual epochs; `project(point)` is the projection onto the permutahedron."""
    p, w = problem, np.zeros(problem.X.shape[1])
    weights, before = np.full(p.n, 1 / p.n), p.losses(w)
    scale, square = before.mean(), np.mean(p.X**2)
    rows = uniform_rows(rng, p.n, p.n)
    for k in range(epochs):
        losses = p.losses(w)
        ahead = losses + k / (k + 1) * (losses - before)
        weights = project(weights + c_d * (k + 1) / (p.n * scale) * ahead)
        before = losses
        pull, start = (k + 1) * square / (c_x * p.n), w.copy()
        full = sum(weights[i] * p.gradient(start, i) for i in range(p.n))
        for i in rows[k * p.n : (k + 1) * p.n]:
            v = p.n * weights[i] * (p.gradient(w, i) - p.gradient(start, i)) + full
            w = w - rate * (v + p.mu * w + pull * (w - start))
    return w

"""The algorithms as the papers print them, in plain numpy, for scalar losses.

Written from the papers, not from the solvers: one gradient for each row and step, no
lazy products, no compiled code. Random draws are taken in the solvers' order. An
intercept is a last column of ones whose coefficient is not penalised (`mask`).
"""

import numpy as np


class Problem:
    """Rows, slopes and losses of a squared or logistic problem."""

    def __init__(self, X, y, loss, mu, spectrum, *, intercept=False, weight=None):
        self.n = len(y)
        self.weight = np.ones(self.n) if weight is None else weight
        self.mass = self.weight / self.weight.sum()
        self.equal = weight is None
        self.features = X.shape[1]
        if intercept:
            X = np.column_stack([X - self.mass @ X, np.ones(self.n)])
        self.X, self.y, self.loss, self.mu = X, y, loss, mu
        self.mask = np.ones(X.shape[1])
        self.mask[self.features :] = 0.0
        self.spectrum = spectrum

    def start(self):
        return np.zeros(self.X.shape[1])

    def losses(self, w):
        z = self.X @ w
        if self.loss == "squared":
            return 0.5 * (z - self.y) ** 2
        return np.logaddexp(0.0, z) - self.y * z

    def gradient(self, w, i):
        z = self.X[i] @ w
        target = z if self.loss == "squared" else 1 / (1 + np.exp(-z))
        return (target - self.y[i]) * self.X[i]

    def full(self, w, weights):
        return sum(weights[i] * self.gradient(w, i) for i in range(self.n))

    def weights(self, losses):
        """σ at the rank of each row: λ = (σ_{π⁻¹(i)}), by mass."""
        order = np.argsort(losses, kind="stable")
        mass = self.mass[order]
        cumulative = np.cumsum(mass)
        cumulative[-1] = 1.0
        weights = np.empty(self.n)
        weights[order] = self.spectrum.increments(cumulative, mass)
        return weights / weights.sum()

    def step(self, w, rate, v):
        """w − η(v + μw)."""
        return w - rate * (v + self.mu * self.mask * w)


def uniform_rows(rng, n, count):
    """The rows an epoch visits; the solvers draw many epochs' at once."""
    return rng.integers(0, n, max(count, min(32 * count, 32768)))


def lsvrg(problem, rate, epochs, rng, *, spectral=False, weigh=None, chance=0.0):
    """Algorithms 2 (uniform) and 7 (spectral), N = n; 5 by `weigh`, q* = chance."""
    p, w = problem, problem.start()
    weigh, plain = (p.weights, True) if weigh is None else (weigh, False)
    stream = None if spectral else uniform_rows(rng, p.n, p.n)
    for epoch in range(epochs):
        losses = p.losses(w)
        order, weights = np.argsort(losses, kind="stable"), weigh(losses)
        bar, full = w.copy(), p.full(w, weights)
        if not spectral:
            rows = stream[epoch * p.n : (epoch + 1) * p.n]
        elif p.equal and plain:
            places = np.ceil(p.n * p.spectrum.inverse(rng.random(p.n))) - 1
            rows = order[places.clip(0, p.n - 1).astype(int)]
        else:
            sums, draws = np.cumsum(weights), rng.random(p.n)
            rows = np.searchsorted(sums, draws * sums[-1], side="right")
        anew = rng.random(p.n) < chance if chance else np.zeros(p.n, bool)
        for i, again in zip(rows, anew):
            if again:
                bar, full = w.copy(), p.full(w, weights)
            gain = 1.0 if spectral else p.n * weights[i]
            v = gain * p.gradient(w, i) - gain * p.gradient(bar, i) + full
            w = p.step(w, rate, v)
    return w


def batches(problem, rng, m, count, pool):
    """Subsets without replacement, or rows by mass with it."""
    n, uniforms = problem.n, rng.random((count, m))
    if not problem.equal:
        sums = np.cumsum(problem.mass)
        yield from np.searchsorted(sums, uniforms * sums[-1], side="right")
        return
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
    p, w = problem, problem.start()
    sigma, pool, total, t = p.spectrum.weights(m), np.arange(p.n), 0.0, 0
    for _ in range(epochs):
        for rows in batches(p, rng, m, p.n // m, pool):
            total, t = total + w, t + 1
            w = p.step(w, rate, batch_gradient(p, w, rows, sigma))
    return total / t, w


def srda(problem, rate, epochs, rng, m):
    """Appendix F.3, with ḡ the mean of the gradients."""
    p, w = problem, problem.start()
    sigma, pool, gradients = p.spectrum.weights(m), np.arange(p.n), []
    for _ in range(epochs):
        for rows in batches(p, rng, m, p.n // m, pool):
            gradients.append(batch_gradient(p, w, rows, sigma))
            mean = np.mean(gradients, axis=0)
            w = -mean / (p.mu * p.mask + 1 / (rate * len(gradients)))
    return w


def prospect(problem, rate, epochs, rng, weigh=None, refresh=1):
    """Tables l, g, ρ, q, with q from scratch after every step, or some of an epoch."""
    p, w = problem, problem.start()
    weigh = p.weights if weigh is None else weigh
    table = p.losses(w)
    g = np.array([p.gradient(w, i) for i in range(p.n)])
    q = weigh(table)
    rho = q.copy()
    rows = uniform_rows(rng, p.n, p.n)
    for t, i in enumerate(rows[: epochs * p.n]):
        gradient, value = p.gradient(w, i), p.losses(w)[i]
        v = p.n * q[i] * gradient - p.n * rho[i] * g[i] + rho @ g
        w = p.step(w, rate, v)
        table[i], g[i], rho[i] = value, gradient, q[i]
        if t % p.n == p.n - 1 or (t % p.n) % refresh == refresh - 1:
            q = weigh(table)
    return w


def sorel(problem, rate, epochs, rng, project, c_d=0.1, c_x=20.0):
    """Primal-dual epochs; `project(point)` is the projection onto the permutahedron."""
    p, w = problem, problem.start()
    weights, before = p.mass.copy(), p.losses(w)
    scale = p.mass @ before
    square = np.mean(p.mass @ p.X[:, : p.features] ** 2)
    rows = uniform_rows(rng, p.n, p.n)
    for k in range(epochs):
        losses = p.losses(w)
        ahead = losses + k / (k + 1) * (losses - before)
        tau = c_d * (k + 1) / (p.weight.sum() * scale)
        weights = project(weights + tau * p.weight * ahead)
        before = losses
        pull, start = (k + 1) * square / (c_x * p.n), w.copy()
        full = p.full(start, weights)
        for i in rows[k * p.n : (k + 1) * p.n]:
            v = p.n * weights[i] * (p.gradient(w, i) - p.gradient(start, i)) + full
            w = p.step(w, rate, v + pull * (w - start))
    return w

"""An epoch of LSVRG, n steps and a checkpoint, in products X@w and in numpy loops."""

import time

import numpy as np

from lrisk.losses import Logistic, Squared
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers import LSVRG
from lrisk.solvers.stochastic import Work
from lrisk.spaces import LinearSpace
from lrisk.spectra import parse_spectrum


def objective(n: int, d: int, loss: str, spectrum: str) -> Objective:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    z = X @ rng.standard_normal(d) / np.sqrt(d)
    y = z + rng.standard_normal(n) if loss == "squared" else (z > 0) * 1.0
    kind = Squared() if loss == "squared" else Logistic()
    space = LinearSpace(X, intercept=False)
    return Objective(Ranking(parse_spectrum(spectrum), n), kind, space, y, 1.0)


def cpu(action, repeats: int) -> float:
    """Median CPU time of one call."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return float(np.median(times))


def numpy_epoch(X, y, w, mu, rate, sigma, indices):
    """Algorithm 2 as one would write it in numpy."""
    n = len(y)
    losses = 0.5 * (X @ w - y) ** 2
    weights = np.empty(n)
    weights[np.argsort(losses, kind="stable")] = sigma
    bar = w.copy()
    full = X.T @ (weights * (X @ bar - y))
    for i in indices:
        x = X[i]
        now, then = (x @ w - y[i]) * x, (x @ bar - y[i]) * x
        v = n * weights[i] * now - n * weights[i] * then + full
        w = (1 - rate * mu) * w - rate * v
    return w


def main() -> None:
    print(f"{'n':>9}{'d':>4}  {'loss':<9}{'spectrum':<19}{'epoch':>11}{'in X@w':>8}")
    for n, d in ((800, 10), (100_000, 50), (1_000_000, 50)):
        for loss in ("squared", "logistic"):
            for spectrum in ("superquantile:0.5", "extremile:2"):
                _one(n, d, loss, spectrum)


def _one(n: int, d: int, loss: str, spectrum: str) -> None:
    problem = objective(n, d, loss, spectrum)
    solver, rng = LSVRG(), np.random.default_rng(0)
    work = Work(problem, None)
    work.evaluate()
    state, rate = solver.begin(work, rng), 0.1 / d

    def epoch() -> None:
        solver.epoch(work, state, rate, rng)
        work.evaluate()

    epoch()
    w = np.ones(d)
    product = cpu(lambda: problem.space.X @ w, 201 if n < 10_000 else 7)
    took = cpu(epoch, 201 if n < 10_000 else 5)
    line = f"{n:>9}{d:>4}  {loss:<9}{spectrum:<19}{1e6 * took:>8.0f} µs"
    line += f"{took / product:>8.1f}"
    if n == 800 and loss == "squared":
        sigma = problem.ranking.spectrum.weights(n)
        indices = rng.integers(0, n, n)
        plain = cpu(
            lambda: numpy_epoch(
                problem.space.X, problem.y, np.zeros(d), 1 / n, rate, sigma, indices
            ),
            9,
        )
        line += f"   numpy loop {1e6 * plain:.0f} µs: {plain / took:.0f} times as long"
    print(line, flush=True)


if __name__ == "__main__":
    main()

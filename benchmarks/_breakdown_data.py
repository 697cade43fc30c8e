"""Linear and smooth relations with rows that are wrong in every way promised for.

A draw is made from its own seed alone. Sizes are in units of σ, the noise's standard
deviation; places in standard deviations of the columns. The error of a fit is the root
mean square of f̂ − f over the right rows, f the relation without noise.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Draw(NamedTuple):
    """One table. `f` holds the relation without noise, `bad` the wrong rows."""

    X: Array
    y: Array
    f: Array
    bad: Array
    sigma: float
    weights: Array | None = None

    @property
    def parameters(self) -> int:
        """Of a linear model with an intercept."""
        return self.X.shape[1] + 1

    def error(self, model: Any) -> float:
        """RMSE to f on the right rows."""
        right = ~self.bad
        return float(
            np.sqrt(np.mean((model.predict(self.X[right]) - self.f[right]) ** 2))
        )

    def without_bad_rows(self) -> "Draw":
        """The right rows alone."""
        right = ~self.bad
        weights = None if self.weights is None else self.weights[right]
        return Draw(
            self.X[right],
            self.y[right],
            self.f[right],
            self.bad[right],
            self.sigma,
            weights,
        )


def noise(kind: str, rng: np.random.Generator, n: int) -> Array:
    """Noise of standard deviation one."""
    if kind == "t5":
        return rng.standard_t(5, size=n) / np.sqrt(5 / 3)
    return rng.normal(size=n)


class Relation(NamedTuple):
    """A relation and clean rows of it."""

    X: Array
    f: Array
    y: Array
    sigma: float
    value: Callable[[Array], Array]


def linear(rng: np.random.Generator, n: int, d: int, kind: str) -> Relation:
    """A plane over correlated Gaussian columns in units of their own."""
    mix = np.eye(d) + 0.5 * rng.normal(size=(d, d)) / np.sqrt(d)
    units = 10.0 ** rng.uniform(-2, 2, size=d)
    slopes = rng.normal(size=d) / units
    level = 10.0 * rng.normal()
    sigma = 10.0 ** rng.uniform(-1.5, 0.5)
    X = rng.normal(size=(n, d)) @ mix * units
    f = X @ slopes + level
    return Relation(
        X, f, f + sigma * noise(kind, rng, n), sigma, lambda Z: Z @ slopes + level
    )


def smooth(rng: np.random.Generator, n: int, d: int, kind: str) -> Relation:
    """A wave over the first two columns, d ≤ 3."""
    phase = rng.uniform(0, 6, size=2)
    sigma = 10.0 ** rng.uniform(-1.3, -0.3)

    def value(Z: Array) -> Array:
        second = 0.5 * np.cos(Z[:, -1] + phase[1]) if d > 1 else 0.0
        return np.sin(1.5 * Z[:, 0] + phase[0]) + second

    X = rng.uniform(-2, 2, size=(n, d))
    f = value(X)
    return Relation(X, f, f + sigma * noise(kind, rng, n), sigma, value)


def _signs(rng: np.random.Generator, k: int) -> Array:
    """One side for all, or a side for each."""
    if rng.random() < 0.5:
        return np.full(k, rng.choice([-1.0, 1.0]))
    return rng.choice([-1.0, 1.0], size=k)


def bad_targets(
    clean: Relation, rows: Array, size: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Targets `size` σ off and more: all alike, or spread over a decade."""
    X, y = clean.X.copy(), clean.y.copy()
    k = len(rows)
    spread = 10.0 ** rng.uniform(0, 1, size=k) if rng.random() < 0.5 else 1.0
    y[rows] = clean.f[rows] + _signs(rng, k) * size * spread * clean.sigma
    return X, y


def _directions(rng: np.random.Generator, k: int, d: int) -> Array:
    ways = rng.normal(size=(k, d))
    return ways / np.linalg.norm(ways, axis=1)[:, None]


def scattered(
    clean: Relation, rows: Array, size: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Rows far out in directions of their own, or in another unit; y `size` σ off.

    Far out: 10 to 1000 standard deviations. A residual below `size` σ is made so.
    """
    X, y = clean.X.copy(), clean.y.copy()
    sd = clean.X.std(axis=0)
    k, d = len(rows), X.shape[1]
    if rng.random() < 0.5:
        far = 10.0 ** rng.uniform(1, 3, size=(k, 1))
        X[rows] = clean.X.mean(axis=0) + far * _directions(rng, k, d) * sd
    else:
        X[rows] = X[rows] * 100.0
    if rng.random() < 0.5:
        y[rows] = clean.value(X[rows])
    away = y[rows] - clean.value(X[rows])
    short = np.abs(away) < size * clean.sigma
    signs = _signs(rng, k)
    y[rows] = np.where(
        short,
        clean.value(X[rows]) + size * clean.sigma * signs * rng.uniform(1, 3, size=k),
        y[rows],
    )
    return X, y


def cluster(
    clean: Relation, rows: Array, size: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Rows moved together, 5 to 50 deviations out, that tilt least squares by 3 σ."""
    X, y = clean.X.copy(), clean.y.copy()
    sd, k, d = clean.X.std(axis=0), len(rows), X.shape[1]
    place = 10.0 ** rng.uniform(0.7, 1.7) * _directions(rng, 1, d)
    X[rows] = clean.X.mean(axis=0) + (place + 0.3 * rng.normal(size=(k, d))) * sd
    side, right = rng.choice([-1.0, 1.0]), np.ones(len(y), dtype=bool)
    right[rows] = False
    own = clean.value(X[rows])
    design = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(len(y))])
    for _ in range(60):
        y[rows] = own + side * size * clean.sigma + clean.sigma * rng.normal(size=k)
        theta = np.linalg.lstsq(design, y)[0]
        tilt = np.sqrt(np.mean((design @ theta - clean.f)[right] ** 2))
        if tilt >= 3.0 * clean.sigma:
            break
        size *= 1.5
    return X, y


def chosen(clean: Relation, k: int, rng: np.random.Generator, placement: str) -> Array:
    """Choose k rows: at random, at one end of a direction, at both, or in a ball."""
    n, d = clean.X.shape
    if placement == "anywhere":
        return rng.choice(n, k, replace=False)
    Z = (clean.X - clean.X.mean(axis=0)) / clean.X.std(axis=0)
    along = Z @ _directions(rng, 1, d)[0]
    if placement == "both ends":
        along = np.abs(along)
    elif placement == "ball":
        along = -np.linalg.norm(Z - Z[rng.integers(n)], axis=1)
    return np.argsort(-along)[:k]


KINDS = {"targets": bad_targets, "scattered": scattered, "cluster": cluster}


def draw(
    kind: str,
    n: int,
    d: int,
    k: int,
    seed: int,
    *,
    size: float = 10.0,
    placement: str = "anywhere",
    relation: Callable[..., Relation] = linear,
) -> Draw:
    """One table with k bad rows; the noise is Gaussian or t₅ by the seed."""
    rng = np.random.default_rng([seed, n, d, k])
    clean = relation(rng, n, d, "t5" if seed % 2 else "normal")
    rows = chosen(clean, k, rng, placement)
    X, y = KINDS[kind](clean, rows, size, rng)
    bad = np.zeros(n, dtype=bool)
    bad[rows] = True
    return Draw(X, y, clean.f, bad, clean.sigma)

"""Tables with classes: real ones, and drawn ones of which the truth is known.

Real tables and the first drawn ones get wrong labels. Of *determined* tables x says the
class, without chance; of *bounded* ones no x does: their labels have the law of noise,
though none is wrong.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn import datasets

from benchmarks._data import folder, table

Draw = Callable[[int], tuple[Any, Any]]
#: A rule gives classes of standard normal rows; the generator is for rules by chance.
Rule = Callable[[Any, np.random.Generator], Any]


class Labelled(NamedTuple):
    """Rows, their true classes 0, …, K − 1, and their labels."""

    X: Any
    truth: Any
    labels: Any

    @property
    def wrong(self) -> Any:
        return self.labels != self.truth


def rows(rule: Rule, n: int, d: int) -> Draw:
    """Standard normal rows with classes by a rule."""

    def draw(seed: int) -> tuple[Any, Any]:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d))
        return X, rule(X, rng)

    return draw


def linear(n_classes: int) -> Rule:
    return lambda X, rng: X[:, :n_classes].argmax(axis=1)


def circle(X: Any, rng: Any) -> Any:
    return (np.hypot(X[:, 0], X[:, 1]) > 1.18).astype(int)


def curved(X: Any, rng: Any) -> Any:
    return (X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3] > 0).astype(int)


def _rings(X: Any, rng: Any) -> Any:
    return np.searchsorted([0.8, 1.5], np.hypot(X[:, 0], X[:, 1]))


def _quadrants(X: Any, rng: Any) -> Any:
    return (X[:, 0] * X[:, 1] > 0).astype(int)


def _boxes(X: Any, rng: Any) -> Any:
    return (X[:, 0] > 0.3).astype(int) + ((X[:, 0] > 0.3) & (X[:, 1] > 0))


def _rare(X: Any, rng: Any) -> Any:
    """One row in a hundred is of the second class."""
    level = X @ np.ones(X.shape[1]) / np.sqrt(X.shape[1])
    return (level > 2.326).astype(int)


def _nearest(X: Any, rng: Any) -> Any:
    """Thirty classes, the nearest of as many centres; the rarest have few rows."""
    centres = 1.5 * np.random.default_rng(0).normal(size=(30, X.shape[1]))
    products = X @ centres.T - 0.5 * np.sum(centres**2, axis=1)
    return products.argmax(axis=1)


def _heavy_tails(n: int) -> Draw:
    """A linear rule on rows with t₂ columns."""

    def draw(seed: int) -> tuple[Any, Any]:
        X = np.random.default_rng(seed).standard_t(2, size=(n, 5))
        return X, (X[:, 0] + X[:, 1] > 0).astype(int)

    return draw


def _clusters(n: int) -> Draw:
    """Thirty classes that lie well apart, of sizes from 1 to 100."""

    def draw(seed: int) -> tuple[Any, Any]:
        rng = np.random.default_rng(seed)
        sizes = np.maximum(8, n * 100.0 ** -np.linspace(0, 1, 30) / 6.9).astype(int)
        classes = np.repeat(np.arange(30), sizes)
        centres = 6.0 * np.random.default_rng(0).normal(size=(30, 6))
        return centres[classes] + rng.normal(size=(len(classes), 6)), classes

    return draw


def _csv(name: str) -> tuple[Any, Any]:
    data = table(name)
    return data[:, :-1], data[:, -1].astype(int)


def _npz(name: str) -> tuple[Any, Any]:
    with np.load(folder() / f"{name}.npz") as file:
        part = "train" if "y_train" in file else "test"
        return file[f"X_{part}"].astype(float), file[f"y_{part}"]


DEVELOPMENT: dict[str, Draw] = {
    "breast_cancer": lambda seed: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda seed: datasets.load_digits(return_X_y=True),
    "circle": rows(circle, 2000, 2),
    "curved": rows(curved, 20_000, 6),
}
OTHERS: dict[str, Draw] = {
    "heart_cleveland": lambda seed: _csv("heart_cleveland"),
    "wine_quality_red": lambda seed: _csv("wine_quality_red"),
    "satimage": lambda seed: _csv("satimage"),
    "mnist_1v3": lambda seed: _npz("mnist_1v3"),
    "emotion": lambda seed: _npz("emotion_bert_pca45"),
    "iwildcam": lambda seed: _npz("iwildcam_resnet18_pca73"),
}
#: Rules of determined tables, and the rows and columns of each.
_RULES: dict[str, tuple[Rule, tuple[int, ...], int]] = {
    "2 classes, linear": (linear(2), (1_000, 10_000, 100_000), 5),
    "5 classes, linear": (linear(5), (1_000, 10_000, 100_000), 6),
    "circle": (circle, (1_000, 10_000, 100_000), 2),
    "curved": (curved, (3_000, 30_000), 6),
    "quadrants": (_quadrants, (1_000, 10_000), 2),
    "rings": (_rings, (5_000,), 2),
    "boxes": (_boxes, (10_000,), 4),
    "1 in 100": (_rare, (1_000, 10_000, 100_000), 4),
    "30 classes, nearest": (_nearest, (3_000, 30_000), 6),
}
DETERMINED: dict[str, Draw] = {
    f"{name}, n={n}": rows(rule, n, d)
    for name, (rule, sizes, d) in _RULES.items()
    for n in sizes
} | {
    "heavy tails, n=3000": _heavy_tails(3_000),
    "30 classes of 1:100, n=10000": _clusters(10_000),
}


def by_chance(posterior: Callable[[Any], Any]) -> Rule:
    """Two classes, the second with a probability that x gives."""
    return lambda X, rng: (rng.random(len(X)) < posterior(X)).astype(int)


def _latent_noise(X: Any, rng: Any) -> Any:
    """A linear rule of what is seen with Cauchy noise: tails like those of flips."""
    return (2.0 * X[:, 0] + X[:, 1] + 0.3 * rng.standard_cauchy(len(X)) > 0).astype(int)


def _grades(X: Any, rng: Any) -> Any:
    """Six grades of a noisy latent value, as juries give them; the outer are rare."""
    latent = (
        X @ [1.0, 0.6, 0.4, 0.0] + 0.3 * X[:, 0] * X[:, 1] + rng.normal(size=len(X))
    )
    return np.searchsorted(
        np.quantile(latent, [0.006, 0.04, 0.47, 0.86, 0.985]), latent
    )


_STEPS = np.array([0.05, 0.3, 0.7, 0.95])
_CHANCES: dict[str, Rule] = {
    "P(y|x) of .1 or .9": by_chance(lambda X: np.where(X[:, 0] > 0, 0.9, 0.1)),
    "P(y|x) in four steps": by_chance(
        lambda X: _STEPS[np.searchsorted([-0.67, 0.0, 0.67], X[:, 0])]
    ),
    "Cauchy latent noise": _latent_noise,
    "logistic overlap": by_chance(lambda X: expit(2.0 * X[:, 0] + X[:, 1])),
    "six grades": _grades,
}


def _overlapping(n_classes: int, n: int, d: int) -> Draw:
    """Classes around centres that lie close, with tails; the last are rare."""

    def draw(seed: int) -> tuple[Any, Any]:
        rng = np.random.default_rng([seed, n_classes])
        sizes = 20.0 ** -np.linspace(0.0, 1.0, n_classes)
        y = rng.choice(n_classes, n, p=sizes / sizes.sum())
        centres = 0.7 * rng.normal(size=(n_classes, d))
        return centres[y] + rng.standard_t(5, size=(n, d)), y

    return draw


BOUNDED: dict[str, Draw] = {
    f"{name}, n={n}": rows(rule, n, 4)
    for name, rule in _CHANCES.items()
    for n in (1_000, 10_000)
} | {
    "six grades, n=150": rows(_grades, 150, 4),
    "6 classes, overlap, n=1500": _overlapping(6, 1_500, 10),
    "12 classes, overlap, n=1500": _overlapping(12, 1_500, 20),
    "31 classes, overlap, n=3000": _overlapping(31, 3_000, 30),
}
#: Wrong labels that must be found, all rows taken.
FOUND: dict[str, Draw] = {
    "circle, n=2000": rows(circle, 2_000, 2),
    "circle, n=20000": rows(circle, 20_000, 2),
    "curved, n=20000": rows(curved, 20_000, 6),
}


def spoilt(X: Any, y: Any, noise: str, rng: np.random.Generator) -> Labelled:
    """Labels wrong with probability NN %, the last two characters of `noise`.

    symNN: into any other class; ccNN: of the largest class into the second largest;
    farNN: the more the farther out x is.
    """
    truth = np.unique(y, return_inverse=True)[1]
    counts, chance = np.bincount(truth), rng.random(len(truth))
    if noise == "clean":
        return Labelled(X, truth, truth)
    share = int(noise[-2:]) / 100
    if noise.startswith("cc"):
        largest, second = np.argsort(-counts, kind="stable")[:2]
        wrong = (truth == largest) & (chance < share)
        return Labelled(X, truth, np.where(wrong, second, truth))
    if noise.startswith("far"):
        z = (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1.0)
        rank = np.argsort(np.argsort(np.linalg.norm(z, axis=1))) / len(truth)
        share = np.minimum(2.0 * share * rank, 0.95)
    other = (truth + rng.integers(1, len(counts), len(truth))) % len(counts)
    return Labelled(X, truth, np.where(chance < share, other, truth))


def split(draw: Draw, noise: str, seed: int, most: int) -> Labelled:
    """Three quarters of a table, or `most` rows, with labels made wrong."""
    X, y = draw(seed)
    X = np.asarray(X, dtype=float).reshape(len(y), -1)
    rng = np.random.default_rng(seed)
    kept = rng.permutation(len(y))[: min(int(0.75 * len(y)), most)]
    return spoilt(X[kept], y[kept], noise, rng)

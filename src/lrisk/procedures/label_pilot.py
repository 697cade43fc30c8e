"""A pilot: rows on which candidate fits are judged by cross-validation."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._typing import Floats, Indices
from ..spaces import Kernel
from .contamination import Distinct
from .label_fits import (
    Basis,
    assign_folds,
    held_out_scores,
    kernel_basis,
    linear_basis,
)
from .label_selection import Judged, judge, prior


class LabelNoiseSettings(NamedTuple):
    """What the user fixed; None means that it is to be found."""

    kernel: Callable[[float | None], Kernel]
    gamma: float | None
    alpha: float | None
    contamination: float | None
    intercept: bool

    @property
    def own(self) -> str:
        """Name of the model's own kernel among the candidates."""
        return "linear" if self.kernel(None).name == "linear" else "own"

    @property
    def precomputed(self) -> bool:
        """Whether rows are rows of a kernel matrix."""
        return self.kernel(None).precomputed


def sample_rows(codes: Indices, size: int, rng: np.random.Generator) -> Indices:
    """At most so many rows, in the classes' proportions, two of each if there are."""
    if len(codes) <= size:
        return np.arange(len(codes))
    parts = []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        count = min(len(rows), max(2, round(size * len(rows) / len(codes))))
        parts.append(rng.choice(rows, count, replace=False))
    return np.sort(np.concatenate(parts))


class Pilot:
    """Some rows, their folds, and held-out scores of any candidate.

    Parameters
    ----------
    settings : LabelNoiseSettings
    Z : array of shape (n, d)
        Scaled rows, or rows of the kernel matrix restricted to the pilot.
    codes, weight : arrays of shape (n,)
    voice : array of shape (n,)
        Weights in the judgement; 0 for rows that are fitted but not asked.
    n_classes : int
    rng : Generator
    """

    def __init__(
        self,
        settings: LabelNoiseSettings,
        Z: Floats,
        codes: Indices,
        n_classes: int,
        weight: Floats,
        voice: Floats,
        rng: np.random.Generator,
    ) -> None:
        self.settings = settings
        self.Z, self.codes, self.weight = Z, codes, weight
        self.n_classes, self.voice = n_classes, voice
        repeats = 2 if len(codes) > 300 else 3
        places = Distinct.of(Z, np.zeros(len(codes)), weight).number
        self.folds = [assign_folds(codes, 5, rng, places) for _ in range(repeats)]
        self._bases: dict[tuple[str, float | None], Basis] = {}

    def basis(self, name: str, gamma: float | None) -> Basis:
        """Features of one kernel over the pilot; kept."""
        key = (name, gamma)
        if key not in self._bases:
            mass = self.weight / self.weight.sum()
            intercept, width = self.settings.intercept, self.Z.shape[1]
            if name == "linear":
                basis = linear_basis(self.Z, mass, intercept)
            else:
                own = self.settings.kernel(gamma)
                kernel = own if name == "own" else Kernel("rbf", gamma=gamma)
                basis = kernel_basis(kernel(self.Z, self.Z), mass, intercept, width)
            self._bases[key] = basis
        return self._bases[key]

    def scores(
        self, name: str, gamma: float | None, alphas: Floats, rho: float = 0.0
    ) -> Floats:
        """Held-out scores, shape (len(alphas), repeats, n, k)."""
        features = self.basis(name, gamma).features
        tables = [
            held_out_scores(
                features, self.codes, self.n_classes, self.weight, folds, alphas, rho
            )
            for folds in self.folds
        ]
        return np.stack(tables, axis=1)

    def judged(
        self, name: str, gamma: float | None, alphas: Floats, rho: float = 0.0
    ) -> list[Judged]:
        """Candidates of one kernel along a path of penalties."""
        tables = self.scores(name, gamma, alphas, rho)
        return [
            self.judge(name, gamma, float(alpha), rho, table)
            for alpha, table in zip(alphas, tables)
        ]

    def judge(
        self, name: str, gamma: float | None, alpha: float, rho: float, table: Floats
    ) -> Judged:
        """Judge held-out scores, shape (repeats, n, k); a given penalty stands."""
        width = None if gamma is None else gamma * self.Z.shape[1]
        return judge(
            name,
            gamma,
            alpha,
            rho,
            table,
            self.codes,
            self.n_classes,
            self.voice,
            before=prior(alpha, width, self.n_classes),
            recalibrate=self.settings.alpha is None,
        )

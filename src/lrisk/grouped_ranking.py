"""Order statistics within groups of rows, such as classes, each with its share."""

import numpy as np

from ._typing import Floats, Indices
from .ranking import Ranking
from .spectra import Spectrum


class GroupedRanking(Ranking):
    """A spectrum within each group of rows; groups count by their mass.

    The risk is Σ_g m_g·risk_g, so that every group keeps its share of the weight.

    Parameters
    ----------
    spectrum, n_rows, sample_weight
        As for `Ranking`.
    groups : array of shape (n_rows,)
        Which group a row belongs to, for example its class.
    """

    def __init__(
        self,
        spectrum: Spectrum,
        n_rows: int,
        sample_weight: Floats | None,
        groups: Floats,
    ) -> None:
        super().__init__(spectrum, n_rows, sample_weight)
        self._groups = groups
        self._parts = []
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            weight = None if sample_weight is None else sample_weight[rows]
            share = float(self.mass[rows].sum())
            self._parts.append((rows, share, Ranking(spectrum, len(rows), weight)))

    @property
    def equal(self) -> bool:
        """Weights by rank differ between groups."""
        return False

    def risk(self, losses: Floats) -> float:
        """Σ_g m_g Σ σ_i ℓ_(i) over the losses of each group."""
        return sum(m * part.risk(losses[rows]) for rows, m, part in self._parts)

    def weights(self, losses: Floats) -> Floats:
        """λ with Σλℓ equal to the risk; ties in row order."""
        weights = np.empty(self.n_rows)
        for rows, share, part in self._parts:
            weights[rows] = share * part.weights(losses[rows])
        return weights

    def shared_weights(self, losses: Floats, tied: float = 0.0) -> Floats:
        """λ as in `weights`, but tied losses of a group share by mass."""
        weights = np.empty(self.n_rows)
        for rows, share, part in self._parts:
            weights[rows] = share * part.shared_weights(losses[rows], tied)
        return weights

    def taken(self, rows: Indices) -> "GroupedRanking":
        """The same spectrum over some of the rows, in their groups."""
        part = Ranking.taken(self, rows)
        return GroupedRanking.by(part, self._groups[rows])

    def with_spectrum(self, spectrum: Spectrum) -> "GroupedRanking":
        """The same rows and groups under another spectrum."""
        return GroupedRanking(spectrum, self.n_rows, self._sample_weight, self._groups)

    @classmethod
    def by(cls, ranking: Ranking, groups: Floats) -> "GroupedRanking":
        """A ranking's own rows and spectrum, within groups."""
        weight = ranking._sample_weight
        return cls(ranking.spectrum, ranking.n_rows, weight, groups)

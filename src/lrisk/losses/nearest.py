"""Nearest-centre loss ℓ(z) = min_j z_j of squared distances z to k centres."""

import numpy as np

from .._typing import Floats
from .base import Loss


class NearestCentre(Loss):
    """Smallest of a row's scores, min_j z_j (paper 1, section 4.3 and appendix F.6).

    Over the space of centres, whose scores are squared distances, it is what k-means
    charges for a row. There are no targets: y is ignored.

    A minimum of several scores is concave in them, so there is no conjugate and no
    certificate, and the laws of the convex losses do not hold: it is not among
    ``lrisk.losses.LOSSES``, and only the solvers for centres take it.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.losses import NearestCentre
    >>> NearestCentre().value(np.zeros(2), np.array([[1.0, 4.0], [9.0, 0.0]]))
    array([1., 0.])
    """

    name = "nearest_centre"
    smoothness = 1.0
    lipschitz = 1.0
    per_class = True

    def value(self, y: Floats, z: Floats) -> Floats:
        """Value min_j z_j."""
        return np.asarray(z.min(axis=1))

    def derivative(self, y: Floats, z: Floats) -> Floats:
        """One at the smallest score, the first of equal ones; zero elsewhere."""
        slopes = np.zeros_like(z)
        slopes[np.arange(len(z)), z.argmin(axis=1)] = 1.0
        return slopes

    def curvature_times(self, y: Floats, z: Floats, v: Floats) -> Floats:
        """The pieces are linear."""
        return np.zeros_like(v)

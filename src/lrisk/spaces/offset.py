"""What to subtract from the columns so that their digits are not lost to an offset."""

import numpy as np

from .._typing import Floats, Indices

#: Interquartile ranges from the median at which a mean is taken for an outlier's.
FAR = 100.0


def some_rows(n_rows: int) -> Indices:
    """At most 64 rows, evenly spaced: enough for rough quartiles."""
    return np.arange(0, n_rows, -(-n_rows // 64))


def leave_outliers(means: Floats, some: Floats) -> None:
    """Replace means by medians of some rows where they are far from all of these.

    An offset of 1e9 would cost the other rows nine digits.

    Parameters
    ----------
    means : array of shape (d,)
        Changed in place.
    some : array of shape (m, d)
    """
    ordered = np.sort(some, axis=0)
    low, middle, high = (ordered[len(ordered) * k // 4] for k in (1, 2, 3))
    far = np.abs(means - middle) > FAR * (high - low)
    means[far] = middle[far]

"""Loops over few dense rows, whose sums cost less than the calls that make them."""

from .._jit import jit


@jit
def first_and_second(rows, r, c, gradient, gram):  # type: ignore[no-untyped-def]
    """Add Σ r_i x_i to the gradient and Σ c_i x_i x_iᵀ to the matrix.

    Parameters
    ----------
    rows : array of shape (n, m)
    r, c : arrays of shape (n,)
    gradient : array of shape (m,)
    gram : array of shape (m, m)
        Symmetric.
    """
    m = rows.shape[1]
    for i in range(rows.shape[0]):
        if r[i] == 0.0 and c[i] == 0.0:  # a superquantile leaves most rows out
            continue
        for j in range(m):
            gradient[j] += r[i] * rows[i, j]
            scaled = c[i] * rows[i, j]
            for k in range(j + 1):
                gram[j, k] += scaled * rows[i, k]
    for j in range(m):
        for k in range(j):
            gram[k, j] = gram[j, k]

"""BLAS threads: many small products are slower on several threads than on one."""

import contextlib
import functools
from collections.abc import Iterator

from threadpoolctl import ThreadpoolController

#: Entries of a matrix from which a product is worth more than one thread.
WORTH_THREADS = 5_000_000


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextlib.contextmanager
def blas_threads_for(entries: int) -> Iterator[None]:
    """One BLAS thread inside the block if its matrices are small; the user's else."""
    if entries >= WORTH_THREADS:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield

"""Rows that workers of a cluster draw themselves, and a cluster to draw them on."""

import contextlib
import logging
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

#: Variables that keep a worker on its own core.
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def rows(k: int, n: int, d: int) -> tuple[Any, Any]:
    """Chunk k: features of scales that differ thirtyfold, heavy-tailed targets."""
    base, rng = np.random.default_rng(3), np.random.default_rng([7, k])
    scale, w = np.exp(base.standard_normal(d)), base.standard_normal(d) / 10
    X = rng.standard_normal((n, d)) * scale
    return X, X @ w + rng.standard_t(5, n)


def drawn(k: int, n: int, d: int) -> Any:
    """The same as a checked chunk."""
    from lrisk.dask.chunks import Chunk

    return Chunk(*rows(k, n, d), None)


def together(chunks: int, n: int, d: int) -> tuple[Any, Any]:
    """All chunks in this process."""
    X, y = np.empty((chunks * n, d)), np.empty(chunks * n)
    for k in range(chunks):
        own = slice(k * n, (k + 1) * n)
        X[own], y[own] = rows(k, n, d)
    return X, y


@contextlib.contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """A client of single-threaded worker processes on this machine."""
    import dask
    from distributed import Client, LocalCluster

    # Where a killed worker is not back in 15 seconds it is given up otherwise.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "600s"})
    for name in ONE_THREAD:
        os.environ[name] = "1"
    logging.getLogger("distributed").setLevel(logging.ERROR)
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address=":0",
            silence_logs=logging.ERROR,
        ) as own,
        Client(own) as client,
    ):
        client.wait_for_workers(n_workers)
        yield client


def engine_on(client: Any, chunks: int, n: int, d: int) -> Any:
    """Parts of chunks that the workers draw."""
    from dask.delayed import delayed

    from lrisk.dask.actors import Actors
    from lrisk.dask.chunks import Recipe
    from lrisk.losses import Squared

    pieces = [delayed(drawn)(k, n, d) for k in range(chunks)]
    engine = Actors(client, pieces, numeric=True)
    engine.make(Recipe(Squared()))
    return engine

"""Parts on real worker processes: order, bits, deaths, and what may not be proven."""

import itertools
import os
import signal
import sys

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs dask and distributed (lrisk[dask])")

import dask
import dask.array as da
from dask.delayed import delayed
from distributed import Client, LocalCluster

from lrisk.dask import RiskRegressor, actors
from lrisk.dask.actors import Actors, Holder, Lost, cut, placed
from lrisk.dask.chunks import Chunk, ChunkRows, Recipe
from lrisk.losses import Squared
from lrisk.objective import Objective
from lrisk.partitions.engine import Local, call
from lrisk.partitions.grid import Grid
from lrisk.partitions.objective import PartitionedObjective
from lrisk.partitions.part import Part
from lrisk.ranking import Ranking
from lrisk.solvers import Newton
from lrisk.solvers.partitioned import minimise_in_parts
from lrisk.solvers.solution import Status
from lrisk.spaces import LinearSpace
from lrisk.spectra import Extremile, Superquantile

D = 3


@pytest.fixture(scope="module")
def client():
    # Where a killed worker is not back in 15 seconds it is given up otherwise.
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "600s"}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def rows(n=24_000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -3.0]
    return X, X @ [1.0, 0.1, 3.0] + rng.standard_t(4, size=n)


def delayed_chunks(X, y, sizes):
    ends = np.cumsum([0, *sizes])
    pairs = itertools.pairwise(ends)
    return [delayed(Chunk)(X[a:b], y[a:b], None) for a, b in pairs]


SIZES = [5000, 1, 0, 7000, 12, 4987, 7000]


def engine_of(client, X, y, sizes=SIZES):
    client.wait_for_workers(2)  # one may just have been killed
    engine = Actors(client, delayed_chunks(X, y, sizes), numeric=True)
    engine.make(Recipe(Squared()))
    return engine


def fitted(engine, spectrum):
    parted = PartitionedObjective(engine, spectrum, Squared(), 1.0, True)
    return parted, minimise_in_parts(parted, tol=1e-7)


def in_process(X, y, spectrum):
    """The same parts without Dask."""
    ends = np.cumsum([0, *SIZES])
    chunks = [X[a:b] for a, b in itertools.pairwise(ends)]
    parts = []
    for own in cut(np.array(SIZES), 2):
        some = slice(ends[own.start], ends[own.stop])
        source = ChunkRows(chunks[own.start : own.stop])
        parts.append(Part(source, y[some], None, Squared()))
    return fitted(Local(parts), spectrum)[1]


@pytest.fixture(scope="module")
def expected():
    X, y = rows()
    return {q: in_process(X, y, s) for q, s in SPECTRA.items()}


SPECTRA = {"smooth": Extremile(2.0), "superquantile": Superquantile(0.9)}


@pytest.mark.parametrize("kind", SPECTRA)
def test_fits_have_the_bits_of_the_same_parts_in_process(client, expected, kind):
    X, y = rows()
    for _ in range(2):
        engine = engine_of(client, X, y)
        assert engine.n_parts == 2
        found = fitted(engine, SPECTRA[kind])[1]
        engine.close()
        np.testing.assert_array_equal(found.theta, expected[kind].theta)
        assert (found.objective, found.dual) == (
            expected[kind].objective,
            expected[kind].dual,
        )


def test_an_actor_lost_before_it_was_asked_anything(client, expected, monkeypatch):
    lost, send = iter([True]), actors._Home.send
    monkeypatch.setattr(
        actors._Home,
        "send",
        lambda self, *call: None if next(lost, False) else send(self, *call),
    )
    engine = engine_of(client, *rows())
    assert engine.revived == 1
    found = fitted(engine, SPECTRA["smooth"])[1]
    engine.close()
    np.testing.assert_array_equal(found.theta, expected["smooth"].theta)


def dying(monkeypatch, client, method, times):
    """Kill a worker right after it has been asked for the n-th time."""
    send, asked = actors._Home.send, []
    left = list(times)

    def send_and_kill(home, name, arguments):
        sent = send(home, name, arguments)
        if name == method:
            asked.append(name)
            if left and len(asked) == left[0]:
                left.pop(0)
                address = next(iter(home._addresses))
                pids = client.run(os.getpid)
                if address in pids:
                    os.kill(pids[address], signal.SIGKILL)
        return sent

    monkeypatch.setattr(actors._Home, "send", send_and_kill)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize(
    ("kind", "method", "times"),
    [
        ("smooth", "at_binned", [3]),
        ("superquantile", "band", [1]),
        ("superquantile", "at_held", [2]),
    ],
)
def test_a_dead_worker_changes_no_bit(
    client, expected, monkeypatch, kind, method, times
):
    X, y = rows()
    engine = engine_of(client, X, y)
    dying(monkeypatch, client, method, times)
    found = fitted(engine, SPECTRA[kind])[1]
    assert engine.revived >= 1
    engine.close()
    assert found.status is Status.CONVERGED
    np.testing.assert_array_equal(found.theta, expected[kind].theta)
    assert found.dual == expected[kind].dual
    space = LinearSpace(X - X.mean(axis=0), intercept=True)
    whole = Objective(
        Ranking(SPECTRA[kind], len(y)), Squared(), space, y - y.mean(), 1.0
    )
    best = Newton(tol=1e-10).solve(whole)
    assert found.dual <= best.objective * (1 + 1e-12)
    assert best.dual <= found.objective * (1 + 1e-12)


def test_an_actor_that_was_started_again_is_not_believed(client, expected):
    """Dask runs a lost actor again, without what it had been told."""
    X, y = rows()
    engine = engine_of(client, X, y)
    PartitionedObjective(engine, Extremile(2.0), Squared(), 1.0, True)
    home = engine._homes[0]
    chunks = client.compute([engine._chunks[k] for k in engine.parts[0]])
    anew = client.submit(
        Holder, Recipe(Squared()), [len(chunks)], *chunks, actor=True, pure=False
    )
    home._actor = anew.result()
    found = fitted(engine, Extremile(2.0))[1]
    assert engine.revived == 1
    np.testing.assert_array_equal(found.theta, expected["smooth"].theta)
    engine.close()


def test_other_rows_after_a_loss_are_an_error(client, tmp_path):
    """Each computation of a chunk leaves a mark; the second has other rows."""
    X, y = rows(2000)

    def changing(a, b, mark):
        import pathlib

        path = pathlib.Path(mark)
        again = path.exists()
        path.touch()
        return Chunk(X[a:b] + again, y[a:b], None)

    chunks = [
        delayed(changing)(0, 1000, str(tmp_path / "a")),
        delayed(changing)(1000, 2000, str(tmp_path / "b")),
    ]
    engine = Actors(client, chunks, numeric=True)
    engine.make(Recipe(Squared()))
    engine._homes[0]._step += 1  # it will say that it was not told so much
    with pytest.raises(RuntimeError, match="other rows"):
        fitted(engine, Extremile(2.0))
    engine.close()


def test_what_a_part_raises_is_raised(client):
    X, y = rows(2000)
    engine = engine_of(client, X, y, [1000, 1000])
    with pytest.raises(IndexError):
        call(engine, "take", np.array([5000]))
    assert engine.revived == 0
    assert len(call(engine, "take", np.array([999]))) == 2
    engine.close()


def test_a_holder_answers_in_the_step_that_it_expects():
    X, y = rows(100)
    holder = Holder(Recipe(Squared()), [2], Chunk(X, y, None), Chunk(X, y, None))
    assert holder.ask(0, "describe", [()])[0].rows == 200
    assert isinstance(holder.ask(0, "describe", [()]), Lost)
    assert isinstance(holder.ask(2, "describe", [()]), Lost)
    assert holder.ask(1, "describe", [()])[0].rows == 200


def test_arrays_from_the_network_may_be_changed():
    X, y = rows(100)
    holder = Holder(Recipe(Squared()), [1], Chunk(X, y, None))
    theta = np.zeros(D + 1)
    theta.flags.writeable = False
    assert holder.ask(0, "at", [(theta, Grid.below(9.0, 3, 1e-3))])[0].mass.sum() == 100


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7, 50])
def test_cuts_are_in_order_whole_and_even(n_parts):
    for seed in range(20):
        rows = np.random.default_rng(seed).integers(0, 1000, 40)
        parts = cut(rows, n_parts)
        assert len(parts) <= n_parts
        assert [k for part in parts for k in part] == list(range(40))
        most = max(int(rows[list(part)].sum()) for part in parts)
        assert most <= rows.sum() / n_parts + 2 * rows.max()
    assert cut(np.zeros(3, dtype=int), 5) == [range(3)]


def test_parts_go_where_their_rows_are():
    parts = [range(2), range(2, 4), range(4, 5)]
    near = [["b"], ["b"], ["a"], [], ["b"]]
    rows = np.array([5, 5, 5, 5, 9])
    assert placed(parts, rows, near, {"a": 2, "b": 1}) == ["b", "a", "a"]
    assert placed(parts, rows, near, {"a": 1, "b": 2}) == ["b", "a", "b"]


def test_estimator_and_engine_agree_on_the_bits(client, expected):
    X, y = rows()
    client.wait_for_workers(2)
    sizes = tuple(SIZES)
    dX = da.from_array(X, chunks=(sizes, D))
    model = RiskRegressor("extremile:2", tol=1e-7)
    model.client = client
    model.fit(dX, da.from_array(y, chunks=2000))
    assert model.objective_ == expected["smooth"].objective

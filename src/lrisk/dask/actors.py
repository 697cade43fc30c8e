"""Parts on the workers of a cluster: one actor for each worker, holding its chunks.

A round trip to an actor costs milliseconds, whatever it is asked, so a worker has one.
Where a worker dies its parts are made anew from their chunks, which Dask computes again
by their graph, and told what the lost ones had been told (`Journal`). Dask itself may
start a lost actor again, as it was in the beginning: so each call carries a number that
an actor must expect, or it says that it is another one.
"""

import contextlib
import itertools
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from distributed import wait

from .._threads import blas_threads_for
from .._typing import Indices
from ..partitions.engine import Local
from ..partitions.replay import Journal
from .chunks import Chunk, Facts, Recipe, facts_of, usual

#: Losses of the same part without an answer in between after which a fit gives up.
MOST_LOSSES = 5
#: Seconds to wait for a worker where none is left: a supervisor starts one in less,
#: though on a busy machine it takes a minute and more.
NO_WORKER = 300.0
#: Seconds between looks at whether a worker that has not answered is still there.
LOOK = 2.0


class Failed(NamedTuple):
    """What a method of a part has raised."""

    error: Exception


class Lost(NamedTuple):
    """An actor that has not been told all that it should have been."""


class Holder:
    """The actor: the parts of one worker.

    Parameters
    ----------
    recipe : Recipe
    counts : list of int
        Chunks of each part.
    chunks : Chunk
        Of all parts, in order.
    """

    def __init__(self, recipe: Recipe, counts: list[int], *chunks: Chunk) -> None:
        ends = itertools.pairwise(itertools.accumulate(counts, initial=0))
        cut = [chunks[a:b] for a, b in ends]
        self._parts = Local([recipe.part(own) for own in cut], n_threads=len(cut))
        self._step = 0

    def ask(
        self, step: int, method: str, arguments: list[tuple[Any, ...]]
    ) -> list[Any] | Failed | Lost:
        """Call a method of each part, in the step that comes next."""
        if step != self._step:
            return Lost()
        self._step += 1
        own = [tuple(map(usual, each)) for each in arguments]
        try:
            with blas_threads_for(0):  # the parts have threads of their own
                return self._parts.call_each(method, own)
        except Exception as error:
            return Failed(error)


class _Home:
    """Where some parts are: an actor, and how much it has been told."""

    def __init__(self, client: Any, parts: list[int]) -> None:
        self._client, self.parts = client, parts
        self._future: Any = None
        self._actor: Any = None

    def open(self, future: Any) -> None:
        """Take a new actor, once it is made."""
        self._actor = waited([future], self._client)[0]
        self._future, self._step = future, 0
        self._addresses = set(self._client.who_has([future])[future.key])

    def send(self, method: str, arguments: list[tuple[Any, ...]]) -> Any:
        """Ask without waiting; None where the actor is known to be lost."""
        try:
            return self._actor.ask(self._step, method, arguments)
        except Exception:
            return None

    def receive(self, sent: Any) -> list[Any] | None:
        """Wait for an answer; None if there will be none."""
        if sent is None:
            return None
        while True:
            try:
                answer = sent.result(timeout=LOOK)
                break
            except Exception:
                gone = not self._addresses & set(self._client.nthreads())
                if sent.done() or gone:
                    return None
        if isinstance(answer, Failed):
            raise answer.error
        if isinstance(answer, Lost):
            return None
        self._step += 1
        return list(answer)

    def tell(self, method: str, arguments: list[tuple[Any, ...]]) -> list[Any] | None:
        """Ask, and wait for the answer."""
        return self.receive(self.send(method, arguments))

    def close(self) -> None:
        """Let the worker forget its parts."""
        self._actor = None
        if self._future is not None:  # its proxies may linger in cycles
            self._client.cancel([self._future], force=True)


class Actors:
    """An engine of parts on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    chunks : sequence of Delayed
        Of `Chunk`s; they must be the same whenever they are computed.
    numeric : bool
        Whether targets are numbers.

    Attributes
    ----------
    facts : list of Facts
        Of the chunks, known before there are parts.
    """

    def __init__(self, client: Any, chunks: Sequence[Any], numeric: bool) -> None:
        self._client, self._chunks, self._numeric = client, list(chunks), numeric
        self._homes: list[_Home] = []
        self._described: list[Any] | None = None  # nothing until all have answered
        futures = client.compute(self._chunks)
        #: Chunks that are in the cluster's memory beside the parts.
        self._loaded = dict(enumerate(futures))
        told = client.map(facts_of, futures, numeric=numeric, pure=False)
        self.facts: list[Facts] = waited(told, client)
        self.journal = Journal()
        #: How often parts had to be made anew.
        self.revived = 0

    def make(self, recipe: Recipe) -> None:
        """Cut the chunks into parts, one for each thread of the cluster, and make them.

        Parts are rows in their order, so that a result depends on the chunks and on how
        many threads there are, never on where the chunks lie.
        """
        client, self._recipe = self._client, recipe
        rows = np.array([facts.rows for facts in self.facts])
        threads: dict[str, int] = client.nthreads()
        self._cut = cut(rows, sum(threads.values()))
        futures = list(self._loaded.values())
        where = client.who_has(futures)
        near = [where.get(future.key, ()) for future in futures]
        places = placed(self._cut, rows, near, threads)
        own = {
            address: [i for i, place in enumerate(places) if place == address]
            for address in threads
        }
        begun = [
            (parts, self._begin(parts, workers=[address], allow_other_workers=True))
            for address, parts in own.items()
            if parts
        ]
        for parts, future in begun:
            self._homes.append(_Home(client, parts))
            self._homes[-1].open(future)
        self._loaded = {}
        self._described = self.call_each("describe", [()] * self.n_parts)

    @property
    def n_parts(self) -> int:
        """How many there are."""
        return len(self._cut)

    @property
    def parts(self) -> list[range]:
        """The chunks of each part."""
        return self._cut

    def call_each(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of every part, each with its own arguments."""
        answers: list[Any] = [None] * self.n_parts
        sent = [
            (home, home.send(method, [arguments[i] for i in home.parts]))
            for home in self._homes
        ]
        for home, future in sent:
            own = [arguments[i] for i in home.parts]
            for i, answer in zip(home.parts, self._answer(home, future, method, own)):
                answers[i] = answer
        self.journal.note(method, arguments)
        return answers

    def close(self) -> None:
        """Let the cluster forget the rows."""
        for home in self._homes:
            home.close()
        self._homes, self._loaded = [], {}

    # -- inner -------------------------------------------------------------------------

    def _answer(
        self, home: _Home, future: Any, method: str, arguments: list[tuple[Any, ...]]
    ) -> list[Any]:
        """The answer of an actor, or of those that take its place."""
        answer = home.receive(future)
        for _ in range(MOST_LOSSES):
            if answer is not None:
                return answer
            if self._revive(home):
                answer = home.tell(method, arguments)
        if answer is not None:
            return answer
        raise RuntimeError(
            f"lrisk.dask: workers were lost {MOST_LOSSES} times in the same call, "
            f"{method!r}; give them more memory, or cut the rows into more chunks"
        )

    def _revive(self, home: _Home) -> bool:
        """Make lost parts anew, and tell them what they had been told.

        False if the new ones are lost as well.
        """
        self.revived += 1
        home.close()
        chunks = [k for i in home.parts for k in self._cut[i]]
        futures = self._client.compute([self._chunks[k] for k in chunks])
        self._loaded = dict(zip(chunks, futures, strict=True))
        told = self._client.map(facts_of, futures, numeric=self._numeric, pure=False)
        found: list[Facts] = waited(told, self._client)
        home.open(self._begin(home.parts))
        self._loaded = {}
        described = home.tell("describe", [()] * len(home.parts))
        if described is None:
            return False
        known = self._described
        same = known is None or described == [known[i] for i in home.parts]
        if not same or any(map(_differ, [self.facts[k] for k in chunks], found)):
            raise RuntimeError(
                "lrisk.dask: chunks that were computed again after a worker died have "
                "other rows, so nothing could be proven; make them the same each time, "
                "with a seed for example, or write them to files first"
            )
        return all(
            home.tell(method, [arguments[i] for i in home.parts]) is not None
            for method, arguments in self.journal.calls
        )

    def _begin(self, parts: list[int], **where: Any) -> Any:
        """Have an actor made; its future."""
        counts = [len(self._cut[i]) for i in parts]
        loaded = [self._loaded[k] for i in parts for k in self._cut[i]]
        return self._client.submit(
            Holder, self._recipe, counts, *loaded, actor=True, pure=False, **where
        )


def waited(futures: list[Any], client: Any) -> list[Any]:
    """Results, unless no worker is left to find them."""
    gone = 0.0
    while not all(future.done() for future in futures):
        began = time.monotonic()
        with contextlib.suppress(TimeoutError):
            wait(futures, timeout=LOOK)
        gone = 0.0 if client.nthreads() else gone + time.monotonic() - began
        if gone > NO_WORKER:
            raise RuntimeError(
                f"lrisk.dask: no worker has been left for {NO_WORKER:g} seconds; "
                "start some and fit again"
            )
    return list(client.gather(futures))


def _differ(before: Facts, now: Facts) -> bool:
    return before.digest != now.digest or before.total != now.total


def cut(rows: Indices, n_parts: int) -> list[range]:
    """Chunks of each part: in order, with about as many rows in each."""
    n_parts = max(min(n_parts, len(rows)), 1)
    below = np.cumsum(rows) - 0.5 * rows  # of the middle of each chunk
    shares = np.floor(below / max(int(rows.sum()), 1) * n_parts)
    ends = [0, *(int(np.searchsorted(shares, i)) for i in range(1, n_parts)), len(rows)]
    return [range(a, b) for a, b in itertools.pairwise(ends) if b > a]


def placed(
    parts: list[range],
    rows: Indices,
    near: Sequence[Sequence[str]],
    threads: dict[str, int],
) -> list[str]:
    """A worker for each part: the one with most of its rows that has a thread left."""
    free = dict(threads)
    places = []
    for part in parts:
        held = dict.fromkeys(free, 0)
        for k in part:
            for address in near[k]:
                held[address] = held.get(address, 0) + int(rows[k])
        best = max((a for a in free if free[a] > 0), key=lambda a: (held[a], free[a]))
        free[best] -= 1
        places.append(best)
    return places

"""Engines: the same question to every part, answers in the order of the parts."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from .answers import Answering

_Answer = TypeVar("_Answer")


class Engine(Protocol):
    """Parts that can be asked."""

    @property
    def n_parts(self) -> int:
        """How many there are."""

    def call_each(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of every part, each with its own arguments."""


def call(engine: Engine, method: str, *arguments: Any) -> list[Any]:
    """Call a method of every part with the same arguments."""
    return engine.call_each(method, [arguments] * engine.n_parts)


class Local:
    """Parts in this process, one after another or by threads.

    Parameters
    ----------
    parts : sequence of Part, or of others that answer as these do
    n_threads : int, default=1
        What parts do releases the interpreter's lock: reading, products, loops.
    """

    def __init__(self, parts: Sequence[Answering], n_threads: int = 1) -> None:
        self.parts = list(parts)
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    @property
    def n_parts(self) -> int:
        """How many there are."""
        return len(self.parts)

    def call_each(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of every part, each with its own arguments."""
        calls: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
            (getattr(part, method), own)
            for part, own in zip(self.parts, arguments, strict=True)
        ]
        if self._pool is None:
            return [ask(*own) for ask, own in calls]
        return [job.result() for job in [self._pool.submit(a, *o) for a, o in calls]]

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def summed(
    answers: Iterable[_Answer], add: Callable[[_Answer, _Answer], _Answer]
) -> _Answer:
    """Add answers up in pairs, in the order of the parts.

    So a result depends on how rows were cut into parts, never on who was done first.
    """
    left = list(answers)
    while len(left) > 1:
        pairs = [add(a, b) for a, b in zip(left[::2], left[1::2])]
        left = pairs + left[len(pairs) * 2 :]
    return left[0]

"""The one wrapper through which everything in lrisk is compiled.

Plain ``numba.njit(cache=True)`` has three faults for a library: it makes every import
pay for numba; it raises at *import* when no cache folder is writable; and it looks for
changes only in the file of the compiled function, so that editing a formula in another
file leaves a stale and silently wrong loop in the cache. Here numba is loaded on the
first call of a compiled function, the cache is stamped with a digest of all of the
package's sources, and a read-only install simply compiles anew in each process.
"""

import functools
import hashlib
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

_PACKAGE = Path(__file__).parent
_Function = TypeVar("_Function", bound=Callable[..., Any])

# Reassociation and contraction let sums vectorise; NaN and infinity keep their meaning
# (divergence is detected by them), so the full "fast" set is never used.
_FAST = {"nsz", "contract", "reassoc", "arcp"}

# Scalar forms waiting for numba: (generic function, NamedTuple class, implementation).
_pending: list[tuple[Callable[..., Any], type, Callable[..., Any]]] = []


class Compiled:
    """A function that is compiled when it is first called.

    Called from another compiled function it is linked into that one.
    """

    def __init__(self, function: Callable[..., Any], fastmath: bool) -> None:
        functools.update_wrapper(self, function)
        self._fastmath = fastmath

    @functools.cached_property
    def dispatcher(self) -> Any:
        """Numba's object, with its cache where one can be had."""
        numba = _load_numba()
        function = self.__wrapped__  # type: ignore[attr-defined]
        fastmath = set(_FAST) if self._fastmath else False
        dispatcher = numba.njit(function, fastmath=fastmath)
        if cache_folder() is not None:
            dispatcher._cache = _digest_cache()(function)
        return dispatcher

    def __call__(self, *args: Any) -> Any:
        _register_pending()
        return self.dispatcher(*args)


def jit(function: _Function | None = None, *, fastmath: bool = True) -> Any:
    """Compile a function on its first call, cached on disk where that is possible.

    Parameters
    ----------
    function : callable
        Serial, in numba's subset of Python.
    fastmath : bool, default=True
        Allow sums to be reordered, so that they vectorise. Switch off in loops that sum
        and write at once: there the compiler decides by the addresses of the arrays
        which version runs, and the same data would not always give the same bits.
    """
    if function is None:
        return functools.partial(jit, fastmath=fastmath)
    return Compiled(function, fastmath)


def implements(generic: Callable[..., Any], kind: type) -> Callable[[_Function], Any]:
    """Register a function as the version of `generic` for first arguments of one type.

    `kind` is a NamedTuple class. Dispatch happens when a loop is compiled and costs
    nothing in it; unlike jitclasses and function arguments the result is cached on
    disk.
    """

    def register(implementation: _Function) -> _Function:
        _pending.append((generic, kind, implementation))
        return implementation

    return register


@functools.cache
def sources_digest() -> str:
    """Digest of every source file of the package: a change anywhere recompiles."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def cache_folder() -> str | None:
    """First writable of NUMBA_CACHE_DIR, the package's own cache, the user's cache."""
    asked = os.environ.get("NUMBA_CACHE_DIR")
    folders = [Path(asked) / "lrisk"] if asked else []
    for folder in [*folders, _PACKAGE / "__pycache__", _user_cache()]:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / f".lrisk-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except (OSError, RuntimeError):
            continue
        return str(folder)
    return None


def _user_cache() -> Path:
    """Where programs keep what they can make again."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "lrisk"


@functools.cache
def _load_numba() -> Any:
    """Import numba and teach it to call `Compiled` functions."""
    import numba
    from numba.core import types
    from numba.extending import typeof_impl

    @typeof_impl.register(Compiled)
    def type_of_compiled(value: Compiled, context: Any) -> Any:
        return types.Dispatcher(value.dispatcher)

    return numba


def _register_pending() -> None:
    """Hand the waiting scalar forms to numba."""
    if not _pending:
        return
    _load_numba()
    from numba.extending import overload

    while _pending:
        generic, kind, implementation = _pending.pop(0)
        overload(generic, strict=False)(_chooser(generic, kind, implementation))


def _chooser(
    generic: Callable[..., Any], kind: type, implementation: Callable[..., Any]
) -> Callable[..., Any]:
    """What numba asks at compile time: the implementation, if the type is the one."""

    def choose(first: Any, *rest: Any) -> Any:
        matches = getattr(first, "instance_class", None) is kind
        return implementation if matches else None

    # numba compares the argument names with those of the implementation.
    choose.__signature__ = inspect.signature(generic)  # type: ignore[attr-defined]
    return choose


@functools.cache
def _digest_cache() -> Any:
    """Numba's cache, placed in `cache_folder` and stamped by `sources_digest`."""
    from numba.core import caching

    class DigestLocator(caching._CacheLocator):
        def __init__(self, function: Callable[..., Any]) -> None:
            line = function.__code__.co_firstlineno
            self._disambiguator = f"{function.__module__}-{line}"

        def get_cache_path(self) -> str | None:
            return cache_folder()

        def get_source_stamp(self) -> str:
            return sources_digest()

        def get_disambiguator(self) -> str:
            return self._disambiguator

        @classmethod
        def from_function(cls, function: Callable[..., Any], _: str) -> Any:
            return cls(function)

    class Implementation(caching.CompileResultCacheImpl):
        _locator_classes: Any = (DigestLocator,)

    class DigestCache(caching.FunctionCache):
        _impl_class = Implementation

    return DigestCache

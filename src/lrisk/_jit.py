"""The one wrapper through which everything in lrisk is compiled.

Plain ``numba.njit(cache=True)`` has three faults for a library: it makes every import
pay for numba; it raises at *import* when no cache folder is writable; and it looks for
changes only in the file of the compiled function, so that editing a formula in another
file leaves a stale and silently wrong loop in the cache. Here numba is loaded on the
first call of a compiled function, the cache is stamped with a digest of all of the
package's sources, and what is found in a cache that cannot be written is used all the
same. Without any cache each process compiles anew.

What is compiled goes to the user's cache, since files in the package would outlive it.
The logger ``lrisk`` is told, at level INFO, when something has to be compiled.
"""

import contextlib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

_LOGGER = logging.getLogger("lrisk")
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

    def __init__(
        self, function: Callable[..., Any], fastmath: bool, inner: bool
    ) -> None:
        functools.update_wrapper(self, function)
        self._fastmath = fastmath
        self._inner = inner

    @functools.cached_property
    def dispatcher(self) -> Any:
        """Numba's object, with its cache where one can be had.

        Without numba it is the function as it is written: see `available`.
        """
        function = self.__wrapped__  # type: ignore[attr-defined]
        if not available():
            return function
        numba = _load_numba()
        fastmath = set(_FAST) if self._fastmath else False
        # Nobody calls these from C; each wrapper that is left out saves a few
        # milliseconds of compilation.
        dispatcher = numba.njit(
            function,
            fastmath=fastmath,
            no_cfunc_wrapper=True,
            no_cpython_wrapper=self._inner,
        )
        if not self._inner:
            dispatcher._cache = _digest_cache()(function)
        return dispatcher

    def __call__(self, *args: Any) -> Any:
        if self._inner:
            return self.__wrapped__(*args)  # type: ignore[attr-defined]
        if _pending:
            _register_pending()
        return self.dispatcher(*args)


def jit(
    function: _Function | None = None, *, fastmath: bool = True, inner: bool = False
) -> Any:
    """Compile a function on its first call, cached on disk where that is possible.

    Parameters
    ----------
    function : callable
        Serial, in numba's subset of Python.
    fastmath : bool, default=True
        Allow sums to be reordered, so that they vectorise. Switch off in loops that sum
        and write at once: there the compiler decides by the addresses of the arrays
        which version runs, and the same data would not always give the same bits.
    inner : bool, default=False
        Only other compiled functions call it: it is compiled as a part of these,
        without an entry and a place in the cache of its own, in two thirds of the
        time. From Python it runs as it is written.
    """
    if function is None:
        return functools.partial(jit, fastmath=fastmath, inner=inner)
    return Compiled(function, fastmath, inner)


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
def available() -> bool:
    """Whether numba is installed; else loops run as plain Python, and it is said once.

    Rows on a GPU are answered for by PyTorch, and what is left for loops is a sample of
    bins or some thousand rows: fits of `lrisk.torch` can do without numba.
    """
    found = importlib.util.find_spec("numba") is not None
    if not found:
        _LOGGER.warning(
            "numba is not installed: loops run as plain Python, which takes seconds "
            "from some thousand rows on; pip install numba"
        )
    return found


@functools.cache
def sources_digest() -> str:
    """Digest of every source file of the package: a change anywhere recompiles."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def cache_folders() -> list[Path]:
    """Where compiled code may lie: NUMBA_CACHE_DIR, the user's cache, the package's."""
    asked = os.environ.get("NUMBA_CACHE_DIR")
    folders = [Path(asked) / "lrisk"] if asked else []
    with contextlib.suppress(RuntimeError):  # nobody's home
        folders.append(_user_cache())
    return [*folders, _PACKAGE / "__pycache__"]


@functools.cache
def cache_folder() -> Path | None:
    """The first of `cache_folders` that can be written."""
    for folder in cache_folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / f".lrisk-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError:
            continue
        return folder
    return None


def _user_cache() -> Path:
    """Where programs keep what they can make again; a folder for each installation."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    installation = hashlib.sha256(str(_PACKAGE).encode()).hexdigest()[:16]
    return Path(base).expanduser() / "lrisk" / installation


@functools.cache
def _announce() -> None:
    """Say, the first time, that there will be a wait."""
    if cache_folder() is None:
        _LOGGER.info(
            "compiling, which takes some seconds in each new process: no cache can be "
            "written; set NUMBA_CACHE_DIR to a folder that can"
        )
    else:
        _LOGGER.info("compiling once, which takes some seconds")


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
    if not available():
        _pending.clear()
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
    """Numba's cache, written to `cache_folder`, read from all of `cache_folders`."""
    caching: Any = importlib.import_module("numba.core.caching")  # it has no types

    class DigestLocator(caching._CacheLocator):
        def __init__(self, function: Callable[..., Any]) -> None:
            line = function.__code__.co_firstlineno
            self._disambiguator = f"{function.__module__}-{line}"

        def get_cache_path(self) -> str:
            return str(cache_folder() or cache_folders()[-1])

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

        def _load_overload(self, sig: Any, context: Any) -> Any:
            key = self._index_key(sig, context.codegen())
            name = self._impl.filename_base
            for folder in cache_folders():
                files = caching.IndexDataCacheFile(str(folder), name, sources_digest())
                try:
                    found = files.load(key)
                except OSError:  # nor may everything be read
                    continue
                if found is not None:
                    return self._impl.rebuild(context, found)
            _announce()
            return None

        def _save_overload(self, sig: Any, data: Any) -> None:
            if cache_folder() is not None:
                super()._save_overload(sig, data)

    return DigestCache

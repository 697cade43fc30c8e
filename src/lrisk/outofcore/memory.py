"""How much memory a fit may take, and what it is to be used for."""

import os
import re
import sys
from numbers import Real
from typing import Any, NamedTuple

from .._params import refused
from ..partitions.rows import BLOCK
from ..solvers.certified.whitening import LARGEST

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
#: Bytes of compiled code and what compiling takes, and of tables and their sums.
COMPILED, TABLES = 150_000_000, 100_000_000
#: Copies of a sample of the rows, while it is fitted.
SAMPLES = 6
#: Least and most bytes that are read at once.
LEAST_CHUNK, MOST_CHUNK = 1 << 20, 1 << 24


class Plan(NamedTuple):
    """What is kept where.

    chunk : bytes that are read at once; each part has two such buffers
    lean : whether losses and slopes are made anew instead of being kept
    spilled : whether vectors as long as the rows lie in files
    weights : whether λ of all rows fits besides
    """

    chunk: int
    lean: bool
    spilled: bool
    weights: bool


def parsed(memory: Any) -> int:
    """Bytes from a number or from ``"2GB"``, ``"500 MB"``, ``"1.5GiB"``."""
    rule = "a number of bytes, or a size like '2GB' or '500MiB'"
    remedy = "say how much memory the process may take, all in all"
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)(i?)B?\s*", memory, re.I)
        try:
            number = float(found[1]) if found else -1.0
        except ValueError:
            number = -1.0
        if found and number > 0.0:
            unit, power = found[2].upper(), "KMGT".find(found[2].upper()) + 1
            return int(number * (1024**power if found[3] and unit else _UNITS[unit]))
    plain = isinstance(memory, Real) and not isinstance(memory, bool)
    if plain and 0 < memory < float("inf"):
        return int(memory)
    raise ValueError(refused("outofcore", "memory", rule, memory, remedy))


def held_now() -> int:
    """Bytes that this process holds, where the system tells."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        pass
    try:
        import resource
    except ImportError:
        return 250_000_000
    unit = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def planned(memory: int, n: int, d: int, threads: int) -> Plan:
    """What fits, or a refusal that says how much would."""
    sample = min(max(n // 10, LARGEST // 5), LARGEST, n) * (d + 1) * 8
    blocks = threads * 4 * BLOCK * (d + 1) * 8
    needed = COMPILED + threads * TABLES + SAMPLES * sample + blocks
    room = memory - held_now() - needed
    if room < threads * 4 * LEAST_CHUNK:
        least = memory - room + threads * 4 * LEAST_CHUNK
        rule = f"at least {least / 1e6:.0f} MB for {d} features on {threads} cores"
        remedy = "raise it, or lower n_threads"
        seen = f"{memory / 1e6:.0f} MB"
        raise ValueError(refused("outofcore", "memory", rule, seen, remedy))
    chunk = min(max(room // (8 * threads), LEAST_CHUNK), MOST_CHUNK)
    room -= 2 * threads * chunk
    lean, spilled = 8 * 8 * n > room, 4 * 8 * n > room
    used = 0 if spilled else 4 * 8 * n if lean else 8 * 8 * n
    return Plan(chunk, lean, spilled, 8 * n <= room - used)

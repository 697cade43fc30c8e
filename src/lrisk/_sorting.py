"""Sorting of floats by their bits, several times as fast as by comparison."""

from typing import Any

import numpy as np

from ._jit import available, jit
from ._typing import Floats, Indices

#: Below this many values a comparison sort is as fast, and need not be compiled.
SMALL = 800
#: From this many values on a copy of them does not fit into a processor's cache.
MANY = 100_000
#: Largest displacement that is still mended by insertion.
REACH = 48
#: Share of the largest value below which `share_by_rank` has one bin. Under an
#: increasing spectrum such values add at most n times it to the risk.
FLOOR = 1e-14


def argsort(values: Floats) -> Indices:
    """Permutation that sorts finite float64 values ascending; ties keep their order."""
    if values.size < SMALL or not available():
        return np.argsort(values, kind="stable")
    values = np.ascontiguousarray(values)
    bits, n = values.view(np.uint64), values.size
    order, other = np.empty(n, np.int64), np.empty(n, np.int64)
    # Made here, since to compile the making of an array takes as long as a loop.
    keys = np.empty((2, n), np.uint32)
    counts = np.zeros((3, 2048), np.int64)
    if not _sort_by_high_bits(values, bits, keys, other, counts, order):
        _sort_by_all_bits(bits, other, counts[0, :256], order)
    return order


def assign_by_rank(values: Floats, ranked: Floats, out: Floats) -> bool:
    """Set ``out[i]`` to the entry of `ranked` at the rank of ``values[i]``.

    Cheaper than an argsort, and no gather. Values that agree in some eight leading
    digits may change places; False when there are many of those, and `out` is then not
    to be used.

    Parameters
    ----------
    values : array of shape (n,)
        Finite and ≥ 0; n < 2³².
    ranked, out : arrays of shape (n,)
    """
    if values.size < SMALL or not available():
        return False
    close = _assign_by_rank(np.ascontiguousarray(values), ranked, out)
    return bool(close <= values.size // 100)


def share_by_rank(values: Floats, ranked: Floats, out: Floats) -> float | None:
    """As `assign_by_rank`, but values within a bin share its entries equally.

    There are 2¹⁶ bins of the floats' bits from `FLOOR` times the largest value on: at
    most some .2 % of a value is the width of its bin, and two passes over the values
    are all it takes. `out` may be the values themselves. Gives Σ out·values, or None
    where the values are too few.
    """
    if values.size < SMALL or not available():
        return None
    return float(_share_by_rank(np.ascontiguousarray(values), ranked, out, FLOOR))


def value_at(values: Floats, place: int) -> float:
    """The value that would be at a place (from zero) if sorted; changes nothing.

    Very many values are not copied, as a selection would: they are counted by their
    leading bits (sign, exponent, four of the mantissa), and those that agree in them
    with the one that is sought are few.
    """
    if values.size < MANY or not available():
        return float(np.partition(values, place)[place])
    values = np.ascontiguousarray(values)
    counts = np.zeros(1 << 16, np.int64)
    _count_by_leading_bits(values.view(np.uint64), counts)
    ends = np.cumsum(counts)
    digit = int(np.searchsorted(ends, place, side="right"))
    near = np.empty(counts[digit])
    _take_by_leading_bits(values, values.view(np.uint64), digit, near)
    place -= int(ends[digit] - counts[digit])
    return float(np.partition(near, place)[place])


@jit(fastmath=False, inner=True)
def _size(bits: Any) -> Any:
    """Bits of the absolute value: those of −0.0 would be beyond all others."""
    return bits & np.uint64((1 << 63) - 1)


@jit(fastmath=False, inner=True)
def _range(bits: Any, width: Any) -> Any:
    """The least of the bits, and the shift that brings their differences to a width."""
    least, most = _size(bits[0]), _size(bits[0])
    for i in range(bits.shape[0]):
        least = min(least, _size(bits[i]))
        most = max(most, _size(bits[i]))
    shift = np.uint64(0)
    while ((most - least) >> shift) >> np.uint64(width):
        shift += np.uint64(1)
    return least, shift


@jit(fastmath=False)
def _share_by_rank(values: Any, ranked: Any, out: Any, floor: Any) -> Any:
    """A histogram of the values, and the mean of each bin's run of `ranked`."""
    n = values.shape[0]
    ends = np.empty(2)
    ends[0] = ends[1] = abs(values[0])
    for i in range(n):
        ends[0] = min(ends[0], abs(values[i]))
        ends[1] = max(ends[1], abs(values[i]))
    ends[0] = max(ends[0], floor * ends[1])
    least, shift = _range(ends.view(np.uint64), 16)
    bits = values.view(np.uint64)
    counts = np.zeros(1 << 16, np.int64)
    for i in range(n):
        counts[(max(_size(bits[i]), least) - least) >> shift] += 1
    means = np.empty(1 << 16)
    start = 0
    for k in range(1 << 16):
        total = 0.0
        for i in range(start, start + counts[k]):
            total += ranked[i]
        start += counts[k]
        means[k] = total / max(counts[k], 1)
    risk = 0.0
    for i in range(n):
        mean = means[(max(_size(bits[i]), least) - least) >> shift]
        risk += mean * values[i]
        out[i] = mean
    return risk


@jit(fastmath=False)
def _assign_by_rank(values: Any, ranked: Any, out: Any) -> Any:
    """Radix sort by 32 bits below the leading ones; counts the ties in them.

    Key and row travel as one word. The bits of a non-negative float ascend with it, so
    those of the smallest can be subtracted, which leaves more room for the mantissa.
    """
    n = values.shape[0]
    half, row_bits = np.uint64(32), np.uint64((1 << 32) - 1)
    mask = np.uint64(2047)
    bits = values.view(np.uint64)
    least, shift = _range(bits, 32)
    low = np.zeros(2048, np.int64)
    middle = np.zeros(2048, np.int64)
    high = np.zeros(1024, np.int64)
    for i in range(n):
        k = (_size(bits[i]) - least) >> shift
        low[k & mask] += 1
        middle[(k >> np.uint64(11)) & mask] += 1
        high[k >> np.uint64(22)] += 1
    _starts(low)
    _starts(middle)
    _starts(high)
    one, other = np.empty(n, np.uint64), np.empty(n, np.uint64)
    for i in range(n):
        k = (_size(bits[i]) - least) >> shift
        place = low[k & mask]
        low[k & mask] = place + 1
        one[place] = (k << half) | np.uint64(i)
    for i in range(n):
        word = one[i]
        digit = (word >> np.uint64(43)) & mask
        place = middle[digit]
        middle[digit] = place + 1
        other[place] = word
    close = 0
    last = np.full(1024, row_bits + np.uint64(1))  # no key is as large
    for i in range(n):
        word = other[i]
        k = word >> half
        digit = k >> np.uint64(22)
        if k == last[digit]:  # equal keys come one after the other within a digit
            close += 1
        last[digit] = k
        place = high[digit]
        high[digit] = place + 1
        out[word & row_bits] = ranked[place]
    return close


@jit(fastmath=False, inner=True)
def _key(bits: Any) -> Any:
    """Unsigned integer in the order of the float: flip the sign, or all bits if set."""
    if bits >> np.uint64(63):
        return ~bits
    return bits | np.uint64(1 << 63)


@jit(fastmath=False)
def _count_by_leading_bits(bits: Any, counts: Any) -> Any:
    for i in range(bits.shape[0]):
        counts[_key(bits[i]) >> np.uint64(48)] += 1


@jit(fastmath=False)
def _take_by_leading_bits(values: Any, bits: Any, digit: Any, out: Any) -> Any:
    place = 0
    for i in range(bits.shape[0]):
        if _key(bits[i]) >> np.uint64(48) == np.uint64(digit):
            out[place] = values[i]
            place += 1


@jit(fastmath=False, inner=True)
def _starts(counts: Any) -> Any:
    """Turn counts into the places where each digit's run begins, in place."""
    total = 0
    for digit in range(counts.shape[0]):
        count = counts[digit]
        counts[digit] = total
        total += count


@jit(fastmath=False)
def _sort_by_high_bits(
    values: Any, bits: Any, keys: Any, other: Any, counts: Any, order: Any
) -> Any:
    """Radix sort by the top 32 bits, the rest by insertion; False if that is too much.

    Twenty bits of the mantissa leave few neighbours to exchange, unless very many
    values are nearly equal. All arrays but the values and their bits are written to;
    the counts (3, 2048) are zero at first.
    """
    n = values.shape[0]
    mask = np.uint32(2047)
    key, other_key = keys[0], keys[1]
    low, middle, high = counts[0], counts[1], counts[2]
    for i in range(n):
        k = np.uint32(_key(bits[i]) >> np.uint64(32))
        key[i] = k
        low[k & mask] += 1
        middle[(k >> np.uint32(11)) & mask] += 1
        high[k >> np.uint32(22)] += 1
    _starts(low)
    _starts(middle)
    _starts(high)
    for i in range(n):
        k = key[i]
        place = low[k & mask]
        low[k & mask] = place + 1
        other_key[place] = k
        order[place] = i
    for i in range(n):
        k = other_key[i]
        place = middle[(k >> np.uint32(11)) & mask]
        middle[(k >> np.uint32(11)) & mask] = place + 1
        key[place] = k
        other[place] = order[i]
    for i in range(n):
        k = key[i] >> np.uint32(22)
        place = high[k]
        high[k] = place + 1
        order[place] = other[i]
    return _mend(values, order)


@jit(fastmath=False, inner=True)
def _mend(values: Any, order: Any) -> Any:
    """Insertion sort of a nearly sorted order; False if a value is too far off."""
    before = values[order[0]]
    for i in range(1, order.shape[0]):
        row = order[i]
        value = values[row]
        if value < before:
            place = i
            while place > 0 and values[order[place - 1]] > value:
                order[place] = order[place - 1]
                place -= 1
                if i - place > REACH:
                    return False
            order[place] = row
        else:
            before = value
    return True


@jit(fastmath=False)
def _sort_by_all_bits(bits: Any, other: Any, counts: Any, order: Any) -> Any:
    """Radix sort by all 64 bits, in eight passes of eight; `counts` (256,)."""
    n = bits.shape[0]
    for i in range(n):
        order[i] = i
    for step in range(8):
        shift = np.uint64(8 * step)
        counts[:] = 0
        for i in range(n):
            counts[(_key(bits[i]) >> shift) & np.uint64(255)] += 1
        _starts(counts)
        for i in range(n):
            row = order[i]
            digit = (_key(bits[row]) >> shift) & np.uint64(255)
            other[counts[digit]] = row
            counts[digit] += 1
        for i in range(n):
            order[i] = other[i]

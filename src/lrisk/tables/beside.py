"""What stands beside a table, such as predictions: read as its target is."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np

from .._typing import AnyArray
from .cells import raw_column
from .columns import Column, typed_column
from .delimited import SAMPLE
from .files import TEXT, read_table
from .numbers import read_numbers
from .rules import ColumnRule
from .sources import Source


def read_beside(
    target: Column, name: str, raw: AnyArray, *, labels: bool = False
) -> Column:
    """Cells that tell of a target: in the way it was read, or else by themselves.

    By themselves "1,250" may be a thousand and more; beside a target of decimal commas
    it is not. A program may write points where a person wrote commas, though, or leave
    the unit out.

    Parameters
    ----------
    target : Column
    name : str
        Of the cells, for messages.
    raw : array of shape (n,)
    labels : bool
        See `typed_column`.
    """
    if target.way:
        try:
            return ColumnRule.of(target)._replace(name=name).read(raw)
        except ValueError:  # too many cells, or another unit
            pass
    return typed_column(name, raw, labels=labels)


def frame_beside(path: Path, n_rows: int) -> Any:
    """The frame of a file with one line for each row of a table, and maybe a header.

    The first line is a header unless there are as many rows only without one, and it is
    no word above numbers. Words are labels, as those of a target are.

    Raises
    ------
    ValueError
        If the file cannot be read. Another number of rows is for the caller to refuse.
    """
    options: dict[str, Any] = {"labels": None}
    if path.is_file() and _one_column_of_commas(Source.of(path)):
        options["separator"] = "\t"  # which it does not hold
    read, problems = [], []
    for header in (True, False):
        try:
            read.append(read_table(path, header=header, **options).frame)
        except ValueError as problem:
            problems.append(problem)
            continue
        if len(read[-1]) == n_rows and (header or not _has_header(read[-1])):
            return read[-1]
    if not read:
        raise problems[0]
    return read[0]


def _has_header(frame: Any) -> bool:
    """Whether the first row is words above numbers: a header after all."""
    cells = [raw_column(frame[name], "predictions") for name in frame]
    text = [own for own in cells if own.dtype.kind == "O"]
    first = [typed_column("first", own[:1]) for own in text]
    rest = [typed_column("rest", own[1:]) for own in text]
    words = [one.has_levels and not one.missing[0] for one in first]
    return any(word and bool(other.way) for word, other in zip(words, rest))


def _one_column_of_commas(source: Source) -> bool:
    """Whether lines, but perhaps the first, are numbers with a decimal comma each.

    A reader of tables sees two columns of whole numbers there. So it is, if the first
    line is words with a comma between: names of two columns.
    """
    if source.ending not in TEXT:
        return False
    with source.text(source.encoding()) as file:
        sample = [line.strip() for line in itertools.islice(file, SAMPLE)]
    if "," in sample[0] and np.isnan(read_numbers(sample[:1], ",").values[0]):
        return False
    lines = [line for line in sample[1:] if line]
    with_comma = [line for line in lines if "," in line]
    numbers = read_numbers(lines, ",").values
    return bool(with_comma) and bool(np.isfinite(numbers).all())

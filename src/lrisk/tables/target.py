"""What a target column means: a quantity or classes."""

from dataclasses import dataclass

import numpy as np

from .._arrays import check_targets
from .._params import refused
from .._typing import AnyArray, Indices
from .columns import MISSING, Column
from .numbers import plain_number
from .text import MOSTLY

#: Distinct whole numbers below which a numeric target may be classes.
FEW_VALUES = 10
#: Rows of a class without which it cannot be held out, and most classes.
FEWEST_OF_CLASS, MOST_CLASSES = 2, 100
#: Words that begin with a number above which they are quantities that cannot be read.
MOST_NUMBERED = 20


@dataclass(frozen=True, eq=False)
class Target:
    """A target as models take it.

    Attributes
    ----------
    task : str
        "regression" or "classification".
    y : array of shape (n,)
        Numbers, or positions among `classes`; NaN or −1 where missing.
    classes : list of str
    notes : list of str
        What a reader should know of how the target was read; no value is told.
    example : str
        Values that the notes speak of.
    """

    task: str
    y: AnyArray
    classes: list[str]
    notes: list[str]
    example: str = ""


def target_of(goal: Column, task: str) -> Target:
    """Decide the task, where it is "auto", and refuse targets that suit none."""
    numeric = not goal.has_levels
    if goal.missing.all():
        rule, remedy = "known in some rows", "choose another column"
        raise ValueError(refused("table", "target", rule, "no value", remedy))
    if goal.kind == "date":
        rule, remedy = "numbers or classes", "turn dates into numbers first"
        raise ValueError(refused("table", "target", rule, "dates", remedy))
    # A target that numbers the rows is left out of nothing.
    noted = goal.note and numeric and goal.kind != "identifier"
    notes = [goal.note] if noted else []
    if task == "auto":
        two = numeric and goal.distinct == 2
        task = "classification" if goal.has_levels or two or goal.kind == "boolean" \
            else "regression"  # fmt: skip
        if _looks_like_numbers(goal):
            rule = "plain numbers, or classes"
            got = f"{goal.distinct} different words that begin with a number, as in "
            got += f"row {_first_word(goal)}"
            remedy = "write numbers in one unit, or choose the task classification"
            raise ValueError(refused("table", "target", rule, got, remedy))
        if goal.kind in ("identifier", "text") and goal.has_levels:
            rule = "numbers, or classes that repeat"
            got = f"{goal.distinct} different words"
            remedy = "choose another column, or clean it"
            raise ValueError(refused("table", "target", rule, got, remedy))
        if task == "regression" and goal.distinct <= FEW_VALUES:
            notes.append(
                f"The target holds {goal.distinct} different numbers and was taken as "
                "a quantity; if they are classes, choose the task classification "
                "(--task classification, in Python task='classification')."
            )
    if task == "regression":
        if not numeric:
            rule, remedy = "numeric for regression", "or choose classification"
            got = f"words, as in row {_first_word(goal)}"
            raise ValueError(refused("table", "target", rule, got, remedy))
        if goal.distinct < 2:
            rule, remedy = "of at least two values", "choose another column"
            raise ValueError(refused("table", "target", rule, "a constant", remedy))
        check_targets("table", "target", goal.values[~goal.missing])
        return Target(task, goal.values, [], notes, goal.example)
    return _classified(goal, notes)


def _looks_like_numbers(goal: Column) -> bool:
    """Whether there are many classes and nearly all begin with a number."""
    if not goal.has_levels or goal.distinct <= MOST_NUMBERED:
        return False
    begins = [level.strip()[:1].isdigit() for level in goal.levels]
    return bool(np.mean(begins) >= MOSTLY)


def _first_word(goal: Column) -> int:
    """The first row, counted from 1, whose cell is no number."""
    known = np.flatnonzero(goal.values >= 0)
    words = np.isnan([plain_number(level) for level in goal.levels])
    return int(known[words[goal.values[known]]][0]) + 1 if words.any() else 1


def _classified(goal: Column, notes: list[str]) -> Target:
    codes, classes = _classes(goal)
    counts = np.bincount(codes[codes >= 0], minlength=len(classes))
    rare = counts < FEWEST_OF_CLASS
    example = goal.example
    if goal.has_levels and goal.note:
        notes.append(goal.note)
    if rare.all() and len(classes) > 1:
        rule = "of classes of at least two rows each"
        got = f"{len(classes)} values that occur once each"
        remedy = "choose the task regression, if they are numbers, or another column"
        raise ValueError(refused("table", "target", rule, got, remedy))
    if rare.any() and not rare.all():
        lone = int(rare.sum())
        notes.append(
            "A class of a single row cannot be judged and is left out."
            if lone == 1
            else f"{lone} classes of a single row cannot be judged and are left out."
        )
        lost = (repr(classes[i][:40]) for i in np.flatnonzero(rare)[:3])
        example = "; ".join([*([example] if example else []), *lost])
        place = np.full(len(classes) + 1, -1)
        place[np.flatnonzero(~rare)] = np.arange((~rare).sum())
        codes, classes = place[codes], [c for c, r in zip(classes, rare) if not r]
    words = {c.strip().lower() for c in classes} & (MISSING - {""})
    if goal.has_levels and words:
        notes.append("A class is called as missing cells often are; it was kept.")
        shown = [repr(c[:40]) for c in classes if c.strip().lower() in words]
        example = "; ".join([*([example] if example else []), *shown])
    if len(classes) < 2:
        rule, remedy = "of at least two classes", "add rows of another class"
        raise ValueError(refused("table", "target", rule, "one class", remedy))
    if len(classes) > MOST_CLASSES:
        rule = f"of at most {MOST_CLASSES} classes"
        remedy = "choose regression or pool classes"
        raise ValueError(refused("table", "target", rule, len(classes), remedy))
    return Target("classification", codes, classes, notes, example)


def _classes(goal: Column) -> tuple[Indices, list[str]]:
    """Codes in the order of the sorted classes."""
    if goal.has_levels:
        order = np.argsort(np.array(goal.levels, dtype=object), kind="stable")
        place = np.full(len(order) + 1, -1, dtype=np.int64)
        place[order] = np.arange(len(order))
        return place[goal.values], [goal.levels[i] for i in order]
    known = ~np.isnan(goal.values)
    codes = np.full(len(known), -1, dtype=np.int64)
    values, codes[known] = np.unique(goal.values[known], return_inverse=True)
    rows = [int(np.flatnonzero(goal.values == value)[0]) for value in values]
    return codes, [goal.shown(row) for row in rows]

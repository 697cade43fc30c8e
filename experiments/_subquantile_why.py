"""Why a cell of the subquantile paper's tables may not reproduce, from the records.

A sentence says what was varied and what each variant reached; none says whose fault a
difference is, which the records cannot show.
"""

import numpy as np

from experiments._experiment import Record
from experiments._page import difference, mean_sd
from experiments._subquantile import EXACT, FILTERED, ORACLE, PAPERS
from experiments._subquantile_table import ROOM, Place, Table, means, shown

#: Trimming is called uneven where a class keeps less than this part of its share.
UNEVEN = 0.8


def explanation(table: Table, records: list[Record], place: Place) -> str:
    """All that the records say about a missed cell."""
    own = table.at(records, place)
    ours = mean_sd(table.values(records, PAPERS, place))
    words = [f"Printed {table.quoted(PAPERS, place)}, ours {ours}."]
    words += oracle(table, means(table, records, place), place)
    words += by_steps(table, own, place)
    words += by_filter(table, means(table, records, place), place)
    words += trimmed(table, means(table, records, place), place)
    words += uneven(own)
    return " ".join(words)


def _printed(table: Table, place: Place) -> float:
    paper = table.paper(PAPERS, place)
    assert paper is not None
    return paper


def oracle(table: Table, ours: dict[str, float], place: Place) -> list[str]:
    """What a fit to the right rows reaches, here and in print."""
    if ORACLE not in ours:
        return []
    paper, here = _printed(table, place), ours[ORACLE]
    text = f"The oracle, which is told the wrong rows, reaches {here:.3f} here"
    if table.reproduced(here, paper):
        words = [
            f"{text}: the printed value can be reached on these rows by a fit to the "
            "right ones with a penalty of its own."
        ]
    else:
        words = [
            f"{text} and misses the printed value of {PAPERS}, too: the rows, their "
            "scaling or the split may differ from the paper's, or its penalty."
        ]
    printed = table.paper(ORACLE, place)
    if printed is not None:
        reaches = table.reproduced(printed, paper)
        words.append(
            f"The printed oracle has {table.quoted(ORACLE, place)} (ours differs by "
            f"{difference(here, printed)}), which {'is' if reaches else 'is not'} "
            f"within {ROOM:.0%} of the printed {PAPERS} or better."
        )
    return words


def by_steps(table: Table, own: list[Record], place: Place) -> list[str]:
    """The error after each number of steps, and which of them would do."""
    paths = [r["path"] for r in own if len(r.get("path", {})) > 1]
    if not paths:
        return []
    mean = {int(t): float(np.mean([p[t] for p in paths])) for t in paths[0]}
    every = ", ".join(f"{value:.3f} after {t:,}" for t, value in mean.items())
    enough = [f"{t:,}" for t, v in mean.items() if _within(table, v, place)]
    return [
        f"By number of steps, on test rows, with the same start: {every}; within "
        f"{ROOM:.0%} of print or better: {', '.join(enough) or 'none'}."
    ]


def by_filter(table: Table, ours: dict[str, float], place: Place) -> list[str]:
    """What the filter of the paper's section 3.2 makes of it."""
    if FILTERED not in ours:
        return []
    reaches = "is" if _within(table, ours[FILTERED], place) else "is not"
    return [
        f"With the paper's filter of k(x, x) ({FILTERED}) it is {ours[FILTERED]:.3f}, "
        f"which {reaches} within {ROOM:.0%} of print or better (see *What the printed "
        "numbers need*)."
    ]


def _within(table: Table, value: float, place: Place) -> bool:
    return table.reproduced(value, _printed(table, place))


def trimmed(table: Table, ours: dict[str, float], place: Place) -> list[str]:
    """What another solver and a penalty make of the same trimming."""
    if EXACT not in ours:
        return []
    reaches = "is" if _within(table, ours[EXACT], place) else "is not"
    return [
        f"As many rows trimmed by concentration and with a penalty "
        f"({shown(EXACT)}) give {ours[EXACT]:.3f}, which {reaches} within {ROOM:.0%} "
        "of print or better."
    ]


def uneven(own: list[Record]) -> list[str]:
    """Whether one class is trimmed clearly more than the rows as a whole."""
    least = [r["least_kept"] for r in own if "least_kept" in r]
    if not least:
        return []
    kept, whole = float(np.mean(least)), 1.0 - own[0]["cell"]["share"]
    if kept >= UNEVEN * whole:
        return []
    return [
        "Trimming is not even between classes: of the one of which least is kept, "
        f"{kept:.0%} of the rows are (mean over seeds), of all rows {whole:.0%}."
    ]

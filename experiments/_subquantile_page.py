"""Pages of the subquantile paper's tables: numbers, verdict, order, figure.

Every statement with a number is made of the records.
"""

import numpy as np

from experiments._drawing import grid, logarithmic, shared_legend, style
from experiments._experiment import Record
from experiments._page import Page, difference, mean_sd
from experiments._subquantile import ADDED, EXACT, ORACLE, PAPERS, RAW_TARGETS
from experiments._subquantile_table import (
    CLEAR,
    ROOM,
    TITLES,
    Place,
    Table,
    means,
    named,
    shown,
)
from experiments._subquantile_why import explanation


def number_tables(table: Table, records: list[Record], page: Page) -> None:
    """Paper, ours and difference for every method, a table for each data set."""
    places = table.places(records)
    for data in dict.fromkeys(place[0] for place in places):
        own = [place for place in places if place[0] == data]
        page.heading(TITLES[data])
        columns = ["method"]
        for _, column in own:
            columns += [f"{column}: paper", "ours", "difference"]
        rows = []
        for method in table.methods:
            row = [shown(method) + (" (added)" if method in ADDED else "")]
            for place in own:
                values = table.values(records, method, place)
                paper = table.paper(method, place)
                row.append(table.quoted(method, place))
                row.append(mean_sd(values))
                row.append(difference(float(np.mean(values)), paper) if values else "–")
            rows.append(row)
        page.table(columns, rows)


def verdicts(table: Table, records: list[Record]) -> dict[Place, str]:
    """What is said of each cell of the paper's method (see `Table.verdict`)."""
    found = {}
    for place in table.places(records):
        paper = table.paper(PAPERS, place)
        values = table.values(records, PAPERS, place)
        if paper is not None and values:
            found[place] = table.verdict(values, paper)
    return found


def counted(found: dict[Place, str]) -> str:
    """How many cells agree, and which are better, worse or unclear."""
    agree = sum(kind == "agrees" for kind in found.values())
    text = f"{agree} of {len(found)} cells"
    for kind, words in (
        ("worse", "worse in"),
        ("better", "better than printed, which is no reproduction either, in"),
        ("unclear", "too uncertain to tell in"),
    ):
        names = "; ".join(named(place) for place, own in found.items() if own == kind)
        text += f"; {words}: {names}" if names else ""
    return text


def verdict(table: Table, records: list[Record], page: Page) -> None:
    """How many cells of the paper's method reproduce, and why the others may not."""
    page.heading("Does the paper's method reproduce?")
    page.say(
        f"A cell agrees if the mean is within {ROOM:.0%} of the printed number, above "
        "or below, or within two of its standard errors where that error is at most "
        f"{CLEAR:.1%} of the number."
    )
    found = verdicts(table, records)
    for apart in (False, True):
        own = {p: kind for p, kind in found.items() if (p[0] in table.apart) == apart}
        if own:
            start = "Apart, since trained on a small part of the rows: " * apart
            page.say(f"{start}{PAPERS} agrees in {counted(own)}.")
    for place, kind in found.items():
        if kind in ("worse", "unclear"):
            page.say(f"*{named(place)}.* " + explanation(table, records, place))


def order_table(table: Table, records: list[Record], page: Page) -> None:
    """Who is best in each cell, and who beats the paper's method there."""
    page.heading("Order, cell by cell")
    page.say(
        "Means over seeds. *Ours* is the paper's method as run here; the oracle is "
        "told which rows are wrong and takes no part. Then: methods of the printed "
        "table that beat it here, those that beat it in print, and added ones that "
        "beat it here."
    )
    rows, lost = [], 0
    for place in table.places(records):
        ours = means(table, records, place)
        if PAPERS not in ours:
            continue
        rivals = {m: v for m, v in ours.items() if m != ORACLE}
        pick = max if table.accuracy else min
        best = pick(rivals, key=lambda m: rivals[m])
        ahead = [m for m in rivals if table.better(rivals[m], rivals[PAPERS])]
        before = [m for m in ahead if m not in ADDED]
        lost += bool(before)
        printed = _printed_ahead(table, place)
        rows.append(
            (
                named(place),
                f"{shown(best)} {rivals[best]:.3f}",
                f"{ours[PAPERS]:.3f}",
                ", ".join(before) or "none",
                printed,
                ", ".join(shown(m) for m in ahead if m in ADDED) or "none",
            )
        )
    columns = ["cell", "best", "ours", "lost to", "lost to, printed", "lost to, added"]
    page.table(columns, rows)
    page.say(
        f"{PAPERS} is ahead of every other method of the printed table in "
        f"{len(rows) - lost} of {len(rows)} cells."
    )


def _printed_ahead(table: Table, place: Place) -> str:
    own = table.paper(PAPERS, place)
    if own is None:
        return "–"
    names = []
    for method in table.methods:
        value = table.paper(method, place)
        if method not in (PAPERS, ORACLE) and value is not None:
            names += [method] if table.better(value, own) else []
    return ", ".join(names) or "none"


def paired(table: Table, records: list[Record], page: Page) -> None:
    """The trimmed fit of lrisk against the paper's algorithm on the same draws."""
    rows, worse, alike = [], [], 0
    for place in table.places(records):
        own = [r["error"] for r in table.at(records, place)]
        own = [r for r in own if EXACT in r and PAPERS in r]
        if len(own) < 2:
            continue
        gains = np.array([r[EXACT] - r[PAPERS] for r in own])
        error = float(gains.std(ddof=1)) / len(own) ** 0.5
        mean = float(gains.mean())
        lost = mean < -max(0.01, 3 * error)
        worse += [named(place)] * lost
        alike += not lost and mean <= max(0.01, 3 * error)
        values = [f"{np.mean([r[m] for r in own]):.3f}" for m in (PAPERS, EXACT)]
        rows.append((named(place), *values, f"{mean:+.3f} ± {error:.3f}"))
    if not rows:
        return
    page.heading("lrisk's default beside the paper's algorithm")
    page.say(
        "Means over the same draws, and the mean difference with its standard error. "
        f"{shown(EXACT)} has a penalty, and an intercept where the kernel is linear; "
        "the paper's algorithm has a number of steps in their place."
    )
    page.table(["cell", PAPERS, shown(EXACT), "difference"], rows)
    page.say(
        f"Beyond one point and three standard errors {shown(EXACT)} is worse in "
        f"{len(worse)} of {len(rows)} cells{_listed(worse)}, and better in "
        f"{len(rows) - len(worse) - alike}."
    )


def _listed(names: list[str]) -> str:
    return f" ({'; '.join(names)})" if names else ""


#: Marks of the columns of a table.
MARKS = ("o", "s", "^", "D", "v", "P", "X")


def dots(table: Table, records: list[Record], page: Page, words: str) -> None:
    """Printed numbers as open marks, ours as filled ones with standard deviation.

    Each column of the table has a mark of its own beside its colour.
    """
    places = table.places(records)
    sets = list(dict.fromkeys(place[0] for place in places))
    wide = min(2, len(sets))
    figure, axes = grid(
        -(-len(sets) // wide), wide, width=4.4, height=0.28 * len(table.methods) + 0.8
    )
    heights = np.arange(len(table.methods))[::-1]
    for ax, data in zip(axes.flat, sets):
        own = [place for place in places if place[0] == data]
        for index, place in enumerate(own):
            shift = 0.18 * ((len(own) - 1) / 2 - index)
            mark = MARKS[index % len(MARKS)]
            look = {"color": style(index)["color"], "marker": mark, "linestyle": "none"}
            for height, method in zip(heights, table.methods):
                values = table.values(records, method, place)
                if values:
                    sd = np.std(values, ddof=1) if len(values) > 1 else 0.0
                    ax.errorbar(
                        np.mean(values), height + shift, xerr=sd,
                        markersize=4, label=f"ours, {place[1]}", **look,
                    )  # fmt: skip
                paper = table.paper(method, place)
                if paper is not None:
                    ax.plot(
                        paper, height + shift, markersize=6,
                        markerfacecolor="none", label=f"paper, {place[1]}", **look,
                    )  # fmt: skip
        ax.set_yticks(heights, [shown(method) for method in table.methods])
        ax.set_ylim(-0.7, len(heights) - 0.3)
        raw = " (target not standardised)" if data in RAW_TARGETS else ""
        ax.set_title(TITLES[data])
        ax.set_xlabel("test accuracy" if table.accuracy else f"test RMSE{raw}")
        left, right = ax.get_xlim()
        if not table.accuracy and right > 5 * max(left, 0.0) and right > 5:
            logarithmic(ax)
    for ax in list(axes.flat)[len(sets) :]:
        ax.set_visible(False)
    shared_legend(figure, axes)
    page.figure(figure, words)


def write(table: Table, records: list[Record], page: Page, words: str) -> None:
    """The whole page after its introduction."""
    number_tables(table, records, page)
    verdict(table, records, page)
    order_table(table, records, page)
    if table.accuracy:
        paired(table, records, page)
    dots(table, records, page, words)
    failed = sorted(
        {
            f"{shown(m)} on {r['cell']['data']}: {why}"
            for r in records
            for m, why in r["failed"].items()
        }
    )
    if failed:
        page.say("Failed: " + "; ".join(failed) + ".")

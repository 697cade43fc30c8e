"""What table 3 of the subquantile paper hangs on: start, step, filter and scale.

The paper prints neither its step size nor how far from the mean a row must lie for the
filter of its section 3.2 to leave it out. Everything here looks at training rows alone
and at no mask; the number of wrong rows is told, as it is to the paper's algorithm.
"""

import functools
import warnings
from itertools import product
from typing import Any

import numpy as np
from benchmarks._robust_data import Rows
from sklearn.preprocessing import RobustScaler

from experiments._experiment import Record
from experiments._page import Page
from experiments._subquantile import (
    CLASS_STEPS,
    FILTERED,
    PAPERS,
    along,
    held_out_losses,
    paper_model,
)
from experiments._subquantile_table import Place, Table, named
from experiments._subquantile_words import joined
from lrisk.solvers import SubquantileGradient

#: Starts and steps by the solver's names, and as the page calls them.
STARTS = {"zero": "zero", "weights": "d weights", "glorot": "n coefficients"}
RATES = {"auto": "all rows", "kept": "kept rows", "line_search": "line search"}
#: Deviations of k(x, x) from the median at which the filter leaves a row out; what was
#: multiplied by 100 lies thousands of them out, what was not seldom ten.
FAR = 10.0

WORDS = """
Section 3.2 of the paper leaves out, before any step, rows whose k(x, x) is far from the
mean; it does not say how far, nor whether the experiments did so. *{filtered}* is the
algorithm with that filter, at {far:g} robust deviations from the median. It starts at
zero; size (1/β of all rows, 1/β of the kept rows, a line search on their loss) and
number of the steps ({steps}) have the least held-out log-loss in three folds of the
training rows, without the largest losses. Its features are standardised by the half of
the training rows nearest to the middle (medians, quartiles): no mask, and no test row,
is looked at.
"""
CHOICES = """
The next table has every combination, with the same features, after {last:,} steps.
*d weights* and *n coefficients* are Glorot's starts (±√(6/(d + 1)) for the weights of a
layer; ±√(6/n) for one coefficient of each row, as the paper has it), a new draw for
every seed.
"""


def by_the_middle(rows: Rows) -> Rows:
    """Features standardised by the half of the training rows nearest to the middle.

    The distance is that of columns in quartiles from their medians.
    """
    distance = np.linalg.norm(RobustScaler().fit_transform(rows.X), axis=1)
    return rows.scaled(distance <= np.median(distance))


def procedure(rows: Rows, steps: tuple[int, ...]) -> tuple[float, Record]:
    """Test accuracy of the algorithm with its filter, and the steps it chose."""
    rows = by_the_middle(rows)
    make = functools.partial(paper_model, rows, "linear", None, True)
    losses = {}
    for rate in RATES:
        options = {"learning_rate": rate, "kernel_filter": FAR}
        values = held_out_losses(make, rows, steps, True, **options)
        losses |= {(rate, count): v for count, v in zip(steps, values, strict=True)}
    rate, count = min(losses, key=lambda choice: losses[choice])
    options = {"learning_rate": rate, "kernel_filter": FAR}
    (model,) = along(make(), [count], rows.X, rows.y, **options)
    return float(model.score(rows.test_X, rows.test_y)), {"rate": rate, "steps": count}


def choices(rows: Rows, steps: int, seed: int) -> dict[str, float]:
    """Test accuracy of every combination of start, step and filter."""
    rows, found = by_the_middle(rows), {}
    for start, rate, limit in product(STARTS, RATES, (None, FAR)):
        solver = SubquantileGradient(
            max_iter=steps, start=start, learning_rate=rate, kernel_filter=limit
        )
        model = paper_model(rows, "linear", None, True)
        model.set_params(solver=solver, random_state=seed).fit(rows.X, rows.y)
        found[_key(start, rate, limit)] = float(model.score(rows.test_X, rows.test_y))
    return found


def _key(start: str, rate: str, limit: float | None) -> str:
    return f"{start}, {rate}, {'filter' if limit else 'no filter'}"


def study(rows: Rows, steps: tuple[int, ...], seed: int) -> Record:
    """The procedure in a cell, and all combinations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # steps that diverge
        accuracy, chosen = procedure(rows, steps)
        return {
            "filtered": accuracy,
            "chosen": chosen,
            "choices": choices(rows, steps[-1], seed),
        }


def report(table: Table, records: list[Record], page: Page) -> None:
    """The procedure beside the printed numbers, and what each choice makes."""
    page.heading("What the printed numbers need")
    last = max(r["cell"]["last"] for r in records)
    steps = ", ".join(f"{count:,}" for count in CLASS_STEPS if count <= last)
    page.say(joined(WORDS.format(filtered=FILTERED, far=FAR, steps=steps)))
    places = table.places(records)
    rows, agree = [], 0
    for place in places:
        own = [r["chosen"] for r in table.at(records, place)]
        verdict = _verdict(table, records, place)
        agree += verdict == "agrees"
        rates = [RATES[one["rate"]] for one in own]
        rows.append(
            (
                named(place),
                table.quoted(PAPERS, place),
                *(_mean(table.values(records, m, place)) for m in (PAPERS, FILTERED)),
                verdict,
                _commonest(rates),
                _commonest([f"{one['steps']:,}" for one in own]),
            )
        )
    columns = [
        "cell", "printed", PAPERS, FILTERED, "verdict", "step, mostly",
        "number, mostly",
    ]  # fmt: skip
    page.table(columns, rows)
    page.say(f"With its filter the algorithm agrees in {agree} of {len(rows)} cells.")
    page.say(joined(CHOICES.format(last=last)))
    page.table(["start", "step", "filter", *map(named, places)], _rows(table, records))
    page.say(joined(_summary(table, records)))


def _verdict(table: Table, records: list[Record], place: Place) -> str:
    paper = table.paper(PAPERS, place)
    assert paper is not None
    return table.verdict(table.values(records, FILTERED, place), paper)


def _mean(values: Any) -> str:
    return f"{np.mean(values):.3f}"


def _commonest(names: list[str]) -> str:
    return max(dict.fromkeys(names), key=names.count)


def _values(table: Table, records: list[Record], place: Place, key: str) -> list[float]:
    return [r["choices"][key] for r in table.at(records, place)]


def _rows(table: Table, records: list[Record]) -> list[tuple[str, ...]]:
    return [
        (
            STARTS[start],
            RATES[rate],
            "yes" if limit else "no",
            *(
                _mean(_values(table, records, place, _key(start, rate, limit)))
                for place in table.places(records)
            ),
        )
        for start, rate, limit in product(STARTS, RATES, (None, FAR))
    ]


def _summary(table: Table, records: list[Record]) -> str:
    """In how many cells each combination agrees with print."""
    places, counts = table.places(records), {}
    for start, rate, limit in product(STARTS, RATES, (None, FAR)):
        key, agree = _key(start, rate, limit), 0
        for place in places:
            paper = table.paper(PAPERS, place)
            assert paper is not None
            values = _values(table, records, place, key)
            agree += table.verdict(values, paper) == "agrees"
        counts[STARTS[start], RATES[rate], bool(limit)] = agree
    text = []
    for limit in (False, True):
        own = {key[:2]: count for key, count in counts.items() if key[2] is limit}
        best, least = max(own.values()), min(own.values())
        names = [f"{s} with {r}" for (s, r), count in own.items() if count == best]
        text.append(
            f"{'With' if limit else 'Without'} the filter between {least} and {best} "
            f"of {len(places)} cells agree, most from {' and '.join(names)}."
        )
    return " ".join(text)

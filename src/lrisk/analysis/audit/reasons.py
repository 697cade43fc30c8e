"""Why a row does not fit, in words."""

import numpy as np

from ..._typing import Floats, Indices
from ...tables import Table
from .crossfit import CrossFit

#: Rows that are explained column by column, at most; the others by their target only.
MOST_EXPLAINED = 2000
#: Contribution from which on a column is named, for numbers (squared scales) and for
#: classes (nats); most columns named; scales from which on features are far out.
NAMED, NAMED_NATS, MOST_NAMED, FAR_OUT = 4.0, 0.5, 2, 4.0


def explain(table: Table, found: CrossFit, at: Indices) -> dict[int, list[str]]:
    """Reasons by position among the used rows, from models that did not see them."""
    words = {int(i): [_of_target(table, found, int(i))] for i in at}
    for k, fold in enumerate(found.folds):
        own = at[found.fold[at] == k][:MOST_EXPLAINED]
        if not len(own):
            continue
        X = fold.preparation.transform(found.rows[own])
        told = fold.robust.explain_outliers(X, table.y[found.rows[own]])
        blame = _by_column(told.contributions, fold.preparation.origin_)
        for i, row, leverage in zip(own, blame, told.leverage):
            words[int(i)] += _of_columns(table, found, int(i), row, float(leverage))
    return words


def _by_column(contributions: Floats, origin: Indices) -> Floats:
    """Blame of design columns, summed by the column they come from."""
    total = np.zeros((len(contributions), int(origin.max()) + 1))
    np.add.at(total.T, origin, np.maximum(contributions, 0.0).T)
    return total


def _of_target(table: Table, found: CrossFit, i: int) -> str:
    row = int(found.rows[i])
    name, shown = table.target.name[:60], table.target_shown(row)
    if table.task == "classification":
        chance = found.expected[i]
        likely = expected_of(table, found, i)
        own = table.classes[int(table.y[row])]
        if likely == own:
            return f"{name} = {shown}: the label fits (chance {percent(chance)})."
        return (
            f"{name} = {shown} has a chance of {percent(chance)}; {likely} is likelier."
        )
    away = (table.y[row] - found.expected[i]) / found.scale[i]
    side = "above" if away > 0 else "below"
    return (
        f"{name} = {shown} is {number(abs(away))} noise scales {side} "
        f"the {number(found.expected[i])} expected."
    )


def _of_columns(
    table: Table, found: CrossFit, i: int, blame: Floats, leverage: float
) -> list[str]:
    classes = table.task == "classification"
    least = NAMED_NATS if classes else NAMED
    row = int(found.rows[i])
    words = []
    for j in np.argsort(-blame, kind="stable")[:MOST_NAMED]:
        if blame[j] < least:
            break
        column = table.features[j]
        shown = column.shown(row)
        what = f"{column.name[:60]} = {shown[:40]}" if shown else \
            f"missing {column.name[:60]}"  # fmt: skip
        end = "speaks for another class" if classes else \
            "is unusual beside the row's other columns"  # fmt: skip
        words.append(f"{what} {end}.")
    if not words and leverage > FAR_OUT:
        words.append("Its values lie far outside the usual ranges.")
    return words


def expected_of(table: Table, found: CrossFit, i: int) -> str:
    """What was expected of a row, as text."""
    if table.task == "regression":
        return number(found.expected[i])
    return table.classes[int(found.likeliest[i])]


def number(value: float) -> str:
    """Three significant digits, without an exponent below a billion."""
    text = f"{value:.3g}"
    return f"{value:.0f}" if "e+" in text and abs(value) < 1e9 else text


def percent(share: float) -> str:
    """A share in words: 3.4 %, 12 %, below 0.1 %."""
    if 0.0 < share < 0.001:
        return "below 0.1 %"
    if share == 0.0:
        return "0 %"
    digits = 1 if share < 0.0995 else 0
    return f"{100.0 * share:.{digits}f} %"


def counted(count: int, one: str, many: str = "") -> str:
    """A number and its noun: 1 row, 2 rows."""
    return f"{count} {one if count == 1 else many or one + 's'}"

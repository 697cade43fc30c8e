"""Why a row does not fit: facts about its target and its columns, and their words."""

import numpy as np

from ..._typing import Floats, Indices
from ...tables import Table
from .crossfit import CrossFit
from .facts import Reason
from .numbers import number, percent

#: Rows that are explained column by column, at most; the others by their target only.
MOST_EXPLAINED = 2000
#: Contribution from which on a column is named, for numbers (squared scales; a target
#: nearer than that fits) and for classes (nats); most columns named; scales from which
#: on features are far out.
NAMED, NAMED_NATS, MOST_NAMED, FAR_OUT = 4.0, 0.5, 2, 4.0


def explain(table: Table, found: CrossFit, at: Indices) -> dict[int, list[Reason]]:
    """Reasons by row, counted from 1, from models that did not see it.

    The target comes first, unless it fits and a column does not. `at` are positions
    among the used rows.
    """
    reasons = {int(found.rows[i]) + 1: [_of_target(table, found, int(i))] for i in at}
    for k, fold in enumerate(found.folds):
        own = at[found.fold[at] == k][:MOST_EXPLAINED]
        if not len(own):
            continue
        rows = found.rows[own]
        X = fold.preparation.transform(rows)
        told = fold.robust.explain_outliers(X, table.y[rows])
        blame = _by_column(told.contributions, fold.preparation.origin_)
        for row, parts, leverage in zip(rows, blame, told.leverage):
            of_columns = _of_columns(table, int(row), parts, leverage)
            of_target = reasons[int(row) + 1]
            reasons[int(row) + 1] = (
                of_columns + of_target
                if _fits(of_target[0])
                else of_target + of_columns
            )
    return reasons


def _fits(reason: Reason) -> bool:
    """Whether a target is so near that it is not what its row was flagged for."""
    return bool(reason.numbers.get("scales", np.inf) < np.sqrt(NAMED))


def reason_words(reason: Reason) -> str:
    """One sentence, with the values of cells or, where they were left out, without."""
    name = " and ".join(column[:60] for column in reason.columns)
    shown, numbers = reason.values.get("value", ""), reason.numbers
    what = f"{name} = {shown[:40]}" if shown else name
    if reason.kind in ("above", "below"):
        far = f"{number(numbers['scales'])} noise scales {reason.kind}"
        return f"{what} is {far} what is expected{_expected(reason)}."
    if reason.kind == "label":
        likely = reason.values.get("likely", "another class")
        return f"{what} has a chance of {percent(numbers['chance'])}; " \
            f"{likely} is likelier."  # fmt: skip
    if reason.kind == "label fits":
        return f"{what}: the label fits (chance {percent(numbers['chance'])})."
    return {
        "exchanged": f"{name} look exchanged.",
        "missing": f"missing {name} is unusual beside the row's other columns.",
        "unusual": f"{what} is unusual beside the row's other columns.",
        "other class": f"{what} speaks for another class.",
    }.get(reason.kind, "Its values lie far outside the usual ranges.")


def _expected(reason: Reason) -> str:
    return f", {reason.values['expected']}" if "expected" in reason.values else ""


def _by_column(contributions: Floats, origin: Indices) -> Floats:
    """Blame of design columns, summed by the column they come from."""
    total = np.zeros((len(contributions), int(origin.max()) + 1))
    np.add.at(total.T, origin, np.maximum(contributions, 0.0).T)
    return total


def _of_target(table: Table, found: CrossFit, i: int) -> Reason:
    row = int(found.rows[i])
    columns, values = [table.target.name], {"value": table.target_shown(row)}
    if table.task == "classification":
        chance = {"chance": float(found.expected[i])}
        likely = int(found.likeliest[i])
        if likely == int(table.y[row]):
            return Reason("label fits", columns, chance, values)
        values["likely"] = table.classes[likely]
        return Reason("label", columns, chance, values)
    away = float((table.y[row] - found.expected[i]) / found.scale[i])
    values["expected"] = number(found.expected[i])
    side = "above" if away > 0 else "below"
    return Reason(side, columns, {"scales": abs(away)}, values)


def _of_columns(table: Table, row: int, blame: Floats, leverage: float) -> list[Reason]:
    classes = table.task == "classification"
    least = NAMED_NATS if classes else NAMED
    reasons = []
    for j in np.argsort(-blame, kind="stable")[:MOST_NAMED]:
        if blame[j] < least:
            break
        column = table.features[j]
        shown = column.shown(row)
        kind = "other class" if classes else "unusual" if shown else "missing"
        values = {"value": shown} if shown else {}
        reasons.append(Reason(kind, [column.name], {}, values))
    if not reasons and leverage > FAR_OUT:
        reasons.append(Reason("far", [], {}, {}))
    return reasons


def expected_of(table: Table, found: CrossFit, i: int) -> str:
    """What was expected of a row, as text that can be read as a number again."""
    if table.task == "regression":
        return f"{found.expected[i]:.6g}"
    return table.classes[int(found.likeliest[i])]

"""What changed since an earlier audit, whose ``audit.json`` may be anybody's."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from ..._params import refused
from .facts import LossCurve

#: What is compared of every fit's losses.
MEASURES = ("mean", "median", "q95", "superquantile")


def check_comparable(before: Any) -> None:
    """ValueError unless it holds all that `comparison` reads, of the right kinds."""
    if not isinstance(before, dict):
        raise _not_an_audit(type(before).__name__)
    flags, interval = before.get("flags"), before.get("interval")
    if not isinstance(flags, list) or not all(f in (True, False) for f in flags):
        raise _not_an_audit("flags that are none")
    if not isinstance(before.get("n_rows"), Integral) or before["n_rows"] != len(flags):
        raise _not_an_audit("another number of rows than of flags")
    if (
        not isinstance(interval, list | tuple)
        or len(interval) != 2
        or not all(_is_number(end) for end in interval)
    ):
        raise _not_an_audit("an interval that is none")
    if not _is_number(before.get("contamination"), or_none=True):
        raise _not_an_audit("a share that is no number")
    if not isinstance(before.get("source"), str):
        raise _not_an_audit("no name of its data")
    losses = before.get("losses")
    if not isinstance(losses, list) or not all(_is_curve(curve) for curve in losses):
        raise _not_an_audit("losses that are none")


def check_same_target(before: dict[str, Any], target: str, task: str) -> None:
    """ValueError if an earlier audit says that it is of another target or task."""
    for name, now in (("target", target), ("task", task)):
        then = before.get(name, now)
        if then != now:
            rule = f"an audit of the {name} {now!r}"
            remedy = f"give an audit.json of this {name}, or choose {then!r}"
            raise ValueError(refused("audit", "compare", rule, then, remedy))


def _is_curve(curve: Any) -> bool:
    return (
        isinstance(curve, dict)
        and isinstance(curve.get("name"), str)
        and all(key in curve and _is_number(curve[key], or_none=True)
                for key in MEASURES)
    )  # fmt: skip


def _is_number(value: Any, or_none: bool = False) -> bool:
    if value is None:
        return or_none
    return isinstance(value, Real) and not isinstance(value, bool) and value == value


def _not_an_audit(got: str) -> ValueError:
    rule, remedy = "an earlier audit's to_dict()", "give an audit.json of lrisk"
    return ValueError(refused("audit", "compare", rule, got, remedy))


def comparison(
    before: dict[str, Any],
    contamination: float,
    interval: tuple[float, float],
    flags: Any,
    curves: list[LossCurve],
) -> dict[str, Any]:
    """What changed since an earlier audit (its audit.json)."""
    then, now = int(np.sum(before["flags"])), int(np.sum(flags))
    changed: dict[str, Any] = {
        "source": before["source"],
        "rows": [int(before["n_rows"]), len(flags)],
        "contamination": [before["contamination"], contamination],
        "interval": [list(before["interval"]), list(interval)],
        "flagged": [then, now],
    }
    earlier = {curve["name"]: curve for curve in before["losses"]}
    changed["losses"] = {
        curve.name: {
            key: [earlier[curve.name][key], getattr(curve, key)] for key in MEASURES
        }
        for curve in curves
        if curve.name in earlier
    }
    changed["text"] = change_words(changed)
    if len(before["flags"]) == len(flags):
        old, new = np.array(before["flags"], dtype=bool), np.asarray(flags)
        for key, moved in (
            ("newly_flagged", new & ~old),
            ("no_longer_flagged", old & ~new),
        ):
            changed[key] = [int(i) + 1 for i in np.flatnonzero(moved)][:500]
    return changed


def change_words(changed: dict[str, Any]) -> str:
    """A comparison's numbers of flagged rows and intervals in one sentence."""
    then, now = changed["flagged"]
    before, after = changed["interval"]
    apart = after[0] > before[1] or after[1] < before[0]
    clear = "clearly differ" if apart else "do not clearly differ"
    word = "More" if now > then else "Fewer" if now < then else "As many"
    link = "as" if now == then else "than"
    return (
        f"{word} rows flagged {link} before ({then} then, {now} now); the estimated "
        f"shares {clear}."
    )

"""What each stage and each constant of the robust regression is worth.

    python -m benchmarks.ablation [stages] [constants] [--only held_beyond forest ...]
        [--together] [--seeds 2] [--jobs 2] [--page page.md]

Drops one stage (all that are named, with --together), or halves and doubles one
constant, and fits the same tables of development data again. Printed are changes
against the method as it is: of the error (mean over tables in per cent, with its
standard error, and the worst table), of the distance of the estimated share from the
truth, of false flags among right rows, both in points, and of CPU time. A share above
one half is not doubled but moved half way to one. What changes nothing is deleted.
"""

import argparse
import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks._ablation_data import Outcome, outcome, tables
from lrisk.procedures.outliers import assessment, leverage, line, regression, table
from lrisk.procedures.outliers.constants import CONSTANTS
from lrisk.procedures.outliers.populations import Populations
from lrisk.procedures.outliers.tails import Tails


def none_of(rows: Any, *_: Any, **__: Any) -> Any:
    """No row."""
    return np.zeros(len(rows), dtype=bool)


#: What takes the place of a stage: where it is, its name there, and the substitute.
STAGES: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "line as reference": (assessment, "line_reference", lambda *_: None),
    "ordinary reference": (assessment, "predictable_ratio", lambda *_: 1.0),
    "columns rescaled": (assessment.Columns, "differ", lambda *_: False),
    "reference refitted": (assessment, "_polished", lambda y, found, *_: found),
    "point mass": (assessment, "has_point_mass", lambda *_: False),
    "ties spread": (assessment, "dithered", lambda residuals, _: residuals),
    "values of another unit": (table, "contradicted_values", none_of),
    "rows beyond the tail": (
        Tails,
        "expected_beyond",
        lambda self, u: np.full(len(u), np.inf),
    ),
    "both tails cut": (Populations, "mirrored", lambda self, u: none_of(u)),
    "rows foreseen let in": (regression, "_foreseen", lambda fit, X, *_: none_of(X)),
    "groups apart": (regression, "find_leverage_rows", none_of),
    "graphs of groups": (leverage, "groups_apart", lambda *_: []),
    "several lines": (line, "_worth_most", lambda lines, *_: lines[0]),
    "rows round a row": (line, "alone", none_of),
    "far rows let in": (line, "_with_far_rows", lambda rows, found, *_: found),
}


def changed(name: str, factor: float) -> Any:
    """Half or twice of a constant."""
    value = getattr(CONSTANTS, name)
    many = value if isinstance(value, tuple) else (value,)
    out = []
    for one in many:
        if factor > 1.0 and isinstance(one, float) and 0.5 < one < 1.0:
            out.append(0.5 * (1.0 + one))
        elif isinstance(one, int):
            out.append(max(1, round(one * factor)))
        else:
            out.append(one * factor)
    return tuple(out) if isinstance(value, tuple) else out[0]


def variations(kinds: list[str], only: list[str]) -> Iterator[str]:
    """Names of all that is tried."""
    if "stages" in kinds:
        yield from (f"without {name}" for name in STAGES if _asked(name, only))
    if "constants" in kinds:
        for field in dataclasses.fields(CONSTANTS):
            if _asked(field.name, only):
                yield from (f"{field.name} × {factor}" for factor in ("½", "2"))


def _asked(name: str, only: list[str]) -> bool:
    return not only or any(word in name for word in only)


@contextlib.contextmanager
def applied(name: str) -> Iterator[None]:
    """One variation, undone at the end; "" is the method as it is."""
    if not name:
        yield
    elif name.startswith("without "):
        with contextlib.ExitStack() as dropped:
            for stage in name.removeprefix("without ").split(" + "):
                place, what, substitute = STAGES[stage]
                dropped.enter_context(mock.patch.object(place, what, substitute))
            yield
    else:
        field, factor = name.split(" × ")
        before = getattr(CONSTANTS, field)
        value = changed(field, 0.5 if factor == "½" else 2.0)
        object.__setattr__(CONSTANTS, field, value)  # frozen for all others
        try:
            yield
        finally:
            object.__setattr__(CONSTANTS, field, before)


def run(job: tuple[str, int]) -> list[Outcome]:
    """All tables under one variation; NaN where a fit fails."""
    name, seeds = job
    with applied(name):
        found = []
        for rows in tables(seeds):
            try:
                found.append(outcome(rows))
            except Exception:
                found.append(Outcome(np.nan, np.nan, np.nan, np.nan))
        return found


def compared(base: list[Outcome], other: list[Outcome]) -> str:
    """One line of the page."""
    old, new = np.array(base), np.array(other)
    failed = int(np.sum(np.isnan(new[:, 0])))
    change = 100.0 * (new[:, 0] / old[:, 0] - 1.0)
    change = change[~np.isnan(change)]
    se = np.std(change, ddof=1) / np.sqrt(len(change))
    share, false = 100.0 * np.nanmean(new[:, 1:3] - old[:, 1:3], axis=0)
    speed = np.nansum(new[:, 3]) / np.sum(old[:, 3])
    same = "" if np.any(np.abs(change) > 1e-9) or failed else "nothing"
    words = f"{failed} failed" if failed else same
    return (
        f"{change.mean():+.1f} ± {se:.1f} | {change.max():+.0f} | {share:+.1f} | "
        f"{false:+.2f} | {speed:.2f} | {words} |"
    )


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser("benchmarks.ablation", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("kinds", nargs="*", choices=["stages", "constants", []])
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--together", action="store_true", help="drop all of them")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", type=Path, help="where to write the table (Markdown)")
    options = parser.parse_args(given)
    kinds = options.kinds or ["stages", "constants"]
    names = ["", *variations(kinds, options.only)]
    if options.together:
        stages = [s for s in STAGES if _asked(s, options.only)]
        names = ["", "without " + " + ".join(stages)]
    lines = [
        "| change | error, % | worst, % | share | false flags | time | |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    with ProcessPoolExecutor(options.jobs) as pool:
        base: list[Outcome] = []
        jobs = [(name, options.seeds) for name in names]
        for name, found in zip(names, pool.map(run, jobs), strict=True):
            if not name:
                base = found
                continue
            lines.append(f"| {name} | {compared(base, found)}")
            print(lines[-1], flush=True)
    if options.page is not None:
        options.page.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

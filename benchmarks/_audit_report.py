"""Words and verdicts of the benchmark of the audit: goals are those of its issue."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks._audit_errors import TARGET_SLIPS
from benchmarks._audit_rivals import NAMES
from benchmarks._audit_scores import Alarms, Count, total

#: The audit among the methods: by its flags, and by the section whose matter it is.
OURS, SECTION = "lrisk", "lrisk, section"
METHODS = (OURS, SECTION, *NAMES)
#: Precision and recall of slips of the target; recall of features ×10 by the section of
#: columns; of copies; share of the bad sources that are named.
TARGETS, FEATURES, COPIES, SOURCES = 0.95, 0.9, 1.0, 0.8
#: Share of tables with a false slip, at most; of clean tables without a row flagged,
#: and without a false claim, at least.
FALSE_SLIPS, NOT_FLAGGED, NO_CLAIM = 0.05, 0.95, 0.9


class Outcome(NamedTuple):
    """What was said of one table.

    counts : by method, rows named and wrong
    named_by : sections that name what was planted
    false : claims that are false, in words
    false_slip : whether a slip is stated that there is not
    alarms : rows flagged falsely, and expected
    """

    counts: dict[str, Count]
    named_by: tuple[str, ...]
    false: tuple[str, ...]
    false_slip: bool
    alarms: Alarms
    seconds: float


class Goal(NamedTuple):
    """A number and its limit."""

    name: str
    value: float
    limit: float
    at_least: bool = True

    @property
    def met(self) -> bool:
        """Whether it is kept; not if there is no number at all."""
        if self.at_least:
            return self.value >= self.limit
        return self.value <= self.limit

    def words(self) -> str:
        """The verdict in one line."""
        sign = "≥" if self.at_least else "≤"
        text = f"{self.name}: {self.value:.4g} ({sign} {self.limit:g})"
        if self.met:
            return f"{text}: met"
        if self.value != self.value:
            return f"{text}: MISSED, nothing was named"
        return f"{text}: MISSED by {abs(self.value - self.limit):.3g}"


def shown(value: float) -> str:
    """Two digits, or a dash where there is nothing."""
    return "–" if value != value else f"{value:.2f}"


def pooled(outcomes: list[Outcome], method: str) -> Count | None:
    """All tables of a kind together; None for a method that does not take them."""
    found = [o.counts[method] for o in outcomes if method in o.counts]
    return total(found) if found else None


def alarms(outcomes: list[Outcome]) -> Alarms:
    """False flags of all tables together."""
    return Alarms(
        sum(o.alarms.actual for o in outcomes),
        sum(o.alarms.expected for o in outcomes),
    )


def of_alarms(found: Alarms) -> str:
    """Actual and expected number, the interval, and whether it holds."""
    low, high = found.interval
    verdict = "inside" if found.fits else "OUTSIDE"
    return (
        f"{found.actual} rows flagged falsely, {found.expected:.1f} expected, "
        f"{verdict} {low}–{high}"
    )


def of_kind(name: str, outcomes: list[Outcome]) -> str:
    """Precision and recall of every method, causes named, false claims."""
    lines = [f"-- {name}: {len(outcomes)} tables"]
    for method in METHODS:
        count = pooled(outcomes, method)
        if count is not None:
            seen = f", visible {shown(count.visible_recall)} of {count.visible}"
            lines.append(
                f"   {method:<16}{shown(count.precision):>5}/"
                f"{shown(count.recall):<5} {count.right} of {count.wrong} wrong rows "
                f"among {count.named} named{seen if count.visible else ''}"
            )
    sections = Counter(section for o in outcomes for section in o.named_by)
    causes = ", ".join(f"{s} {k}" for s, k in sections.most_common()) or "no section"
    lines.append(
        f"   cause named in {sum(bool(o.named_by) for o in outcomes)} tables ({causes})"
        f"; false claims in {sum(bool(o.false) for o in outcomes)}"
    )
    if OURS in outcomes[0].counts:  # rows were flagged, not only named by sections
        slips = sum(o.false_slip for o in outcomes)
        lines[-1] += f", false slips in {slips}; {of_alarms(alarms(outcomes))}"
    return "\n".join(lines)


def as_table(kinds: dict[str, list[Outcome]]) -> str:
    """All kinds, precision/recall by method, for the page."""
    head = ["planted", "wrong rows", *METHODS, "cause named", "false alarms"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for kind, outcomes in kinds.items():
        cells = []
        for method in METHODS:
            count = pooled(outcomes, method)
            cells.append(
                ""
                if count is None
                else f"{shown(count.precision)}/{shown(count.recall)} "
                f"({count.right} of {count.named})"
            )
        first = pooled(outcomes, OURS)
        wrong = 0 if first is None else first.wrong
        named = sum(bool(o.named_by) for o in outcomes)
        false = alarms(outcomes)
        low, high = false.interval
        cells += [
            f"{named} of {len(outcomes)}",
            f"{false.actual}, expected {false.expected:.1f} ({low}–{high})",
        ]
        lines.append(f"| {kind} | {wrong} | {' | '.join(cells)} |")
    return "\n".join(lines)


def planted_goals(kinds: dict[str, list[Outcome]]) -> Iterator[Goal]:
    """Goals of planted errors, of the kinds that were tried."""
    for kind, outcomes in kinds.items():
        flags, section = pooled(outcomes, OURS), pooled(outcomes, SECTION)
        if kind in TARGET_SLIPS and flags is not None:
            yield Goal(f"{kind}, precision", flags.precision, TARGETS)
            yield Goal(f"{kind}, recall", flags.recall, TARGETS)
        if kind.endswith("feature ×10") and section is not None:
            name = f"{kind}, recall by the section of columns"
            yield Goal(name, section.recall, FEATURES)
        if "copied" in kind and section is not None:
            yield Goal(f"{kind}, precision", section.precision, COPIES)
            yield Goal(f"{kind}, recall", section.recall, COPIES)
    bad = [o for kind, found in kinds.items() if "source" in kind for o in found]
    if bad:
        named = sum(bool(o.named_by) for o in bad) / len(bad)
        yield Goal("bad sources named", named, SOURCES)
    every = [o for outcomes in kinds.values() for o in outcomes]
    if every:
        share = sum(o.false_slip for o in every) / len(every)
        yield Goal("planted tables with a false slip", share, FALSE_SLIPS, False)


def clean_goals(kinds: dict[str, list[Outcome]]) -> Iterator[Goal]:
    """Goals of simulated clean tables, all kinds together."""
    every = [o for outcomes in kinds.values() for o in outcomes]
    if every:
        n = len(every)
        quiet = sum(o.alarms.actual == 0 for o in every) / n
        yield Goal("clean tables without a row flagged", quiet, NOT_FLAGGED)
        silent = sum(not o.false for o in every) / n
        yield Goal("clean tables without a false claim", silent, NO_CLAIM)
        slips = sum(o.false_slip for o in every) / n
        yield Goal("clean tables with a false slip", slips, FALSE_SLIPS, False)


def of_clean(name: str, outcomes: list[Outcome]) -> str:
    """How many tables of a kind have a row flagged, or a false claim."""
    flagged = sum(o.alarms.actual > 0 for o in outcomes)
    claims = Counter(claim.split(":")[0] for o in outcomes for claim in o.false)
    what = ", ".join(f"{section} {k}" for section, k in claims.most_common())
    return (
        f"-- {name}: {len(outcomes)} tables, {flagged} with a row flagged, "
        f"{sum(bool(o.false) for o in outcomes)} with a false claim"
        f"{f' ({what})' if what else ''}; {of_alarms(alarms(outcomes))}"
    )

"""Shared causes need lift, a least count and more than an accident."""

from types import SimpleNamespace

import numpy as np

from lrisk.analysis.audit.sections import Context, part_of_false_claims
from lrisk.analysis.audit.sections.shared import Shared
from lrisk.tables import table_of


def table(seed=0, n=1000):
    rng = np.random.default_rng(seed)
    return table_of(
        {
            "unit": np.where(rng.random(n) < 0.1, "lb", "kg").astype(object),
            "x": rng.normal(size=n),
            "y": rng.normal(size=n),
        },
        "y",
    )


def shared_causes(table, rows, flags):
    fits = SimpleNamespace(rows=rows)
    return Shared().find(Context(table, part_of_false_claims(), fits, flags))


def test_random_flags_share_nothing():
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        flags = rng.random(1000) < 0.1
        assert shared_causes(table(seed), np.arange(1000), flags) == []


def test_planted_causes_are_counted():
    made = table()
    unit = made.named("unit")
    lb = unit.values == unit.levels.index("lb")
    flags = lb & (np.arange(1000) % 10 < 9)
    (cause, *_) = shared_causes(made, np.arange(1000), flags)
    words = Shared().words(cause)
    assert words.startswith(f"{flags.sum()} of {flags.sum()} flagged rows have unit=lb")
    assert (cause.numbers["rows with"], cause.numbers["rows"]) == (int(lb.sum()), 1000)
    assert "lb" not in Shared().words(cause.redacted())


def test_a_stretch_of_rows_is_a_cause():
    flags = np.zeros(1000, dtype=bool)
    flags[405:445] = True
    causes = shared_causes(table(), np.arange(1000), flags)
    words = Shared().words(causes[0])
    assert words.startswith("40 of 40 flagged rows lie between row 401 and")

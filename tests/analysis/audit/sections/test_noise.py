"""A side of a column where the noise may be larger, and what is no such thing."""

from types import SimpleNamespace

import numpy as np

from lrisk.analysis.audit.facts import Finding
from lrisk.analysis.audit.sections import SECTIONS, Context, part_of_false_claims
from lrisk.analysis.audit.sections.noise import LargerNoise
from lrisk.tables import table_of


def found(earlier=()):
    """Ten flagged rows at the end of a column, above and below expectations."""
    x = np.arange(200) / 7.0
    away = np.where(np.arange(200) % 2, 9.0, -9.0)
    flags = np.arange(200) >= 190
    table = table_of({"x": x, "z": x % 1.3, "y": away}, "y", "regression")
    fits = SimpleNamespace(rows=np.arange(200), expected=np.zeros(200))
    context = Context(table, part_of_false_claims(), fits, flags, earlier=earlier)
    return LargerNoise().find(context)


def test_flagged_rows_at_one_end_may_be_noise():
    (finding,) = found()
    assert (finding.kind, finding.columns, finding.count) == ("above", ["x"], 10)
    assert "10 of 10 flagged rows have x above" in LargerNoise().words(finding)
    assert "26" not in LargerNoise().words(finding.redacted())


def test_rows_with_odd_values_of_the_column_have_a_reason_of_their_own():
    odd = Finding("columns", "far above", ["x"], list(range(191, 201)), 10)
    assert found((odd,)) == []
    ceiling = Finding("columns", "ceiling", ["x"], list(range(191, 201)), 10)
    assert len(found((ceiling,))) == 1


def test_it_comes_after_the_sections_that_explain_rows():
    names = [section.name for section in SECTIONS]
    assert max(names.index("slips"), names.index("columns")) < names.index("noise")

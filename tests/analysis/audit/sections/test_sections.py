"""A section is registered once and shown everywhere."""

import json

import numpy as np
import pytest

from lrisk import audit, write_audit
from lrisk.analysis.audit import AuditResult, sections
from lrisk.analysis.audit.facts import Finding


class Dummy:
    """What a new section needs: one class."""

    name, title, advice = "dummy", "Found by a dummy", "Ask the dummy."
    kinds = ("odd",)

    def find(self, context):
        return [Finding("dummy", "odd", ["x"], [3], 1, {}, {"cell": "secret"})]

    def words(self, finding):
        return f"x: odd{' ' + finding.values['cell'] if finding.values else ''}."


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sections, "SECTIONS", (*sections.SECTIONS, Dummy()))
        yield audit({"x": x, "y": 3 * x + rng.normal(size=120)}, "y")


def test_it_is_in_the_summary_and_the_steps(result):
    assert not result.looks_clean
    assert "Found by a dummy: 1 finding." in result.summary
    assert result.next_steps[0] == "Ask the dummy."


def test_it_is_in_the_files_and_a_redacted_page_tells_no_value(result, tmp_path):
    for redact in (False, True):
        write_audit(result, tmp_path, redact=redact)
        page = (tmp_path / "report.html").read_text("utf-8")
        plain = (tmp_path / "audit.json").read_text("utf-8")
        assert "Found by a dummy" in page
        for text in (page, plain):
            assert ("secret" in text) != redact
        (finding,) = AuditResult.from_dict(json.loads(plain)).findings
        assert finding == (result.findings[0].redacted() if redact else
                           result.findings[0])  # fmt: skip


def test_it_is_in_a_notebook_and_in_the_json_with_its_words(result):
    assert "Found by a dummy" in result._repr_html_()
    assert "x: odd secret." in result._repr_html_()
    assert result.to_dict()["findings"][0]["text"] == "x: odd secret."


def test_it_is_on_the_terminal(result, capsys):
    from lrisk.cli.printing import print_audit, terminal

    print_audit(result, terminal())
    shown = capsys.readouterr().out
    assert "Found by a dummy" in shown and "x: odd secret. (row 3)" in shown

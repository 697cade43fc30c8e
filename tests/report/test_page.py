"""The report's structure, read by a parser and not by a browser."""

import base64
import hashlib
import html
import itertools
import json
import pathlib
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from audits import HOSTILE, edge_audit, hostile_audit, large_audit, make_audit, slip

from lrisk.analysis.audit import (
    AuditResult,
    BesideConstant,
    Change,
    Finding,
    FlaggedRow,
    Reason,
)
from lrisk.analysis.audit.sections import SECTIONS
from lrisk.report import redacted, render

pytest.importorskip("jinja2")

VOID = {"meta", "input", "br", "link"}
DRAWN = {"line", "rect", "circle", "polygon", "polyline", "path"}


class Outline(HTMLParser):
    """Elements with their attributes, text by element, and how they nest."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.open = [], [], []
        self.feed(text)
        self.close()
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def every(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def words(self):
        return " ".join(t for e, t in self.texts if e not in ("script", "style"))


AUDITS = {
    "ordinary": make_audit,
    "clean": lambda: make_audit(rows=[]),
    "full": lambda: make_audit(n_rows=6000, n_flagged=500),
    "hostile": hostile_audit,
    "edge": edge_audit,
    "no groups": lambda: make_audit(groups=[], times=[], coefficients=[],
                                    sensitivity=[], findings=[], tail_spectrum=""),
    "classes": lambda: make_audit(task="classification",
                                  verdicts={"precision": 0.91, "checked": 22.0},
                                  comparison={"new": 3, "gone": 4}),
}  # fmt: skip


@pytest.fixture(params=AUDITS, scope="module")
def shown(request):
    audit = AUDITS[request.param]()
    text = render(audit)
    return audit, text, Outline(text)


def test_well_formed_and_accessible(shown):
    _, _, page = shown
    assert page.every("html")[0]["lang"] == "en"
    identities = [a["id"] for _, a in page.elements if "id" in a]
    assert len(identities) == len(set(identities))
    for _, attributes in page.elements:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        for reference in ("aria-labelledby", "aria-describedby", "for"):
            for name in attributes.get(reference, "").split():
                assert name in identities
    levels = [int(t[1]) for t, _ in page.elements if re.fullmatch(r"h[1-6]", t)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_every_picture_has_words(shown):
    _, text, page = shown
    pictures = page.every("svg")
    assert len(pictures) >= 2
    for picture in re.findall(r"<svg.*?</svg>", text, re.S):
        assert re.search(r"<title[^>]*>[^<]{8,}</title>", picture)
        description = re.search(r"<desc[^>]*>([^<]*)</desc>", picture).group(1)
        assert len(description) > 10
    assert all(picture["role"] == "img" for picture in pictures)


def test_pictures_hold_only_numbers(shown):
    _, _, page = shown
    for tag, attributes in page.elements:
        if tag in DRAWN:
            for name, value in attributes.items():
                if name in ("points", "d"):
                    assert re.fullmatch(r"[-\d., Mh]*", value)
                elif not name.startswith(("class", "data", "id")):
                    assert np.isfinite(float(value)), (tag, name, value)


def test_policy_allows_the_own_style_and_script_only(shown):
    _, text, page = shown
    policy = next(a["content"] for a in page.every("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert text.index("Content-Security-Policy") < text.index("<style>")
    links = [a.get("href", a.get("src")) for _, a in page.elements]
    assert [link for link in links if link] == ["#rows"]
    assert "url(" not in text and "@import" not in text and "fetch(" not in text


def test_data_of_the_page_agree_with_the_audit(shown):
    audit, text, _ = shown
    (raw,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text)
    assert not set("<>&\u2028\u2029") & set(raw)
    data = json.loads(raw)
    for level, count in list(zip(data["levels"], data["flagged"]))[::10]:
        assert count == int(np.sum(audit.scores > level))
    assert data["flagged"][data["chosen"]] == int(audit.flags.sum())
    assert data["scored"] == int(np.sum(np.isfinite(audit.scores)))


def test_words(shown):
    audit, _, page = shown
    words = page.words()
    assert "rows are wrong" not in words and "nan" not in words.split()
    if audit.looks_clean:
        assert "looks clean" in words
    assert len(page.every("tr")) > 0


def test_table_lists_the_flagged_rows():
    audit = make_audit()
    page = Outline(render(audit))
    rows = [a for a in page.every("tr") if "data-score" in a]
    assert [float(a["data-score"]) for a in rows] == [r.score for r in audit.flagged]
    words = page.words()
    for row in audit.flagged:
        assert row.observed in words and audit.reason_words(row.row)[0] in words
        assert all(value in words for value in row.values.values())


def test_rows_not_flagged_wait_hidden():
    rows = [FlaggedRow(1, 0.9, 1.0, "a", "b", {}),
            FlaggedRow(2, 0.4, 1.0, "a", "b", {})]  # fmt: skip
    audit = make_audit(rows=rows[:1], nearly=rows[1:])
    page = Outline(render(audit))
    hidden = ["hidden" in a for a in page.every("tr") if "data-score" in a]
    assert hidden == [False, True]


def test_rows_flagged_whatever_their_score_are_shown():
    """A given share or a verdict flags rows that the score alone would not."""
    rows = [FlaggedRow(1, 0.9, 1.0, "a", "b", {}),
            FlaggedRow(2, 0.4, 1.0, "a", "b", {})]  # fmt: skip
    text = render(make_audit(rows=rows))
    hidden = ["hidden" in a for a in Outline(text).every("tr") if "data-score" in a]
    assert hidden == [False, False]
    assert "the audit flags 2 rows, not by the score alone" in text


def test_hostile_words_are_shown_and_inert():
    text = render(hostile_audit())
    page = Outline(text)
    allowed = {"html", "head", "meta", "title", "style", "body", "a", "header", "p",
               "button", "h1", "h2", "h3", "bdi", "main", "section", "dl", "dt", "dd",
               "div", "span", "ol", "ul", "li", "figure", "figcaption", "svg", "desc",
               "g", "text", "label", "input", "output", "table", "thead", "tbody", "tr",
               "th", "td", "details", "summary", "script", "strong"}  # fmt: skip
    assert {tag for tag, _ in page.elements} <= allowed | DRAWN
    assert len(page.every("script")) == 2
    words = page.words()
    for harmless in (0, 1, 2, 3, 10, 13):
        assert HOSTILE[harmless] in words
    assert "49" not in re.findall(r"\{\{[^}]*\}\}|\b49\b", words)
    assert "\u202e" not in text and "[U+202E]" in text and "\x1b" not in text
    assert max(map(len, re.findall(r"x+", text))) < 600
    text.encode("utf-8")


def test_a_million_rows_stay_below_a_megabyte():
    audit = large_audit()
    assert len(audit.scores) == 1_000_000
    for redact in (False, True):
        text = render(audit, redact=redact)
        assert len(text.encode()) < 1_000_000
        assert text.count("data-score=") == 500
    assert "groups with fewer flags are not shown" in text


def test_any_number_of_long_reasons_and_values_fits():
    rows = [FlaggedRow(k + 1, 0.9, -1.0, "&" * 10**4, "&" * 10**4,
                       {f"{j}{'&' * 5000}": "&" * 10**4 for j in range(20)})
            for k in range(500)]  # fmt: skip
    text = render(make_audit(rows=rows))
    assert len(text.encode()) < 1_000_000
    assert text.count("data-score=") == 500


def secret_audit():
    """Every cell value and every name of a group carries the word SECRET."""
    values = {"unit": "SECRET-lb", "mileage": "SECRET-9"}
    row = FlaggedRow(7, 0.93, 12.5, "SECRET-41", "SECRET-17", values, "SECRET-id")
    plain = make_audit(rows=[row], nearly=[replace(row, row=8)])
    change = Change(7, "mileage", "SECRET-90", "SECRET-9")
    secret = {name: "SECRET-3" for name in ("value", "range", "nearest", "level",
                                            "label", "likely")}  # fmt: skip
    numbers = dict.fromkeys(("flagged", "rows with", "rows", "first", "last", "share",
                             "factor", "ratio", "times", "from row", "offset",
                             "others", "elsewhere"), 3.0)  # fmt: skip
    findings = [
        Finding(section.name, kind, ["unit"], [7], 1, numbers, secret, [change])
        for section in SECTIONS
        for kind in section.kinds
    ]
    return replace(
        plain,
        groups=[replace(g, group=f"SECRET-{g.group}") for g in plain.groups],
        times=[replace(g, group=f"SECRET-{g.group}") for g in plain.times],
        findings=findings,
        columns=[replace(c, note="Some lie far out.", example="SECRET-x")
                 for c in plain.columns],
        coefficients=[replace(c, name=f"{c.name}=SECRET-lb")
                      for c in plain.coefficients],
        comparison={"source": "SECRET.csv", "flagged": [3, 4]},
        classes=["SECRET-a", "SECRET-b"], ids=["SECRET-id"] * plain.n_rows,
        observed=["SECRET-41"] * plain.n_rows, expected=["SECRET-17"] * plain.n_rows,
    )  # fmt: skip


def test_redacted_report_tells_no_value():
    audit = secret_audit()
    assert "SECRET" in render(audit) and "SECRET" in audit._repr_html_()
    text = render(audit, redact=True)
    for word in ("SECRET", "Aachen", "2024-"):
        assert word not in text
    kept = redacted(audit)
    assert "SECRET" not in json.dumps(kept.to_dict())
    assert "SECRET" not in kept._repr_html_() and kept.suggested == {}
    assert kept.reason_words(7)[1] == "mileage is unusual beside the row's other " \
        "columns."  # fmt: skip
    assert any("verdict column" in step for step in kept.next_steps)
    assert "1 of 2000 rows does not fit" in kept.summary
    assert kept.columns[0].remark == "Some lie far out."
    assert kept.comparison == {"source": "", "flagged": [3, 4]}
    words = Outline(text).words()
    assert "unit" in words and "12.5" in words and "group 1" in words


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_every_section_has_words_with_and_without_values(section):
    found = [f for f in secret_audit().findings if f.section == section.name]
    for finding in found:
        for words in (section.words(finding), section.words(finding.redacted())):
            assert words.endswith((".", "?")) and "{" not in words and "  " not in words
        assert "SECRET" not in words
    assert section.advice.endswith(".") and section.title


def test_no_cell_of_a_real_audit_is_told(tmp_path):
    """Every cell is a secret, and all that an audit may say of cells is said."""
    pytest.importorskip("rich")
    from io import StringIO

    from rich.console import Console

    from lrisk import audit, write_audit
    from lrisk.cli.printing import print_audit

    rng = np.random.default_rng(1)
    n = 120
    x, z = rng.normal(size=(2, n)).round(6)
    y = (50 + 10 * x - 5 * z + rng.normal(size=n)).round(5)
    y[:8] = (10 * y[:8]).round(4)
    dose = np.abs(rng.normal(5, 0.5, n)).round(6)
    dose[[5, 9, 11]] = [5123.4567, 4987.1234, 6001.777]
    who = np.where(
        np.arange(n) < 12, "Mallory-QQ", rng.choice(["Alice-QQ", "Bob-QQ"], n)
    )
    age = [f"{v}" for v in rng.integers(20_001, 80_001, n)]
    age[7], words = "SECRETCELL-QQ", [f"{v}" for v in y]
    words[20] = "SECRETTARGET-QQ"
    day = [f"{1900 + i}-03-{1 + i % 28:02}" for i in range(n)]
    data = {"x": x, "z": z, "dose": dose, "who": who, "age": age, "day": day}
    shown = {f"{v:.6g}" for v in [*x, *z, *y, *dose]} | set(words) | set(age) | set(day)
    kind = np.where(x + 0.3 * rng.normal(size=n) > 0, "flu-QQ", "cold-QQ").astype(
        object
    )
    kind[3] = "HIVPOSITIVE-QQ"
    plans = (
        ({**data, "y": words}, {"group": "who", "time": "day", "contamination": 0.08}),
        ({"x": x, "z": z, "who": who, "y": kind}, {"verdicts": {1: "wrong"}}),
    )
    for table, options in plans:
        result = audit(table, "y", source="t", **options)
        assert any(v in json.dumps(result.to_dict()) for v in shown)
        write_audit(result, tmp_path, redact=True)
        terminal = StringIO()
        print_audit(redacted(result), Console(file=terminal, width=10_000))
        texts = [path.read_text("utf-8") for path in tmp_path.iterdir()]
        for text in [*texts, terminal.getvalue()]:
            assert "-QQ" not in text
            numbers = set(re.findall(r"[\d.]*\d|[\d-]+\d", text))
            secrets = {v.lstrip("-") for v in shown if len(v.lstrip("-0.")) >= 5}
            assert not numbers & secrets


def test_round_trip_through_json_gives_the_same_report():
    audit = make_audit()
    again = AuditResult.from_dict(json.loads(json.dumps(audit.to_dict())))
    assert render(again) == render(audit)


def test_redact_must_be_a_bool():
    with pytest.raises(TypeError, match="redact must be"):
        render(make_audit(), redact="yes")


def test_labels_of_figures_stay_inside_and_tell_both_ends():
    long = "@SUM(1)==HYPERLINK(WWWWWWWWWWWWWW"
    plain = make_audit()
    times = [
        replace(plain.times[0], group="2024-01-21 to 2024-02-09"),
        replace(plain.times[0], group="2024-12-30 10:00 to 2025-01-09 12:00"),
    ]
    audit = replace(
        plain,
        times=times,
        groups=[replace(plain.groups[0], group=long)],
        coefficients=[replace(plain.coefficients[0], name=long)],
    )
    text = html.unescape(render(audit))
    assert "2024-01-21–02-09" in text and "9 12:00\u2069" in text
    # The widest letters are about as wide as the type is high: 11 units.
    for x, words in re.findall(r'<text x="([\d.]+)"[^>]*tick end[^>]*>([^<]*)<', text):
        wide = sum(c in "@MW=" or c.isupper() for c in words)
        assert 7.0 * wide + 5.0 * (len(words) - wide) <= float(x) + 12.0


def test_rows_that_fit_least_are_listed_where_none_is_flagged():
    audit = make_audit(n_rows=30, rows=[], least_fitting=[7, 3])
    told = {"value": "900", "expected": "12"}
    audit.reasons[7] = [Reason("above", ["y"], {"scales": 24.7}, told)]
    words = Outline(render(audit)).words()
    assert "24.7 noise scales" in words and "A noise scale is" in words
    assert words.index("row 7") < words.index("row 3")
    ids = [f"A{i}" for i in range(30)]
    assert "row 7 (<bdi>A6</bdi>)" in render(replace(audit, ids=ids))
    assert "A6" not in render(replace(audit, ids=ids), redact=True)


def test_numbers_in_words_agree_with_the_audit():
    audit = make_audit()
    text = html.unescape(render(audit))
    assert f"{audit.expected_false_flags:.2f}" in text
    for curve in audit.losses:
        assert f"{curve.median:.1f}" in text and curve.label in text


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_losses_over_all_rows_and_over_those_not_flagged(task):
    audit = make_audit(task=task)
    text = html.unescape(render(audit))
    assert text.index("all 2000 rows") < text.index("the 1960 rows not flagged")
    for curve in audit.unflagged_losses:
        assert f"{curve.median:.1f}" in text
        told = re.search(rf"numeric[^>]*>{100 * curve.accuracy:.0f} %<", text)
        assert bool(told) == (task == "classification")
    best = re.findall(r'best">([^<]*)<', text)
    assert ("90 %" in best) == (task == "classification")  # the highest accuracy


def test_where_no_row_is_flagged_there_is_one_table_of_losses():
    text = render(make_audit(rows=[]))
    assert "all 2000 rows" in text and "not flagged</th>" not in text


def test_every_row_is_drawn_as_observed_against_expected():
    n = 400
    audit = make_audit(n_rows=n, n_flagged=8)
    told = [f"{v:.6g}" for v in np.linspace(1, 9, n)]
    text = render(replace(audit, observed=told, expected=told, target="<script>"))
    (path, flagged) = re.findall(r'<path d="([^"]*)" class="dot', text)
    assert path.count("M") + flagged.count("M") == n and flagged.count("M") <= 8
    assert "expected &lt;script&gt;" in text and "|error| of &lt;script&gt;" in text
    assert "in units of y" not in text
    for hidden in (redacted(replace(audit, observed=told)),
                   replace(audit, task="classification", observed=told)):  # fmt: skip
        assert "fig-observed" not in render(hidden)


def test_one_absurd_expectation_does_not_press_all_rows_into_a_corner():
    """A row with a slip in a feature may have any; its point is drawn at the edge."""
    n = 400
    told = [f"{v:.6g}" for v in np.linspace(-1, 9, n)]
    expected = ["1e9", *told[1:]]
    audit = replace(make_audit(n_rows=n, n_flagged=8), observed=told, expected=expected)
    text = render(audit)
    paths = re.findall(r'<path d="([^"]*)" class="dot', text)
    x = [float(v) for path in paths for v in re.findall(r"M([\d.]+) ", path)]
    assert max(x) - min(x) > 300 and np.median(x) - min(x) > 100
    assert "What is expected of 1 row lies beyond the edge." in text


def test_false_alarms_are_explained_and_suggestions_shown():
    audit = make_audit()
    row = audit.flagged[0].row
    text = render(replace(audit, findings=[slip([row])]))
    assert "at most a fifth of them fits after all" in text
    assert f"<bdi>mileage = {row}</bdi>" in text and "before and after" in text
    assert 'data-key="suggested"' not in render(replace(audit, findings=[]))


@pytest.mark.parametrize(
    ("by_model", "how"), [(5.0, "worse"), (3.0, "no better"), (2.0, "better")]
)
def test_a_model_worse_than_a_constant_is_called_so(by_model, how):
    compared = BesideConstant("your <b>", "mean", "mean |error|", by_model, 3.0, 1960)
    audit = make_audit(beside_constant=compared, notes=["1 line <i> left out."])
    again = AuditResult.from_dict(json.loads(json.dumps(audit.to_dict())))
    assert again.beside_constant == compared and again.notes == audit.notes
    for told in (audit, again):
        page = render(told, redact=True)
        assert (
            f">{how} than a constant<" in page and "1 line &lt;i&gt; left out" in page
        )
        assert "your &lt;b&gt;" in page and "<b>" not in page
        words = f"mean |error| of 1960 held-out rows {by_model:g}, always the mean 3"
        assert words in page
    worth = "flags, scores and shares that follow from it are worth little"
    assert (worth in audit.summary) == (how == "worse")

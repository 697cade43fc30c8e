"""The report in a real browser: quiet, inert, movable by mouse and by keyboard."""

import dataclasses
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from audits import edge_audit, hostile_audit, large_audit, make_audit, slip

from lrisk.report import framed, render

ADDRESS = "http://report.test/"


class Visit:
    """A page with the report in it, and everything that went on meanwhile."""

    def __init__(self, browser, html, **options):
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.noise, self.dialogs = [], []
        self.requests, self.fetched = [], []  # wished for; let through by the policy
        self.page.on("console", lambda message: self.noise.append(message.text))
        self.page.on("pageerror", lambda error: self.noise.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", self._dismiss)
        self.page.route("**/*", lambda route: self._answer(route, html))
        self.page.goto(ADDRESS)

    def _answer(self, route, html):
        self.fetched.append(route.request.url)
        if route.request.url == ADDRESS:
            route.fulfill(body=html.encode(), content_type="text/html; charset=utf-8")
        else:
            route.abort()

    def _dismiss(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def shown_rows(self):
        """Row numbers of the table as a reader sees them."""
        cells = self.page.locator("#flagged tbody tr:not(.group):visible > th")
        return [int(words) for words in cells.all_text_contents()]

    def assert_quiet(self):
        assert not self.noise
        assert not self.dialogs
        assert self.requests == [ADDRESS]


@pytest.fixture
def visit(browser):
    visits = []

    def open_report(html, **options):
        visits.append(Visit(browser, html, **options))
        return visits[-1]

    yield open_report
    for each in visits:
        each.context.close()


@pytest.fixture(scope="module")
def audit():
    return make_audit()


AUDITS = {
    "ordinary": make_audit,
    "clean": lambda: make_audit(rows=[]),
    "hostile": hostile_audit,
    "edge": edge_audit,
    "large": lambda: large_audit(20_000),
}


@pytest.mark.parametrize(
    "name, redact",
    [*((name, False) for name in AUDITS), ("ordinary", True), ("hostile", True)],
)
def test_quiet_and_asks_for_nothing(visit, name, redact):
    seen = visit(render(AUDITS[name](), redact=redact))
    seen.page.wait_for_timeout(50)
    seen.assert_quiet()
    # The script ran to its end: the controls are there.
    assert seen.page.locator("#controls").is_visible()
    assert seen.page.locator("#theme").is_visible()


def test_policy_stops_what_slipped_in(visit, audit):
    """Were escaping ever to fail, the browser itself refuses script, style, network."""
    slipped = (
        "<script>window.ran = true</script>"
        '<img src="http://elsewhere.test/x.png" onerror="window.ran = true">'
        '<p style="position:fixed">'
    )
    seen = visit(render(audit).replace("<main>", f"<main>{slipped}"))
    seen.page.wait_for_timeout(50)
    assert seen.page.evaluate("window.ran") is None
    assert seen.fetched == [ADDRESS] and len(seen.requests) == 2
    assert any("Content Security Policy" in words for words in seen.noise)


def test_hostile_words_stay_words(visit):
    seen = visit(render(hostile_audit()))
    page = seen.page
    page.eval_on_selector_all("details", "all => all.forEach(d => { d.open = true })")
    kinds = page.evaluate("[...new Set([...document.body.querySelectorAll('*')]"
                          ".map(e => e.localName))]")  # fmt: skip
    assert not {"img", "iframe", "object", "b", "link", "style"} & set(kinds)
    assert page.locator("script").count() == 2
    handlers = page.evaluate(
        "[...document.querySelectorAll('*')].filter(e => [...e.attributes]"
        ".some(a => a.name.startsWith('on') || a.name === 'style')).length"
    )
    assert handlers == 0
    assert "<script>alert(1)</script>" in page.locator("h1").inner_text()
    assert "{{ 7 * 7 }}" in page.locator("#flagged").inner_text()
    # Directions do not leak: page and table still read from left to right.
    assert page.evaluate("getComputedStyle(document.body).direction") == "ltr"
    wide = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert wide
    seen.assert_quiet()


def expected_rows(audit, level):
    return [row.row for row in audit.flagged if row.score > level]


def test_slider_counts_and_lists(visit, audit):
    seen = visit(render(audit))
    page = seen.page
    slider, told = page.locator("#threshold"), page.locator("#threshold-counts")
    assert seen.shown_rows() == expected_rows(audit, 0.7)
    before = page.locator("#threshold-line").get_attribute("x1")
    slider.fill("90")
    strict = expected_rows(audit, 0.9)
    assert 0 < len(strict) < len(audit.flagged)
    assert seen.shown_rows() == strict
    assert f"Above 0.90: {len(strict)} rows" in told.inner_text()
    assert slider.get_attribute("aria-valuetext") == "0.90"
    assert page.locator("#threshold-line").get_attribute("x1") != before
    marked = page.locator(".score-bar rect.bar-flagged").count()
    lows = page.eval_on_selector_all(".score-bar", "e => e.map(g => +g.dataset.low)")
    assert marked == sum(low >= 0.9 - 1e-9 for low in lows)
    slider.fill("20")
    above = int((audit.scores > 0.2).sum())
    assert above > len(audit.flagged)
    assert f"{above} rows" in told.inner_text().replace("\u202f", "")
    slider.fill("100")
    assert seen.shown_rows() == [] and page.locator("#none-listed").is_visible()
    page.locator("#reset").click()
    assert seen.shown_rows() == expected_rows(audit, 0.7)
    seen.assert_quiet()


def test_slider_by_keyboard(visit, audit):
    seen = visit(render(audit))
    seen.page.get_by_label("Threshold on the score").focus()
    for _ in range(5):
        seen.page.keyboard.press("ArrowRight")
    assert seen.shown_rows() == expected_rows(audit, 0.75)
    seen.page.keyboard.press("End")
    assert seen.shown_rows() == []


def test_sorting_by_mouse(visit, audit):
    seen = visit(render(audit))
    page = seen.page
    heading = page.locator("#flagged thead th", has_text="residual")
    button = page.get_by_role("button", name="residual")
    by_residual = [r.row for r in sorted(audit.flagged, key=lambda r: r.residual)]
    button.click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert seen.shown_rows() == by_residual[::-1]
    button.click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert seen.shown_rows() == by_residual
    page.get_by_role("button", name="why").click()
    reasons = page.locator("#flagged .why").all_text_contents()
    # Numbers in words are sorted by their size, as the browser's collation does.
    natural = [[int(n) for n in re.findall(r"\d+", words)][:2] for words in reasons]
    assert natural == sorted(natural)
    assert heading.get_attribute("aria-sort") == "none"
    # A sorted table keeps its order when the threshold moves.
    page.get_by_role("button", name="row", exact=True).click()
    page.locator("#threshold").fill("90")
    assert seen.shown_rows() == sorted(expected_rows(audit, 0.9))
    seen.assert_quiet()


def test_everything_by_keyboard(visit, audit):
    """Tab reaches every control, focus is visible, Enter and space work."""
    seen = visit(render(audit))
    page, reached = seen.page, []
    for _ in range(14):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "[document.activeElement.id || document.activeElement.textContent.trim(),"
            " getComputedStyle(document.activeElement).outlineStyle]"
        )
        reached.append(name)
        if name:
            assert outline != "none", name
        if name == "row":
            page.keyboard.press("Enter")
            assert seen.shown_rows() == sorted(expected_rows(audit, 0.7))
        if name == "theme":
            page.keyboard.press("Space")
            assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    for name in ("theme", "threshold", "reset", "row", "score", "residual", "why"):
        assert name in reached, reached


def luminance(colour):
    channels = [int(c) / 255 for c in colour[4:-1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
              for c in channels]  # fmt: skip
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_themes_have_contrast(visit, audit, scheme):
    """Text reaches the 4.5 : 1, and lines and marks the 3 : 1, of WCAG 2 AA."""
    seen = visit(render(audit), color_scheme=scheme)
    colour = "(s, p) => getComputedStyle(document.querySelector(s))[p]"

    def get(selector, prop):
        return seen.page.evaluate(f"([s, p]) => ({colour})(s, p)", [selector, prop])

    paper = get("body", "backgroundColor")
    panel = get(".panel", "backgroundColor")
    assert (luminance(paper) > 0.5) == (scheme == "light")
    for selector in ("body", ".note", ".sub", "figcaption"):
        assert contrast(get(selector, "color"), paper) >= 4.5
        assert contrast(get(selector, "color"), panel) >= 4.5
    assert contrast(get("svg .tick", "fill"), paper) >= 4.5
    for fit in ("ordinary", "robust", "tail"):
        assert contrast(get(f"svg .line-{fit}", "stroke"), paper) >= 3.0
    other = "Dark" if scheme == "light" else "Light"
    seen.page.get_by_role("button", name=f"{other} theme").click()
    turned = get("body", "backgroundColor")
    assert (luminance(turned) > 0.5) == (scheme == "dark")


@pytest.mark.parametrize("width", [320, 1200])
def test_fits_the_screen(visit, width):
    """Only tables scroll sideways; text of pictures stays legible."""
    for audit in (make_audit(), hostile_audit()):
        seen = visit(render(audit), viewport={"width": width, "height": 700})
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        smallest = seen.page.evaluate(
            "Math.min(...[...document.querySelectorAll('svg text')].map(t =>"
            " parseFloat(getComputedStyle(t).fontSize)"
            " * t.ownerSVGElement.getBoundingClientRect().width / 400))"
        )
        assert smallest >= 7.5
        outside = seen.page.evaluate(
            "[...document.querySelectorAll('svg text')].filter(t => {"
            " const a = t.getBoundingClientRect();"
            " const b = t.ownerSVGElement.getBoundingClientRect();"
            " return a.left < b.left - 1 || a.right > b.right + 1"
            " || a.top < b.top - 1 || a.bottom > b.bottom + 1"
            "}).map(t => t.textContent)"
        )
        assert outside == []


def test_in_a_frame_of_a_notebook(visit, audit):
    seen = visit(f"<!doctype html><title>notebook</title>{framed(render(audit))}")
    inside = seen.page.frame_locator("iframe")
    inside.locator("#threshold").fill("100")
    assert inside.locator("#none-listed").is_visible()
    assert not seen.noise and seen.fetched == [ADDRESS]


def test_rows_flagged_by_a_given_share(visit):
    """At the audit's own choice its flags count, elsewhere the score."""
    rows = make_audit(n_flagged=10).flagged
    rows[9] = dataclasses.replace(rows[9], score=0.2)
    seen = visit(render(make_audit(rows=rows)))
    assert seen.shown_rows() == [row.row for row in rows]
    assert "10 rows" in seen.page.locator("#threshold-counts").inner_text()
    seen.page.locator("#threshold").fill("69")
    assert seen.shown_rows() == [row.row for row in rows[:9]]


def slipped_audit():
    """Half of the flagged rows are explained by one slip; some rows come next."""
    plain = make_audit(n_flagged=20)
    rows = [row.row for row in plain.flagged]
    near = [dataclasses.replace(plain.flagged[0], row=k + 500, score=0.6 - 0.01 * k)
            for k in range(5)]  # fmt: skip
    audit = make_audit(n_flagged=20, findings=[slip(rows[::2])], nearly=near)
    audit.scores[[row.row - 1 for row in near]] = [row.score for row in near]
    return audit, rows


def test_rows_are_grouped_by_slip_and_a_lower_threshold_lists_more(visit):
    audit, rows = slipped_audit()
    seen = visit(render(audit))
    assert seen.shown_rows() == [*rows[1::2], *rows[::2]]
    headings = seen.page.locator("#flagged tr.group").all_text_contents()
    assert [words.strip() for words in headings] == [
        "Not explained by a slip", "10 rows fit if mileage is divided by 10.",
    ]  # fmt: skip
    seen.page.get_by_role("button", name="row", exact=True).click()
    assert seen.shown_rows() == [*sorted(rows[1::2]), *sorted(rows[::2])]
    seen.page.locator("#threshold").fill("57")
    assert seen.shown_rows() == [*sorted([*rows[1::2], 501, 500, 502]),
                                 *sorted(rows[::2])]  # fmt: skip
    seen.page.get_by_text("before and after").click()
    assert seen.page.get_by_text(f"{10 * rows[0]}", exact=True).is_visible()
    seen.assert_quiet()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_no_row_has_to_be_moved_sideways(visit, scheme):
    phone = {"viewport": {"width": 360, "height": 740}, "color_scheme": scheme}
    for audit in (slipped_audit()[0], hostile_audit()):
        seen = visit(render(audit), **phone)
        wide = seen.page.evaluate(
            "[...document.querySelectorAll('#flagged, #flagged td')].map(e =>"
            " e.getBoundingClientRect()).every(r => r.left >= 0 && r.right <= 361)"
        )
        assert wide
        words = seen.page.locator("#flagged tbody tr:visible").nth(1).inner_text()
        assert audit.flagged[1].row and "9000" in words
        seen.assert_quiet()

"""A result in a notebook or a shell is short, and inert whatever the table holds."""

import re

import numpy as np

from lrisk import audit

EVIL = "<script>alert(1)</script>"


def hostile(n=80):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = 50 + 10 * x + rng.normal(size=n)
    y[:5] *= 10
    names = np.array([f"<b onload=x>{i}" for i in range(n)], dtype=object)
    return audit({"id": names, EVIL: x, "<img src=x>": y}, "<img src=x>", source=EVIL)


def test_the_repr_is_short_and_says_what_was_found():
    result = hostile()
    assert len(repr(result)) < 300 and "5 of 80 rows flagged" in repr(result)
    assert "write_audit" in repr(result) and "\n" not in repr(result)


def test_a_notebook_shows_rows_and_findings_and_runs_nothing():
    text = hostile()._repr_html_()
    assert len(text) < 20_000 and "5 of 80 rows do not fit" in text
    allowed = {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "ul", "ol",
               "li", "code"}  # fmt: skip
    assert set(re.findall(r"<(\w+)", text)) <= allowed and "<b>" in text
    assert not re.search(r"<\w+ ", text), "no element has an attribute"
    assert "&lt;img src=x&gt; = " in text

"""The report: one HTML file that needs nothing else and asks for nothing."""

import base64
import hashlib
from html import escape
from importlib.resources import files

from .._extras import optional
from .._validation import check_flag
from ..analysis.audit import AuditResult
from .redaction import redacted
from .text import embedded_json
from .view import page

#: Largest report, in bytes.
LARGEST = 1_000_000
#: Bytes for the table of rows: the first that keeps the whole below `LARGEST`.
_ROW_BUDGETS = (450_000, 250_000, 100_000, 0)


def render(result: AuditResult, *, redact: bool = False) -> str:
    """Make the report of an audit: one HTML page that needs nothing else.

    It has less than a megabyte.

    Parameters
    ----------
    result : AuditResult
        Of `lrisk.audit`.
    redact : bool, default=False
        Leave out all cell values and names of groups.

    Returns
    -------
    str
        HTML with its style, script and pictures inside. Its Content-Security-Policy
        allows these and nothing else: no network, no other script.

    See Also
    --------
    lrisk.write_audit : Writes the page, the table of rows and all numbers to files.
    framed : Shows the page in a notebook.

    Notes
    -----
    Needs jinja2 (``pip install lrisk[cli]``). Everything from the data is escaped.

    Examples
    --------
    >>> import numpy as np
    >>> import lrisk
    >>> from lrisk.report import render
    >>> x = np.random.default_rng(0).normal(size=60)
    >>> page = render(lrisk.audit({"x": x, "y": 2 * x}, target="y"))
    >>> page.startswith("<!doctype html>")
    True
    """
    check_flag("render", "redact", redact)
    shown = redacted(result) if redact else result
    return next(
        html
        for budget in _ROW_BUDGETS
        if len((html := _filled(shown, redact, budget)).encode()) < LARGEST
        or budget == _ROW_BUDGETS[-1]
    )


def framed(html: str, *, height: int = 720) -> str:
    """Put a report into a frame of a notebook, cut off from the page round it.

    Parameters
    ----------
    html : str
        A whole page, as `render` makes it.
    height : int, default=720
        Height of the frame in pixels.

    Returns
    -------
    str
        HTML of the frame.

    See Also
    --------
    render : Makes the page.
    lrisk.write_audit : Writes it to a file instead.

    Examples
    --------
    >>> framed("<p>a</p>")
    '<iframe sandbox="allow-scripts" width="100%" height="720" srcdoc="&lt;p&gt;...
    """
    quoted = escape(html, quote=True)
    size = f'width="100%" height="{int(height)}"'
    return f'<iframe sandbox="allow-scripts" {size} srcdoc="{quoted}"></iframe>'


def _filled(result: AuditResult, redact: bool, budget: int) -> str:
    jinja2 = optional("jinja2", "the page of an audit")
    from markupsafe import Markup  # comes with it

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("lrisk.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    view = page(result, redact=redact, budget=budget)
    style, script = _asset("report.css"), _asset("report.js")
    # These three are our own markup; every word in it was escaped when it was drawn.
    view["figures"] = {name: Markup(svg) for name, svg in view["figures"].items()}
    view["style"], view["script"] = Markup(style), Markup(script)
    view["data"] = Markup(embedded_json(view["data"]))
    view["policy"] = "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return str(templates.get_template("report.html").render(view))


def _asset(name: str) -> str:
    return files("lrisk.report").joinpath("templates", name).read_text("utf-8")


def _digest(text: str) -> str:
    """The hash by which a policy allows one inline element and no other."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"

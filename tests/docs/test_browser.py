"""Five pages of the built site in a browser: light, dark and on a phone."""

from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = [
    "index.html",
    "start/ten_minutes.html",
    "guide/robust.html",
    "api/generated/lrisk.RobustRegressor.html",
    "gallery/index.html",
]
pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").exists(), reason="no site: `make docs` builds it"
)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)]
)
def test_page(browser, page, scheme, width):
    said, asked = [], []
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 800}, offline=True
    )
    view = context.new_page()
    view.on("console", lambda message: said.append((message.type, message.text)))
    view.on("pageerror", lambda error: said.append(("error", str(error))))
    view.on("request", lambda request: asked.append(request.url))
    view.goto((SITE / page).as_uri())
    for picture in view.locator("article img").all():
        picture.scroll_into_view_if_needed()
    view.wait_for_load_state("networkidle")
    broken = view.evaluate(
        "[...document.images].filter(image => !image.naturalWidth)"
        ".map(image => image.src)"
    )
    wider = view.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    nowhere = view.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')]"
        ".map(link => decodeURIComponent(link.hash.slice(1)))"
        ".filter(name => name && !document.getElementById(name))"
    )
    theme = view.evaluate("document.documentElement.dataset.theme")
    context.close()
    assert [what for what in said if what[0] in ("error", "warning")] == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert broken == []
    assert nowhere == []
    assert wider <= 1
    assert theme == scheme

"""At the end of a build: count pages, and follow the links inside the site."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

_log = logging.getLogger(__name__)


class _Page(HTMLParser):
    """What a page links to, and the anchors it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Remember anchors, links and the sources of images and scripts."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value and tag != "base":
                self.links.add(value)


def _pages(root: Path) -> list[Path]:
    """HTML files of the site; those of the theme's own folder are none."""
    return [p for p in sorted(root.rglob("*.html")) if "_static" not in p.parts]


def dead_links(root: Path) -> list[str]:
    """Links of the HTML files under a folder that lead nowhere, as "page: link"."""
    pages = {path.resolve(): _Page(path) for path in _pages(root)}
    dead = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if to.is_dir():
                to = to / "index.html"
            known = pages.get(to)
            lost = known is not None and unquote(parts.fragment) not in known.anchors
            if lost or not to.exists():
                dead.append(f"{path.relative_to(root.resolve())}: {link}")
    return dead


def _finished(app, error):
    if error is not None or app.builder.format != "html":
        return
    root = Path(app.outdir)
    for link in dead_links(root):
        _log.warning("dead link in %s", link)
    pages = _pages(root)
    examples = list((root / "gallery").glob("plot_*.html"))
    objects = list((root / "api" / "generated").glob("*.html"))
    # Printed, since -q silences what is merely logged.
    print(
        f"{len(pages)} pages, {len(examples)} of them of the gallery "
        f"and {len(objects)} of the API reference"
    )


def setup(app):
    """Connect to the end of the build."""
    app.connect("build-finished", _finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

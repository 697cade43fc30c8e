"""Every Python block of the pages for users runs, in the order of its page."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    *sorted(DOCS.glob("start/*.md")),
    *sorted(DOCS.glob("guide/*.md")),
    DOCS / "coming_from.md",
    DOCS / "faq.md",
]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "page", [p for p in PAGES if _blocks(p)], ids=lambda page: page.stem
)
def test_blocks_run(page, monkeypatch, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for number, block in enumerate(_blocks(page), 1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)
    matplotlib.pyplot.close("all")
    assert not list(tmp_path.iterdir())


def test_pages_are_not_empty():
    assert sum(len(_blocks(page)) for page in PAGES) >= 30

"""Every Python block of the pages for users runs, in the order of its page."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    *sorted(DOCS.glob("start/*.md")),
    *sorted(DOCS.glob("guide/*.md")),
    *sorted(DOCS.glob("coming_from.md")),
    *sorted(DOCS.glob("faq.md")),
]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "page", [p for p in PAGES if _blocks(p)], ids=lambda page: page.stem
)
def test_blocks_run(page, monkeypatch, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for number, block in enumerate(_blocks(page), 1):
        if "import torch" in block:  # too large for `lrisk[test]`
            pytest.importorskip("torch")
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)
    pyplot.close("all")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not DOCS.is_dir(), reason="the pages are not part of an sdist")
def test_pages_are_not_empty():
    assert sum(len(_blocks(page)) for page in PAGES) >= 30

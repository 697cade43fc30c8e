"""The package page: no link of it is relative, and none leads nowhere."""

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("hatchling")
ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINKS = re.compile(r"!?\[[^\]]*\]\(([^)]+)\)")


@pytest.fixture(scope="module")
def page():
    where = ROOT / "tools" / "package_page.py"
    spec = importlib.util.spec_from_file_location("package_page", where)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", LINKS.findall(README))
def test_files_that_the_readme_links_to_are_there(path):
    assert path.startswith("https://") or (ROOT / path.partition("#")[0]).is_file()


def test_links_lead_to_the_source_where_it_has_an_address(page):
    text = "![a](img/a.png) and [b *c*](b.md#d), [e](https://x.org/e)"
    told = page.package_page(text, "https://example.org/own/")
    assert told == (
        "![a](https://example.org/own/raw/HEAD/img/a.png) and "
        "[b *c*](https://example.org/own/blob/HEAD/b.md#d), [e](https://x.org/e)"
    )
    found = LINKS.findall(page.package_page(README, "https://example.org/own"))
    assert found and all(link.startswith("https://") for link in found)


def test_words_stay_where_the_source_has_no_address(page):
    text = "![a](img/a.png) and [b](b.md), [e](https://x.org/e)"
    assert page.package_page(text, None) == " and b, [e](https://x.org/e)"
    found = LINKS.findall(page.package_page(README, None))
    assert all(link.startswith("https://") for link in found)


@pytest.mark.parametrize("urls", [{}, {"Source": "https://example.org/own"}])
def test_the_hook_sets_the_description(page, urls):
    metadata = {"urls": urls}
    page.PackagePage(str(ROOT), {}).update(metadata)
    told = page.package_page(README, urls.get("Source"))
    assert metadata["readme"] == {"content-type": "text/markdown", "text": told}

"""The site lists what is public, and its check of links finds what is dead."""

import importlib.util
import inspect
import re
import tomllib
from pathlib import Path

import pytest

import lrisk

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.skipif(
    not (DOCS / "conf.py").exists(),
    reason="the site's sources are not part of an sdist",
)


def test_every_public_module_is_in_the_reference():
    listed = (DOCS / "api" / "index.rst").read_text(encoding="utf-8").split()
    modules = [n for n in lrisk.__all__ if inspect.ismodule(getattr(lrisk, n))]
    assert not {f"lrisk.{name}" for name in modules} - set(listed)


def test_the_picture_of_the_layers_is_that_of_the_linter():
    settings = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    names = re.split(r"[\s:|]+", " ".join(layers))
    drawn = re.findall(
        r">(\w+)</text>", (DOCS / "img" / "layers.svg").read_text("utf-8")
    )
    assert drawn == [name for name in names if not name.startswith("_")]


@pytest.fixture
def dead_links():
    pytest.importorskip("sphinx", reason="needs pip install 'lrisk[docs]'")
    where = DOCS / "site_check.py"
    spec = importlib.util.spec_from_file_location("site_check", where)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.dead_links


@pytest.mark.parametrize(
    ("link", "dead"),
    [
        ("b.html", False),
        ("b.html#here", False),
        ("b.html#nowhere", True),
        ("#top", False),
        ("#bottom", True),
        ("c.html", True),
        ("folder/", False),
        ("pic%20ture.png", False),
        ("other.png?v=1", True),
        ("https://example.org/c.html", False),
        ("mailto:a@example.org", False),
    ],
)
def test_dead_links(tmp_path, dead_links, link, dead):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "index.html").write_text("<p>")
    (tmp_path / "pic ture.png").write_bytes(b"")
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1>')
    (tmp_path / "a.html").write_text(f'<h1 id="top"><a href="{link}">a</a></h1>')
    assert dead_links(tmp_path) == ([f"a.html: {link}"] if dead else [])


@pytest.mark.parametrize("path", sorted(DOCS.parent.glob("examples/plot_*.py")))
def test_examples_end_in_what_to_see(path):
    text = path.read_text(encoding="utf-8")
    assert text.rpartition("# %%\n")[2].startswith("# What to see: ")


@pytest.fixture
def with_outputs():
    where = DOCS / "outputs.py"
    pytest.importorskip("sphinx", reason="needs pip install 'lrisk[docs]'")
    spec = importlib.util.spec_from_file_location("outputs", where)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.with_outputs


def test_pages_show_what_blocks_print_and_draw(with_outputs, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    pyplot.close("all")
    text = (
        "```python\na = 2\n```\n\nWords.\n\n```python\nprint(a)\nprint(3)\n```\n\n"
        "```python\nimport matplotlib.pyplot as plt\nplt.plot([1])\n```\n\n```console\n"
        "$ ls\n```\n"
    )
    shown = with_outputs(text, tmp_path, "/there", "own")
    assert shown == (
        "```python\na = 2\n```\n\nWords.\n\n```python\nprint(a)\nprint(3)\n```\n\n"
        "```{code-block} text\n:class: output\n\n2\n3\n```\n\n"
        "```python\nimport matplotlib.pyplot as plt\nplt.plot([1])\n```\n\n"
        "![What the lines above draw](/there/own-1.png)\n\n```console\n$ ls\n```\n"
    )
    assert (tmp_path / "own-1.png").stat().st_size and not pyplot.get_fignums()
    text = "```python\nraise ModuleNotFoundError(name={!r})\n```\n"
    without = text.format("torch")
    assert with_outputs(without, tmp_path, "/there", "own") == without
    with pytest.raises(ModuleNotFoundError):
        with_outputs(text.format("numpy"), tmp_path, "/there", "own")
    with pytest.raises(ZeroDivisionError):
        with_outputs("```python\n1 / 0\n```\n", tmp_path, "/there", "own")

"""What the README shows runs, and what it and the pages name is there."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted(ROOT.glob("docs/**/*.md"))]
PAGES = [p for p in PAGES if not {"_build", "gallery"} & set(p.parts)]


def test_example(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    lines = [line for line in code.splitlines() if line and not line.startswith("#")]
    assert len(lines) <= 15
    exec(compile(code, "README", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 3
    (comment,) = re.findall(r"^# (objective .*)$", code, re.MULTILINE)
    assert printed[2].split(",")[0] == comment.split(",")[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_that_pages_name_are_there(page):
    from lrisk.cli.commands import lrisk

    text = page.read_text("utf-8")
    made = re.findall(r"^([\w-]+)(?: [\w-]+)*:", (ROOT / "Makefile").read_text(), re.M)
    named = re.findall(r"(?:`|\$ )make ([\w-]+)", text)
    assert set(named) <= {*made, "test-kernels"}
    for module in re.findall(r"python -m ((?:benchmarks|experiments)[\w.]*)", text):
        assert importlib.util.find_spec(module), module
    spoken = re.findall(r"(?:`|\$ )lrisk ([a-z]+)", text)
    assert set(spoken) <= set(lrisk.commands)
    for options in re.findall(r"\$ lrisk audit (.*)", text):
        known = {o for p in lrisk.commands["audit"].params for o in p.opts}
        assert set(re.findall(r"--[\w-]+", options)) <= known
    extras = re.findall(r"pip install '(?:lrisk|\.)\[([\w,]+)\]'", text)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {e for own in extras for e in own.split(",")} <= set(
        project["optional-dependencies"]
    )


def test_the_table_is_that_of_its_benchmark():
    spec = importlib.util.spec_from_file_location(
        "beside", ROOT / "benchmarks" / "beside.py"
    )
    beside = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(beside)
    text = README.read_text("utf-8")
    assert "`python -m benchmarks.beside`" in text
    table = text.split("\n".join(beside.HEAD) + "\n")[1].split("\n\n")[0]
    first = [line.split("|")[1].strip() for line in table.splitlines()]
    assert [part.__name__ for part in beside.PARTS] == list(beside.WHAT)
    assert first == [what for part in beside.WHAT.values() for what in part]

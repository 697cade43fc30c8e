"""The index of docs/papers.md: complete, and nothing in it is made up."""

import ast
import functools
import importlib
import itertools
import re
import sys
from pathlib import Path

import pytest

from lrisk._extras import EXTRAS

ROOT = Path(__file__).parents[1]
KINDS = ("equation", "figure", "table", "algorithm")
#: These share one counter in a paper.
STATEMENTS = ("definition", "theorem", "lemma", "corollary", "proposition",
              "assumption")  # fmt: skip
#: Last number of each kind, by paper.
LAST = {
    "1": {"equation": 31, "figure": 20, "table": 2, "algorithm": 8, "statement": 21},
    "2": {"equation": 118, "figure": 1, "table": 4, "algorithm": 1, "statement": 25},
    "3": {"equation": 4, "figure": 0, "table": 0, "algorithm": 2, "statement": 2},
}
BECAUSE = "not implemented, because "


def rows(head, width):
    """The table of docs/papers.md that begins with these words."""
    text = (ROOT / "docs" / "papers.md").read_text("utf-8")
    lines = text.split(head)[1].splitlines()[2:]
    found = [
        [cell.strip() for cell in line.strip()[1:-1].split("|")]
        for line in itertools.takewhile(lambda line: line.startswith("|"), lines)
    ]
    assert all(len(row) == width for row in found)
    return found


ROWS = rows("| paper | item |", 6)
POINTS = rows("| paper | point |", 4)
ids = [f"{row[0]}: {row[1]}" for row in ROWS]


def numbers(item):
    """Kind and number of everything that an item names: "equations 9 to 11"."""
    words = "|".join((*KINDS, *STATEMENTS))
    pattern = rf"({words.replace('corollary', 'corollary|corollarie')})s? "
    pattern += r"(\d+(?:(?:, | and | to )\d+)*)"
    for kind, text in re.findall(pattern, item):
        kind = "statement" if kind.rstrip("ie") in map(_stem, STATEMENTS) else kind
        for part in re.split(r", | and ", text):
            first, _, last = part.partition(" to ")
            for number in range(int(first), int(last or first) + 1):
                yield kind, number


def _stem(word):
    return word.rstrip("ie")


@pytest.mark.parametrize("paper", LAST)
def test_every_number_of_the_papers_has_a_row(paper):
    named = {pair for row in ROWS if row[0] == paper for pair in numbers(row[1])}
    for kind, last in LAST[paper].items():
        own = {number for what, number in named if what == kind}
        assert set(range(1, last + 1)) <= own, (kind, set(range(1, last + 1)) - own)


def test_no_item_comes_twice():
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_what_implements_it_exists_or_is_said_to_be_missing(row):
    function = row[3]
    if function.startswith("not "):
        assert function.startswith(BECAUSE) and len(function) > len(BECAUSE) + 10
        return
    (name,) = re.fullmatch(r"`(lrisk[\w.]*)`", function).groups()
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError as error:
            if error.name in EXTRAS:
                pytest.skip(str(error))
            continue
        for attribute in parts[cut:]:
            found = getattr(found, attribute)
        return
    raise AssertionError(f"{name} does not exist")


@functools.cache
def names(path):
    """Functions of a test file, those of classes as Class::name."""
    tree, found = ast.parse((ROOT / path).read_text("utf-8")), set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}::{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef)
            }
    return found


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_the_test_exists(row):
    if not row[4]:
        assert row[3].startswith(BECAUSE)  # what is implemented has a test
        return
    assert_test(row[4])


def assert_test(words):
    path, _, name = words.strip("`").partition("::")
    assert name in names(path), sorted(names(path))


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_the_page_exists(row):
    if row[5]:
        assert_page(row[5])


@functools.cache
def modules_and_names():
    """Of every experiment; its folder is beside the package, not in it."""
    sys.path.insert(0, str(ROOT))
    try:
        from experiments._experiment import MODULES, all_experiments

        return list(zip(MODULES, all_experiments(), strict=True))
    finally:
        sys.path.remove(str(ROOT))


def assert_page(words):
    name, path = re.fullmatch(r"\[([\w-]+)\]\((results/[\w-]+\.md)\)", words).groups()
    assert path == f"results/{name}.md"
    assert name in dict(modules_and_names()).values()
    assert (ROOT / "docs" / path).exists()


def test_every_experiment_has_its_page_in_the_summary():
    told = (ROOT / "docs" / "results" / "README.md").read_text("utf-8")
    names = [name for _, name in modules_and_names()]
    assert not [name for name in names if f"({name}.md)" not in told]


#: Modules that write a part of a page, besides the experiment's own.
PARTS = {
    "table3": ("_subquantile_page", "_table3_study"),
    "table4": ("_subquantile_page",),
}
#: How verdicts began that counted whatever is better than printed as reproduced.
ONE_SIDED = "of the printed value or better in"


def headings(module):
    """Words that a module writes whatever was run: headings, and names of columns."""
    tree = ast.parse((ROOT / "experiments" / f"{module}.py").read_text("utf-8"))
    for node in ast.walk(tree):
        given = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = node.args[:1] if node.func.attr in ("heading", "table") else []
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "columns":
            given = [node.value]
        for value in given:
            for part in getattr(value, "elts", [value]):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def experiments():
    """Module and name of every experiment that has a page."""
    pages = ROOT / "docs" / "results"
    for module, name in modules_and_names():
        yield module, name, (pages / f"{name}.md").read_text("utf-8")


def test_a_page_has_what_its_code_writes():
    """No row may name a page for what the code writes and an older page lacks."""
    for module, name, text in experiments():
        modules = (module, *PARTS.get(name, ()))
        words = {word for own in modules for word in headings(own)}
        missing = [word for word in words if word not in text]
        assert not missing, (name, missing)
        assert ONE_SIDED not in text, name


def test_every_page_is_of_the_commit_that_the_summary_names():
    told = (ROOT / "docs" / "results" / "README.md").read_text("utf-8")
    (commit,) = re.findall(r"One commit\.\*\* All 21 pages .* at ([0-9a-f]{7})", told)
    pages = list(experiments())
    assert len(pages) == 21
    for _, name, text in pages:
        assert re.search(r" · commit (.+)", text)[1] == commit, name


@pytest.mark.parametrize("row", POINTS, ids=[f"{row[0]}: {row[1]}" for row in POINTS])
def test_every_point_of_review_has_an_answer(row):
    """A page or a test that exists, or a reason."""
    paper, point, now, see = row
    assert paper in (*LAST, "all") and point and now
    if not see:
        assert now.startswith(BECAUSE) and len(now) > len(BECAUSE) + 10
    elif see.startswith("["):
        assert_page(see)
    else:
        assert_test(see)

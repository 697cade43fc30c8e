"""Every door that needs an extra names it in one line where it is missing."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import lrisk
from lrisk._extras import EXTRAS, lacking, optional
from lrisk.cli import main

PACKAGE = Path(lrisk.__file__).parent
SETTINGS = PACKAGE.parents[1] / "pyproject.toml"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X @ [1.0, 2.0] + RNG.normal(size=60)


@pytest.fixture
def block(monkeypatch):
    """Let a package be missing, with all of its modules."""

    def _block(package):
        for name in [package, *sys.modules]:
            if name.partition(".")[0] == package:
                monkeypatch.setitem(sys.modules, name, None)

    return _block


@pytest.fixture(scope="module")
def model():
    return lrisk.RiskRegressor("subquantile:0.9", random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def audited():
    return lrisk.audit(X, Y)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of each kind; they need not be whole where the package is missing."""
    folder = tmp_path_factory.mktemp("tables")
    table = [f"{a},{b},{c}" for (a, b), c in zip(X.tolist(), Y.tolist())]
    (folder / "t.csv").write_text("\n".join(["a,b,y", *table]))
    (folder / "t.json").write_text('[{"a": 1, "y": 2}]')
    (folder / "t.xlsx").write_bytes(b"PK\x03\x04")
    (folder / "t.parquet").write_bytes(b"PAR1")
    (folder / "parts").mkdir()
    (folder / "parts" / "t.parquet").write_bytes(b"PAR1")
    return folder


def _read(name):
    def read(files, **_):
        from lrisk.tables.files import read_table

        return read_table(files / name)

    return read


def _folder(files, **_):
    from lrisk.tables.parquet_folder import ParquetFolder

    return ParquetFolder(files / "parts")


def _fit_file(files, **_):
    import lrisk.outofcore

    lrisk.outofcore.fit(lrisk.RiskRegressor("mean"), files / "t.parquet", "y")


def _predict_file(files, model, **_):
    import lrisk.outofcore

    lrisk.outofcore.predict(model, X, files / "p.parquet")


def _own_model(**_):
    columns = {"a": X[:, 0], "b": X[:, 1], "y": Y, "told": Y}
    return lrisk.audit(columns, "y", predictions="told")


def _display(make):
    def draw(model, **_):
        from lrisk import displays

        return make(displays, model)

    return draw


def _clusters(displays, _):
    fitted = lrisk.RiskKMeans(2, random_state=0).fit(X)
    return displays.ClusterDisplay.from_estimator(fitted, X)


DOORS = [
    ("matplotlib", "lrisk.displays", _display(_clusters)),
    (
        "matplotlib",
        "lrisk.displays",
        _display(lambda d, model: d.LossDisplay.from_estimator(model)),
    ),
    (
        "matplotlib",
        "lrisk.displays",
        _display(lambda d, model: d.SpectrumDisplay.from_spectrum("mean")),
    ),
    (
        "matplotlib",
        "lrisk.displays",
        _display(lambda d, model: d.LossQuantileDisplay.from_estimator(model, X, Y)),
    ),
    ("pandas", "reading tables from files", _read("t.csv")),
    ("pandas", "reading JSON files", _read("t.json")),
    ("pandas", "reading Excel files", _read("t.xlsx")),
    ("openpyxl", "reading Excel files", _read("t.xlsx")),
    ("pyarrow", "reading Parquet files", _read("t.parquet")),
    ("pyarrow", "reading Parquet files", _read("parts")),
    ("pyarrow", "reading Parquet files", _folder),
    ("pyarrow", "reading Parquet files", _fit_file),
    ("pyarrow", "lrisk.outofcore.predict", _predict_file),
    ("pandas", "an audit of a dict by your own model", _own_model),
    ("pandas", "AuditResult.rows_frame", lambda audited, **_: audited.rows_frame()),
    (
        "jinja2",
        "the page of an audit",
        lambda audited, files, **_: lrisk.write_audit(audited, files / "out"),
    ),
    (
        "pyarrow",
        "rows.parquet",
        lambda audited, files, **_: lrisk.write_audit(
            audited, files / "out", parquet=True
        ),
    ),
]


@pytest.mark.parametrize(("package", "user", "open_door"), DOORS)
def test_doors_of_python_name_the_extra(
    package, user, open_door, block, files, model, audited
):
    if package != "pandas":  # some doors need it, too
        pytest.importorskip("pandas")
    block(package)
    with pytest.raises(ModuleNotFoundError) as refusal:
        open_door(files=files, model=model, audited=audited)
    assert str(refusal.value) == lacking(package, user)
    assert refusal.value.name == package and refusal.value.__cause__ is None
    assert not (files / "out").exists() and not (files / "p.parquet").exists()


@pytest.mark.parametrize(
    ("package", "module"),
    [
        ("torch", "lrisk.torch"),
        ("dask", "lrisk.dask"),
        ("distributed", "lrisk.dask"),
        ("river", "lrisk.river"),
    ],
)
def test_modules_name_their_extra(package, module):
    for name in {"torch", "dask", "distributed", "river"} - {package}:
        if EXTRAS[name] == EXTRAS[package]:
            pytest.importorskip(name)
    code = f"import sys; sys.modules[{package!r}] = None; import {module}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    said = run.stderr.strip().splitlines()[-1]
    assert said == f"ModuleNotFoundError: {lacking(package, module)}"


@pytest.mark.parametrize(
    ("package", "arguments", "user"),
    [
        ("click", ["--help"], "the command line"),
        *[
            (package, ["audit", "t.csv", "--target", "y"], "lrisk audit")
            for package in ("pandas", "jinja2", "rich")
        ],
        ("pyarrow", ["audit", "t.csv", "--target", "y", "--parquet"], "--parquet"),
        *[
            ("pyarrow", ["audit", name, "--target", "y"], "reading Parquet files")
            for name in ("t.parquet", "parts")
        ],
        ("openpyxl", ["audit", "t.xlsx", "--target", "y"], "reading Excel files"),
        *[
            (package, ["fit", "t.csv", "--target", "y", "--out", "m"], "lrisk fit")
            for package in ("pandas", "skops", "packaging")
        ],
        *[
            (package, ["predict", "m", "t.csv"], "lrisk predict")
            for package in ("pandas", "skops", "packaging")
        ],
        ("jinja2", ["demo"], "lrisk demo"),
        ("rich", ["demo"], "lrisk demo"),
    ],
)
def test_commands_name_the_extra(
    package, arguments, user, block, files, capsys, monkeypatch
):
    monkeypatch.chdir(files)
    for name in [n for n in sys.modules if n.startswith("lrisk.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    before = sorted(files.iterdir())
    block(package)
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"lrisk: {lacking(package, user)}\n"
    assert sorted(files.iterdir()) == before


def test_a_package_that_is_broken_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "river.py").write_text("import something_that_is_not_there")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "river", raising=False)
    with pytest.raises(ModuleNotFoundError, match="something_that_is_not_there"):
        optional("river", "lrisk.river")


def _imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module, node


def test_nothing_imports_a_package_of_an_extra_but_by_the_one_helper():
    """Except what cannot be reached without: commands, and the doors' own rooms."""
    rooms = {
        "click": "cli/",
        "rich": "cli/",
        "skops": "cli/",
        "packaging": "cli/",
        "torch": "torch/",
        "dask": "dask/",
        "distributed": "dask/",
        "pandas": "dask/",
        "river": "river.py",
    }
    bare = []
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE).as_posix()
        for name, node in _imported(ast.parse(path.read_text("utf-8"))):
            package = name.partition(".")[0]
            if package in EXTRAS and not place.startswith(rooms.get(package, "?")):
                bare.append(f"{place}:{node.lineno} {name}")
    assert bare == []


@pytest.mark.skipif(not SETTINGS.exists(), reason="an installed package")
def test_the_extras_bring_what_is_said():
    extras = tomllib.loads(SETTINGS.read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    brought = {
        extra: {re.match(r"[\w-]+", line)[0] for line in lines}
        for extra, lines in extras.items()
    }
    for package, extra in EXTRAS.items():
        assert package in brought[extra], package
    public = set(extras) - {"all", "test", "docs", "dist", "dev"}
    assert public == {*EXTRAS.values(), "boosting"}
    assert extras["all"] == [f"lrisk[{','.join(e for e in extras if e in public)}]"]

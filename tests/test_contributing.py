"""A spectrum, loss, kernel and solver of one's own need what CONTRIBUTING.md says.

Each is made as a reader would make it and entered into its registry; an estimator then
takes it by name, certificate and all. The recipes are then followed to the letter in a
copy of the package.
"""

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lrisk
from lrisk.losses import NUMBER_LOSSES, Squared
from lrisk.solvers import SOLVERS, Solution, Solver, Status
from lrisk.spectra import FAMILIES, Spectrum

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=80)


class Halfway(Spectrum):
    """S(u) = (u + u²)/2: half of the mean, half of the extremile of two draws."""

    name = "halfway"

    @property
    def monotone(self):
        return "up"

    def cumulative(self, u):
        u = np.asarray(u, dtype=float)
        return 0.5 * (u + u**2)

    def increments(self, P, mass):
        return 0.5 * mass * (1.0 + 2.0 * P - mass)


class Doubled(Squared):
    """The squared loss under another name."""

    name = "doubled"


class OneStep(Solver):
    """One step of gradient descent, by hand."""

    name = "one_step"

    def __init__(self, tol=1e-6, max_iter=1):
        self.tol = tol
        self.max_iter = max_iter
        self.validate()

    def _solve(self, objective, start, *, weights, rng, monitor):
        point = objective.at(np.zeros(objective.space.size))
        taken = objective.ranking.weights(point.losses)
        theta = -0.1 * objective.gradient(point, taken)
        value = objective.value(objective.at(theta))
        status = Status.STEPS_TAKEN
        return Solution(theta, value, np.inf, -np.inf, taken, 1, status)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(FAMILIES, "halfway", Halfway)
    monkeypatch.setitem(NUMBER_LOSSES, "doubled", Doubled)
    monkeypatch.setitem(SOLVERS, "one_step", OneStep)


def test_a_spectrum_of_ones_own_is_solved_to_a_certified_optimum():
    model = lrisk.RiskRegressor("halfway", tol=1e-9).fit(X, Y)
    assert model.dual_gap_ <= 1e-9
    # its risk is the mean of two that the package has
    losses = 0.5 * (Y - model.predict(X)) ** 2
    risks = [lrisk.risk(losses, name) for name in ("mean", "extremile:2")]
    assert lrisk.risk(losses, "halfway") == pytest.approx(np.mean(risks), rel=1e-12)


def test_a_loss_of_ones_own_is_taken_by_name():
    own = lrisk.RiskRegressor("superquantile:0.5", loss="doubled").fit(X, Y)
    known = lrisk.RiskRegressor("superquantile:0.5").fit(X, Y)
    assert own.coef_ == pytest.approx(known.coef_, rel=1e-12)


def test_a_solver_of_ones_own_is_taken_by_name_and_checked():
    model = lrisk.RiskRegressor("extremile:2", solver="one_step").fit(X, Y)
    assert model.solver_ == "one_step"
    assert model.objective_ < lrisk.risk(0.5 * (Y - np.median(Y)) ** 2, "extremile:2")
    with pytest.raises(ValueError, match=r"increasing .* solver='one_step'"):
        lrisk.RiskRegressor("subquantile:0.5", solver="one_step").fit(X, Y)


# -- the recipes, followed in a copy of the package ------------------------------------

ROOT = Path(__file__).parents[1]
HEADS = "import numpy as np\n\nfrom .base import Spectrum\n\n\n"
SOLVER_HEADS = """import numpy as np

from ..solution import Solution, Solver, Status


"""
#: For each recipe the files that are written, or the replacements in those there are.
RECIPES = {
    "spectrum": {
        "spectra/halfway.py": HEADS + inspect.getsource(Halfway),
        "spectra/names.py": [
            ("from .base import", "from .halfway import Halfway\nfrom .base import"),
            ("for family in (", "for family in (Halfway, "),
        ],
        "spectra/__init__.py": [
            ("from .base", "from .halfway import Halfway as Halfway\nfrom .base")
        ],
    },
    "loss": {
        "losses/doubled.py": "from .squared import Squared\n\n\n"
        + inspect.getsource(Doubled),
        "losses/names.py": [
            ("from .squared", "from .doubled import Doubled\nfrom .squared"),
            ("for loss in (", "for loss in (Doubled, "),
        ],
        "losses/__init__.py": [
            ("from .hinge", "from .doubled import Doubled as Doubled\nfrom .hinge")
        ],
    },
    "kernel": {
        "spaces/kernels.py": [
            ('    "cosine": (),\n', '    "cosine": (),\n    "affine": (),\n'),
            (
                '            case "cosine":\n',
                '            case "affine":\n'
                "                return _bounded(1.0 + _products(X, Z))\n"
                '            case "cosine":\n',
            ),
        ],
    },
    "solver": {
        "solvers/certified/one_step.py": SOLVER_HEADS + inspect.getsource(OneStep),
        "solvers/certified/__init__.py": [
            (
                "from .newton",
                "from .one_step import OneStep as OneStep\nfrom .newton",
            )
        ],
        "solvers/__init__.py": [
            ("from .certified import", "from .certified import OneStep,"),
            ("_CONVEX = (", "_CONVEX = (OneStep, "),
        ],
    },
}
FITS = """
import warnings
import numpy as np, lrisk
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(40, 2))
y = X @ [1.0, 2.0]
options = {"loss": "doubled", "solver": "one_step"}
model = lrisk.RiskRegressor("halfway", **options).fit(X, y)
kernel = lrisk.KernelRiskRegressor("halfway", kernel="affine", **options).fit(X, y)
print(lrisk.__file__, model.solver_, kernel.solver_, kernel.predict(X[:1]).shape)
"""


def test_contributing_says_how_many_files_a_recipe_takes():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    said = re.findall(r"^## Add a (\w+) \((\d+) files?\)$", text, re.MULTILINE)
    assert {name: int(count) for name, count in said} == {
        name: len(files) for name, files in RECIPES.items()
    }
    for name, files in RECIPES.items():
        section = text.split(f"## Add a {name} (")[1].split("\n## ")[0]
        for path in files:
            if (ROOT / "src/lrisk" / path).exists():
                known = path in section or path.endswith("certified/__init__.py")
                assert known, f"{path} is not named"


def test_the_reading_list_leads_through_a_fit():
    """What it names is there, and a fit goes through it in this order."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    listed = text.split("read, in this order:")[1].split("\n\n")[0]
    entries = re.findall(r"`([\w/]+\.py)`(?:\s\(([^)]*)\))?", listed)
    places = [ROOT / "src/lrisk" / path for path, _ in entries]
    functions = [re.findall(r"`(\w+)`", names) for _, names in entries]
    for place, names in zip(places, functions):
        for name in names:
            assert f"def {name}(" in place.read_text(), f"{place} has no {name}"
    named = {(str(p), n) for p, names in zip(places, functions) for n in names}
    called = []

    def note(frame, event, argument):
        code = frame.f_code
        step = (code.co_filename, code.co_name)
        if event == "call" and step in named and step not in called:
            called.append(step)

    model = lrisk.RiskRegressor("superquantile:0.7")
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        model.fit(X, Y)
    finally:
        sys.setprofile(before)
    assert called == [(str(p), n) for p, names in zip(places, functions) for n in names]


def test_the_recipes_are_enough(tmp_path):
    package = tmp_path / "lrisk"
    shutil.copytree(
        ROOT / "src/lrisk", package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for files in RECIPES.values():
        for path, content in files.items():
            place = package / path
            if isinstance(content, str):
                assert not place.exists()
                place.write_text(content)
                continue
            text = place.read_text()
            for old, new in content:
                assert old in text, f"{path} has no {old!r}"
                text = text.replace(old, new, 1)
            place.write_text(text)
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", FITS], env=env, cwd=tmp_path, capture_output=True,
        text=True,
    )  # fmt: skip
    where, *words = run.stdout.split()
    assert Path(where).parent == package, run.stderr
    assert words == ["one_step", "one_step", "(1,)"]

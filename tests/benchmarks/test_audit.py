"""`python -m benchmarks.audit`, as a shell runs it."""

import os
import subprocess
import sys
from pathlib import Path

# The folder is beside the package, not in it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks._audit_errors import OF_CLASSES, OF_NUMBERS
from benchmarks.audit import _planted_jobs

ROOT = Path(__file__).parents[2]


def ran(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.audit", *arguments],
        capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip


def test_a_kind_in_a_table_is_told_and_judged():
    end = ran("planted", "--seeds", "1", "--jobs", "1", "--tables", "wine",
              "--only", "copied block")  # fmt: skip
    lines = end.stdout.splitlines()
    assert any(line.startswith("[1/1] copied block, wine, seed 0") for line in lines)
    assert "classes: copied block, recall: 1 (≥ 1): met" in lines, end.stderr
    assert end.returncode == ("MISSED" in end.stdout)


def test_sections_are_asked_by_themselves():
    end = ran("sections", "--seeds", "1", "--jobs", "1", "--tables", "mixed", "wine",
              "--only", "feature ×10", "target ×10", "source with flips")  # fmt: skip
    told = [line for line in end.stdout.splitlines() if line.startswith("-- ")]
    # Targets are judged by fits, and so are labels of sources.
    assert told == ["-- feature ×10: 1 tables", "-- classes: feature ×10: 1 tables"]
    assert "feature ×10, recall by the section of columns: 1 (≥ 0.9): met" in end.stdout
    assert end.returncode == 0 and "FALSE" not in end.stdout, end.stderr


def test_a_table_that_is_none_is_refused_with_those_there_are():
    end = ran("--tables", "venice")
    assert end.returncode == 2
    assert "no table 'venice'; there are boston" in end.stderr


def test_a_name_stands_for_one_kind_and_a_word_for_several():
    def kinds(*only):
        return {kind for kind, *_ in _planted_jobs(["mixed", "wine"], 1, list(only))}

    assert kinds("target ×10") == {"target ×10"}
    assert kinds("×10") >= {"target ×10", "target ×1000", "feature ×10"}
    assert kinds("flips") == {kind for kind in OF_CLASSES if "flips" in kind}
    assert kinds() == {*OF_NUMBERS, *OF_CLASSES}

"""Outcomes of finished jobs that are kept in a folder."""

import os
import subprocess
import sys
from pathlib import Path

# The folder is beside the package, not in it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks._records import Kept

ROOT = Path(__file__).parents[2]
RUNS = []


def once(job):
    RUNS.append(job)
    return job, len(RUNS)


def another(job):
    return "another", job


def test_a_finished_job_is_not_run_again(tmp_path):
    RUNS.clear()
    kept = Kept(once, tmp_path / "new")
    first = kept(("a", 1))
    assert kept(("a", 1)) == first == (("a", 1), 1)
    assert kept(("a", "1"))[1] == 2
    assert RUNS == [("a", 1), ("a", "1")]


def test_functions_do_not_share_their_outcomes(tmp_path):
    Kept(once, tmp_path)("a")
    assert Kept(another, tmp_path)("a") == ("another", "a")


def test_without_a_folder_nothing_is_kept():
    RUNS.clear()
    kept = Kept(once, None)
    kept("a")
    kept("a")
    assert RUNS == ["a", "a"]


def test_nothing_is_kept_of_a_job_that_fails(tmp_path):
    def fails(job):
        raise ZeroDivisionError

    for _ in range(2):
        try:
            Kept(fails, tmp_path)("a")
        except ZeroDivisionError:
            continue
        raise AssertionError
    assert not list(tmp_path.iterdir())


def ran(module, *arguments):
    return subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *arguments],
        capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip


def test_parts_of_a_benchmark_fill_a_folder_and_the_whole_is_told(tmp_path):
    folder = str(tmp_path)
    labels = ("intervals", "--draws", "1", "--jobs", "1", "--records", folder)
    tables = ("2 classes", "3 classes")
    for table in tables:
        end = ran("labels", *labels, "--tables", table)
        assert f"intervals {table}" in end.stdout, end.stderr
    made = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(made) == 2 * 3  # tables, kinds of noise
    whole = ran("labels", *labels, "--tables", *tables)
    assert "intervals, 2 classes: coverage in 3 draws" in whole.stdout, whole.stderr
    assert made == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


def test_an_unknown_table_of_labels_is_refused():
    end = ran("labels", "--tables", "nowhere")
    assert end.returncode == 2
    assert "no 'nowhere'" in end.stderr


def test_audits_are_kept(tmp_path):
    command = ("audit", "planted", "--seeds", "1", "--jobs", "1", "--tables", "wine",
               "--only", "copied block", "--records", str(tmp_path))  # fmt: skip
    first = ran(*command)
    assert len(list(tmp_path.iterdir())) == 1, first.stderr
    assert ran(*command).stdout == first.stdout  # to the second, as it was measured

"""Outcomes of finished jobs that are kept in a folder."""

import sys
from pathlib import Path

import pytest

# The folder is beside the package, not in it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks._records import Kept

from benchmarks import audit, labels

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


def test_parts_of_a_benchmark_fill_a_folder_and_the_whole_is_told(tmp_path, capsys):
    arguments = ["intervals", "--draws", "1", "--jobs", "1", "--records", str(tmp_path)]
    tables = ["2 classes", "3 classes"]
    for table in tables:
        labels.main([*arguments, "--tables", table])
        assert f"intervals {table}" in capsys.readouterr().out
    made = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(made) == 2 * 3  # tables, kinds of noise
    labels.main([*arguments, "--tables", *tables])
    assert "intervals, 2 classes: coverage in 3 draws" in capsys.readouterr().out
    assert made == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


def test_an_unknown_table_of_labels_is_refused(capsys):
    with pytest.raises(SystemExit):
        labels.main(["--tables", "nowhere"])
    assert "no 'nowhere'" in capsys.readouterr().err


def test_audits_are_kept(tmp_path, capsys):
    command = ["planted", "--seeds", "1", "--jobs", "1", "--tables", "wine",
               "--only", "copied block", "--records", str(tmp_path)]  # fmt: skip
    audit.main(command)
    assert len(list(tmp_path.iterdir())) == 1
    first = capsys.readouterr().out
    audit.main(command)
    assert capsys.readouterr().out == first  # to the second, as it was measured

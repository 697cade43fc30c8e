"""`python -m benchmarks.any_learner`: its rows, its comparisons, and one short run."""

import numpy as np
import pytest
from benchmarks._any_learner_data import DEVELOPMENT, WRONG, task
from benchmarks._any_learner_report import FIGURES, Change, held_out

from benchmarks import any_learner


@pytest.mark.parametrize("name", DEVELOPMENT)
def test_test_rows_stay_clean_and_a_share_of_the_others_does_not(name):
    clean, wrong = task(name, 3), task(name, 3, wrong=True)
    np.testing.assert_array_equal(clean.test_y, wrong.test_y)
    np.testing.assert_array_equal(clean.X, wrong.X)
    changed = float(np.mean(clean.y != wrong.y))
    assert changed == pytest.approx(WRONG, abs=1.0 / len(clean.y))
    assert (clean.side > 0) == (name == "digits") == (clean.classes == 10)


def test_a_change_is_paired():
    before = np.array([1.0, 10.0, 100.0])
    change = Change.of(before, 0.9 * before)
    assert change.mean == pytest.approx(-10.0) and change.verdict == "better"
    assert Change.of(before, 1.1 * before).verdict == "WORSE"
    assert Change.of(before, before[::-1]).verdict == "no difference shown"
    assert Change.of([1.0], [0.5]).verdict == "no difference shown"  # of one seed


def test_held_out_losses():
    rows = task("diabetes", 0)
    losses = held_out(rows, np.zeros(len(rows.test_y)))
    np.testing.assert_allclose(losses, 0.5 * rows.test_y**2)
    rows = task("digits", 0)
    even = np.full((len(rows.test_y), 10), 0.1)
    np.testing.assert_allclose(held_out(rows, even), np.log(10.0))
    assert all(of(losses) > 0 for of in FIGURES.values())


def test_a_run_says_where_the_tail_is_better(capsys, monkeypatch):
    neural = pytest.importorskip(
        "benchmarks._any_learner_neural", reason="torch is not installed"
    )
    monkeypatch.setattr(any_learner, "FILES", ("_any_learner_neural",))
    short = {"MLP": neural.mlp, "CNN": neural.cnn}
    learners = [
        one._replace(
            fit=lambda *given, make=short[one.name]: neural.fit(make, 2, *given)
        )
        for one in neural.LEARNERS
    ]
    monkeypatch.setattr(neural, "LEARNERS", learners)
    any_learner.main(["clean", "wrong", "--seeds", "2", "--sets", "digits"])
    printed = capsys.readouterr().out
    lines = [line for line in printed.splitlines() if line.startswith("| digits")]
    assert len(lines) == 4
    for line in lines:
        assert line.endswith(("| better |", "| WORSE |", "| no difference shown |"))

"""What the sentences say agrees with what was found and with what a person said."""

from dataclasses import replace

import numpy as np
import pytest

from lrisk import audit
from lrisk.analysis.audit.wording import (
    FALSE_ALARMS,
    LIMIT,
    NOTHING_FOUND,
    loss_groups,
)


def line(n=120, seed=1):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    return {"x": x, "z": z, "y": 50 + 10 * x - 5 * z + rng.normal(size=n)}


@pytest.fixture(scope="module")
def marked():
    """Errors that one column marks exactly: they pass for structure.

    The factor is that of no slip, which would be seen all the same.
    """
    rng = np.random.default_rng(0)
    n = 300
    k, a = rng.normal(70, 10, n), rng.normal(size=n)
    y = 2 * k + 5 * a + rng.normal(size=n)
    wrong = rng.random(n) < 0.06
    unit = np.where(wrong, "old", "new").astype(object)
    data = {"k": k, "a": a, "unit": unit, "y": np.where(wrong, y * 1.8, y)}
    return audit(data, "y"), wrong


def test_rows_far_out_do_not_look_clean(marked):
    result, wrong = marked
    assert result.flags.sum() == 0, "otherwise this test says nothing"
    assert not result.looks_clean and "looks clean" not in result.summary
    assert f"{result.far_rows} rows lie farther out" in result.summary
    assert result.far_rows >= 0.7 * wrong.sum()
    assert LIMIT in result.summary
    assert NOTHING_FOUND not in result.next_steps
    assert wrong[np.array(result.least_fitting) - 1].all()


def test_values_far_from_all_others_do_not_look_clean():
    data = line()
    data["dose"] = np.abs(np.random.default_rng(0).normal(5, 0.5, 120))
    data["dose"][[5, 9, 11]] = [5123.4, 4987.1, 6001.7]
    result = audit(data, "y")
    assert not result.looks_clean and "looks clean" not in result.summary
    assert "Odd values of single columns: 1 finding." in result.summary
    assert result.findings[0].rows == [6, 10, 12]
    assert result.next_steps[0].startswith("Ask what the odd values of single columns")


def test_the_limit_stands_beside_a_clean_verdict_without_a_bound():
    result = audit(line(), "y")
    assert result.looks_clean and result.summary.endswith(LIMIT)
    assert result.next_steps[0] == NOTHING_FOUND
    assert [words for words, _ in loss_groups(result)] == ["all 120 rows"]
    assert "at most" not in result.summary and "noise scales" not in result.summary


def test_a_heavy_tail_is_named_where_rows_lie_far_out_in_it():
    rng = np.random.default_rng(11)
    data = line(300)
    data["y"] += 4 * rng.lognormal(size=300)
    result = audit(data, "y")
    assert result.tail_rows > 0 and not result.looks_clean
    assert "clean" not in result.summary and NOTHING_FOUND not in result.next_steps
    assert f"{result.tail_rows} rows lie beyond 6 noise scales" in result.summary
    assert any("Look at the least fitting rows" in step for step in result.next_steps)


def test_a_persons_word_counts():
    data = line()
    result = audit(data, "y", verdicts={4: "wrong", 5: "wrong", 6: "wrong", 7: "ok"})
    assert not result.looks_clean and "looks clean" not in result.summary
    assert "You judged 3 rows wrong and 1 row right" in result.summary
    assert "Nothing" not in result.summary and result.flagged_by_fits == 0
    assert result.interval[0] >= 3 / 120
    assert result.judgements == {4: "wrong", 5: "wrong", 6: "wrong", 7: "right"}
    assert result.next_steps[0] == "Correct 3 rows that you judged wrong."
    assert NOTHING_FOUND not in result.next_steps


@pytest.mark.parametrize(
    ("contamination", "flagged"), [("auto", 0), (0.01, 0), (0.2, 4)]
)
def test_of_few_rows_nothing_is_said(contamination, flagged):
    result = audit(line(24), "y", contamination=contamination)
    assert result.summary.startswith("Too few rows to judge")
    assert not result.looks_clean and result.flags.sum() == flagged
    assert NOTHING_FOUND not in result.next_steps
    assert not any("the 0" in step for step in result.next_steps)


def test_a_share_of_less_than_a_row_is_said_to_be_that():
    result = audit(line(60), "y", contamination=0.01)
    assert "less than one of 60 rows" in result.summary and not result.looks_clean


def test_a_given_share_is_told_apart_from_verdicts():
    before = audit(line(60), "y", contamination=0.1)
    best = int(np.nanargmin(np.abs(before.residuals))) + 1
    worst = before.least_fitting[0]
    said = {best: "wrong", worst: "right"}
    result = audit(line(60), "y", contamination=0.1, verdicts=said)
    assert "the least fitting 6 rows are flagged, of 60" in result.summary
    assert "You judged 1 row wrong and 1 row right; with that, 6 rows" in result.summary
    assert result.flagged_by_fits == 6 and result.flags.sum() == 6
    assert result.verdicts["judged_flagged"] == 1 and not result.verdicts["confirmed"]


def flipped(seed, n, share):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    wrong = rng.random(n) < share
    named = np.where((x + z > 0) ^ wrong, "p", "q").astype(object)
    return audit({"x": x, "z": z, "y": named}, "y")


def test_contradicted_labels_are_wrong_or_chance():
    result = flipped(1, 300, 0.15)
    assert result.flags.any() and "wrong, or chance" in result.summary


def test_a_table_that_cannot_tell_is_not_called_clean():
    result = flipped(0, 100, 0.4)
    assert not result.flags.any(), "otherwise this test says nothing"
    assert not result.looks_clean and "looks clean" not in result.summary
    assert "this table cannot tell" in result.summary
    assert NOTHING_FOUND not in result.next_steps
    clean = flipped(0, 200, 0.0)
    assert clean.looks_clean and "cannot tell" not in clean.summary


@pytest.fixture(scope="module")
def slipped():
    data = line(200)
    data["y"][:10] *= 10.0
    return audit(data, "y")


def test_more_false_alarms_than_scores_promise_are_explained(slipped):
    assert slipped.flags.sum() >= 9 and "reaches far out" not in slipped.summary
    doubtful = replace(slipped, expected_false_flags=7.0)
    assert "about 7 may be false alarms. That many because" in doubtful.summary
    assert "by their scores" in FALSE_ALARMS


@pytest.mark.parametrize("better", [True, False])
def test_the_robust_fit_is_advised_where_it_errs_no_more(slipped, better):
    by_name = {curve.name: curve for curve in slipped.unflagged_losses}
    ordinary = by_name["ordinary"].mean
    own = replace(by_name["robust"], mean=ordinary * (0.9 if better else 1.1))
    result = replace(slipped, unflagged_losses=[by_name["ordinary"], own])
    (step,) = [step for step in result.next_steps if step.startswith("Until the rows")]
    assert ("train lrisk.RobustRegressor()" in step) == better
    assert ("keep them in training" in step) != better

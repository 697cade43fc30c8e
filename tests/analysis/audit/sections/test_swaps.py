"""Exchanged columns are named with their rows; clean data has none."""

import numpy as np
import pytest

from lrisk import audit
from lrisk.analysis.audit.sections import in_words
from lrisk.analysis.audit.sections.slips import Slips
from lrisk.analysis.audit.sections.swaps import Range
from lrisk.analysis.audit.wording import NOTHING_FOUND


def people(seed, share, classes=False, n=300):
    """Height and weight, exchanged in some rows after y was made."""
    rng = np.random.default_rng(seed)
    height, weight = rng.normal(172, 9, n), rng.normal(72, 12, n)
    age = rng.uniform(18, 80, n)
    y = 900 + 6 * weight + 4 * height - 3 * age + rng.normal(0, 25, n)
    if classes:
        # Little noise: a row of an unlikely label does not fit once exchanged either.
        heavy = (weight - 72) / 12 - (height - 172) / 9 + 0.2 * rng.normal(size=n)
        y = np.where(heavy > 0, "over", "under")
    wrong = np.zeros(n, dtype=bool)
    wrong[rng.choice(n, int(share * n), replace=False)] = True
    first = np.where(wrong, weight, height)
    second = np.where(wrong, height, weight)
    return {"height": first, "age": age, "weight": second, "y": y}, wrong


def swaps(result):
    return [finding for finding in result.findings if finding.kind == "swap"]


@pytest.mark.parametrize(
    ("seed", "share", "classes"),
    [(0, 0.03, False), (1, 0.1, False), (1, 0.1, True)],
)
def test_planted_swaps_are_named_with_their_rows(seed, share, classes):
    data, wrong = people(seed, share, classes)
    result = audit(data, "y")
    (repair,) = swaps(result)
    rows = np.array(repair.rows) - 1
    told = f"height and weight look exchanged in {len(rows)} rows."
    assert in_words(repair) == told
    assert wrong[rows].all() and len(rows) >= 0.8 * wrong.sum()
    assert not result.looks_clean and "looks clean" not in result.summary
    assert "Slips that would explain rows: 1 finding." in result.summary
    assert Slips.advice in result.next_steps
    assert NOTHING_FOUND not in result.next_steps
    assert all("look exchanged" in result.reason_words(row + 1)[0] for row in rows)
    before = {(c.row, c.column): (c.before, c.after) for c in repair.changes}
    first = repair.rows[0]
    assert before[first, "height"] == before[first, "weight"][::-1]
    assert result.flags[rows].all()


@pytest.mark.parametrize(("seed", "classes"), [(0, False), (1, False), (0, True)])
def test_clean_data_has_none(seed, classes):
    result = audit(people(seed, 0.0, classes)[0], "y")
    assert swaps(result) == [] and not result.flags.any() and result.far_rows == 0


def test_rows_that_are_genuinely_the_other_way_round_are_left():
    """Wide things among long ones: y agrees with the values as they are."""
    data, _ = people(4, 0.06)
    rng = np.random.default_rng(4)
    y = 3 * data["height"] + 10 * data["weight"] + rng.normal(0, 25, 300)
    assert swaps(audit({**data, "y": y}, "y")) == []


def test_heavy_tails_are_no_swaps():
    rng = np.random.default_rng(5)
    X = rng.standard_t(2, size=(300, 4)) * [1, 5, 20, 2] + [0, 3, 10, 2]
    y = X @ [1.0, -1.0, 0.5, 2.0] + rng.standard_t(3, size=300)
    data = {f"x{j}": X[:, j] for j in range(4)}
    assert swaps(audit({**data, "y": y}, "y")) == []


class TestRange:
    def test_holds_nearly_all_of_a_gaussian_whatever_else_is_there(self):
        rng = np.random.default_rng(0)
        values = rng.normal(172, 9, 5000)
        dirty = np.where(rng.random(5000) < 0.1, 72.0, values)
        for column in (values, dirty):
            found = Range.of(column)
            assert np.mean(found.holds(values)) > 0.985
            assert not found.holds(np.array([72.0, 300.0, np.nan])).any()

    def test_skewed_columns_end_below_too(self):
        found = Range.of(np.random.default_rng(1).lognormal(10.5, 0.5, 2000))
        assert found.holds(np.array([45.0, 30_000.0])).tolist() == [False, True]

    def test_columns_of_few_values_have_none(self):
        assert Range.of(np.array([0.0, 1.0] * 50)) is None
        assert Range.of(np.r_[np.zeros(90), np.arange(10.0)]) is None


@pytest.mark.parametrize("seed", range(3))
def test_exchanges_with_the_target_are_named_and_flagged(seed):
    data, _ = people(seed, 0.0)
    rng = np.random.default_rng(seed)
    wrong = np.isin(np.arange(300), rng.choice(300, 9, replace=False))
    age, y = data["age"], data["y"]
    data |= {"age": np.where(wrong, y, age), "y": np.where(wrong, age, y)}
    result = audit(data, "y")
    (repair,) = swaps(result)
    assert repair.columns == ["age", "y"]
    rows = np.array(repair.rows) - 1
    assert wrong[rows].all() and len(rows) >= 8 and result.flags[rows].all()
    assert not result.flags[~wrong].any()

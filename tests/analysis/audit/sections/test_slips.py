"""Slips of a feature are named; errors without a rule are not."""

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks._audit_errors import OF_NUMBERS, Clean
from benchmarks._audit_tables import TABLES, simulated
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import cross_val_predict

from lrisk import audit
from lrisk.analysis.audit.sections import part_of_false_claims
from lrisk.analysis.audit.sections.slips import Slips, slipped_numbers
from lrisk.tables import table_of


def heights(slip, n=200):
    rng = np.random.default_rng(0)
    length, width = rng.uniform(50, 90, n), rng.uniform(5, 15, n)
    y = 3 * length + 10 * width + rng.normal(0, 2, n)
    wrong = np.arange(n) % 10 == 3
    if slip == "factor":
        length = np.where(wrong, 10 * length, length)
    else:
        y = np.where(wrong, rng.normal(2000, 700, n), y)
    return {"length": length, "width": width, "y": y}, wrong


def test_slip_of_a_feature_is_named():
    data, wrong = heights("factor")
    (slip, *_) = [f for f in audit(data, "y").findings if f.section == "slips"]
    assert (slip.columns, slip.numbers["factor"]) == (["length"], 0.1)
    assert Slips().words(slip).endswith(" rows fit if length is divided by 10.")
    assert slip.rows == sorted(slip.rows)
    assert [change.row for change in slip.changes] == slip.rows
    rows = np.array(slip.rows) - 1
    assert wrong[rows].mean() > 0.9 and len(rows) >= 0.5 * wrong.sum()


def test_errors_without_a_rule_get_no_repair():
    data, wrong = heights("random")
    result = audit(data, "y")
    assert np.sum(result.flags & wrong) >= 0.9 * wrong.sum()
    assert not [f for f in result.findings if f.section == "slips"]


def found(y, expected, scale, flagged=True):
    """What fits would say of rows with these targets, and nothing else."""
    n = len(y)
    table = table_of({"x": np.arange(n) % 7 / 7.0, "y": y}, "y", "regression")
    fits = SimpleNamespace(
        rows=np.arange(n), scores=np.ones(n), expected=expected, least_scale=0.0,
        scale=np.full(n, scale), folds=[], fold=np.zeros(n, dtype=int),
        own_label="",
    )  # fmt: skip
    level, flags = part_of_false_claims(), np.full(n, flagged)
    return slipped_numbers(table, fits, flags, (), level).findings


def test_slips_of_random_values_are_stated_by_chance_only():
    """Wrong targets without a rule, near and far: one table in fifty gets a slip."""
    claims = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        expected = rng.uniform(100, 300, 25)
        wrong = expected * np.exp(rng.normal(0, 1.5, 25)) * rng.choice([-1, 1], 25)
        claims += bool(found(wrong, expected, rng.choice([3.0, 15.0, 40.0])))
    assert claims <= 8  # 200 · 0.1/7, and two standard errors more


def test_what_any_large_divisor_makes_fit_is_no_slip():
    """Targets about zero: divided by ten or by a thousand, all of them fit."""
    rng = np.random.default_rng(0)
    expected = rng.normal(0, 0.5, 30)
    assert found(rng.choice([-1, 1], 30) * rng.uniform(5, 15, 30), expected, 1.0) == []


def test_five_rows_tell_a_slip_where_noise_is_small():
    rng = np.random.default_rng(0)
    expected = rng.uniform(100, 300, 5)
    (slip,) = found(10 * expected + rng.normal(0, 10, 5), expected, 4.0)
    assert slip.numbers["factor"] == 0.1 and slip.count == 5
    assert found(10 * expected, expected, 60.0) == []


def test_rows_that_nobody_flagged_are_told_by_a_slip():
    """Eight of 300 targets ten times as large, among noise with heavy tails."""
    rng = np.random.default_rng(0)
    expected = rng.uniform(100, 300, 300)
    y = expected + 10.0 * rng.standard_t(3, 300)
    assert found(y, expected, 10.0, flagged=False) == []
    y[:8] *= 10.0
    (slip,) = found(y, expected, 10.0, flagged=False)
    assert slip.numbers["factor"] == 0.1 and slip.rows == list(range(1, 9))


def test_a_slip_flags_rows_where_the_detector_sees_nothing(shared):
    """Concrete, of twelve rows a tenth of the strength: no fit finds a wrong row."""
    clean = TABLES["concrete"].load(7)
    made = OF_NUMBERS["target /10"](Clean(clean, 5.0), np.random.default_rng([7, 7]))
    result = audit(made.data, "y")
    assert result.whole_share == 0.0
    (slip,) = [f for f in result.findings if f.section == "slips"]
    assert slip.numbers["factor"] == 10.0 and slip.count >= 10
    assert np.sum(result.flags & made.wrong) >= 10
    assert np.sum(result.flags & ~made.wrong) <= 1
    assert result.interval[0] > 0.01


EIGHT = np.arange(300) < 8
NOISE = {
    "t": lambda rng, z, e: rng.standard_t(2, 300),
    "Cauchy": lambda rng, z, e: rng.standard_cauchy(300),
    "skewed": lambda rng, z, e: np.exp(1.2 * z) - 2.0,
    "of all sizes": lambda rng, z, e: z * np.exp(rng.normal(size=300)),
    "in proportion": lambda rng, z, e: z * e / 20.0,
    "a group apart": lambda rng, z, e: z + 20.0 * EIGHT,
    "zeros": lambda rng, z, e: np.where(EIGHT, -e / 5.0, z),
    "anything": lambda rng, z, e: z * np.where(EIGHT, 50.0, 1.0),
}


@pytest.mark.parametrize("kind", NOISE)
def test_noise_of_any_kind_is_no_slip(kind):
    """Scales are as wrong as one for all rows is; nobody is flagged."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        expected = [
            rng.normal(50, 15, 300), np.exp(rng.normal(3, 1, 300)),
            rng.normal(0, 20, 300), rng.uniform(20, 300, 300),
        ][seed % 4]  # fmt: skip
        away = 5.0 * NOISE[kind](rng, rng.normal(size=300), expected)
        scale = float(np.median(np.abs(away))) / 0.6745
        assert found(expected + away, expected, scale, flagged=False) == []


def test_of_two_units_the_one_after_which_rows_fit_better():
    """By pounds 13 rows fit well; by inches all 15 do, but most of them barely."""
    expected = np.random.default_rng(0).uniform(190, 210, 15)
    wrong = 2.2046 * expected * np.r_[np.full(13, 1.02), np.full(2, 1.15)]
    slip, *_ = found(wrong, expected, 12.0)
    assert slip.numbers["factor"] == 1 / 2.2046 and slip.count >= 13


def test_degrees_fahrenheit():
    rng = np.random.default_rng(0)
    expected = rng.uniform(5, 30, 12)
    (slip,) = found(1.8 * (expected + rng.normal(0, 0.5, 12)) + 32, expected, 0.5)
    assert slip.kind == "degrees" and slip.count >= 10
    assert Slips().words(slip).endswith("fit if y is converted from °F to °C.")
    before, after = (float(v) for v in (slip.changes[0].before, slip.changes[0].after))
    assert abs((before - 32) / 1.8 - after) < 1e-3


def test_predictions_that_learnt_from_the_slips_do_not_hide_them():
    """The forest has seen targets ten times too large, and expects too much nearby."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = 50 + 10 * X[:, 0] + 3 * X[:, 1] + rng.normal(size=400)
    y[rng.choice(400, 15, replace=False)] *= 10
    forest = RandomForestRegressor(30, random_state=0)
    outside = cross_val_predict(forest, X, y)
    noise = 20.0 * rng.normal(size=400)  # of a model that is no good
    (slip,) = [
        f for f in audit(X, y, predictions=outside + noise).findings
        if f.section == "slips"
    ]  # fmt: skip
    assert slip.numbers["factor"] == 0.1 and slip.count >= 8


def test_a_wrong_feature_is_not_explained_by_the_target():
    """Twice as tall, people are expected to weigh twice as much, and do not."""
    data = simulated("grouped", 0)
    wrong = np.random.default_rng([0, 7]).choice(400, 20, replace=False)
    data["height"][wrong] *= 2.2046
    slips = [f for f in audit(data, "y").findings if f.section == "slips"]
    assert [slip.columns for slip in slips] in ([], [["height"]])

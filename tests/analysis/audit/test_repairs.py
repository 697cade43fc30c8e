"""Slips of a feature are named; errors without a rule are not."""

import numpy as np

from lrisk import audit


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
    (repair, *_) = audit(data, "y").repairs
    assert (repair.column, repair.kind) == ("length", "/10")
    rows = np.array(repair.rows) - 1
    assert wrong[rows].mean() > 0.9 and len(rows) >= 0.5 * wrong.sum()


def test_errors_without_a_rule_get_no_repair():
    data, wrong = heights("random")
    result = audit(data, "y")
    assert np.sum(result.flags & wrong) >= 0.9 * wrong.sum()
    assert sum(len(repair.rows) for repair in result.repairs) <= 0.3 * wrong.sum()

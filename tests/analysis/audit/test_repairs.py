"""Slips of a feature: a factor and swapped columns are undone, chance is not."""

import numpy as np
import pytest

from lrisk import audit


def heights(slip, n=200):
    rng = np.random.default_rng(0)
    length, width = rng.uniform(50, 90, n), rng.uniform(5, 15, n)
    y = 3 * length + 10 * width + rng.normal(0, 2, n)
    wrong = np.arange(n) % 10 == 3
    if slip == "factor":
        length = np.where(wrong, 10 * length, length)
    elif slip == "swap":
        length, width = np.where(wrong, width, length), np.where(wrong, length, width)
    else:
        y = np.where(wrong, rng.normal(2000, 700, n), y)
    return {"length": length, "width": width, "y": y}, wrong


@pytest.mark.parametrize(
    ("slip", "column", "kind"),
    [("factor", "length", "/10"), ("swap", "length and width", "swap")],
)
def test_slips_of_features_are_named(slip, column, kind):
    data, wrong = heights(slip)
    result = audit(data, "y")
    repairs = {(repair.column, repair.kind): repair for repair in result.repairs}
    assert (column, kind) in repairs
    rows = np.array(repairs[column, kind].rows) - 1
    assert wrong[rows].mean() > 0.9 and len(rows) >= 0.5 * wrong.sum()


def test_errors_without_a_rule_get_no_repair():
    data, wrong = heights("random")
    result = audit(data, "y")
    assert np.sum(result.flags & wrong) >= 0.9 * wrong.sum()
    assert sum(len(repair.rows) for repair in result.repairs) <= 0.3 * wrong.sum()

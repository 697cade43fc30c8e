"""Parts that are made anew and told what the journal says stand where others did."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrisk.losses import Squared
from lrisk.partitions.grid import Grid
from lrisk.partitions.part import Part
from lrisk.partitions.replay import Journal, of_rows
from lrisk.partitions.rows import ArrayRows

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(60, 3)), rng.normal(size=60)
METHODS = [
    "at", "at_binned", "at_held", "hold", "band", "assign", "table", "pull", "take",
]  # fmt: skip


def new_part(rows=slice(None)):
    return Part(ArrayRows(X[rows]), Y[rows], None, Squared())


def arguments_of(method, seed):
    draw = np.random.default_rng(seed)
    theta, grid = draw.normal(size=4), Grid.below(30.0, 3, 1e-2)
    density = draw.uniform(size=grid.bins)
    low = draw.uniform(0.0, 1.0)
    ids = np.sort(draw.choice(60, 7, replace=False))
    return {
        "at": (theta, grid),
        "at_binned": (theta, grid),
        "at_held": (theta, grid, np.zeros(3), 1),
        "hold": (grid, density),
        "band": (low, low + 0.5, 0.1),
        "assign": (ids, draw.uniform(size=7)),
        "table": (grid,),
        "pull": (grid, density),
        "take": (ids,),
    }[method]


def told(part, calls):
    for method, arguments in calls:
        getattr(part, method)(*arguments)
    return part


def state_of(part):
    return part.y, part.scores, part.losses, part.slopes, part.weights


calls_of_a_fit = st.lists(
    st.tuples(st.sampled_from(METHODS), st.integers(0, 50)), max_size=12
)


@settings(max_examples=100, deadline=None)
@given(drawn=calls_of_a_fit)
def test_a_part_made_anew_stands_where_the_lost_one_did(drawn):
    journal = Journal()
    calls = [("prepare", (0.3,))]
    calls += [(method, arguments_of(method, seed)) for method, seed in drawn]
    for method, arguments in calls:
        journal.note(method, [arguments])
    lost = told(new_part(), calls)
    anew = told(new_part(), journal.of_part(0))
    for before, now in zip(state_of(lost), state_of(anew), strict=True):
        np.testing.assert_array_equal(before, now)


@settings(max_examples=30, deadline=None)
@given(drawn=calls_of_a_fit, start=st.integers(0, 60), rows=st.integers(0, 60))
def test_some_rows_stand_where_they_stood_in_the_whole(drawn, start, rows):
    stop = min(start + rows, 60)
    calls = [("prepare", (0.3,))]
    calls += [(method, arguments_of(method, seed)) for method, seed in drawn]
    calls = [call for call in calls if call[0] != "take"]
    whole = told(new_part(), calls)
    part = told(new_part(slice(start, stop)), of_rows(calls, start, stop))
    np.testing.assert_allclose(part.weights, whole.weights[start:stop], rtol=1e-12)


def test_a_long_fit_is_told_in_a_few_calls():
    journal = Journal()
    journal.note("prepare", [(0.0,)])
    for seed in range(100):
        for method in ("at_held", "table", "at_held", "band", "assign"):
            journal.note(method, [arguments_of(method, seed)])
    assert [method for method, _ in journal.calls] == [
        "prepare", "at_held", "band", "assign",
    ]  # fmt: skip
    journal.note("prepare", [(1.0,)])
    assert journal.calls == [("prepare", [(1.0,)])]


@pytest.mark.parametrize("method", ["at", "band"])
def test_what_is_not_known_is_kept_with_all_before_it(method):
    journal = Journal()
    for name in ("prepare", "at", "new_method", "at", "hold", method):
        journal.note(name, [()])
    assert [name for name, _ in journal.calls[:3]] == ["prepare", "at", "new_method"]

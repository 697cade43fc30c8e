"""Times to a suboptimality."""

import numpy as np
from experiments._spectral import METHODS
from experiments.runtime import NOBODY, TARGETS, _reached, first

NAME = "runtime"


def test_a_table_of_gains_one_of_times_for_each_target_and_a_figure(miniature):
    found = miniature(NAME)
    gains, *times = found.tables()
    assert gains[0][0] == "data"
    assert len(gains) == 1 + 1
    assert len(times) == len(TARGETS)
    for table in times:
        assert table[0] == ["problem", *METHODS, "certified"]
        assert len(table) == 1 + 4
    assert [path.name for path in found.figures] == ["runtime.svg"]


def test_only_the_certified_solver_reaches_every_target_in_every_problem(miniature):
    for record in miniature(NAME).records:
        times = [_reached(record, "certified", target) for target in TARGETS]
        assert np.all(np.isfinite(times))
        assert times == sorted(times)
        assert _reached(record, "SGD", -6.0) == np.inf
    sharp = [r for r in miniature(NAME).records if r["cell"]["risk"] == "superquantile"]
    assert all(_reached(record, "LSVRG", -6.0) == np.inf for record in sharp)


def test_nobody_is_first_where_nobody_arrives():
    assert first({"SGD": np.inf, "SRDA": np.inf}) == NOBODY
    assert first({"SGD": np.inf, "SRDA": 2.0, "LSVRG": 1.0}) == "LSVRG"

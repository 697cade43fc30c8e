"""The order settles for smooth spectra; the shares are those LSVRG itself notes."""

import numpy as np
import pytest
from experiments._spectral import halves, problem
from experiments.sorting import BANDS, Watched, run, settled

from lrisk.solvers import LSVRG

NAME = "sorting"


def test_a_row_for_each_risk_and_a_figure(miniature):
    found = miniature(NAME)
    (table,) = found.tables()
    assert [row[0] for row in table[1:]] == [
        "mean",
        "superquantile:0.5",
        "extremile:2",
        "esrm:1",
    ]
    assert [path.name for path in found.figures] == ["sorting.svg"]


def test_the_order_settles_for_every_risk_but_the_superquantile(miniature):
    last = {}
    for record in miniature(NAME).records:
        tail = float(np.mean(record["moved"][-8:]))
        last.setdefault(record["cell"]["risk"], []).append(tail)
    means = {risk: np.mean(values) for risk, values in last.items()}
    for risk in ("mean", "extremile", "ESRM"):
        assert means[risk] < 0.1 * means["superquantile"]


def test_shares_are_those_that_the_solver_notes():
    cell = {"risk": "ESRM", "spectrum": "esrm:1", "seed": 1, "epochs": 6}
    found = run(cell)
    data = halves("simulated")
    solver = LSVRG(max_epochs=6, learning_rate=found["rate"])
    objective = problem(data.X, data.y, "esrm:1")
    own = solver.run(objective, rng=np.random.default_rng(1), proof=False)
    noted = [entry["disagreement"] for entry in own.history[1:]]
    np.testing.assert_allclose(found["moved"], noted, atol=1e-4)
    bands = np.array(found["bands"])
    assert bands.shape == (5, BANDS)
    np.testing.assert_allclose(bands.mean(axis=1) / 100, noted, atol=5e-3)


def test_an_interrupted_run_becomes_no_record(monkeypatch):
    def interrupted(self, work, state, rate, rng):
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.sorting.tuned", lambda *_: 0.01)
    monkeypatch.setattr(Watched, "epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run({"risk": "ESRM", "spectrum": "esrm:1", "seed": 1, "epochs": 6})


def test_settled_means_for_good():
    assert settled([0.9, 0.5, 0.01, 0.0]) == 3
    assert settled([0.9, 0.01, 0.5, 0.0]) == 4
    assert settled([0.0, 0.0]) == 1
    assert settled([0.9, 0.01, 0.5]) is None


def test_bands_divide_the_rows():
    assert len(halves("simulated").y) % BANDS == 0
    assert len(halves("simulated").y) == 800

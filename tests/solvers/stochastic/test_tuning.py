"""The learning rate of appendix F.4, paper 1."""

import typing

import numpy as np
import pytest
from problems import build, data, run

from lrisk.solvers import LSVRG, tune_learning_rate
from lrisk.solvers.stochastic.tuning import GRID


class Known(LSVRG):
    """Ends at a risk that the test gives for each rate and seed."""

    finals: typing.ClassVar[dict[float, tuple[float, float]]] = {}

    def run(self, objective, start=None, *, rng=None, monitor=None, proof=True):
        seed = int(rng.integers(1 << 30))
        asked.append((self.learning_rate, seed, self.certify_every, proof))
        solution = super().run(objective, start, rng=rng, proof=proof)
        final = self.finals[self.learning_rate][len(asked) % 2]
        solution.history[-1]["objective"] = final
        return solution


asked = []


def test_the_lowest_mean_of_the_final_risks_wins():
    """Not the lowest risk of one seed, nor the lowest that a run has passed."""
    asked.clear()
    Known.finals = {1e-3: (0.1, 1.1), 2e-3: (0.5, 0.6), 4e-3: (0.5, 0.6)}
    solver = Known(max_epochs=1, certify_every=3)
    tuning = tune_learning_rate(
        solver, build(*data()), grid=(1e-3, 2e-3, 4e-3), seeds=(7, 8)
    )
    assert tuning.learning_rate == 2e-3  # the first of equals
    assert tuning.risks == pytest.approx({1e-3: 0.6, 2e-3: 0.55, 4e-3: 0.55})
    draws = [int(np.random.default_rng(seed).integers(1 << 30)) for seed in (7, 8)]
    expected = [(rate, draw, None, False) for rate in tuning.risks for draw in draws]
    assert asked == expected
    assert solver.learning_rate == "auto" and solver.certify_every == 3


def test_the_last_risk_counts_and_divergence_is_infinitely_bad():
    objective = build(*data())
    solver = LSVRG(max_epochs=10)
    tuning = tune_learning_rate(solver, objective, seeds=(1, 2))
    assert tuple(tuning.risks) == GRID
    assert tuning.risks[3.0] == np.inf
    finite = {k: v for k, v in tuning.risks.items() if np.isfinite(v)}
    assert tuning.learning_rate == min(finite, key=finite.get)
    for rate in (1e-2, 3e-2):
        ends = [
            run(solver, objective, seed, learning_rate=rate).history[-1]["objective"]
            for seed in (1, 2)
        ]
        assert tuning.risks[rate] == pytest.approx(np.mean(ends), rel=1e-12)


def test_the_grid_and_the_seeds_are_the_papers():
    assert GRID == (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 3.0)
    defaults = tune_learning_rate.__kwdefaults__
    assert defaults == {"grid": GRID, "seeds": (1, 2, 3, 4, 5)}


def test_one_seed_that_diverges_is_enough():
    """And the others are not tried."""
    epochs = []

    class Unlucky(LSVRG):
        def epoch(self, work, state, rate, rng):
            epochs.append(rate)
            if rate == 0.02 and len(epochs) == 2:
                work.W[:] = np.nan
                return 2.0
            return super().epoch(work, state, rate, rng)

    tuning = tune_learning_rate(
        Unlucky(max_epochs=1), build(*data()), grid=(0.02, 0.01), seeds=(1, 2, 3)
    )
    assert tuning.learning_rate == 0.01
    assert tuning.risks[0.02] == np.inf
    assert epochs == [0.02, 0.02, 0.01, 0.01, 0.01]


def test_it_can_be_interrupted():
    class Stopped(LSVRG):
        def epoch(self, work, state, rate, rng):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune_learning_rate(Stopped(), build(*data()))


def test_without_a_usable_rate():
    with pytest.raises(ValueError, match="smaller rates"):
        tune_learning_rate(LSVRG(), build(*data()), grid=[1e5])

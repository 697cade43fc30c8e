"""Constants known from the targets alone, against a search over rows."""

import numpy as np
import pytest
import scipy.optimize

from lrisk.losses import Huber, Logistic, Squared, SquaredHinge
from lrisk.partitions.part import Part
from lrisk.partitions.rows import ArrayRows
from lrisk.partitions.targets import Targets
from lrisk.ranking import Ranking
from lrisk.spectra import ESRM, Extremile, Mean, Superquantile


@pytest.mark.parametrize(
    "spectrum", [Mean(), Extremile(2.0), ESRM(3.0), Superquantile(0.7)], ids=repr
)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=repr)
def test_the_best_constant_of_classes(spectrum, share, weighted, loss):
    rng = np.random.default_rng(0)
    y = (np.arange(400) < 400 * share).astype(float)
    weight = rng.uniform(0.5, 2.0, 400) if weighted else None
    parts = [
        Part(ArrayRows(np.zeros((200, 1))), own, w, loss)
        for own, w in zip(
            (y[:200], y[200:]),
            (None, None) if weight is None else (weight[:200], weight[200:]),
            strict=True,
        )
    ]
    told = [part.describe() for part in parts]
    targets = Targets.of(told, spectrum, loss, True, False)
    ranking = Ranking(spectrum, 400, weight)

    def risk(score):
        return ranking.risk(loss.value(y, np.full(400, score)))

    best = scipy.optimize.minimize_scalar(risk, bounds=(-10, 10), method="bounded")
    assert targets.constant_value == pytest.approx(risk(targets.constant), rel=1e-12)
    assert targets.constant_value <= best.fun * (1 + 1e-9)


def test_numbers_and_no_intercept():
    part = Part(ArrayRows(np.zeros((4, 1))), np.array([-3.0, 0, 1, 2]), None, Squared())
    targets = Targets.of([part.describe()], Mean(), Squared(), True, False)
    assert (targets.shift, targets.largest) == (0.0, 3.0)
    assert abs(targets.constant) < 1e-15 and targets.constant_value is None
    bare = Targets.of([part.describe()], Mean(), Squared(), False, False)
    assert (bare.shift, bare.constant) == (0.0, 0.0)


@pytest.mark.parametrize("centred", [False, True])
def test_one_huge_target_does_not_move_the_shift_of_a_robust_loss(centred):
    y = np.append(np.arange(9.0), 1e9)
    part = Part(ArrayRows(np.zeros((10, 1))), y, None, Huber(0.1))
    targets = Targets.of([part.describe()], Mean(), part.loss, True, centred)
    assert targets.follows_some is not centred
    part.prepare(targets.shift)
    if not centred:
        targets = targets.moved_by(part.y)
        assert targets.shift == pytest.approx(4.5, abs=1.0)
    assert targets.constant == 0.0
    for loss, intercept in ((Squared(), True), (Huber(), False), (Logistic(), True)):
        found = Targets.of([part.describe()], Mean(), loss, intercept, False)
        assert not found.follows_some

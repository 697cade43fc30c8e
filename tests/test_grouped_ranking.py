"""Ranks within groups."""

import numpy as np
import pytest

import lrisk
from lrisk.grouped_ranking import GroupedRanking
from lrisk.ranking import Ranking
from lrisk.spectra import WorstCase, parse_spectrum


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_keep_their_share(weighted):
    rng = np.random.default_rng(0)
    losses = rng.random(20)
    given = rng.uniform(0.5, 2.0, 20) if weighted else None
    plain = Ranking(parse_spectrum("superquantile:0.4"), 20, given)
    groups = np.repeat([0.0, 1.0, 1.0, 2.0], 5)
    ranking = GroupedRanking.by(plain, groups)
    weights, shared = ranking.weights(losses), ranking.shared_weights(losses)
    risk = 0.0
    for group in range(3):
        rows = groups == group
        share = plain.mass[rows].sum()
        own = lrisk.risk(losses[rows], "superquantile:0.4", plain.row_weight[rows])
        risk += share * own
        for found in (weights, shared):
            assert found[rows].sum() == pytest.approx(share)
            assert found[rows] @ losses[rows] == pytest.approx(share * own)
    assert ranking.risk(losses) == pytest.approx(risk, rel=1e-13)
    assert ranking.risk_and_weights(losses)[0] == pytest.approx(risk, rel=1e-13)
    assert not ranking.equal
    some = np.array([17, 3, 4, 9, 16])
    weight = plain.row_weight[some]
    part = GroupedRanking(plain.spectrum, 5, weight, groups[some])
    np.testing.assert_array_equal(
        ranking.taken(some).weights(losses[some]), part.weights(losses[some])
    )
    other = ranking.with_spectrum(WorstCase())
    highest = [losses[groups == group].max() for group in range(3)]
    shares = [plain.mass[groups == group].sum() for group in range(3)]
    assert other.risk(losses) == pytest.approx(np.dot(shares, highest))

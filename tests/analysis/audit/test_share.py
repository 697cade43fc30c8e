"""Flags, false flags, share and interval do not contradict each other."""

import numpy as np
import pytest
from scipy.stats import binomtest

from lrisk import audit
from lrisk.analysis.audit.share import (
    cut_for_false_share,
    expected_false,
    reconciled,
    wilson,
)


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (3, 50), (49, 50), (26, 300)])
def test_wilson_agrees_with_scipy(hits, n):
    known = binomtest(hits, n).proportion_ci(0.9, method="wilson")
    np.testing.assert_allclose(wilson(hits / n, n), (known.low, known.high), atol=1e-4)


@pytest.mark.parametrize("flagged", [0, 3, 26, 90])
@pytest.mark.parametrize("false", [0.0, 2.5])
@pytest.mark.parametrize("interval", [(0.0, 0.03), (0.004, 0.046), (0.1, 0.2)])
def test_the_interval_holds_the_net_share_and_the_estimate(flagged, false, interval):
    share, (low, high) = reconciled(0.015, interval, flagged, false, 300)
    net = max(flagged - false, 0.0) / 300
    assert low <= share <= high
    if flagged:
        assert low <= net <= high


def test_flags_decide_where_the_estimate_leaves_no_room():
    share, (low, _) = reconciled(0.015, (0.004, 0.046), 26, 0.5, 300)
    assert low > 0.046 and share == pytest.approx(25.5 / 300)
    # ... but a few flags where nothing is certain do not.
    assert reconciled(0.0, (0.0, 0.005), 3, 0.0, 300)[1][0] == 0.0
    proven = reconciled(0.0, (0.0, 0.05), 9, 0.0, 300, proven=9)[1]
    assert proven == pytest.approx((wilson(0.03, 300)[0], 0.05))
    # ... nor flags that may be larger noise; a person's word always counts.
    assert reconciled(0.1, (0.07, 0.15), 29, 0.0, 300, noisy=29)[1][0] == 0.0
    assert reconciled(0.0, (0.0, 0.03), 30, 0.0, 300, wrong=30)[1][0] == 0.1


def test_scores_that_are_too_sure_do_not_hide_what_noise_brings():
    """Noise with a heavy tail of which every far row has the score 1."""
    rng = np.random.default_rng(0)
    sizes = np.abs(rng.standard_t(3, size=1000))
    flags = sizes > 4.0
    told = expected_false(np.where(flags, 1.0, 0.0), sizes, flags)
    assert 0.4 * flags.sum() < told <= flags.sum()
    gaussian = np.abs(rng.normal(size=1000))
    gaussian[:50] = 40.0
    flags = gaussian > 4.0
    assert expected_false(np.where(flags, 1.0, 0.0), gaussian, flags) < 0.5
    assert expected_false(np.full(3, 0.8), None, np.ones(3, bool)) == pytest.approx(0.6)


def test_larger_noise_in_one_part_is_no_error():
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 4))
        noise = (0.05 + 3 * (X[:, 0] > 1)) * rng.normal(size=200)
        data = {**dict(zip("abcd", X.T)), "y": 3 + X @ [2, -1, 0.5, 0] + noise}
        result = audit(data, "y")
        named = [f.columns for f in result.findings if f.section == "noise"]
        assert result.flags.sum() <= 6 or named == [["a"]]
        assert result.interval[0] < 0.03


@pytest.mark.parametrize("share", [0.02, 0.1, 0.2])
def test_of_flagged_rows_no_more_than_a_share_is_expected_to_be_false(share):
    rng = np.random.default_rng(0)
    chances = np.r_[rng.beta(0.2, 4.0, 900), rng.beta(3.0, 1.0, 100)]
    flagged = chances[chances > cut_for_false_share(chances, 0.5, share)]
    assert len(flagged) and np.mean(1.0 - flagged) <= share
    more = np.sort(chances)[::-1][: len(flagged) + 1]
    assert more[-1] <= 0.5 or np.mean(1.0 - more) > share
    # If scores are chances, that is what comes true.
    wrong = rng.random((2000, len(flagged))) < flagged
    assert np.mean(~wrong) <= share + 0.005
    assert cut_for_false_share(np.zeros(3), 0.7, share) == 0.7

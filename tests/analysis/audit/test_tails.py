"""What noise alone brings is told from what it does not, by simulation."""

import numpy as np
import pytest
from scipy.stats import t as student_t

from lrisk.analysis.audit.tails import far_rows, noise_tail


def signed(kind, n, seed):
    rng = np.random.default_rng(seed)
    noise = {
        "gaussian": lambda: rng.normal(size=n),
        "t3": lambda: rng.standard_t(3, size=n) / 1.1,
        "lognormal": lambda: (rng.lognormal(size=n) - 1.0) / 0.9,
    }[kind]()
    return noise


def sizes(kind, n, seed):
    return np.abs(signed(kind, n, seed))


@pytest.mark.parametrize("n", [300, 500])
@pytest.mark.parametrize("kind", ["gaussian", "t3", "lognormal"])
def test_noise_alone_is_rarely_called_far(kind, n):
    called = [far_rows(signed(kind, n, seed)).any() for seed in range(60)]
    assert np.mean(called) <= 0.1


@pytest.mark.parametrize("kind", ["gaussian", "t3", "lognormal"])
def test_a_cluster_of_far_rows_is_told_from_the_tail(kind):
    for seed in range(10):
        made = signed(kind, 300, seed)
        made[:12] = 60.0 + np.arange(12.0)
        assert far_rows(made)[:12].all()


def test_one_far_row_stands_out_of_gaussian_noise():
    made = signed("gaussian", 300, 0)
    made[0] = 12.0
    assert far_rows(made).tolist() == [True] + [False] * 299


@pytest.mark.parametrize("freedom", [2.5, 4.0, 30.0])
def test_the_tail_agrees_with_the_law_it_was_drawn_from(freedom):
    n, cut = 20_000, 4.0
    rng = np.random.default_rng(1)
    made = np.abs(rng.standard_t(freedom, size=n))
    tail = noise_tail(made, cut)
    expected = n * 2.0 * student_t.sf(cut, freedom)
    assert float(tail.beyond(cut)) == pytest.approx(expected, rel=0.4, abs=2.0)


def test_rows_beyond_the_cut_have_no_say():
    made = sizes("gaussian", 400, 2)
    more = np.concatenate([made, np.full(60, 50.0)])
    assert noise_tail(made, 6.0) == noise_tail(more, 6.0)


def test_nothing_is_said_of_few_or_equal_rows():
    assert noise_tail(np.ones(10), 6.0) is None
    assert noise_tail(np.zeros(100), 6.0) is None
    assert not far_rows(np.array([0.0] * 30 + [9.0])).any()

"""The tail-risk fit is named only where its tail is better beyond chance."""

import numpy as np
import pytest

from lrisk import audit
from lrisk.analysis.audit.gains import is_clear, tail_gain
from lrisk.ranking import risk


def drawn(seed, n=300, spread=1.0):
    """Losses of two fits that agree on most of each row's loss."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=n)
    ordinary = np.abs(shared + 0.3 * rng.normal(size=n))
    return ordinary, np.abs(spread * shared + 0.3 * rng.normal(size=n))


def test_the_gain_is_that_of_the_superquantiles():
    ordinary, tail = drawn(0)
    gain, error = tail_gain({"ordinary": ordinary, "tail": tail}, 0.9, 1.0)
    ratio = risk(tail, "superquantile:0.9") / risk(ordinary, "superquantile:0.9")
    assert gain == pytest.approx(1 - ratio, rel=1e-6) and error > 0


def test_the_error_is_the_spread_over_tables():
    gains, errors = np.array(
        [tail_gain(dict(zip(("ordinary", "tail"), drawn(s))), 0.9, 1.0)
         for s in range(200)]
    ).T  # fmt: skip
    assert errors.mean() == pytest.approx(gains.std(), rel=0.2)


def test_equal_fits_are_rarely_told_apart():
    clear = [is_clear(*tail_gain(dict(zip(("ordinary", "tail"), drawn(s))), 0.9, 1.0))
             for s in range(200)]  # fmt: skip
    assert np.mean(clear) <= 0.05


def test_a_better_tail_is_seen_and_must_beat_every_other_fit():
    ordinary, tail = drawn(1, spread=0.6)
    assert is_clear(*tail_gain({"ordinary": ordinary, "tail": tail}, 0.9, 1.0))
    losses = {"ordinary": ordinary, "robust": 0.5 * ordinary, "tail": tail}
    assert not is_clear(*tail_gain(losses, 0.9, 1.0))


@pytest.mark.parametrize(("n", "scale"), [(99, 1.0), (300, 1e-5), (300, 0.0)])
def test_without_evidence_there_is_no_gain(n, scale):
    ordinary, tail = drawn(1, n, spread=0.5)
    losses = {"ordinary": scale * ordinary, "tail": scale * tail}
    gain, error = tail_gain(losses, 0.9, 1.0)
    assert np.isnan(gain) and np.isnan(error) and not is_clear(gain, error)


def named(result):
    return any("If the worst cases matter" in step for step in result.next_steps)


def test_a_line_through_a_curve_is_better_in_the_tail():
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, 200)
    result = audit({"x": x, "y": x**2 + 0.01 * rng.normal(size=200)}, "y")
    assert not result.flags.any()
    assert is_clear(result.tail_gain, result.tail_gain_error) and named(result)
    # The fit that was compared, not the class's default.
    model = f'lrisk.RiskRegressor("{result.tail_spectrum}"):'
    assert any(model in step for step in result.next_steps)


def test_wrong_labels_do_not_speak_for_the_tail_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    wrong = rng.random(200) < 0.1
    y = np.where((X[:, 0] + X[:, 1] > 0) ^ wrong, "yes", "no")
    result = audit(X, y.astype(object))
    ordinary, _, tail = result.losses
    assert tail.superquantile < 0.9 * ordinary.superquantile, "what misled it"
    assert not named(result)


def test_exact_data_do_not_speak_for_the_tail_fit():
    X = np.random.default_rng(0).normal(size=(150, 3))
    assert not named(audit({**dict(zip("abc", X.T)), "y": X.sum(axis=1)}, "y"))

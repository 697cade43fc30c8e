"""Intervals of robust fits; how often they hold is measured in `benchmarks`."""

import numpy as np
import pytest

from lrisk import RobustRegressor


def _table(seed, share, n=300):
    """A noisy line, some training targets wrong, and 2,000 clean rows behind."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 2000, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=n + 2000)
    dirty = y[:n].copy()
    wrong = rng.permutation(n)[: int(share * n)]
    dirty[wrong] = rng.normal(15.0, 8.0, len(wrong))
    return X[:n], dirty, X[n:], y[n:]


def _share(low, high, y):
    return float(np.mean((low <= y) & (y <= high)))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_wrong_rows_do_not_widen_and_the_tail_is_not_cut(share, kernel):
    held, widths = [], []
    for seed in range(3):
        X, y, new_X, new_y = _table(seed, share)
        model = RobustRegressor(kernel, random_state=0).fit(X, y)
        low, high = model.predict_interval(new_X, 0.9)
        held.append(_share(low, high, new_y))
        widths.append(np.median(high - low))
    assert np.mean(held) == pytest.approx(0.9, abs=0.04)
    assert np.mean(widths) < 1.5 * 2 * 1.645


def test_the_quantile_is_that_of_one_row_more():
    """Without wrong rows and scales: the ⌈(n + 1)c⌉-th of the left-out residuals."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(59, 2)), rng.normal(size=59)
    model = RobustRegressor(contamination=0.0, alpha=1.0).fit(X, y)
    sizes = []
    for i in range(59):
        others = np.arange(59) != i
        fit = RobustRegressor(contamination=0.0, alpha=1.0).fit(X[others], y[others])
        sizes.append(abs(y[i] - fit.predict(X[[i]])[0]))
    low, high = model.predict_interval(X, 0.9)
    expected = np.sort(sizes)[int(np.ceil(60 * 0.9)) - 1]
    # Columns are scaled without the row, too, which left-out residuals neglect.
    np.testing.assert_allclose((high - low) / 2, expected, rtol=0.02)
    np.testing.assert_allclose((high + low) / 2, model.predict(X))


def test_too_few_rows_say_so():
    X, y = np.arange(15.0)[:, None], np.sin(np.arange(15.0))
    model = RobustRegressor().fit(X, y)
    with pytest.warns(UserWarning, match="19 are needed"):
        low, high = model.predict_interval(X, 0.95)
    assert np.all(np.isinf(low)) and np.all(np.isinf(high))
    assert np.all(np.isfinite(model.predict_interval(X, 0.9)))


def test_equal_rows_count_as_their_weights():
    X, y, new_X, _ = _table(0, 0.1, n=120)
    weight = np.ones(120)
    weight[:10] = 3.0
    rows = np.repeat(np.arange(120), weight.astype(int))
    one = RobustRegressor(random_state=0).fit(X, y, weight).predict_interval(new_X)
    other = RobustRegressor(random_state=0).fit(X[rows], y[rows])
    np.testing.assert_allclose(one, other.predict_interval(new_X), rtol=1e-6)


def test_exact_rows_and_huge_values():
    X = np.arange(60.0)[:, None]
    exact = RobustRegressor().fit(X, 2.0 * X[:, 0] + 1.0)
    low, high = exact.predict_interval(X, 0.9)
    assert np.all(high - low < 1e-6)
    X, y, new_X, new_y = _table(1, 0.0)
    y[:5] = 1e300
    low, high = RobustRegressor(random_state=0).fit(X, y).predict_interval(new_X)
    assert _share(low, high, new_y) > 0.85 and np.median(high - low) < 5.0


def test_a_given_contamination_leaves_out_what_it_flags():
    X, y, new_X, new_y = _table(2, 0.2)
    model = RobustRegressor(contamination=0.2, random_state=0).fit(X, y)
    low, high = model.predict_interval(new_X, 0.9)
    assert _share(low, high, new_y) == pytest.approx(0.9, abs=0.06)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 90])
def test_refusals(confidence):
    X, y, _, _ = _table(0, 0.0, n=60)
    with pytest.raises(ValueError, match="confidence must be a number"):
        RobustRegressor().fit(X, y).predict_interval(X, confidence)

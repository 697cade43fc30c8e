import numpy as np
import pytest

from lrisk.datasets import make_dirty_clouds


def test_clouds_are_those_of_the_paper():
    X, y = make_dirty_clouds(20_000, 20_000, random_state=0)
    expected = {0: (-3, 0, 0.1), 1: (0, 1, 0.1), 2: (3, 0, 0.1), -1: (-1, -5, 5.0)}
    for cloud, (first, second, variance) in expected.items():
        mine = X[y == cloud]
        np.testing.assert_allclose(mine.mean(axis=0), [first, second], atol=0.06)
        np.testing.assert_allclose(mine.var(axis=0), variance, rtol=0.05)


def test_no_outliers_and_bad_counts():
    X, y = make_dirty_clouds(10, 0, random_state=0)
    assert X.shape == (30, 2) and y.min() == 0
    with pytest.raises(ValueError, match="n_outliers must be"):
        make_dirty_clouds(10, -1)

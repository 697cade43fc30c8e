import numpy as np
import pytest
from scipy import stats

from lrisk.datasets import make_awkward

SLOPES = np.array([1, -1, 0.7, 0.5, 0, 0])


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("gaussian", stats.norm),
        ("lognormal", stats.lognorm(1, loc=-np.exp(0.5))),
        ("t3", stats.t(3)),
    ],
)
def test_noise_has_its_law(kind, law):
    X, y = make_awkward(kind, 5000, noise=0.3, random_state=0)
    assert stats.kstest((y - X @ SLOPES) / 0.3, law.cdf).pvalue > 1e-3


def test_heteroscedastic_noise_grows_with_the_first_feature():
    X, y = make_awkward("heteroscedastic", 5000, random_state=0)
    noise = (y - X @ SLOPES) / (0.6 * np.exp(0.8 * X[:, 0]))
    assert stats.kstest(noise, stats.norm.cdf).pvalue > 1e-3


def test_the_nonlinear_relation_is_no_line():
    X, y = make_awkward("nonlinear", 5000, noise=0.0, random_state=0)
    signal = 2 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] * X[:, 3]
    np.testing.assert_allclose(y, signal)


def test_ties_are_many():
    _, y = make_awkward("ties", 500, random_state=0)
    assert len(np.unique(y)) < 20


@pytest.mark.parametrize("kind", ["gaussian", "nonlinear"])
def test_a_single_feature_is_enough(kind):
    X, y = make_awkward(kind, 50, 1, random_state=0)
    assert X.shape == (50, 1) and np.isfinite(y).all()


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="kind must be"):
        make_awkward("cauchy")
    with pytest.raises(ValueError, match="n_features must be"):
        make_awkward(n_features=0)

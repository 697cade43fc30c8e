"""Which solver "auto" means, on both sides of each limit."""

import numpy as np
import pytest
import scipy.sparse as sp

from lrisk.losses import Absolute, Huber, Logistic, Multinomial, Squared, SquaredHinge
from lrisk.objective import Objective
from lrisk.ranking import Ranking
from lrisk.solvers.certified.band import Band
from lrisk.solvers.certified.lbfgs import LBFGS
from lrisk.solvers.certified.newton import Newton
from lrisk.solvers.choice import automatic_solver
from lrisk.solvers.trimming.concentration import Concentration
from lrisk.spaces import LinearSpace
from lrisk.spectra import parse_spectrum


def chosen(n, d, spectrum, loss=None, *, k=1, sparse=False):
    """The choice for n rows and d features; it looks at sizes, never at numbers."""
    X = sp.csr_array((n, d)) if sparse else np.broadcast_to(np.zeros(1), (n, d))
    space = LinearSpace(X, intercept=False, n_scores=k)
    ranking = Ranking(parse_spectrum(spectrum), n)
    loss = Squared() if loss is None else loss
    return automatic_solver(Objective(ranking, loss, space, np.zeros(n), 1.0))


@pytest.mark.parametrize(
    ("spectrum", "few", "many"),
    [
        ("mean", Newton, LBFGS),
        ("extremile:2", Newton, LBFGS),
        ("esrm:1", Newton, LBFGS),
        ("superquantile:0.5", Newton, Band),
        ("worst_case", Newton, Newton),  # one row: neither smooth nor a quantile
        ("subquantile:0.5", Concentration, Concentration),
        ("ranked_range:0.1:0.9", Concentration, Concentration),
    ],
)
def test_by_spectrum_and_rows(spectrum, few, many):
    assert chosen(19_999, 3, spectrum) is few
    assert chosen(20_000, 3, spectrum) is many


@pytest.mark.parametrize(("d", "solver"), [(100, LBFGS), (1000, LBFGS), (1001, Newton)])
def test_a_sample_of_the_rows_takes_twenty_for_each_parameter(d, solver):
    assert chosen(20_020 if d > 1000 else 20_000, d, "mean") is solver


def test_losses_of_which_a_sample_proves_nothing():
    assert chosen(20_000, 3, "superquantile:0.5", Logistic()) is Band
    for loss in (Huber(), Absolute(), SquaredHinge()):
        assert chosen(20_000, 3, "superquantile:0.5", loss) is Newton


def test_a_hessian_must_fit():
    assert chosen(5000, 2500, "mean") is Newton
    assert chosen(5000, 2501, "mean") is LBFGS
    # for n < d it works in n dimensions
    assert chosen(2400, 100_000, "mean", sparse=True) is LBFGS  # no room to rotate
    assert chosen(2400, 10_000, "mean") is Newton
    assert chosen(2501, 10_000, "mean") is LBFGS


def test_many_scores_must_be_worth_their_blocks():
    """Up to n·size² = 5·10⁸ for a multinomial model; one score may have more."""
    assert chosen(5000, 100, "mean", Multinomial(), k=3) is Newton  # 4.5e8
    assert chosen(5600, 100, "mean", Multinomial(), k=3) is LBFGS  # 5.04e8
    assert chosen(5600, 300, "mean") is Newton
    assert chosen(2000, 10, "mean", Multinomial(), k=251) is LBFGS  # 2510 parameters

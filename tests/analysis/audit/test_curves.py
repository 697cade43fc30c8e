"""Losses of the fits: the tail's interval."""

import numpy as np

import lrisk
from lrisk.analysis.audit.curves import _curve
from lrisk.analysis.audit.wording import tail_words


def test_the_tail_has_an_interval_where_it_holds_fifty_rows():
    rng = np.random.default_rng(0)
    few = _curve("tail", "tail-risk fit", rng.exponential(size=400), 0.9, np.nan)
    assert np.isnan([few.superquantile_low, few.superquantile_high]).all()
    assert "(" not in tail_words(few)
    losses = rng.exponential(size=1000)
    many = _curve("tail", "tail-risk fit", losses, 0.9, np.nan)
    assert many.superquantile == lrisk.risk(losses, "superquantile:0.9")
    assert many.superquantile_low < many.superquantile < many.superquantile_high
    assert 0.5 < many.superquantile_high - many.superquantile_low < 1.5
    assert tail_words(many).count("–") == 1

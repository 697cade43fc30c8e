"""The loss display draws what the summary says."""

import numpy as np
import pytest

from lrisk import KernelRiskRegressor
from lrisk.displays import LossDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    y[:9] += 8.0
    return KernelRiskRegressor("subquantile:0.8").fit(X, y)


@pytest.mark.parametrize("log", [True, False])
def test_bars_and_cut(model, log):
    import matplotlib.pyplot as plt

    display = LossDisplay.from_estimator(model, n_bins=12, log=log)
    heights = [bar.get_height() for bar in display.ax_.patches]
    assert sum(heights) == 60 and len(heights) == 24
    assert sum(heights[:12]) == model.inlier_mask_.sum()
    cut = display.ax_.lines[0].get_xdata()[0]
    assert cut == model.losses_[model.inlier_mask_].max()
    assert display.ax_.get_xscale() == ("log" if log else "linear")
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert sorted(labels) == ["cut", "kept (48)", "left out (12)"]
    plt.close(display.figure_)


def test_given_axes(model):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    display = LossDisplay.from_losses(model.losses_, model.inlier_mask_, ax=ax)
    assert display.ax_ is ax and display.figure_ is figure
    plt.close(figure)

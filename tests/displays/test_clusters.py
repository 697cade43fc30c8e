import numpy as np
import pytest

from lrisk import RiskKMeans
from lrisk.datasets import make_dirty_clouds
from lrisk.displays import ClusterDisplay


@pytest.fixture
def plt():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture
def fitted(plt):
    X, _ = make_dirty_clouds(random_state=0)
    return X, RiskKMeans(3, spectrum="subquantile:0.75", random_state=0).fit(X)


def test_everything_is_drawn_where_it_lies(fitted):
    X, model = fitted
    display = ClusterDisplay.from_estimator(model, X)
    kept, trimmed = X[model.inlier_mask_], X[~model.inlier_mask_]
    np.testing.assert_array_equal(display.points_.get_offsets(), kept)
    np.testing.assert_array_equal(display.trimmed_.get_offsets(), trimmed)
    np.testing.assert_array_equal(
        display.centers_.get_offsets(), model.cluster_centers_
    )
    np.testing.assert_array_equal(
        display.points_.get_array(), model.labels_[model.inlier_mask_]
    )
    assert display.ax_.get_xlabel() == "feature 0"
    shown = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert shown == ["kept rows", "trimmed", "centres"]
    display.figure_.canvas.draw()


def test_axes_and_options_of_the_caller_are_used(fitted, plt):
    X, model = fitted
    figure, ax = plt.subplots()
    display = ClusterDisplay.from_estimator(model, X, ax=ax, s=3, label="rows")
    assert display.ax_ is ax and display.figure_ is figure
    assert display.points_.get_sizes()[0] == 3
    again = display.plot()
    assert again.ax_ is not ax

"""Displays draw the numbers of the analysis, where they are told to."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from lrisk import KernelRiskRegressor, RiskRegressor, RobustRegressor
from lrisk.analysis import ContaminationPath, quantile_curve
from lrisk.displays import (
    ContaminationPathDisplay,
    ConvergenceDisplay,
    LossQuantileDisplay,
    OutlierDisplay,
    SpectrumDisplay,
)
from lrisk.spectra import ESRM


@pytest.fixture(autouse=True)
def plt():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()
    pyplot.close("all")


@pytest.fixture(scope="module")
def dirty():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=80)
    y[:8] += 5.0
    return X, y


def test_quantiles(dirty, plt):
    X, y = dirty
    _, ax = plt.subplots()
    one = LossQuantileDisplay.from_estimator(Ridge().fit(X, y), X, y, ax=ax)
    two = LossQuantileDisplay.from_predictions(y, 0 * y, ax=ax, name="zero", lw=3)
    assert one.ax_ is two.ax_ is ax
    np.testing.assert_array_equal(two.line_.get_ydata(), quantile_curve(abs(y)).values)
    assert two.line_.get_linewidth() == 3
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == ["Ridge", "zero"]
    judge = LogisticRegression().fit(X, y > 0)
    classes = LossQuantileDisplay.from_estimator(judge, X, y > 0)
    assert np.all(np.diff(classes.curve.values) >= 0)


@pytest.mark.parametrize("spectrum", ["superquantile:0.75", "subquantile:0.5", ESRM(2)])
def test_spectra(spectrum):
    display = SpectrumDisplay.from_estimator(RiskRegressor(spectrum), color="black")
    assert display.line_.get_ydata().mean() == pytest.approx(1.0)
    assert display.line_.get_color() == "black"
    assert display.name in display.ax_.get_legend().get_texts()[0].get_text()


def test_convergence(dirty):
    model = RiskRegressor("superquantile:0.8", alpha=0.1).fit(*dirty)
    display = ConvergenceDisplay.from_estimator(model, against="seconds")
    assert display.quantity_ == "gap" and display.ax_.get_yscale() == "log"
    gaps = [r["gap"] for r in model.history_ if np.isfinite(r["gap"])]
    np.testing.assert_array_equal(display.line_.get_ydata(), np.maximum(gaps, 1e-16))
    trimmed = KernelRiskRegressor("subquantile:0.9").fit(*dirty)
    assert ConvergenceDisplay.from_estimator(trimmed).quantity_ == "excess"
    with pytest.raises(ValueError, match="against must be"):
        ConvergenceDisplay.from_estimator(model, against="hours")


def test_outliers(dirty):
    X, y = dirty
    model = RobustRegressor(random_state=0).fit(X, y)
    display = OutlierDisplay.from_estimator(model, X, y)
    assert len(display.flagged_.get_offsets()) == np.sum(~model.inlier_mask_) == 8
    assert len(display.kept_.get_offsets()) == 72
    path = ContaminationPathDisplay.from_estimator(model, X, y, shares=[0, 0.1], cv=3)
    for line, values in zip(path.lines_, path.path[1:]):
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert path.contamination == model.contamination_
    with pytest.raises(ValueError, match="one shape"):
        OutlierDisplay.from_predictions([1.0], [0.5, 0.6], [True])


def test_wide_residuals_and_given_axes(plt):
    figure, ax = plt.subplots()
    display = OutlierDisplay.from_predictions([0.1, 900.0], [0.0, 1.0], [False, True],
                                              ax=ax)  # fmt: skip
    assert ax.get_xscale() == "symlog" and display.figure_ is figure
    path = ContaminationPath(np.zeros(1), np.ones(1), np.ones(1))
    assert ContaminationPathDisplay(path).plot(ax=ax).ax_ is ax


def test_several_spectra_share_the_line_of_the_mean():
    first = SpectrumDisplay.from_spectrum("superquantile:0.5")
    second = SpectrumDisplay.from_spectrum("extremile:2", ax=first.ax_)
    assert second.mean_ is first.mean_
    names = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert names.count("mean") == 1 and len(names) == 3

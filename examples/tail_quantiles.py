"""Held-out loss quantiles of a mean fit and of tail-risk fits (the README's picture).

A tenth of the rows follows a line of its own. The average fit serves the others; the
superquantile gives up a little there for much less in the tail.
"""

import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import lrisk
from lrisk.datasets import make_hidden_group

COLOURS = {
    "mean": "#555555",
    "superquantile:0.7": "#0072b2",
    "superquantile:0.95": "#d55e00",
}


def main() -> None:
    """Fit, and draw the quantile curves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="tail.svg")
    out = parser.parse_args().out
    X, y, _ = make_hidden_group(8000, 5, fraction=0.1, shift=3.0, random_state=1)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    levels = np.linspace(0.5, 0.999, 200)
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for spectrum, colour in COLOURS.items():
        model = lrisk.RiskRegressor(spectrum).fit(X, y)
        errors = np.abs(y_test - model.predict(X_test))
        curve = lrisk.metrics.loss_quantiles(errors, levels)
        label = f"{spectrum}  (certified gap {model.dual_gap_:.0e})"
        axes.plot(100 * levels, curve, color=colour, label=label)
    axes.set_xlabel("percentile of held-out rows")
    axes.set_ylabel("error |y − ŷ|")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    main()

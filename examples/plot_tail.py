"""
A tail that must not fail
=========================

A tenth of the rows follows a line of its own. The mean fit serves the others.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from lrisk import RiskRegressor
from lrisk.datasets import make_hidden_group
from lrisk.displays import LossQuantileDisplay

X, y, _ = make_hidden_group(4000, 5, fraction=0.1, shift=3.0, random_state=1)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
figure, axes = plt.subplots(layout="constrained")
for spectrum, colour in (("mean", "#555555"), ("superquantile:0.95", "#d55e00")):
    model = RiskRegressor(spectrum).fit(X, y)
    LossQuantileDisplay.from_predictions(
        y_test, model.predict(X_test), name=spectrum, ax=axes, color=colour
    )
axes.legend()

# %%
# What to see: the superquantile's errors are larger over most of the rows and smaller
# at the right end, which is what was asked for.

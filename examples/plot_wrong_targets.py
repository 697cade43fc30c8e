"""
A line through wrong targets
============================

A quarter of the targets is wrong, all to one side. Nobody says how many.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import HuberRegressor, LinearRegression

from lrisk import RobustRegressor

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, 120)
y = 2 * x + rng.normal(size=120)
y[rng.choice(120, 30, replace=False)] = rng.normal(40, 5, 30)
X = x[:, None]

figure, axes = plt.subplots(layout="constrained")
robust = RobustRegressor(random_state=0).fit(X, y)
axes.scatter(x[robust.inlier_mask_], y[robust.inlier_mask_], s=12, color="#555555")
wrong = ~robust.inlier_mask_
axes.scatter(x[wrong], y[wrong], marker="x", color="#d55e00", label="flagged")
grid = np.linspace(0, 10, 2)[:, None]
for model, colour in (
    (LinearRegression().fit(X, y), "#0072b2"),
    (HuberRegressor().fit(X, y), "#009e73"),
    (robust, "#d55e00"),
):
    axes.plot(grid, model.predict(grid), color=colour, label=type(model).__name__)
axes.set(xlabel="x", ylabel="y")
axes.legend()

# %%
# What to see: the flagged rows are the thirty at the top, and the line goes through the
# others. Ordinary regression is pulled up; Huber's loss bounds what a row can do and
# comes near, but does not say which rows are wrong.

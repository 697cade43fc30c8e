"""
Quantiles of the target
=======================

The pinball loss turns regression into quantile regression, here where the spread
grows.
"""

import matplotlib.pyplot as plt
import numpy as np

from lrisk import RiskRegressor

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, 500)
y = x + 0.4 * x * rng.normal(size=500)
figure, axes = plt.subplots(layout="constrained")
axes.scatter(x, y, s=6, color="0.7")
grid = np.array([[0.0], [10.0]])
for level, colour in ((0.1, "#0072b2"), (0.5, "#555555"), (0.9, "#d55e00")):
    model = RiskRegressor("mean", loss=f"pinball:{level}", alpha=0.01)
    model.fit(x[:, None], y)
    axes.plot(grid, model.predict(grid), color=colour, label=f"quantile {level}")
axes.legend()

# %%
# What to see: the lines spread with the rows, and a tenth of the rows lies below the
# lowest and above the highest.

"""
Prediction intervals from dirty rows
====================================

A tenth of the training targets is somebody's code for "missing".
"""

import matplotlib.pyplot as plt
import numpy as np

from lrisk import RobustRegressor

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-2, 2, 400))
y = 2 * x + rng.normal(size=400)
dirty = y.copy()
dirty[rng.choice(400, 40, replace=False)] = 20.0
model = RobustRegressor(random_state=0).fit(x[:, None], dirty)
low, high = model.predict_interval(x[:, None], 0.9)

figure, axes = plt.subplots(layout="constrained")
axes.scatter(x, dirty, s=6, color="#555555")
axes.fill_between(x, low, high, color="#d55e00", alpha=0.3, label="nine in ten")
axes.set_title(f"{np.mean((low <= y) & (y <= high)):.0%} of the clean targets inside")
axes.legend()

# %%
# What to see: the band follows the clean rows and is no wider for the forty at the top.

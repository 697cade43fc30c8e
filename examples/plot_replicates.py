"""
Everything was measured twice
=============================

Nothing is known of the noise, but there are two copies of each row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

from lrisk import NoiseCorrectedRegressor

rng = np.random.default_rng(0)
x = rng.normal(size=(500, 1))
y = 3 * x[:, 0] + 0.2 * rng.normal(size=500)
first, second = (x + 0.8 * rng.normal(size=x.shape) for _ in range(2))
ordinary = LinearRegression().fit((first + second) / 2, y)
corrected = NoiseCorrectedRegressor().fit(first, y, X2=second)

figure, axes = plt.subplots(layout="constrained")
axes.scatter(first, y, s=6, color="0.7", label="what was seen")
axes.scatter(x, y, s=6, color="#0072b2", label="what was not")
grid = np.array([[-3.0], [3.0]])
axes.plot(
    grid, ordinary.predict(grid), "--", color="#555555", label="mean of both copies"
)
axes.plot(grid, corrected.predict(grid), color="#d55e00", label="corrected")
axes.legend()

# %%
# What to see: the line fitted to the mean of both copies is too flat for the clean
# rows; the corrected one lies along them.

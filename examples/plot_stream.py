"""
Noisy rows, one batch after the other
=====================================

Each noisy row is seen once, and the coefficients approach those of the clean ones.
"""

import matplotlib.pyplot as plt
import numpy as np

from lrisk import NoiseCorrectedRegressor
from lrisk.noise import KnownCovariance

rng = np.random.default_rng(0)
model = NoiseCorrectedRegressor(KnownCovariance(0.25))
path = []
for _ in range(150):
    x = rng.normal(size=(50, 2))
    model.partial_fit(x + 0.5 * rng.normal(size=x.shape), x @ [1.0, -1.0])
    path.append(model.coef_.copy())
figure, axes = plt.subplots(layout="constrained")
axes.plot(50 * np.arange(1, 151), path)
axes.axhline(1.0, color="0.7", linestyle="--")
axes.axhline(-1.0, color="0.7", linestyle="--")
axes.set(xlabel="rows seen", ylabel="coefficients")

# %%
# What to see: both coefficients end near the dashed lines, the clean ones.

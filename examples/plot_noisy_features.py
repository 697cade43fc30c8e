"""
Coefficients shrink with noise, and come back
=============================================

Features are seen with noise of a known size. More rows do not help; saying so does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

from lrisk import NoiseCorrectedRegressor
from lrisk.noise import KnownCovariance

rng = np.random.default_rng(0)
x = rng.normal(size=(4000, 2))
y = x @ [2.0, -1.0] + 0.1 * rng.normal(size=4000)
noises = np.linspace(0.1, 1.0, 8)
ordinary, corrected = [], []
for noise in noises:
    seen = x + noise * rng.normal(size=x.shape)
    ordinary.append(LinearRegression().fit(seen, y).coef_)
    model = NoiseCorrectedRegressor(KnownCovariance(noise**2)).fit(seen, y)
    corrected.append(model.coef_)

figure, axes = plt.subplots(layout="constrained")
axes.plot(noises, ordinary, "o--", color="#555555", label="ordinary")
axes.plot(noises, corrected, "o-", color="#d55e00", label="corrected")
axes.set(xlabel="noise, in deviations of the features", ylabel="coefficients")
handles, labels = axes.get_legend_handles_labels()
axes.legend(handles[::2], labels[::2])

# %%
# What to see: the ordinary coefficients halve where the noise is as large as the
# signal; the corrected ones stay at 2 and −1, with more scatter.

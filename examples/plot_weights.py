"""
Which rows a tail fit listens to
================================

At the optimum a tail fit is a weighted ordinary fit, whose weights it tells.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from lrisk import RiskRegressor

X, y = load_diabetes(return_X_y=True)
model = RiskRegressor("superquantile:0.75", alpha=0.01).fit(X, y)
figure, axes = plt.subplots(layout="constrained")
axes.scatter(y - model.predict(X), len(y) * model.risk_weights_, s=10)
axes.set(xlabel="residual", ylabel="weight, 1 is an ordinary row")

# %%
# What to see: rows with small residuals weigh nothing, the worst quarter weighs four
# times as much as in the mean, and a few rows on the edge lie between.

"""
How solvers approach the minimum
================================

The certified solver gives the minimum, with a proof. From there one can see how far the
stochastic ones are after each pass over the data.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from lrisk import RiskRegressor

X, y = load_diabetes(return_X_y=True)
X, y = X / X.std(axis=0), (y - y.mean()) / y.std()
best = RiskRegressor("extremile:2", tol=1e-10).fit(X, y)

figure, axes = plt.subplots(layout="constrained")
for solver, colour in (("sgd", "#555555"), ("lsvrg", "#0072b2"), ("sorel", "#d55e00")):
    model = RiskRegressor("extremile:2", solver=solver, max_iter=30, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thirty passes are not enough for all
        model.fit(X, y)
    passes = [record["passes"] for record in model.history_]
    above = np.array([record["objective"] for record in model.history_])
    above = above / best.objective_ - 1
    axes.semilogy(passes, np.maximum(above, 1e-12), color=colour, label=solver)
axes.set(xlabel="passes over the data", ylabel="objective above the minimum")
axes.legend()

# %%
# What to see: SOREL is the fastest at first and wanders later, LSVRG goes on falling.
# An epoch of SGD is one pass over the data, one of the others two, so its thirty end
# halfway.

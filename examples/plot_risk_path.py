"""
Coefficients along the penalty
==============================

One call fits many penalties, each from the one before.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import lrisk

X, y = load_diabetes(return_X_y=True)
alphas = np.logspace(2, -3, 20)
path = lrisk.risk_path(X, y, spectrum="superquantile:0.8", alphas=alphas)
figure, axes = plt.subplots(layout="constrained")
axes.semilogx(path.alphas, path.coefs[0])
axes.set(xlabel="alpha", ylabel="coefficients")
axes.invert_xaxis()

# %%
# What to see: from left to right the penalty falls and the coefficients grow, until the
# data alone decide.

"""
Losses of the rows left out
===========================

A trimmed fit leaves a fifth of the rows out, as it was told.
"""

import numpy as np
from sklearn.datasets import load_diabetes

from lrisk import RiskRegressor
from lrisk.displays import LossDisplay

X, y = load_diabetes(return_X_y=True)
rng = np.random.default_rng(0)
wrong = rng.random(len(y)) < 0.2
dirty = np.where(wrong, rng.normal(700, 300, len(y)), y)
model = RiskRegressor("subquantile:0.8", alpha=0.01, random_state=0).fit(X, dirty)
LossDisplay.from_estimator(model)

# %%
# What to see: the second heap, more than ten times beyond the cut, is left out; the
# first is kept but for its largest losses.

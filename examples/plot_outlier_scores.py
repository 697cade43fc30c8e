"""
How sure is a flag?
===================

Every row has a score, the chance that it is wrong. Here a fifth of the targets is.
"""

import numpy as np
from sklearn.datasets import load_diabetes

from lrisk import RobustRegressor
from lrisk.displays import OutlierDisplay

X, y = load_diabetes(return_X_y=True)
rng = np.random.default_rng(0)
wrong = rng.random(len(y)) < 0.2
dirty = np.where(wrong, rng.normal(700, 300, len(y)), y)
model = RobustRegressor(random_state=0).fit(X, dirty)
OutlierDisplay.from_estimator(model, X, dirty)

# %%
# What to see: scores rise from near 0 to near 1 over a few units of the noise, and rows
# above 0.7 are flagged.

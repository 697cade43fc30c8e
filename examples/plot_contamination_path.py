"""
What leaving rows out is worth
==============================

The worst rows are left out, more and more of them, and the error on all held-out rows
is measured.
"""

import numpy as np
from sklearn.datasets import load_diabetes

from lrisk import RobustRegressor
from lrisk.displays import ContaminationPathDisplay

X, y = load_diabetes(return_X_y=True)
rng = np.random.default_rng(0)
wrong = rng.random(len(y)) < 0.2
dirty = np.where(wrong, rng.normal(700, 300, len(y)), y)
model = RobustRegressor(random_state=0).fit(X, dirty)
ContaminationPathDisplay.from_estimator(model, X, dirty)

# %%
# What to see: the error falls while wrong rows are left out and is flat after that; the
# dashed line, the share that was estimated, lies where it becomes flat.

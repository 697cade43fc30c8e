"""
From fit to proof
=================

After every iteration the solver knows how far it is, at most, from the best fit there
is.
"""

from sklearn.datasets import load_diabetes

from lrisk import RiskRegressor
from lrisk.displays import ConvergenceDisplay

X, y = load_diabetes(return_X_y=True)
model = RiskRegressor("superquantile:0.9", alpha=0.01, tol=1e-10).fit(X, y)
ConvergenceDisplay.from_estimator(model)

# %%
# What to see: the bound falls until it is below the tolerance of 1e-10. It is a proof,
# not an estimate.

"""
Which rows of a table do not fit?
=================================

Ten prices of two hundred were entered ten times too large. The audit judges each row
by models that have not seen it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import lrisk

rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["area", "rooms", "age"])
frame["price"] = 100 + 20 * frame["area"] - 5 * frame["age"] + rng.normal(size=200)
frame.loc[:9, "price"] *= 10
result = lrisk.audit(frame, target="price")

expected = frame["price"] - result.residuals
figure, axes = plt.subplots(layout="constrained")
axes.scatter(expected[~result.flags], frame["price"][~result.flags], s=12, label="fits")
axes.scatter(
    expected[result.flags],
    frame["price"][result.flags],
    marker="x",
    color="#d55e00",
    label=f"does not fit ({result.flags.sum()})",
)
axes.set(xlabel="expected price", ylabel="price in the table", yscale="log")
axes.legend()

# %%
# What to see: the ten rows a whole decade above the others are flagged, and none of the
# others is.

"""
Classes with flipped labels
===========================

Three of ten labels of one class were flipped to the other.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from lrisk import RobustClassifier

X, y = make_blobs(400, centers=[[-2, 0], [2, 0]], random_state=0)
rng = np.random.default_rng(0)
flipped = (y == 1) & (rng.random(400) < 0.3)
labels = np.where(flipped, 0, y)
model = RobustClassifier(random_state=0).fit(X, labels)

figure, axes = plt.subplots(layout="constrained")
flagged = ~model.inlier_mask_
colours = np.where(labels == 1, "#0072b2", "#555555")
axes.scatter(*X[~flagged].T, s=10, c=colours[~flagged])
axes.scatter(*X[flagged].T, marker="x", color="#d55e00", label="flagged")
axes.set_title(f"{flipped.sum()} flipped, {flagged.sum()} flagged")
axes.legend()

# %%
# What to see: the crosses lie in the right cloud, where a label of the left one has no
# business.

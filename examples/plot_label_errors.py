"""
Label errors, by a model of your own
====================================

A logistic regression judges labels of handwritten digits, a tenth of which is wrong.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lrisk import LabelErrorDetector
from lrisk.datasets import corrupt_classes

X, y = load_digits(n_class=4, return_X_y=True)
bad = corrupt_classes(X, y, fraction=0.1, random_state=0)
judge = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
found = LabelErrorDetector(judge, random_state=0).fit(bad.X, bad.y)

worst = np.argsort(-found.outlier_score_)[:8]
figure, panels = plt.subplots(1, 8, figsize=(10, 1.8), layout="constrained")
for axes, row in zip(panels, worst, strict=True):
    axes.imshow(X[row].reshape(8, 8), cmap="gray_r")
    axes.set_title(f"{bad.y[row]}: rather {found.label_suggestion_[row]}", fontsize=8)
    axes.axis("off")

# %%
# What to see: the label in the table, and beside it the one that the picture shows.

"""
Clusters in dirty data
======================

Three clouds, and rows that belong to none.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

from lrisk import RiskKMeans
from lrisk.datasets import make_dirty_clouds
from lrisk.displays import ClusterDisplay

X, _ = make_dirty_clouds(random_state=0)
model = RiskKMeans(3, spectrum="subquantile:0.75", random_state=0).fit(X)
plain = KMeans(3, n_init=10, random_state=0).fit(X)
figure, axes = plt.subplots(layout="constrained")
ClusterDisplay.from_estimator(model, X, ax=axes)
axes.scatter(
    *plain.cluster_centers_[:, :2].T, marker="+", s=160, color="k", label="KMeans"
)
axes.legend()

# %%
# What to see: KMeans spends a centre on rows that belong to no cloud, and two clouds
# share another; RiskKMeans leaves those rows out and has a centre in each cloud.

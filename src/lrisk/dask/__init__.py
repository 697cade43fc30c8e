"""Fits to rows on a Dask cluster, with the same proof as in memory.

Nothing else in lrisk imports this module. It needs dask and distributed
(``pip install 'lrisk[dask]'``); lrisk must be installed on the workers too.
"""

from .._extras import optional

for package in ("dask", "distributed"):
    optional(package, "lrisk.dask")

from .estimators import RiskClassifier, RiskRegressor  # noqa: E402

__all__ = ["RiskClassifier", "RiskRegressor"]

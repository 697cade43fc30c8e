"""Fits of rows on a Dask cluster, with the certificate of fits in memory.

Nothing else in lrisk imports this module. It needs dask and distributed
(``pip install 'lrisk[dask]'``); lrisk must be installed on the workers too.
"""

import importlib.util

if any(importlib.util.find_spec(name) is None for name in ("dask", "distributed")):
    raise ImportError(
        "lrisk.dask needs dask and distributed: pip install 'lrisk[dask]'"
    )

from .estimators import RiskClassifier, RiskRegressor

__all__ = ["RiskClassifier", "RiskRegressor"]

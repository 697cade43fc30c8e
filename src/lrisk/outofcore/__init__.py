"""Linear models of files larger than memory, with the same proof as in memory.

>>> import lrisk.outofcore
>>> model = lrisk.RiskRegressor("esrm:1")              # doctest: +SKIP
>>> lrisk.outofcore.fit(model, "rows.parquet", "price", memory="2GB")  # doctest: +SKIP
"""

from .fitting import fit
from .predicting import predict

__all__ = ["fit", "predict"]

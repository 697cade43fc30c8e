"""Spectral risks on tensors: fits of linear and kernel models, and losses of others.

`RiskRegressor` and `RiskClassifier` are those of `lrisk`, with the rows and the
certificate on the device where the tensors lie, `KernelRiskRegressor` its trimmed fits
with the kernel matrix there. `SpectralRisk` and `RiskTable` take the place of the mean
in the training of other models.

Needs the extra ``torch``; nothing else in lrisk imports this package. The reducers need
torch and numpy alone; estimators are imported when they are asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

from .._extras import optional

optional("torch", "lrisk.torch")

from .reduction import SpectralRisk  # noqa: E402
from .table import RiskTable  # noqa: E402

if TYPE_CHECKING:
    from .estimators import RiskClassifier, RiskRegressor
    from .kernel import KernelRiskRegressor

__all__ = [
    "KernelRiskRegressor",
    "RiskClassifier",
    "RiskRegressor",
    "RiskTable",
    "SpectralRisk",
]


def __getattr__(name: str) -> Any:
    """Import an estimator, and with it scikit-learn, when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "kernel" if name.startswith("Kernel") else "estimators"
    home = importlib.import_module(f".{module}", __package__)
    value = globals()[name] = getattr(home, name)
    return value

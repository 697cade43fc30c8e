"""Data sets: generators for what the library is about, and corruptions of others."""

from .awkward import make_awkward
from .clouds import make_dirty_clouds
from .corruption import (
    Corrupted,
    corrupt_classes,
    corrupt_features,
    corrupt_labels,
    corrupt_rows,
)
from .errors import (
    add_leverage_cluster,
    add_second_population,
    corrupt_units,
    swap_columns,
)
from .generators import make_hidden_group

__all__ = [
    "Corrupted",
    "add_leverage_cluster",
    "add_second_population",
    "corrupt_classes",
    "corrupt_features",
    "corrupt_labels",
    "corrupt_rows",
    "corrupt_units",
    "make_awkward",
    "make_dirty_clouds",
    "make_hidden_group",
    "swap_columns",
]

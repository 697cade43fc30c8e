"""Tables as they come: files and frames to typed columns, and to what models take."""

from .columns import Column, ColumnSummary
from .preparation import Preparation, TablePreparation
from .table import Table, table_of

__all__ = [
    "Column",
    "ColumnSummary",
    "Preparation",
    "Table",
    "TablePreparation",
    "table_of",
]

"""The audit of a table: which rows do not fit, and what changes without them."""

from ...tables import ColumnSummary
from .result import (
    AuditResult,
    Cause,
    CoefficientShift,
    FlaggedRow,
    GroupRate,
    LossCurve,
    Repair,
    Sensitivity,
)
from .run import audit

__all__ = [
    "AuditResult",
    "Cause",
    "CoefficientShift",
    "ColumnSummary",
    "FlaggedRow",
    "GroupRate",
    "LossCurve",
    "Repair",
    "Sensitivity",
    "audit",
]

"""The audit of a table: which rows do not fit, and what changes without them."""

from ...tables import ColumnSummary
from .facts import (
    BesideConstant,
    Change,
    CoefficientShift,
    Finding,
    FlaggedRow,
    GroupRate,
    LossCurve,
    Reason,
    Sensitivity,
)
from .result import AuditResult
from .run import audit

__all__ = [
    "AuditResult",
    "BesideConstant",
    "Change",
    "CoefficientShift",
    "ColumnSummary",
    "Finding",
    "FlaggedRow",
    "GroupRate",
    "LossCurve",
    "Reason",
    "Sensitivity",
    "audit",
]

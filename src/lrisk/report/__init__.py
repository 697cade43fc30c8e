"""The audit's report: one HTML file, the table of rows, everything as JSON."""

from .page import render
from .redaction import redacted
from .writing import write_audit

__all__ = ["redacted", "render", "write_audit"]

"""The audit's report: one HTML file, the table of rows, everything as JSON."""

from .page import framed, render
from .redaction import redacted
from .writing import write_audit

__all__ = ["framed", "redacted", "render", "write_audit"]

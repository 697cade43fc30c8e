"""An audit without the data: no cell values, no names of groups."""

from dataclasses import replace

from ..analysis.audit import AuditResult, CoefficientShift, FlaggedRow


def redacted(result: AuditResult) -> AuditResult:
    """Make a copy of an audit's result without cell values and names of groups.

    Nothing is searched for secrets: facts keep what cells hold apart from names of
    columns, counts, scores, residuals, coefficients and losses, and that part is left
    out. Sentences are made of what is left.

    Parameters
    ----------
    result : AuditResult
        What `lrisk.audit` returned; it stays as it is.

    Returns
    -------
    AuditResult
        The same findings, to show to those who may not see the data.

    See Also
    --------
    lrisk.write_audit : Writes redacted files with ``redact=True``.
    render : Makes a redacted page with ``redact=True``.

    Examples
    --------
    >>> import numpy as np
    >>> import lrisk
    >>> from lrisk.report import redacted
    >>> x = np.random.default_rng(0).normal(size=60)
    >>> result = lrisk.audit({"x": x, "y": 2 * x}, target="y")
    >>> result.observed == [], redacted(result).observed
    (False, [])
    """
    bare = [_row(row) for row in result.flagged]
    return replace(
        result,
        columns=[replace(column, example="") for column in result.columns],
        reasons={
            row: [replace(reason, values={}) for reason in reasons]
            for row, reasons in result.reasons.items()
        },
        flagged=bare,
        nearly=[_row(row) for row in result.nearly],
        coefficients=[_shift(shift) for shift in result.coefficients],
        groups=[
            replace(g, group=f"group {i + 1}") for i, g in enumerate(result.groups)
        ],
        times=[replace(g, group=f"period {i + 1}") for i, g in enumerate(result.times)],
        findings=[finding.redacted() for finding in result.findings],
        classes=[f"class {i + 1}" for i in range(len(result.classes))],
        ids=[],
        observed=[],
        expected=[],
        comparison=result.comparison and {**result.comparison, "source": ""},
    )


def _row(row: FlaggedRow) -> FlaggedRow:
    return replace(row, observed="", expected="", id="", values={})


def _shift(shift: CoefficientShift) -> CoefficientShift:
    """One-hot names hold a column and a value."""
    own = shift.column or "a column"
    name = own if shift.name == own else f"{own} (one of its values)"
    return replace(shift, name=name)

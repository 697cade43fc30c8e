"""Writing the audit of a table larger than memory."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from .._extras import optional
from ..analysis.audit import AuditResult
from ..analysis.audit.sampled import Judged, SampledAudit
from .writing import write_audit

#: Columns that hold what cells do.
TOLD = ("observed", "expected")


def write_sampled(
    audit: SampledAudit,
    folder: str | os.PathLike[str],
    redact: bool = False,
    n_threads: int = 1,
) -> tuple[AuditResult, list[Path]]:
    """Judge all rows, and write them beside the report of the sample.

    Parameters
    ----------
    audit : SampledAudit
    folder : path
        Made if it is not there; see `write_audit`.
    redact : bool, default=False
        Leave cell values and names of groups out of all files.
    n_threads : int, default=1
        That judge rows, each a batch at a time.

    Returns
    -------
    result : AuditResult
        Of the sample, with what was counted over all rows.
    written : list of Path
        ``report.html``, ``rows.csv`` and ``audit.json`` of the sample, and
        ``rows.parquet`` of all rows, with the columns row, score, flag, observed,
        expected and residual; what is unknown is null.
    """
    place = Path(folder) / "rows.parquet"
    missing = not place.parent.exists()
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    try:
        _write(audit.judged(n_threads), temporary, redact)
        result = audit.told()
        written = write_audit(result, folder, redact)
        os.replace(temporary, place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        if missing and not any(place.parent.iterdir()):
            place.parent.rmdir()
        raise
    return result, [*(path for path in written if path != place), place]


def _write(batches: Iterable[Judged], path: Path, redact: bool) -> None:
    pyarrow = optional("pyarrow", "rows.parquet")
    parquet = optional("pyarrow.parquet", "rows.parquet")
    writer = None
    try:
        for judged in batches:
            columns = {
                name: pyarrow.array(cells, from_pandas=True)
                for name, cells in judged._asdict().items()
                if not (redact and name in TOLD)
            }
            table = pyarrow.table(columns)
            if writer is None:
                writer = parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()

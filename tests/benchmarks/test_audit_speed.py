"""What the benchmark of speed measures is there."""

import sys
from pathlib import Path

# The folder is beside the package, not in it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks._audit_speed import GB, measured, write


def test_a_command_is_measured(tmp_path):
    path = tmp_path / "table.parquet"
    write(str(path), rows=60, columns=3, classes=False)
    took = measured(path, tmp_path / "audit")
    assert took.processor > 0.0
    assert 0.05 * GB < took.memory < 2.0 * GB  # Python, numpy and pandas alone are more
    assert took.page > 10_000

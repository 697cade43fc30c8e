"""The kernel part of `benchmarks.gpu` runs, at small sizes, without a GPU and numba."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_kernels_without_a_gpu():
    pytest.importorskip("torch", reason="torch is not installed")
    code = (
        "import sys; sys.modules['numba'] = sys.modules['pandas'] = None\n"
        "from benchmarks._gpu_kernels import kernels\n"
        "kernels('cpu', exact=200, many=900, centres=20, small=(120, 600, 20))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=dict(os.environ, PYTHONPATH=f"{ROOT / 'src'}{os.pathsep}{ROOT}"),
        capture_output=True,
        text=True,
    )
    lines = ran.stdout.splitlines()
    assert len(lines) == 5, ran.stderr
    assert lines[3].startswith("n=200, d=8, centres None:")
    assert lines[4].startswith("n=900, d=9, centres 20:")
    for line in lines[:2]:
        assert line.endswith(" 0 rows kept otherwise")
        apart = float(re.findall(r"apart by ([^;]+);", line)[0])
        assert apart < 1e-8

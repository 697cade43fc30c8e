"""The kernel part of `benchmarks.gpu` runs, at small sizes, without a GPU and numba."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("missing", [(), ("numba", "pandas")])
def test_kernels_without_a_gpu(missing):
    pytest.importorskip("torch", reason="torch is not installed")
    blocked = "".join(f"sys.modules[{name!r}] = None\n" for name in missing)
    code = (
        f"import sys\n{blocked}"
        "from benchmarks._gpu_kernels import kernels\n"
        "kernels('cpu', exact=400, many=3000, centres=40, small=(300, 2500, 30))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=dict(os.environ, PYTHONPATH=f"{ROOT / 'src'}{os.pathsep}{ROOT}"),
        capture_output=True,
        text=True,
    )
    lines = ran.stdout.splitlines()
    assert len(lines) == 5, ran.stderr
    assert lines[3].startswith("n=400, d=8, centres None:")
    assert lines[4].startswith("n=3000, d=9, centres 40:")
    for line in lines[:2]:
        assert line.endswith(" 0 rows kept otherwise")
        apart = float(re.findall(r"apart by ([^;]+);", line)[0])
        assert apart < 1e-8

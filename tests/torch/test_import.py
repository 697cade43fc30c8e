"""What `import lrisk.torch` needs, and says where it is missing."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import lrisk

SOURCE = str(Path(lrisk.__file__).parent.parent)


def python(code, missing):
    """Run code in a process that has no such modules."""
    blocked = "".join(f"sys.modules[{name!r}] = None\n" for name in missing)
    return subprocess.run(
        [sys.executable, "-c", f"import sys\n{blocked}{textwrap.dedent(code)}"],
        env=dict(os.environ, PYTHONPATH=SOURCE),
        capture_output=True,
        text=True,
    )


def test_exact_risks_need_torch_and_numpy_alone():
    pytest.importorskip("torch", reason="torch is not installed")
    ran = python(
        """
        import torch
        from lrisk.torch import RiskTable, SpectralRisk
        losses = torch.arange(4.0, requires_grad=True)
        SpectralRisk("esrm:2")(losses, torch.ones(4)).backward()
        RiskTable(4, "superquantile:0.5")(losses, torch.arange(4)).backward()
        print(losses.grad.sum())
        """,
        ["numba", "scipy", "sklearn", "pandas"],
    )
    assert ran.stdout == "tensor(2.)\n", ran.stderr

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


def test_fits_need_no_numba():
    """What is left to loops runs as plain Python, and it is said once."""
    pytest.importorskip("torch", reason="torch is not installed")
    ran = python(
        """
        import torch, lrisk.torch
        rng = torch.Generator().manual_seed(0)
        for n in (300, 12_000):
            X = torch.randn(n, 3, generator=rng)
            y = X.sum(dim=1) + torch.randn(n, generator=rng)
            w = torch.rand(n, generator=rng)
            for spectrum in ("mean", "esrm:1", "superquantile:0.8"):
                for loss in ("squared", "huber:0.7"):
                    model = lrisk.torch.RiskRegressor(spectrum, loss=loss)
                    print(model.fit(X, y, w).dual_gap_ <= 1e-6)
                for loss in ("logistic", "squared_hinge"):
                    model = lrisk.torch.RiskClassifier(spectrum, loss=loss)
                    print(model.fit(X, 3 * y > w).dual_gap_ <= 1e-6)
        """,
        ["numba"],
    )
    assert ran.stdout.split() == ["True"] * 24, ran.stderr
    assert ran.stderr.count("numba is not installed") == 1

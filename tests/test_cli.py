import subprocess
import sys

import pytest

from lrisk.cli import main


def test_demo_prints_quantiles_and_certificates(capsys):
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert out.count("superquantile:0.9") == 2
    gaps = [
        float(line.split()[-1])
        for line in out.splitlines()
        if line[:5] in ("mean ", "super")
    ]
    assert len(gaps) == 6 and max(gaps) <= 1e-10


def test_module_entry_point_and_version():
    run = subprocess.run(
        [sys.executable, "-m", "lrisk", "--version"], capture_output=True, text=True
    )
    assert run.returncode == 0 and run.stdout.startswith("lrisk ")


def test_unknown_command(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["dance"])
    assert stop.value.code == 2
    assert "demo" in capsys.readouterr().err

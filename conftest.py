"""What pytest cannot import where an extra is not installed, and says so."""

import importlib.util

collect_ignore_glob = []
if importlib.util.find_spec("torch") is None:
    collect_ignore_glob += ["src/lrisk/torch/*"]
elif importlib.util.find_spec("triton") is None:  # comes with torch for GPUs
    collect_ignore_glob += ["src/lrisk/torch/_kernels.py"]


def pytest_report_header():
    """Name what is left out."""
    if "src/lrisk/torch/*" in collect_ignore_glob:
        return "torch is not installed: doctests of lrisk.torch are left out"
    return None

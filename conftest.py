"""What pytest cannot import where an extra is not installed; garbage collection."""

import gc
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


def pytest_configure():
    """Collect tests without looking for garbage: a third of the time went there."""
    gc.disable()


def pytest_collection_finish():
    """Never look at fourteen thousand tests again, which every full pass would do."""
    gc.enable()
    gc.freeze()

"""Lets the tests of this folder import the helpers that lie beside them."""

import importlib.util
import sys
from pathlib import Path

for name in ("transcriptions", "problems"):
    spec = importlib.util.spec_from_file_location(
        name, Path(__file__).with_name(f"{name}.py")
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)

"""The command line: ``lrisk audit data.csv --target price``."""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    try:
        from .commands import run
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        sys.stderr.write(
            f"lrisk: the command line needs {error.name}; "
            "install it with: pip install 'lrisk[cli]'\n"
        )
        return 2
    except KeyboardInterrupt:  # while that was imported
        return 130
    return run(arguments)

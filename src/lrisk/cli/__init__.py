"""The command line: ``lrisk audit data.csv --target price``."""

import sys
from collections.abc import Sequence

from .._extras import lacking

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    try:
        from .commands import run
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write(f"lrisk: {lacking('click', 'the command line')}\n")
        return 2
    except KeyboardInterrupt:  # while that was imported
        return 130
    return run(arguments)

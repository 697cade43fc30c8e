"""Errors of the command line: one line, a true exit status, no traceback."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from .._extras import lacking, missing
from .._origin import Origin

#: Exit statuses. Python itself ends with 1 after a traceback, which a pipeline could
#: not tell from too many rows: hence 70 (the EX_SOFTWARE of sysexits.h). 130 and 141
#: are what a shell says of programs that SIGINT and SIGPIPE ended.
DONE, TOO_MANY, REFUSED, BUG, STOPPED, UNREAD = 0, 1, 2, 70, 130, 141
#: What they mean, for ``lrisk --help``.
STATUSES = {
    DONE: "done",
    TOO_MANY: "more rows do not fit than --fail-above allows",
    REFUSED: "bad options or input, files that cannot be read or written, missing "
    "packages",
    BUG: "a bug in lrisk, with its traceback",
    STOPPED: "stopped by Ctrl-C",
    UNREAD: "what reads the output went away",
}


class BadInput(click.ClickException):
    """Something about the input that a user can change."""

    exit_code = REFUSED

    def show(self, file: object = None) -> None:
        """Say it in one line on stderr."""
        click.echo(f"lrisk: {one_line(self.message)}", err=True)


def one_line(text: str) -> str:
    """Text without line breaks and control characters, cut to 400 characters."""
    words = "".join(c if c.isprintable() else " " for c in text).split()
    line = " ".join(words)
    return line if len(line) <= 400 else f"{line[:397]}..."


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Turn what a user can change into one line; bugs keep their traceback.

    A wrong type is the user's where it was refused. What Python says of types, or a
    library of what lrisk passed to it, is a bug.
    """
    try:
        yield
    except BrokenPipeError:  # nobody is left to be told
        raise click.exceptions.Exit(UNREAD) from None
    except ValueError as error:
        raise BadInput(str(error)) from error
    except TypeError as error:
        origin = Origin.of(error)
        if not origin.stated or origin.package not in ("lrisk", "sklearn"):
            raise
        raise BadInput(str(error)) from error
    except MemoryError as error:
        raise BadInput(
            "not enough memory for this table; audit a part of it"
        ) from error
    except OSError as error:
        raise BadInput(_of_system(error)) from error
    except ModuleNotFoundError as error:
        raise BadInput(str(error)) from error


def check_installed(user: str, *packages: str) -> None:
    """Refuse before any work what would fail after it for want of a package."""
    if (package := missing(*packages)) is not None:
        raise BadInput(lacking(package, user))


def settle_output() -> None:
    """Write what is left; where that fails, let Python not try again at exit."""
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None where it is closed
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _of_system(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"

"""Errors of the command line: one line, exit status 2, no traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

import click


class BadInput(click.ClickException):
    """Something about the input that a user can change."""

    exit_code = 2

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
    """Turn what a user can change into one line; bugs keep their traceback."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise BadInput(str(error)) from error
    except MemoryError as error:
        raise BadInput(
            "not enough memory for this table; audit a part of it"
        ) from error
    except OSError as error:
        raise BadInput(_of_system(error)) from error
    except ModuleNotFoundError as error:
        remedy = f"pip install {error.name}"
        raise BadInput(f"this needs {error.name}; install it: {remedy}") from error


def _of_system(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"

"""Where an error was raised: whether somebody's data, model or lrisk is to blame."""

import opcode
from collections.abc import Container
from types import TracebackType
from typing import NamedTuple, Self


class Origin(NamedTuple):
    """The place in Python code where an error was raised.

    Attributes
    ----------
    module : str
    line : int
    stated : bool
        Whether by a ``raise`` statement, which refuses something, and not by Python
        itself because a call or an operation did not fit.
    """

    module: str
    line: int
    stated: bool

    @classmethod
    def of(cls, error: BaseException, within: Container[str] | None = None) -> Self:
        """The innermost place, or the innermost in some modules; of none, nowhere."""
        found, at = cls("", 0, False), error.__traceback__
        while at is not None:
            module = str(at.tb_frame.f_globals.get("__name__", ""))
            if within is None or module in within:
                found = cls(module, at.tb_lineno, at.tb_next is None and _raises(at))
            at = at.tb_next
        return found

    @property
    def package(self) -> str:
        """The first part of the module's name."""
        return self.module.partition(".")[0]


def _raises(at: TracebackType) -> bool:
    return at.tb_frame.f_code.co_code[at.tb_lasti] == opcode.opmap["RAISE_VARARGS"]

"""Small objects with scikit-learn's ``get_params`` / ``set_params``.

Spectra, solvers and noises are parameters of estimators *and* have parameters of their
own. Changing them in place, as scikit-learn's Gaussian-process kernels do, is what lets
``GridSearchCV`` reach ``spectrum__q``.
"""

import difflib
import inspect
import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

_Kind = TypeVar("_Kind")


class Parameters:
    """Base of every object that is described by its constructor's arguments.

    A subclass stores each argument under its own name and says in `validate` which
    values it takes. Values are checked at construction and after `set_params`, which
    changes either all of the given parameters or none.
    """

    #: Parameters that `repr` leaves out where they have their default value.
    _silent: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Names of the constructor's arguments."""
        if cls.__init__ is object.__init__:
            return []
        signature = inspect.signature(cls.__init__)
        return [name for name in signature.parameters if name != "self"]

    @staticmethod
    def _attribute(name: str) -> str:
        """Where the parameter `name` is stored."""
        return name

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments by name (as in scikit-learn)."""
        return {
            name: getattr(self, self._attribute(name))
            for name in self.parameter_names()
        }

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place; all of them, or none if one is refused."""
        known = self.parameter_names()
        unknown = [name for name in params if name not in known]
        if unknown:
            raise ValueError(
                f"{type(self).__name__} has no parameter {unknown[0]!r}; "
                f"it has {', '.join(known) or 'none'}."
            )
        before = dict(vars(self))
        vars(self).update({self._attribute(k): v for k, v in params.items()})
        try:
            self.validate()
        except Exception:
            vars(self).clear()
            vars(self).update(before)
            raise
        return self

    def validate(self) -> None:
        """Raise if a parameter has a value it cannot have."""

    def __repr__(self) -> str:
        signature = inspect.signature(type(self).__init__)
        params = self.get_params()
        shown = [
            f"{name}={value!r}"
            for name, value in params.items()
            if not _same(value, signature.parameters[name].default)
            or (len(params) - len(self._silent) <= 2 and name not in self._silent)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.get_params(), other.get_params()
        return all(_same(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]  # mutable


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a is b or a == b)


def refused(owner: object, name: str, rule: str, value: object, remedy: str) -> str:
    """Build the one style of message for a value that cannot be used."""
    who = owner if isinstance(owner, str) else type(owner).__name__
    value = value.item() if isinstance(value, np.generic) else value
    return f"{who}: {name} must be {rule}, got {value!r}; {remedy}."


def check_real(
    owner: object,
    name: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    low_open: bool = False,
    high_open: bool = False,
    remedy: str,
) -> None:
    """Raise unless `value` is a finite real number in the given interval."""
    if high == math.inf:
        rule = f"a finite number {'>' if low_open else '≥'} {low:g}"
    else:
        rule = f"a number in {'(' if low_open else '['}{low:g}, {high:g}"
        rule += ")" if high_open else "]"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(refused(owner, name, rule, value, remedy))
    try:
        number = float(value)
    except OverflowError:  # of a whole number with hundreds of digits
        number = math.inf
    below = number <= low if low_open else number < low
    above = number >= high if high_open else number > high
    if not math.isfinite(number) or below or above:
        raise ValueError(refused(owner, name, rule, value, remedy))


def check_count(owner: object, name: str, value: object, *, low: int = 1) -> None:
    """Raise unless `value` is a whole number of at least `low`."""
    rule, remedy = f"a whole number of at least {low}", "pass an int"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(refused(owner, name, rule, value, remedy))
    if value < low:
        raise ValueError(
            refused(owner, name, rule, value, f"raise it to {low} or more")
        )


def check_verbose(owner: object, value: object) -> None:
    """Raise unless `value` is a whole number, or a flag."""
    if not isinstance(value, Integral | np.bool_):
        rule, remedy = "a whole number", "0 means silent"
        raise TypeError(refused(owner, "verbose", rule, value, remedy))


def check_choice(
    owner: object, name: str, value: object, choices: tuple[Any, ...]
) -> None:
    """Raise unless `value` is one of `choices`."""
    # Arrays compare by cell.
    named = isinstance(value, str) and value in choices
    if not named and not any(value is choice for choice in choices):
        listed = ", ".join(repr(c) for c in choices)
        raise ValueError(
            refused(owner, name, f"one of {listed}", value, "choose one of them")
        )


def parse_named(
    parameter: str,
    value: object,
    families: Mapping[str, type[_Kind]],
    aliases: Mapping[str, str],
    example: str,
) -> _Kind:
    """Turn ``"name:number:number"`` into an object of the family of that name.

    Parameters
    ----------
    parameter : str
        What the value is called, for messages.
    value : str
    families : mapping from names to classes
    aliases : mapping from other names to names
    example : str
        A value to show in messages.
    """
    if not isinstance(value, str):
        rule = f"a name such as {example!r} or an object"
        raise TypeError(refused("lrisk", parameter, rule, value, "pass one of those"))
    name, *values = value.strip().lower().split(":")
    name = name.replace("-", "_")
    known = [*families, *aliases]
    if (name := aliases.get(name, name)) not in families:
        close = difflib.get_close_matches(name, known, n=1)
        remedy = f"did you mean {close[0]!r}?" if close else "choose one of them"
        rule = f"one of {', '.join(known)}"
        message = refused("lrisk", parameter, rule, value, remedy)
        raise ValueError(message.replace("?.", "?"))
    family: Any = families[name]
    try:
        numbers = [float(number) for number in values]
        return family(*numbers) if numbers else family()  # type: ignore[no-any-return]
    except (ValueError, TypeError) as error:
        if isinstance(error, ValueError) and str(error).startswith(family.__name__):
            raise
        names = ":".join(family.parameter_names()) or "no parameter"
        rule = f"'{name}' followed by {names}"
        remedy = "separate numbers by colons"
        raise ValueError(refused("lrisk", parameter, rule, value, remedy)) from None

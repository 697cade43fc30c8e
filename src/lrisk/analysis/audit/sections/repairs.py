"""What undoes a slip of numbers: a factor, a sign, or degrees Fahrenheit."""

from typing import NamedTuple

from ...._typing import Floats
from ..numbers import number

#: Factors by which values with a slipped point are off.
POINTS = (10.0, 100.0, 1000.0)
#: Factors of units: pounds in a kilogram, centimetres of an inch, metres of a foot,
#: kilometres of a mile, months or inches, and minutes.
POUNDS, INCHES = 2.2046, 2.54
UNITS = (POUNDS, INCHES, 0.3048, 1.6093, 12.0, 60.0)


class Repair(NamedTuple):
    """A value v should be factor · v + shift."""

    factor: float
    shift: float = 0.0

    def of(self, values: Floats) -> Floats:
        """Values as they should be."""
        return self.factor * values + self.shift

    @property
    def kind(self) -> str:
        """'factor', 'sign' or 'degrees'."""
        if self.shift:
            return "degrees"
        return "sign" if self.factor < 0.0 else "factor"

    @property
    def numbers(self) -> dict[str, float]:
        """What a finding keeps of it."""
        shift = {"shift": self.shift} if self.shift else {}
        return {"factor": self.factor, **shift}

    def words(self) -> str:
        """What is to be done, as in 'if the column is ...'.

        >>> Repair(0.1).words(), Repair(100.0).words()
        ('divided by 10', 'multiplied by 100')
        """
        if self.kind == "degrees":
            ends = ("°C", "°F") if self.factor > 1.0 else ("°F", "°C")
            return f"converted from {ends[0]} to {ends[1]}"
        if self.factor > 1.0:
            return f"multiplied by {number(self.factor, 5)}"
        return f"divided by {number(1.0 / self.factor, 5)}"


def repair_of(numbers: dict[str, float]) -> Repair | None:
    """The repair that a finding keeps, if it has one."""
    if "factor" not in numbers:
        return None
    return Repair(numbers["factor"], numbers.get("shift", 0.0))


def either_way(*factors: float) -> tuple[Repair, ...]:
    """Repairs of values that are so many times too small, or too large."""
    return tuple(Repair(f) for size in factors for f in (size, 1.0 / size))


#: Degrees Fahrenheit among Celsius, and the other way round.
DEGREES = (Repair(1.0 / 1.8, -32.0 / 1.8), Repair(1.8, 32.0))

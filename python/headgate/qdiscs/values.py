"""Values of parameters as numbers: kind and declared range, parsed from the registry's text.

Times are in ms, rates in bit/s, sizes in bytes; queue levels are in packets, bytes or % of the limit, as written.
"""

import math
import re
from decimal import Decimal
from typing import NamedTuple

from headgate import _core
from headgate.units import RATES, SIZES, TIMES, Unit

#: Number of significant digits of a tried value.
DIGITS = 3
#: Number of significant digits that shows every configured number exactly.
EXACT = 15
#: Whole numbers below this are written with all digits.
WHOLE = 10_000

#: Units that are read but not written.
READ_ONLY = ("h", "min", "KiB", "MiB")

#: The units of each kind of value.
_UNITS: dict[str, dict[str, float]] = {
    "number": {"": 1.0},
    "whole number": {"": 1.0},
    "time": TIMES,
    "rate": RATES,
    "bytes": SIZES,
}
#: Kinds with several alternative scales.
_ALTERNATIVE_UNITS: dict[str, tuple[dict[str, float], ...]] = {
    "packets or bytes": ({"p": 1.0, "": 1.0}, SIZES),
    "packets, bytes or share of the limit": ({"%": 1.0}, {"p": 1.0, "": 1.0}, SIZES),
}
_RANGE = re.compile(
    r"(?:(?P<above>at least|more than) )?(?P<low>\S+)"
    r"(?: to (?P<high>\S+)| and (?P<below>at most|less than) (?P<most>\S+))?"
)


class UnitScale(NamedTuple):
    """A scale of values: words for units with their worth. `whole` if only whole numbers are valid."""

    units: dict[str, float]
    whole: bool

    def read(self, text: str) -> float | None:
        """The number of a text on this scale; None if the text is not on this scale."""
        try:
            return Unit("", self.units, "").read(text)
        except ValueError:
            return None

    def number(self, text: str) -> float:
        """The number of a text that is known to be on this scale."""
        value = self.read(text)
        if value is None:
            raise AssertionError(f"{text!r} is in none of {', '.join(self.units)}")
        return value

    def text(self, value: float, digits: int = DIGITS) -> str:
        """A value as text in a suitable unit, with `digits` significant digits."""
        if self.whole:
            value = round(value)
            digits = max(digits, len(str(value))) if value < WHOLE else digits
        shown = self._shown()
        unit, worth = next((each for each in shown if value >= each[1]), shown[-1])
        rounded = Decimal(f"{value / worth:.{digits}g}").normalize()
        return f"{rounded:f}{unit}"

    def _shown(self) -> list[tuple[str, float]]:
        """The units for writing, largest first. If words have the same worth, the first is used."""
        first: dict[float, str] = {}
        for unit, worth in self.units.items():
            if unit not in READ_ONLY:
                first.setdefault(worth, unit)
        return sorted(((unit, worth) for worth, unit in first.items()), key=lambda each: -each[1])


class DeclaredRange(NamedTuple):
    """The declared range of a parameter. Without a lower end it begins at 0, without an upper end it is infinite."""

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int | float):
            return False
        low = value > self.low if self.open_low else value >= self.low
        return low and (value < self.high if self.open_high else value <= self.high)

    def around(self, value: float, times: float) -> tuple[float, float]:
        """The range from `value` over `times` to `value` times `times`, cut off at the ends.

        An open end is not reached: the range ends at `1 / times` of the distance between it and the value.
        """
        low = self.low + (value - self.low) / times if self.open_low else self.low
        high = self.high - (self.high - value) / times if self.open_high else self.high
        return max(value / times, low), min(value * times, high)


def kind_of(parameter: _core.Parameter) -> str:
    """The kind of a parameter's values, without the suffix that `auto` is allowed."""
    return parameter.kind.removesuffix(", or auto")


def scales(parameter: _core.Parameter) -> list[UnitScale]:
    """The scales of a parameter's values; empty if they are not numbers."""
    kind = kind_of(parameter)
    whole = kind in ("whole number", "packets or bytes")  # levels are compared with averages
    units_of_kind = _ALTERNATIVE_UNITS.get(kind) or ((_UNITS[kind],) if kind in _UNITS else ())
    return [UnitScale(units, whole or "B" in units) for units in units_of_kind]


def same(parameter: _core.Parameter, one: str, other: str) -> bool:
    """Whether two values of a parameter are equal, such as `1000ms` and `1s`."""
    read = ((scale.read(one), scale.read(other)) for scale in scales(parameter))
    return one == other or any(a is not None and a == b for a, b in read)


def choices(parameter: _core.Parameter) -> list[str]:
    """The words that a parameter accepts; empty for other kinds."""
    kind = kind_of(parameter)
    return kind.split(" or ") if not scales(parameter) and " or " in kind else []


def declared(parameter: _core.Parameter, scale: UnitScale) -> DeclaredRange:
    """The range of the registry, such as `more than 0 and at most 1`, on a scale."""
    most = 100.0 if "%" in scale.units else math.inf
    if not parameter.range:
        return DeclaredRange(0.0, most)
    match = _RANGE.fullmatch(parameter.range)
    if match is None:
        raise AssertionError(f"the range {parameter.range!r} of {parameter.name} is in no known words")
    ends = (match["low"], match["high"] or match["most"])
    low, high = (None if end is None else scale.number(end) for end in ends)
    return DeclaredRange(
        0.0 if low is None else low,
        most if high is None else high,
        match["above"] == "more than",
        match["below"] == "less than",
    )

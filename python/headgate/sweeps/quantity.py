"""Swept values: as text of a scenario file, as numbers in one unit, and as ranges."""

import math
from typing import Any, NamedTuple

from headgate.build.values import toml as toml
from headgate.units import SIZES, WRITTEN, Unit, Units

#: A value of a scenario's key.
Value = str | bool | int | float | list[Any] | dict[str, Any]

#: The base units of swept values. The last three take only whole numbers.
UNITS = (
    Units.TIME.value,
    Units.RATE.value,
    Unit("%", {"%": 1.0}, "a share"),
    Unit("packets", {"p": 1.0}, "a number of packets"),
    Unit("bytes", SIZES, "a size"),
)
WHOLE = ("bit/s", "packets", "bytes")


class NumberWithUnit(NamedTuple):
    """A number in its written unit, and in the base unit `unit` of its kind, which is empty for bare numbers."""

    value: float
    written: str
    unit: str
    scale: float

    @property
    def amount(self) -> float:
        """The number in the base unit."""
        return self.value * self.scale


def number(value: Value) -> NumberWithUnit | None:
    """`value` as a number with its unit; None if it is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if not isinstance(value, str):
        return NumberWithUnit(value, "", "", 1.0)
    match = WRITTEN.fullmatch(value)
    for unit in UNITS:
        if match is not None and match["unit"] in unit.scales:
            return NumberWithUnit(float(match["number"]), match["unit"], unit.name, unit.scales[match["unit"]])
    return None


def column(values: list[Value]) -> tuple[list[Any], str]:
    """The values of a key as a column, and its unit. The column has numbers if all are of one kind, else the text."""
    numbers = [number(value) for value in values]
    kinds = {each.unit for each in numbers if each is not None}
    if None in numbers or len(kinds) != 1:
        same = len({type(value) for value in values}) == 1 and isinstance(values[0], bool | str)
        return (list(values) if same else [value if isinstance(value, str) else toml(value) for value in values]), ""
    if all(isinstance(value, int) for value in values):
        return list(values), ""
    return [each.amount for each in numbers if each is not None], kinds.pop()


class SweptRange(NamedTuple):
    """The range of values from `low` to `high`, which have the same kind of unit."""

    low: NumberWithUnit
    high: NumberWithUnit
    whole: bool
    log: bool

    def at(self, share: float) -> Value:
        """The value at a share of the range, 0 to 1, in the unit of `low`."""
        low, high = self.low.amount, self.high.amount
        amount = low * (high / low) ** share if self.log else low + (high - low) * share
        if self.whole:
            amount = math.floor(amount + 0.5)
        if not self.low.written:
            return int(amount) if self.whole else float(f"{amount:.6g}")
        scaled = amount / self.low.scale
        return f"{scaled if self.whole else float(f'{scaled:.6g}'):.9g}{self.low.written}"

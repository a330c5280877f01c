"""Converts between quantities as text, `20ms` or `5Mbit/s`, and numbers in one unit.

Values in scenario files are read by `crates/core/src/units.rs`, with the same words for units.
"""

import re
from decimal import Decimal
from enum import Enum
from typing import NamedTuple

from headgate import style

#: A decimal number, then the unit: `e` belongs to the number where digits follow it.
WRITTEN = re.compile(r"\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<unit>\S*)\s*")


class Unit(NamedTuple):
    """A base unit. `scales` has each word that may follow a number, and its worth in the base unit."""

    name: str
    scales: dict[str, float]
    expected: str

    def read(self, text: str) -> float:
        """Reads `text` as a number of this unit; `ValueError` says what was expected."""
        match = WRITTEN.fullmatch(text)
        if match is None or match["unit"] not in self.scales:
            wrong = f"{text.strip()!r} has no unit" if match and not match["unit"] else f"found {text.strip()!r}"
            raise ValueError(f"expected {self.expected}, {wrong}")
        # Decimal arithmetic, so that 95 % is 0.95 to the last bit.
        return float(Decimal(match["number"]) * Decimal(str(self.scales[match["unit"]])))


#: The worth of each word for a unit, as in scenario files. If words have the same worth, only the first is written.
TIMES = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6, "min": 6e4, "h": 3.6e6}
RATES = {"Gbit/s": 1e9, "Mbit/s": 1e6, "kbit/s": 1e3, "bit/s": 1.0, "Kbit/s": 1e3}
RATES |= {"gbit": 1e9, "mbit": 1e6, "kbit": 1e3, "bit": 1.0}  # as tc writes them
SIZES = {"GB": 1e9, "MB": 1e6, "KB": 1e3, "B": 1.0, "kB": 1e3, "KiB": 1024.0, "MiB": 1048576.0}


class Units(Enum):
    """The kinds of measured quantities, each with its unit."""

    TIME = Unit("ms", TIMES, 'a time with its unit, such as "20ms" (ns, us, ms, s)')
    RATE = Unit("bit/s", RATES, 'a rate with its unit, such as "5Mbit/s" (bit/s, kbit/s, Mbit/s, Gbit/s)')
    SIZE = Unit("B", SIZES, 'a size with its unit, such as "8GB" (B, KB, MB, GB, KiB, MiB)')
    SHARE = Unit("", {"": 1.0, "%": 0.01}, 'a share, such as "0.95" or "95%"')
    RATIO = Unit("", {"": 1.0}, 'a number, such as "1.2"')
    PACKETS = Unit("packets", {"": 1.0, "p": 1.0, "packets": 1.0}, 'a number of packets, such as "50"')
    COUNT = Unit("", {"": 1.0}, 'a number, such as "50"')

    @classmethod
    def named(cls, word: str) -> "Units":
        """The kind for the unit of a table's column, as `crates/measure` writes it."""
        return {"ms": cls.TIME, "bit/s": cls.RATE, "share": cls.SHARE, "ratio": cls.RATIO, "packets": cls.PACKETS}.get(
            word, cls.COUNT
        )

    def read(self, text: str) -> float:
        """Reads `text` as a number of this unit; `ValueError` says what was expected."""
        return self.value.read(text)

    def setting(self, value: float) -> str:
        """The text of a configured value, without trailing zeros: `20 ms`."""
        unit, scale = self._scaled(value)
        return f"{style.plain(value / scale)}{unit}"

    def show(self, value: float, half: float = 0.0) -> str:
        """The text of a measured value; `half` is its margin of error, if it has one: `1.21 ± 0.03 Mbit/s`."""
        if value != value:
            return style.MISSING
        unit, scale = self._scaled(value)
        return f"{style.estimated(value / scale, half / scale)}{unit}"

    def _scaled(self, value: float) -> tuple[str, float]:
        """The unit for the text, and its worth in the base unit."""
        unit, scale = style.unit_of(value) if self is Units.RATE else (self.value.name, 1.0)
        return (f" {unit}" if unit else "", scale)

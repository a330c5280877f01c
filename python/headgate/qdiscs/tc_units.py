"""Quantities as tc writes and reads them (iproute2 6.1, lib/utils_math.c and tc/tc_util.c).

A k of bits is 1000 and a k of bytes 1024. A time without a unit is in microseconds, a rate in bit/s, a size in bytes.
"""

import re

_WRITTEN = re.compile(r"(?P<number>\d+\.?\d*|\.\d+)(?P<unit>[A-Za-z]*)")

_DECIMAL = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_BINARY = {"": 1.0, "k": 2.0**10, "m": 2.0**20, "g": 2.0**30, "t": 2.0**40}

#: Milliseconds of each unit.
_TIMES = {"": 1e-3, "s": 1e3, "sec": 1e3, "secs": 1e3, "ms": 1.0, "msec": 1.0, "msecs": 1.0}
_TIMES |= {"us": 1e-3, "usec": 1e-3, "usecs": 1e-3, "ns": 1e-6, "nsec": 1e-6, "nsecs": 1e-6}

#: Bits per second of each unit: bits in thousands or in 1024, and bytes in thousands or in 1024.
_RATES = {
    **{f"{prefix}bit": scale for prefix, scale in _DECIMAL.items()},
    **{f"{prefix}ibit": scale for prefix, scale in _BINARY.items() if prefix},
    **{f"{prefix}bps": 8 * scale for prefix, scale in _DECIMAL.items()},
    **{f"{prefix}ibps": 8 * scale for prefix, scale in _BINARY.items() if prefix},
    "": 1.0,
    **{prefix: scale for prefix, scale in _DECIMAL.items() if prefix},
}

#: Bytes of each unit. tc writes `Kb` for 1024 bytes and `Kbit` for 1024 bits.
_SIZES = {
    **{f"{prefix}b": scale for prefix, scale in _BINARY.items()},
    **_BINARY,
    **{f"{prefix}bit": scale / 8 for prefix, scale in _BINARY.items() if prefix},
}


def milliseconds(word: str) -> float:
    """A time of tc in ms; `ValueError` says what was expected."""
    return _read(word, _TIMES, "a time such as 5ms, 100us or 2s")


def bits_per_second(word: str) -> float:
    """A rate of tc in bit/s; `ValueError` says what was expected."""
    return _read(word, _RATES, "a rate such as 10Mbit or 1500Kbit")


def octets(word: str) -> str:
    """A size of tc in whole bytes; `ValueError` says what was expected."""
    return f"{_read(word, _SIZES, 'a size such as 1514, 32Mb or 100Kb'):.0f}"


def _read(word: str, units: dict[str, float], expected: str) -> float:
    match = _WRITTEN.fullmatch(word)
    if match is None or match["unit"].lower() not in units:
        raise ValueError(f"expected {expected}")
    return float(match["number"]) * units[match["unit"].lower()]

"""The types of quantities in code: a text with its unit, as in a file, or a number in the unit that is named here."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

Time = Annotated[str | float, "s"]
"""A time: `"32ms"`, or a number of seconds."""
Rate = Annotated[str | float, "bit/s"]
"""A rate: `"10Mbit/s"`, or a number of bits per second."""
Size = Annotated[str | int, "B"]
"""A size: `"1500B"`, or a number of bytes."""
Room = Annotated[str | int, "p"]
"""Room in a queue: `"100p"`, `"200KB"`, or a number of packets."""
Start = Annotated[str | float | tuple[float | str, float | str] | Mapping[str, Any], "s"]
"""When flows start: a time, the two ends of a range to draw from, or a table."""
Several = str | int | Sequence[str | int]
"""One value, or several: a packet needs to match one of them."""

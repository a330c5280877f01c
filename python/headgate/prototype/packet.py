"""A packet as a discipline in Python and the user of a port see it."""

from typing import NamedTuple

#: What the ECN field can say (RFC 3168, section 5).
ECN = ("not-ect", "ect0", "ect1", "ce")


class Packet(NamedTuple):
    """A packet; `number` counts arrivals from 0, `ecn` is one of `not-ect`, `ect0`, `ect1` and `ce`."""

    number: int
    flow: int
    bytes: int
    class_: int
    ecn: str
    arrived_s: float


class Signal(NamedTuple):
    """What was done to a packet: `event` is `dropped` or `marked`, `reason` one of docs/reference/tables.md."""

    event: str
    reason: str
    packet: Packet

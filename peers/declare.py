"""The parts of a case: a dumbbell, its flows and one discipline, independent of any simulator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

#: Names and values.
Settings = tuple[tuple[str, str | float | int | bool], ...]


@dataclass(frozen=True)
class OnOff:
    """Pareto on and off periods: means in seconds. Without a rate, the source always has data while on."""

    on: float
    off: float
    shape: float = 1.5
    rate: float | None = None


@dataclass(frozen=True)
class Flows:
    """One class of flows. The round-trip times (without queues, in ms) are assigned to the flows in turn."""

    name: str
    count: int
    rtts: tuple[float, ...]
    kind: Literal["tcp", "udp"] = "tcp"
    #: Rate on the wire of each UDP flow in bit/s. Each interval varies at random by up to `jitter` of its mean.
    rate: float | None = None
    jitter: float = 0.5
    on_off: OnOff | None = None
    recovery: Literal["newreno", "sack"] = "newreno"
    #: Pairs of hosts that share the flows of one round-trip time. By default each flow has a pair of its own.
    hosts: int | None = None

    def by_rtt(self) -> list[tuple[float, int]]:
        """Round-trip times, and the number of flows with each."""
        counts = [(self.count + len(self.rtts) - 1 - index) // len(self.rtts) for index in range(len(self.rtts))]
        return [(rtt, count) for rtt, count in zip(self.rtts, counts, strict=True) if count]


@dataclass(frozen=True)
class Discipline:
    """One discipline as each simulator names it."""

    #: For Headgate, as written on its command line.
    here: str
    #: The peer's class, and its settings.
    peer: str
    settings: Settings = ()
    #: ns-2: the function that hashes flows to buckets (`sfq`, `drr`), with the number of buckets.
    hashed: tuple[str, int] | None = None
    #: ns-2's RED-PD: seconds until the identification first runs, and its target round-trip time.
    engine: tuple[float, float] | None = None


@dataclass(frozen=True)
class Case:
    """A scenario that Headgate and one peer run."""

    name: str
    peer: Literal["ns2", "ns3"]
    discipline: Discipline
    flows: tuple[Flows, ...]
    rate: float = 10e6
    #: One-way delay of the bottleneck in ms, and its buffer in packets.
    delay: float = 10.0
    limit: int = 100
    ecn: bool = False
    duration: float = 60.0
    warmup: float = 10.0
    #: The largest window of a TCP flow in packets.
    window: int = 100
    #: Bytes of a packet on the wire, and of its headers that goodput leaves out.
    packet: int = 1000
    header: int = 40
    #: The greatest random delay before a TCP packet in ms; it prevents lockstep.
    send_jitter: float = 1.0
    #: TCP keys that only this case needs.
    tcp: Settings = field(default=())


def as_arguments(options: Mapping[str, object], groups: Iterable[str]) -> list[str]:
    """A peer's arguments: the name and value of each option, then `group` and the text of each group of flows."""
    words = [word for key, value in options.items() for word in (key, str(value))]
    return words + [word for group in groups for word in ("group", group)]

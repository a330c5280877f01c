"""What a discipline written in Python derives from, and the bridge to the compiled half."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeGuard

from headgate import _core
from headgate.build.named import Qdisc
from headgate.errors import HeadgateError, UsageError

#: A time after the end of any run.
_LAST_S = 1e9

PacketRow = tuple[int, int, int, int, str, int]


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


class LinkInfo(NamedTuple):
    """Where a discipline is put: what the scenario and the host say of it.

    The queue has room for `limit_packets` or for `limit_bytes`; the other is infinite. The link sends `rate_bps`;
    `mean_packet` bytes are a typical packet, `key` is a secret for hash functions.
    """

    limit_packets: float
    limit_bytes: float
    rate_bps: float
    mean_packet: int
    key: int


class Context:
    """The context of one call: the time, chance, and what becomes of packets.

    What is dropped or marked must wait here: a packet that was sent or dropped before is a `ValueError`.
    """

    def __init__(self, now_ns: int, acts: _core.PacketActions) -> None:
        self.now_s = now_ns / 1e9
        self._acts = acts

    def random(self) -> float:
        """A number drawn evenly from [0, 1), of the queue's own random stream: the same seed gives the same numbers."""
        return self._acts.random()

    def drop(self, packet: Packet, reason: str) -> None:
        """Drops a packet; `reason` is one of those in docs/reference/tables.md, such as `overflow` or `early`."""
        self._acts.drop(packet.number, reason)

    def signal(self, packet: Packet, reason: str, ecn: bool = True) -> Packet | None:
        """Tells the sender of congestion: marks the packet and gives it back if it can carry a mark, else drops it.

        With `ecn` false it is dropped in any case (RFC 3168, section 5).
        """
        return packet._replace(ecn="ce") if self._acts.signal(packet.number, reason, ecn) else None


class Discipline:
    """What a discipline of one's own derives from: `enqueue` and `dequeue` it must have, the rest it may.

    It is made with the `LinkInfo` that it is put in, once for every queue and run. It knows no time and no chance but
    those of the context, and state for each flow should be bounded.
    """

    reasons: ClassVar[Mapping[str, str]] = {}
    """Its own reasons for drops and marks, besides those of ready disciplines: name, and what follows "because"."""

    def __init__(self, place: LinkInfo) -> None:
        """Made anew for every queue."""

    def enqueue(self, packet: Packet, cx: Context) -> None:
        """Takes an arriving packet: keeps it, or drops it."""
        raise NotImplementedError(f"{type(self).__name__} has no enqueue")

    def dequeue(self, cx: Context) -> Packet | None:
        """The next packet to send; None if nothing may leave now. Called whenever the link falls free."""
        raise NotImplementedError(f"{type(self).__name__} has no dequeue")

    def ready_at(self, now_s: float) -> float:
        """When `dequeue` is next worth calling, in seconds, while packets wait. For shapers; else it is now."""
        return now_s

    def shed(self, cx: Context) -> None:
        """Drops one packet because a discipline around this one is overloaded: by default the next to be sent."""
        packet = self.dequeue(cx)
        if packet is not None:
            cx.drop(packet, "overload")

    def observe(self) -> dict[str, float]:
        """Gauges by name, the same names every time: they are drawn over time as those of other disciplines."""
        return {}


AnyQdisc: TypeAlias = str | Qdisc | type[Discipline]
"""A discipline as text, with its parameters, or one written in Python."""


class LawBrokenError(HeadgateError):
    """A discipline does what none may; the message says what, and in which trace."""


class _Bridge:
    """What the compiled half calls: numbers become objects on the way in, and objects numbers on the way out."""

    def __init__(self, discipline: Discipline) -> None:
        self._discipline = discipline
        self._gauges = sorted(discipline.observe())

    def on_enqueue(self, row: PacketRow, now_ns: int, acts: _core.PacketActions) -> None:
        number, flow, size, class_, ecn, _ = row
        self._discipline.enqueue(Packet(number, flow, size, class_, ecn, now_ns / 1e9), Context(now_ns, acts))

    def on_dequeue(self, now_ns: int, acts: _core.PacketActions) -> int | None:
        packet = self._discipline.dequeue(Context(now_ns, acts))
        if packet is None:
            return None
        if not isinstance(packet, Packet):
            raise TypeError(f"{type(self._discipline).__name__}.dequeue gave {packet!r}: expected a packet or None")
        return packet.number

    def on_shed(self, now_ns: int, acts: _core.PacketActions) -> None:
        self._discipline.shed(Context(now_ns, acts))

    def ready_ns(self, now_ns: int) -> int:
        ready = self._discipline.ready_at(now_ns / 1e9)
        if ready != ready or ready < 0:
            raise ValueError(f"{type(self._discipline).__name__}.ready_at gave {ready!r}: expected seconds")
        at = math.ceil(min(ready, _LAST_S) * 1e9)
        # The first nanosecond that the discipline, which sees seconds, does not take for earlier than it said.
        return max(now_ns, at if at / 1e9 >= min(ready, _LAST_S) else at + 1)

    def reasons(self) -> list[tuple[str, str]]:
        own = self._discipline.reasons
        for name in own:
            if not re.fullmatch("[a-z][a-z0-9_]*", name):
                raise ValueError(f"{type(self._discipline).__name__}.reasons: {name!r} is no name such as `too_greedy`")
        return list(own.items())

    def gauge_names(self) -> list[str]:
        return self._gauges

    def gauge_values(self) -> list[float]:
        told = self._discipline.observe()
        if sorted(told) != self._gauges:
            raise ValueError(
                f"{type(self._discipline).__name__}.observe names {sorted(told)} now and named {self._gauges} at first"
            )
        return [float(told[name]) for name in self._gauges]


def is_one(discipline: object) -> TypeGuard[type[Discipline]]:
    """Whether it is a discipline written in Python; `UsageError` if it is some other class."""
    if not isinstance(discipline, type):
        return False
    if not issubclass(discipline, Discipline):
        raise UsageError(f"{discipline.__name__} is no discipline: derive it from headgate.prototype.Discipline")
    if discipline.__name__ in {known.name for known in _core.disciplines()}:
        raise UsageError(f"a discipline of the registry is called {discipline.__name__}: give yours another name")
    return True


def maker(discipline: type[Discipline]) -> Callable[[int | None, int | None, int, int, int], Any]:
    """Makes the discipline at a place, for the compiled half."""

    def make(packets: int | None, size: int | None, rate_bps: int, mean_packet: int, key: int) -> _Bridge:
        most, most_bytes = (math.inf if room is None else room for room in (packets, size))
        return _Bridge(discipline(LinkInfo(most, most_bytes, float(rate_bps), mean_packet, key)))

    return make


def with_prototypes(core: _core.Scenario, qdiscs: Sequence[AnyQdisc]) -> _core.Scenario:
    """The scenario with those of `qdiscs` that are written in Python; `UsageError` if two have one name."""
    if not any(isinstance(each, type) for each in qdiscs):
        return core
    made = [each if is_one(each) else None for each in qdiscs]
    names = [each.__name__ for each in made if each is not None]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two disciplines written in Python are called {twice[0]}")
    return core.with_prototypes([None if each is None else (each.__name__, each, maker(each)) for each in made])

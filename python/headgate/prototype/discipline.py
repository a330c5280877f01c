"""The base class of disciplines written in Python, and the bridge to the compiled simulator."""

import gc
import math
import re
import tracemalloc
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple, TypeAlias, TypeGuard

from headgate import _core
from headgate.build.named import Qdisc
from headgate.errors import HeadgateError, UsageError

#: A time after the end of any run.
_LAST_S = 1e9

PacketRow = tuple[int, int, int, int, str, int]


#: Values of the ECN field (RFC 3168, section 5).
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
    """A drop or mark: `event` is `dropped` or `marked`, `reason` one of docs/reference/tables.md."""

    event: str
    reason: str
    packet: Packet


class LinkInfo(NamedTuple):
    """The link and queue of a discipline.

    The queue's limit is `limit_packets` or `limit_bytes`; the other is infinite. The link's rate is `rate_bps`, the
    size of a typical packet `mean_packet` bytes. `key` is a secret for hash functions.
    """

    limit_packets: float
    limit_bytes: float
    rate_bps: float
    mean_packet: int
    key: int


class Context:
    """The context of one call: the time, random numbers, and drops and marks.

    Only queued packets can be dropped or marked; for a packet that has left the queue, it raises `ValueError`.
    """

    def __init__(self, now_ns: int, acts: _core.PacketActions) -> None:
        self.now_s = now_ns / 1e9
        self._acts = acts

    def random(self) -> float:
        """A uniform random number from [0, 1), from the queue's own stream: equal seeds give equal numbers."""
        return self._acts.random()

    def drop(self, packet: Packet, reason: str) -> None:
        """Drops a packet; `reason` is one of those in docs/reference/tables.md, such as `overflow` or `early`."""
        self._acts.drop(packet.number, reason)

    def signal(self, packet: Packet, reason: str, ecn: bool = True) -> Packet | None:
        """Signals congestion: marks the packet and returns it if it is ECN-capable, else drops it.

        With `ecn` false it always drops the packet (RFC 3168, section 5).
        """
        return packet._replace(ecn="ce") if self._acts.signal(packet.number, reason, ecn) else None


class Discipline:
    """The base class of a discipline. `enqueue` and `dequeue` are required, all other methods optional.

    A new object is made with `LinkInfo` for every queue and run. Time and random numbers must come from the context.
    State for each flow should be bounded.
    """

    reasons: ClassVar[Mapping[str, str]] = {}
    """Further reasons for drops and marks: the name, and the words after "because"."""

    def __init__(self, link: LinkInfo) -> None:
        """Makes the discipline for one queue."""

    def enqueue(self, packet: Packet, cx: Context) -> None:
        """Queues or drops an arriving packet."""
        raise NotImplementedError(f"{type(self).__name__} has no enqueue")

    def dequeue(self, cx: Context) -> Packet | None:
        """The next packet to send; None if no packet may leave now. Called whenever the link becomes idle."""
        raise NotImplementedError(f"{type(self).__name__} has no dequeue")

    def ready_at(self, now_s: float) -> float:
        """The time in seconds when the next packet may leave, while packets are queued. Only shapers need it."""
        return now_s

    def shed(self, cx: Context) -> None:
        """Drops one packet because the outer discipline is over its limit: by default the next to be sent."""
        packet = self.dequeue(cx)
        if packet is not None:
            cx.drop(packet, "overload")

    def observe(self) -> dict[str, float]:
        """Gauges by name, always with the same names. Figures draw them over time."""
        return {}


AnyQdisc: TypeAlias = str | Qdisc | type[Discipline]
"""A discipline as text, with its parameters, or one written in Python."""


class LawBrokenError(HeadgateError):
    """A discipline breaks a law of all disciplines. The message names the law and the trace."""


class _Bridge:
    """The object that the compiled simulator calls. It converts rows to packets and back."""

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
        # The first nanosecond that is not before the time in seconds that the discipline returned.
        return max(now_ns, at if at / 1e9 >= min(ready, _LAST_S) else at + 1)

    def reasons(self) -> list[tuple[str, str]]:
        own = self._discipline.reasons
        for name in own:
            if not re.fullmatch("[a-z][a-z0-9_]*", name):
                raise ValueError(
                    f"{type(self._discipline).__name__}.reasons: {name!r} is not a valid name, such as `too_greedy`"
                )
        return list(own.items())

    def gauge_names(self) -> list[str]:
        return self._gauges

    def gauge_values(self) -> list[float]:
        gauges = self._discipline.observe()
        if sorted(gauges) != self._gauges:
            raise ValueError(
                f"{type(self._discipline).__name__}.observe gave the gauges {sorted(gauges)}, at first {self._gauges}: "
                "it must always give the same names"
            )
        return [float(gauges[name]) for name in self._gauges]


def is_python_discipline(discipline: object) -> TypeGuard[type[Discipline]]:
    """Whether it is a discipline written in Python; `UsageError` for any other class."""
    if not isinstance(discipline, type):
        return False
    if not issubclass(discipline, Discipline):
        raise UsageError(f"{discipline.__name__} is not a discipline: derive it from headgate.prototype.Discipline")
    if discipline.__name__ in {known.name for known in _core.disciplines()}:
        raise UsageError(f"a discipline of the registry is called {discipline.__name__}: give yours another name")
    return True


class Maker:
    """Makes a discipline for the compiled simulator, and tells the memory that one takes."""

    def __init__(self, discipline: type[Discipline]) -> None:
        self._discipline = discipline

    def __call__(self, packets: int | None, size: int | None, rate_bps: int, mean_packet: int, key: int) -> _Bridge:
        """Makes the discipline for a queue of `packets` or of `size` bytes."""
        most, most_bytes = (math.inf if room is None else room for room in (packets, size))
        return _Bridge(self._discipline(LinkInfo(most, most_bytes, float(rate_bps), mean_packet, key)))

    def table_bytes(self, packets: int | None, size: int | None, rate_bps: int, mean_packet: int, key: int) -> int:
        """The bytes that one discipline has allocated when it is made. Makes one and measures it."""
        was_tracing = tracemalloc.is_tracing()
        if not was_tracing:
            tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            made = self(packets, size, rate_bps, mean_packet, key)
            after, _ = tracemalloc.get_traced_memory()
            del made
        finally:
            if not was_tracing:
                tracemalloc.stop()
        return max(after - before, 0)


def with_prototypes(core: _core.Scenario, qdiscs: Sequence[AnyQdisc]) -> _core.Scenario:
    """The scenario with those of `qdiscs` that are written in Python; `UsageError` if two have one name."""
    if not any(isinstance(each, type) for each in qdiscs):
        return core
    prototypes = [each if is_python_discipline(each) else None for each in qdiscs]
    names = [each.__name__ for each in prototypes if each is not None]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two disciplines written in Python are called {twice[0]}")
    # A port in a cycle of garbage must be freed in the thread that made it. A run calls Python in threads of its own,
    # whose collector would find it there.
    gc.collect()
    return core.with_prototypes([None if each is None else (each.__name__, each, Maker(each)) for each in prototypes])

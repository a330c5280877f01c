"""A discipline driven by hand: packets in, packets out, drops and marks."""

import math
from collections.abc import Iterable
from threading import get_ident
from typing import NamedTuple

from headgate import _core
from headgate.build.named import Qdisc
from headgate.build.settings import qdisc
from headgate.build.values import amount
from headgate.errors import UsageError
from headgate.prototype.discipline import ECN, Discipline, Maker, Packet, Signal, is_python_discipline


class Backlog(NamedTuple):
    """Packets and bytes in the queue."""

    packets: int
    bytes: int


class Port:
    """A discipline at a link, driven directly: `port = Port("red", rate="10Mbit/s", limit="100p")`.

    `discipline` is a name or a text (`red:maxp=0.1`) with further parameters as keywords, a `Qdisc`, or a class of
    `headgate.prototype`. `rate` and `limit` are texts or numbers, as in a scenario; `mean_packet` bytes are what
    disciplines take for a typical packet. Randomness follows `seed`.

    Time is in seconds, given with each call, and never goes back. A call without `at` has the time of the last call.
    The caller is the link: packets leave only when it calls `dequeue`. A port belongs to the thread that made it.

    Raises `UsageError` for invalid input, and whatever a discipline written in Python raises.
    """

    def __init__(
        self,
        discipline: str | Qdisc | type[Discipline],
        *,
        rate: str | float = "10Mbit/s",
        limit: str | int = "100p",
        seed: int = 1,
        mean_packet: int = 1000,
        **settings: object,
    ) -> None:
        in_python = is_python_discipline(discipline)
        if settings and not isinstance(discipline, str):
            raise UsageError(f"parameters as keywords go with a discipline's name: {', '.join(settings)}")
        if isinstance(discipline, str) and settings:
            discipline = qdisc(discipline, **settings)
        try:
            self._core = _core.Port(
                "" if in_python else str(discipline),
                rate if isinstance(rate, str) else amount("rate", rate, "bit/s"),
                limit if isinstance(limit, str) else amount("limit", limit, "p"),
                mean_packet=mean_packet,
                seed=seed,
                prototype=Maker(discipline) if is_python_discipline(discipline) else None,
            )
        except (ValueError, OverflowError) as error:
            if in_python:
                raise
            raise UsageError(str(error)) from None
        self._discipline = discipline.__name__ if isinstance(discipline, type) else str(discipline)
        self._thread = get_ident()
        self._now = 0
        self._arrivals = 0
        self._signals: list[Signal] = []

    def enqueue(
        self, flow: int = 0, bytes: int = 1000, *, ecn: str = "not-ect", class_: int = 0, at: float | None = None
    ) -> Packet:
        """Enqueues a packet. `signals` then has the drops and marks."""
        if ecn not in ECN:
            raise UsageError(f"ecn={ecn!r}: expected one of {', '.join(ECN)}")
        now = self._advance(at)
        packet = Packet(self._arrivals, flow, bytes, class_, ecn, now / 1e9)
        try:
            rows = self._core.enqueue(now, (packet.number, flow, bytes, class_, ecn))
        except OverflowError as error:
            limits = "flow is from 0 to 2^64 - 1, bytes to 2^32 - 1, class_ to 65535"
            raise UsageError(f"{packet}: {error} ({limits})") from None
        self._arrivals += 1
        self._signals = _signals(rows)
        return packet

    def dequeue(self, *, at: float | None = None) -> Packet | None:
        """The next packet to send, or None. `signals` then has the drops and marks."""
        packet, rows = self._core.dequeue(self._advance(at))
        self._signals = _signals(rows)
        return None if packet is None else _packet(packet)

    @property
    def signals(self) -> list[Signal]:
        """The drops and marks of the last call, in order."""
        return list(self._signals)

    @property
    def now_s(self) -> float:
        """The time of the last call."""
        return self._now / 1e9

    @property
    def backlog(self) -> Backlog:
        """Packets and bytes in the queue."""
        self._check_thread()
        return Backlog(*self._core.backlog)

    @property
    def counts(self) -> dict[str, int]:
        """Counts so far: `arrived`, `sent`, `dropped_early` ... as in the table `links`."""
        self._check_thread()
        return dict(self._core.counts)

    @property
    def gauges(self) -> dict[str, float]:
        """The discipline's gauges by name."""
        self._check_thread()
        return dict(self._core.gauges())

    def gauges_of(self, flow: int) -> dict[str, float]:
        """The gauges of one flow; NaN without state for the flow."""
        self._check_thread()
        return dict(self._core.gauges(flow))

    @property
    def ready_s(self) -> float | None:
        """The time when the next packet may leave; None if the queue is empty. It is now, except for shapers."""
        self._check_thread()
        ready = self._core.ready_at(self._now)
        return None if ready is None else ready / 1e9

    def delay_ms(self, share: float = 0.5) -> float | None:
        """The quantile of the queueing delay of sent packets, exact to 0.8 %; None if none was sent."""
        self._check_thread()
        return self._core.waited_ms(share)

    def _check_thread(self) -> None:
        if get_ident() != self._thread:
            raise UsageError("a port belongs to the thread that made it: make one in each thread")

    def _advance(self, at: float | None) -> int:
        """The time of a call in nanoseconds."""
        self._check_thread()
        if at is None:
            return self._now
        if not math.isfinite(at) or not 0 <= at < 1e10:
            raise UsageError(f"at={at!r}: expected seconds, from 0 to less than 10^10")
        now = round(at * 1e9)
        if now < self._now:
            raise UsageError(f"time never goes back: at={at!r} after {self.now_s!r}")
        self._now = now
        return now

    def __repr__(self) -> str:
        return f"Port({self._discipline!r}, {self.backlog.packets} packets wait at {self.now_s} s)"


def _packet(row: tuple[int, int, int, int, str, int]) -> Packet:
    number, flow, size, class_, ecn, arrived = row
    return Packet(number, flow, size, class_, ecn, arrived / 1e9)


def _signals(rows: Iterable[tuple[str, str, tuple[int, int, int, int, str, int]]]) -> list[Signal]:
    return [Signal(event, reason, _packet(packet)) for event, reason, packet in rows]

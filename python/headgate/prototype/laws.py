"""The laws of all disciplines that can be checked from outside, as in crates/core/tests/conform.

The compiled simulator checks that no packet is lost, invented, changed or sent twice. The other laws are checked here.
"""

import math
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from headgate.prototype.discipline import ECN, Discipline, LawBrokenError, Packet, Signal
from headgate.prototype.port import Port

#: Limits of the queue, tried in turn.
LIMITS = ("1p", "3p", "40p", "1500B", "9KB")


class TrafficMix(NamedTuple):
    """Traffic: flows, share of one large flow, sizes, arrivals for each departure, pauses in seconds."""

    name: str
    flows: int
    hog: float
    sizes: tuple[int, ...]
    load: float
    pauses: tuple[float, ...]


MIXES = (
    TrafficMix("few flows", 4, 0.0, (1000,), 1.3, (1e-4, 4e-4, 1e-3)),
    TrafficMix("light load", 20, 0.2, (40, 1500), 0.7, (1e-4, 4e-4, 1e-3)),
    TrafficMix("one hog", 10, 0.7, (512,), 2.0, (0.0, 0.0, 0.0, 3e-3)),
    TrafficMix("many flows", 5000, 0.0, (40, 576, 1500), 1.5, (0.0, 0.0, 3e-3)),
    TrafficMix("time stands still", 8, 0.3, (1000,), 1.5, (0.0,)),
    TrafficMix("time jumps", 8, 0.3, (1000,), 1.5, (0.0, 1e-9, 1e-5, 0.05, 7200.0)),
    TrafficMix("odd sizes", 8, 0.3, (0, 1, 1500, 65_535, 2**32 - 1), 1.5, (0.0, 1e-5, 0.05)),
)


def check(discipline: type[Discipline], *, traces: int = 8, steps: int = 400) -> None:
    """Checks a discipline against the laws of all disciplines (docs/guide/python.md lists them).

    Runs `traces` random traces of `steps` calls for each kind of traffic. Raises `LawBrokenError` with the broken law
    and the trace. Exceptions of the discipline are passed on.
    """
    for mix in MIXES:
        for seed in range(1, traces + 1):
            limit = LIMITS[seed % len(LIMITS)]
            first = list(RandomTrace(discipline, mix, limit, seed).decisions(steps))
            if first != list(RandomTrace(discipline, mix, limit, seed).decisions(steps)):
                raise LawBrokenError(
                    f"{discipline.__name__}, {mix.name}, limit {limit}, seed {seed}: the same seed gives "
                    "different decisions: take random numbers from cx.random(), and keep no state outside the object"
                )


class RandomTrace:
    """A sequence of random calls of a port, and the checks after each call."""

    def __init__(self, discipline: type[Discipline], mix: TrafficMix, limit: str, seed: int) -> None:
        self.name = f"{discipline.__name__}, {mix.name}, limit {limit}, seed {seed}"
        self.port = Port(discipline, limit=limit, seed=seed)
        self.mix = mix
        self.rng = Random(f"{mix.name} {seed}")  # noqa: S311
        self.limits = (int(limit[:-1]), math.inf) if limit.endswith("p") else (math.inf, _bytes(limit))
        self.now = 0.0
        self.last: dict[int, int] = {}

    def decisions(self, steps: int) -> Iterator[object]:
        """Calls the port `steps` times, then drains it. Yields every packet sent, dropped or marked, in order."""
        for _ in range(steps):
            self.now += self.rng.choice(self.mix.pauses)
            if self.rng.random() < self.mix.load / (1 + self.mix.load):
                yield from self.enqueue()
            else:
                yield from self.dequeue()
        yield from self.drain()

    def enqueue(self) -> Iterator[object]:
        """One arrival."""
        flow = 0 if self.rng.random() < self.mix.hog else self.rng.randrange(self.mix.flows)
        ecn = ECN[flow % len(ECN)]
        self.port.enqueue(flow, self.rng.choice(self.mix.sizes), ecn=ecn, at=self.now)
        yield from self.checked_signals()

    def dequeue(self) -> Iterator[object]:
        """One departure, if there is any."""
        packet = self.port.dequeue(at=self.now)
        yield from self.checked_signals()
        if packet is not None:
            self.check_order(packet)
            yield packet

    def drain(self) -> Iterator[object]:
        """Follows `ready_at` until the queue is empty, then calls `dequeue` a few more times."""
        for _ in range(2 * self.port.backlog.packets + 1):
            if (ready := self.port.ready_s) is None:
                break
            self.now = max(self.now, ready)
            yield from self.dequeue()
        if self.port.backlog.packets:
            self.fail(f"{self.port.backlog.packets} packets are ready to leave, but dequeue never returns them")
        for _ in range(5):
            yield from self.dequeue()

    def checked_signals(self) -> list[Signal]:
        """The drops and marks of the last call, after checking the laws of every call."""
        waits = self.port.backlog
        if waits.packets > self.limits[0] or waits.bytes > self.limits[1]:
            self.fail(f"{waits.packets} packets with {waits.bytes} bytes are queued, more than the limit")
        gauges = self.port.gauges
        if wrong := [name for name, value in gauges.items() if not math.isfinite(value)]:
            self.fail(f"the gauge {wrong[0]} is {gauges[wrong[0]]}")
        return self.port.signals

    def check_order(self, packet: Packet) -> None:
        """Checks that packets of one flow leave in the order of their arrival."""
        before = self.last.get(packet.flow, -1)
        if packet.number < before:
            self.fail(f"packet {packet.number} of flow {packet.flow} left after packet {before}, which arrived later")
        self.last[packet.flow] = packet.number

    def fail(self, how: str) -> None:
        """Raises `LawBrokenError` with the name of the trace and the time."""
        raise LawBrokenError(f"{self.name}, at {self.now:g} s: {how}")


def _bytes(size: str) -> float:
    return float(size.removesuffix("KB")) * 1000 if size.endswith("KB") else float(size.removesuffix("B"))

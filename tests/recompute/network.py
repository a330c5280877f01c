"""The network of a scenario's text: links, rates over time, groups of flows and their routes.

Reads the subset of scenario files that `scenarios.py` uses, from docs/guide/scenarios.md alone. Times are nanoseconds,
rates bit/s.
"""

import re
import tomllib
from dataclasses import dataclass, field
from typing import Any

SECOND = 1_000_000_000
TIMES = {"ns": 1, "us": 10**3, "ms": 10**6, "s": SECOND}
RATES = {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9}
SIZES = {"B": 1, "KB": 1000, "MB": 10**6}
UNITS = TIMES | RATES | SIZES
#: Later than any run ends.
NEVER = 1 << 62


def quantity(text: str) -> int:
    """A number with its unit, in nanoseconds, bit/s or bytes."""
    match = re.fullmatch(r"([\d.]+)\s*(\D+)", text)
    assert match, text
    return round(float(match[1]) * UNITS[match[2]])


def transmission(size: int, rate: int) -> int:
    """Nanoseconds that a packet of `size` bytes needs, rounded up."""
    return -(-size * 8 * SECOND // rate)


@dataclass
class Direction:
    """One direction of a link."""

    link: str
    name: str
    source: str
    target: str
    delay: int
    #: Start and rate of each step.
    rates: list[tuple[int, int]]
    #: The most by which the medium delays a packet beyond `delay`.
    spread: int
    loses: bool
    compared: bool

    @property
    def key(self) -> tuple[str, str]:
        """Names of the link and of the direction, as in tables."""
        return self.link, self.name

    @property
    def exact(self) -> bool:
        """Whether the arrival of each packet follows from the start of its transmission."""
        return not (self.spread or self.loses)

    @property
    def varies(self) -> bool:
        """Whether the rate changes."""
        return len(self.rates) > 1

    def steps(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """Parts of the time from `start` to `end` with a constant rate: start, end, rate."""
        ends = [at for at, _ in self.rates[1:]] + [NEVER]
        parts = [(max(at, start), min(until, end), rate) for (at, rate), until in zip(self.rates, ends, strict=True)]
        return [part for part in parts if part[0] < part[1]]

    def capacity(self, start: int, end: int) -> int:
        """Bits that the link can carry from `start` to `end`, times 10^9."""
        return sum((until - at) * rate for at, until, rate in self.steps(start, end))

    def transmitted(self, start: int, size: int) -> int:
        """When the last bit of a packet is sent whose first bit is sent at `start`."""
        left = size * 8 * SECOND
        for at, until, rate in self.steps(start, NEVER):
            if left <= (until - at) * rate:
                return at + -(-left // rate)
            left -= (until - at) * rate
        return NEVER


@dataclass
class Group:
    """A group of flows that share all settings."""

    name: str
    kind: str
    first: int
    flows: int
    route: list[Direction]
    packet: int
    header: int
    #: Size of an acknowledgement on the wire.
    ack: int
    #: Rate and delay of the sender's and of the receiver's access link.
    access: tuple[tuple[int, int], tuple[int, int]]
    #: `None` if flows draw their starts.
    start: int | None
    stop: int
    #: Bytes of the only transfer; `None` for endless data.
    size: int | None
    #: Long-run rate of the source on the wire; `None` if it takes all that TCP gets.
    rate: int | None
    #: Rates of a `cbr` schedule: time after the start, and bit/s on the wire.
    schedule: list[tuple[int, int]]
    #: The receiving address of all its flows; `None` if each flow has its own.
    destination: str | None

    @property
    def payload(self) -> int:
        """Data in a full packet, in bytes."""
        return self.packet - self.header

    @property
    def numbers(self) -> range:
        """The flows' numbers in the scenario."""
        return range(self.first, self.first + self.flows)

    @property
    def back(self) -> list[tuple[str, str]]:
        """Keys of the directions that acknowledgements cross."""
        opposite = {"forward": "reverse", "reverse": "forward"}
        return [(hop.link, opposite[hop.name]) for hop in reversed(self.route)]


@dataclass
class Network:
    """A scenario."""

    name: str
    end: int
    warmup: int
    interval: int
    qdisc: str
    #: Whether hosts share the links, and not flows.
    by_host: bool
    directions: dict[tuple[str, str], Direction] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)

    @property
    def span(self) -> int:
        """Length of the measured window."""
        return self.end - self.warmup

    def group_of(self, flow: int) -> Group:
        """The group of flow number `flow`."""
        return next(group for group in self.groups if flow in group.numbers)

    def unit_of(self, flow: int) -> tuple[str, ...]:
        """The unit of fairness that the flow is in: flows of one host on other routes are in another unit."""
        group = self.group_of(flow)
        host = group.destination if self.by_host else None
        return host or f"flow {flow}", *(name for hop in group.route for name in hop.key)

    def compared(self) -> list[Direction]:
        """Directions with compared disciplines."""
        return [direction for direction in self.directions.values() if direction.compared]


def read(text: str) -> Network:
    """The network of a scenario with one discipline."""
    top = tomllib.loads(text)
    (qdisc,) = top["qdiscs"]
    interval = quantity(top["record"]["interval"])
    ends = quantity(top["duration"]), quantity(top["warmup"])
    network = Network(top["name"], *ends, interval, qdisc, by_host=top.get("fair") == "host")
    for link in top["link"]:
        ends_of_link = link["from"], link["to"]
        reverse = {"rate": link["rate"], **link.get("reverse", {})}
        both = [("forward", ends_of_link, link), ("reverse", ends_of_link[::-1], {"qdisc": "droptail", **reverse})]
        for name, nodes, settings in both:
            direction = read_direction(link, name, nodes, settings)
            network.directions[direction.key] = direction
    for kind in ("tcp", "udp"):
        for group in top.get(kind, []):
            first = sum(each.flows for each in network.groups)
            network.groups.append(read_group(group, kind, first, network))
    return network


def read_direction(link: dict[str, Any], name: str, nodes: tuple[str, str], settings: dict[str, Any]) -> Direction:
    """One direction of a link."""
    steps = [(quantity(step["at"]), quantity(step["rate"])) for step in settings.get("schedule", [])]
    return Direction(
        link["name"],
        name,
        *nodes,
        delay=quantity(link["delay"]),
        rates=[(0, quantity(settings["rate"])), *steps],
        spread=quantity(settings.get("jitter", "0s")) + quantity(settings.get("reorder_by", "0s")),
        loses=settings.get("loss", 0) > 0,
        compared=settings.get("qdisc", "compared") == "compared",
    )


def read_group(group: dict[str, Any], kind: str, first: int, network: Network) -> Group:
    """A group of flows. Its text has every key that counts here."""
    hops = {(direction.source, direction.target): direction for direction in network.directions.values()}
    route = [hops[nodes] for nodes in zip(group["route"], group["route"][1:], strict=False)]
    source, _, settings = group.get("traffic", "").partition(":")
    start = group.get("start", "0s")
    ends = [group.get(end, group["access"]) for end in ("sender", "receiver")]
    sender, receiver = [(quantity(end["rate"]), quantity(end["delay"])) for end in ends]
    rate, schedule = quantity(group["rate"]) if "rate" in group else None, []
    if source == "exp" and rate is not None:
        on, off = (quantity(length) for length in re.findall(r"o[nf]+=(\w+)", settings))
        rate = rate * on // (on + off)
    if source == "cbr":
        steps = re.findall(r"(\w+) (\w+/s)", settings.replace("rate=", "0s "))
        schedule = [(quantity(at), quantity(to)) for at, to in steps]
        rate = max(to for _, to in schedule)
    size = re.search(r"size=(\w+)", settings)
    return Group(
        name=group["name"],
        kind=kind,
        first=first,
        flows=group.get("flows", 1),
        route=route,
        packet=quantity(group["packet"]),
        header=quantity(group["header"]),
        ack=quantity(group.get("ack", "0B")),
        access=(sender, receiver),
        start=quantity(start) if isinstance(start, str) and ".." not in start else None,
        stop=quantity(group["stop"]) if "stop" in group else NEVER,
        size=quantity(size[1]) if size else None,
        rate=rate,
        schedule=schedule,
        destination=group.get("destination"),
    )

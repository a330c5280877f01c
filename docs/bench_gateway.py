"""Measures a gateway beside a bridge of the kernel, in turn in one run, and writes performance.md's table of it.

    python docs/bench_gateway.py          # Linux, root; `make bench-gateway`

Two hosts in network namespaces are joined by veth and a machine in the middle, all on the processors of this machine.
In each round every way joins them once: a host floods the other with the smallest frames, and exchanges single
datagrams.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from os import cpu_count
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1]))

from pages import filled, table
from tests.live.gateways import Gateway
from tests.live.roads import GatewayNetwork

PAGE = Path(__file__).parent / "guide" / "performance.md"
ROUNDS, FLOOD_S, TRIPS = 5, 2, 1500
#: Rates and queues that no frame of the flood meets.
OPTIONS = ("--rate", "100Gbit/s", "--qdisc", "droptail", "--limit", "20000p")


class Measured(NamedTuple):
    """Frames a second that arrive, in millions, and the one-way delay of a single datagram in microseconds."""

    rate: float
    p50: float
    p99: float


@contextmanager
def bridge(roads: GatewayNetwork) -> Iterator[None]:
    """Joins the hosts by a bridge of the kernel."""
    for words in ("add joint type bridge", "set joint up", "set in master joint", "set out master joint"):
        roads.ip(roads.middle, "link", *words.split())
    yield
    roads.ip(roads.middle, "link", "delete", "joint")


def gateway(*options: str) -> Callable[[GatewayNetwork], AbstractContextManager[None]]:
    """Joins the hosts by a gateway with these options."""

    @contextmanager
    def joined(roads: GatewayNetwork) -> Iterator[None]:
        running = Gateway(roads, *OPTIONS, *options)
        yield
        running.end()

    return joined


WAYS: dict[str, Callable[[GatewayNetwork], AbstractContextManager[None]]] = {
    "a bridge of the kernel": bridge,
    "`gateway --send packet`": gateway("--send", "packet"),
    "`gateway --send xdp`": gateway("--send", "xdp"),
    "`gateway --send xdp --busy-poll`": gateway("--send", "xdp", "--busy-poll"),
    "`gateway --send xdp --cpus 0,1`": gateway("--send", "xdp", "--cpus", "0,1"),
}


def received(roads: GatewayNetwork) -> int:
    """Frames that the far host has received."""
    (found,) = json.loads(roads.ip(roads.far, "-j", "-s", "link", "show", "host"))
    return int(found["stats64"]["rx"]["packets"])


def measure(roads: GatewayNetwork) -> Measured:
    """Floods and exchanges datagrams over whatever joins the hosts."""
    sink = roads.serve("ignore")
    try:
        roads.host(roads.near, "storm", 0.2)
        before = received(roads)
        roads.host(roads.near, "storm", FLOOD_S)
        rate = (received(roads) - before) / FLOOD_S / 1e6
    finally:
        sink.kill()
        sink.wait()
    echo = roads.serve("echo")
    try:
        p50, p99 = map(float, roads.host(roads.near, "trips", TRIPS).split())
    finally:
        echo.kill()
        echo.wait()
    return Measured(rate, p50, p99)


def spread(values: list[float], digits: int) -> str:
    """Median, least and greatest."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def rows(found: dict[str, list[Measured]]) -> Iterator[tuple[str, ...]]:
    """A row for each way; the ratio is the median of the rounds' ratios to the bridge."""
    bridged = found["a bridge of the kernel"]
    for name, rounds in found.items():
        ratios = [each.rate / other.rate for each, other in zip(rounds, bridged, strict=True)]
        yield (
            name,
            spread([each.rate for each in rounds], 3),
            f"{median(ratios):.2f}",
            spread([each.p50 for each in rounds], 0),
            spread([each.p99 for each in rounds], 0),
        )


def main() -> None:
    """Measures all ways in turn, and rewrites the table."""
    found: dict[str, list[Measured]] = {name: [] for name in WAYS}
    for number in range(ROUNDS):
        for name, join in WAYS.items():
            with GatewayNetwork() as roads, join(roads):
                found[name].append(measure(roads))
            print(number + 1, name, found[name][-1], flush=True)
    head = ("joined by", "million frames of 64 bytes a second", "of the bridge", "delay, p50, us", "p99, us")
    text = table(head, rows(found)) + f"\nMedian, least and greatest of {ROUNDS} rounds on {cpu_count()} processors.\n"
    PAGE.write_text(filled(PAGE.read_text(), "gateway beside a bridge", text))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}\n{error.stderr}")

"""The network that tests share (RFC 7928, section 3): a dumbbell, and groups of flows.

The RFC states a rate or a round-trip time only in tests that vary it. Ours are 10 Mbit/s and 100 ms, the round-trip
time of the reference flow in section 6. Their product is a window of 83 packets.
"""

import math
from typing import Any

from headgate.build import parts
from headgate.build.parts import FlowsPart, TcpPart, UdpPart
from headgate.experiment.declare import ScenarioValues
from headgate.scenario.network import Dumbbell

RATE_BPS = 10e6
RTT_MS = 100.0
PACKET_BYTES = 1500

#: Goodput is measured over periods of K = 10 round trips (section 2.7). Tests with other round-trip times use the same
#: period, so that they can be compared.
PERIOD_S = 10 * RTT_MS / 1e3


def bdp(rate_bps: float = RATE_BPS, rtt_ms: float = RTT_MS) -> float:
    """The bandwidth-delay product of a path, in packets of full size."""
    return rate_bps * rtt_ms / 1e3 / 8 / PACKET_BYTES


def room(rate_bps: float = RATE_BPS, rtt_ms: float = RTT_MS) -> int:
    """The queue's limit in packets: one bandwidth-delay product of the largest round-trip time (section 3.2)."""
    return math.ceil(bdp(rate_bps, rtt_ms))


def top(v: ScenarioValues) -> dict[str, Any]:
    """The top-level keys of every scenario. An interval is as long as a period."""
    record = {"interval": f"{PERIOD_S:g}s"}
    return {"name": v.name, "duration": v.duration, "warmup": v.warmup, "record": record, "qdiscs": v.qdiscs}


def dumbbell(v: ScenarioValues, *flows: FlowsPart, **changed: Any) -> Dumbbell:
    """The dumbbell. With access links of 1 ms on either side, the round-trip time is 100 ms."""
    given = {**top(v), "rate": RATE_BPS, "delay": "48ms", "limit": f"{room()}p", "flows": flows, **changed}
    return Dumbbell(**given)


def tcp(v: ScenarioValues, name: str, flows: int | None = 1, **keys: Any) -> TcpPart:
    """A group of TCP flows; with `flows` None, `start` gives their number.

    NewReno with SACK, the RFC's baseline (section 3.3), unless `cc` is given. A random delay before each transmission,
    up to a packet's time at the bottleneck (1.2 ms), keeps flows from synchronizing with the queue (Floyd and Jacobson,
    Internetworking 3(3), 1992).
    """
    usual = parts.tcp(flows, name=name, start="0s..1s", send_jitter="1.2ms", ecn=v.ecn)
    return usual.replace(**keys)


def udp(name: str, flows: int = 1, **keys: Any) -> UdpPart:
    """A group of UDP flows without ECN."""
    return parts.udp(name=name, flows=flows, start="0s..1s").replace(**keys)

"""The network that tests share (RFC 7928, section 3): a dumbbell of 10 Mbit/s and 100 ms, and groups of flows.

The RFC leaves both values open. 100 ms is the round-trip time of the reference flow in its section 6.
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

#: Goodput is measured over periods of 10 round-trip times (K in section 2.7). All tests have this period.
PERIOD_S = 10 * RTT_MS / 1e3


def bdp(rate_bps: float = RATE_BPS, rtt_ms: float = RTT_MS) -> float:
    """The bandwidth-delay product of a path, in packets of full size: 83 by default."""
    return rate_bps * rtt_ms / 1e3 / 8 / PACKET_BYTES


def buffer_packets(rate_bps: float = RATE_BPS, rtt_ms: float = RTT_MS) -> int:
    """The queue's limit in packets: one bandwidth-delay product, of the largest round-trip time (section 3.2)."""
    return math.ceil(bdp(rate_bps, rtt_ms))


def top(v: ScenarioValues) -> dict[str, Any]:
    """The top-level keys of every scenario. Its recording interval is `PERIOD_S`."""
    record = {"interval": f"{PERIOD_S:g}s"}
    return {"name": v.name, "duration": v.duration, "warmup": v.warmup, "record": record, "qdiscs": v.qdiscs}


def dumbbell(v: ScenarioValues, *flows: FlowsPart, **changed: Any) -> Dumbbell:
    """A dumbbell. With the default access links of 1 ms on each side, the round-trip time is 100 ms."""
    given = {**top(v), "rate": RATE_BPS, "delay": "48ms", "limit": f"{buffer_packets()}p", "flows": flows, **changed}
    return Dumbbell(**given)


def tcp(v: ScenarioValues, name: str, flows: int | None = 1, **keys: Any) -> TcpPart:
    """A group of TCP flows, by default NewReno with SACK (section 3.3). With `flows` None, `start` gives their number.

    Send jitter of up to 1.2 ms, a packet's time at the bottleneck, prevents lockstep of flows with the queue.
    """
    usual = parts.tcp(flows, name=name, start="0s..1s", send_jitter="1.2ms", ecn=v.ecn)
    return usual.replace(**keys)


def udp(name: str, flows: int = 1, **keys: Any) -> UdpPart:
    """A group of UDP flows without ECN."""
    return parts.udp(name=name, flows=flows, start="0s..1s").replace(**keys)

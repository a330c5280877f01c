"""The network that tests share (RFC 7928, section 3): a dumbbell, and groups of flows, as text of scenario files.

The RFC names no rate and no round-trip time but where it varies them. Ours are those of the round-trip time fairness
test's reference flow, 100 ms, and a link on which that makes a window of 83 packets.
"""

from __future__ import annotations

import math

RATE_BPS = 10e6
RTT_MS = 100.0
PACKET_BYTES = 1500

#: Goodput is looked at over K = 10 round trips (section 2.7). Comparisons need the same periods, so tests with other
#: round-trip times have it too.
PERIOD_S = 10 * RTT_MS / 1e3

#: What is written down over time: no more rows over time than that takes.
RECORD = f"""
[record]
interval = "{PERIOD_S:g}s"
"""


def bdp(rate_bps: float = RATE_BPS, rtt_ms: float = RTT_MS) -> float:
    """Packets of full size that a path holds."""
    return rate_bps * rtt_ms / 1e3 / 8 / PACKET_BYTES


def room(rate_bps: float = RATE_BPS, rtt_ms: float = RTT_MS) -> int:
    """Room in the queue, in packets: one bandwidth-delay product of the largest round-trip time (section 3.2)."""
    return math.ceil(bdp(rate_bps, rtt_ms))


#: What every scenario begins with.
HEAD = """
name = "$name"
duration = "$duration"
warmup = "$warmup"
qdiscs = ["droptail"]
"""

#: The dumbbell: with access links of 1 ms on either side a round trip of 100 ms.
DUMBBELL = f"""{HEAD}
[link]
rate = "{RATE_BPS / 1e6:g}Mbit/s"
delay = "48ms"
limit = "{room()}p"
{RECORD}"""


def tcp(name: str, flows: int | str | None = 1, **keys: str) -> str:
    """A group of TCP flows; with `flows` None as many as `start` brings.

    The RFC's baseline (section 3.3), NewReno with SACK, unless `cc` says otherwise. Senders take up to a packet's time
    at the bottleneck, 1.2 ms, to send: without it flows fall into step with the queue (Floyd and Jacobson,
    Internetworking 3(3), 1992). `keys` are further ones, as they are written in the file.
    """
    given = {"cc": '"sack"', "start": '"0s..1s"', "overhead": '"1.2ms"', "ecn": "$ecn", **keys}
    return _group("tcp", name, given if flows is None else {"flows": str(flows), **given})


def udp(name: str, flows: int = 1, **keys: str) -> str:
    """A group of UDP flows, none of which claims to take marks."""
    return _group("udp", name, {"flows": str(flows), "start": '"0s..1s"', **keys})


def _group(kind: str, name: str, keys: dict[str, str]) -> str:
    lines = "\n".join(f"{key} = {value}" for key, value in keys.items())
    return f'\n[[{kind}]]\nname = "{name}"\n{lines}\n'

"""Common to the experiments of section V-B: one unresponsive flow among 1000."""

from typing import Unpack

from headgate.build.keys import DumbbellKeys
from headgate.build.parts import tcp, udp
from headgate.experiment.declare import OpenParameter, ScenarioValues
from headgate.papers.blue._network import ACCESS
from headgate.scenario.network import Dumbbell

#: The unresponsive flow's rate and the fair share of 1000 flows, in Mbit/s.
SENT, FAIR = 0.5, 0.1

OPEN = (
    OpenParameter("buffer", "450KB", "not stated; that of section IV-B for a link of 100 Mbit/s", ("1000KB",)),
    OpenParameter("TCP", "999 flows over 60 ms", "the paper says an aggregate of 1000 flows"),
)


def scenario(v: ScenarioValues, name: str, /, **top: Unpack[DumbbellKeys]) -> Dumbbell:
    """999 TCP flows and an unresponsive flow on 100 Mbit/s. `top` are further keys of the scenario."""
    given: DumbbellKeys = {
        "name": name,
        "about": "999 TCP flows and one unresponsive of 0.5 Mbit/s on 100 Mbit/s.",
        "rate": "100Mbit/s",
        "delay": "30ms",
        "limit": v.buffer,
        **top,
    }
    flows = [
        tcp(999, profile="ns2", access=ACCESS, recovery="reno", ecn=True, ecn_timeout=False, start="0s..1s"),
        udp(f"{SENT}Mbit/s", profile="ns2", access=ACCESS, packet="1000B", jitter=1, ecn=True, start="0s..1s"),
    ]
    return Dumbbell(flows=flows, qdiscs=v.qdiscs, **given)

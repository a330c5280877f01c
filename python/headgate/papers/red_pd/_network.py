"""Common to the simulations of RED-PD: a bottleneck of 10 Mbit/s, flows with access links, and the two disciplines.

Settings are those of section 5. If it states none, they are from the authors' scripts, `tcl/ex/red-pd` in ns-2.35.
"""

import math
from collections.abc import Iterable
from typing import Unpack

from headgate.analysis.runs import Run
from headgate.build.keys import DumbbellKeys
from headgate.build.parts import FlowsPart, TcpPart, UdpPart, tcp, udp
from headgate.experiment import findings
from headgate.experiment.declare import OpenParameter, ScenarioValues
from headgate.experiment.measures import RunMeasure, average, dropped_share
from headgate.scenario.network import Dumbbell

#: Why our runs differ from the paper.
WHY = findings.read(__package__)

#: Packets of 1000 bytes, as in section 5.
PACKET_BITS = 8000

#: RED's settings in `topology.tcl`, for a queue in packets. It sets the thresholds; maxp and wq are ns-2's defaults of
#: the time.
_RED = "minth=10p,maxth=33p,maxp=0.1,wq=0.002"
RED = f"red:{_RED},gentle=on"
RED_PD = f"red_pd:{_RED},maxdecrease=$maxdecrease,$unresponsive"

#: Reasons for drops before the queue.
PREFILTER = ("prefilter", "unresponsive")

MIN_RTO = OpenParameter(
    "min_rto",
    "200ms",
    "not stated; the default of ns-2.35, which has the authors' scripts. It was 1 s from June 2001 to October 2004",
    ("1s",),
)
JITTER = OpenParameter(
    "jitter",
    0,
    "not stated; the authors' CBR sources have none, and RED's random drops prevent lockstep",
    (0.1,),
)
MAXDECREASE = OpenParameter(
    "maxdecrease",
    0.05,
    "section 4.2 states no value; 0.05 is from the authors' scripts (`max_decrease` in `monitoring.tcl`)",
    (0.02, 0.1),
)

#: Without the test of section 7, no flow counts as unresponsive.
NO_TEST = "unresponsive_test=off"
#: ns-2.35's engine with its defaults drops packets of unresponsive flows at any load.
ENGINE = "spare_unresponsive=off,noidle=off"
#: The engine with `noidle_`: it spares unresponsive flows while at most one packet is queued.
NOIDLE = "spare_unresponsive=off"
#: Section 4.2 spares every flow while RED's average lies below minth.
TEXT = "spare_unresponsive=on"


def unresponsive(value: str, source: str) -> OpenParameter:
    """Whether RED-PD tests for unresponsive flows, and when it spares them. `source` supports our value."""
    reason = (
        "section 5 does not say whether flows are tested for unresponsiveness, which section 7 introduces. By section "
        "4.2 the filter spares every flow at low demand; the authors' engine in ns-2.35, which the figures come from, "
        f"spares no unresponsive flow. {source}"
    )
    return OpenParameter(
        "unresponsive", value, reason, tuple(each for each in (NO_TEST, ENGINE, NOIDLE, TEXT) if each != value)
    )


def network(
    v: ScenarioValues,
    name: str,
    about: str,
    flows: Iterable[FlowsPart],
    /,
    events: str = "off",
    **link: Unpack[DumbbellKeys],
) -> Dumbbell:
    """Flows over 10 Mbit/s and a buffer of 50 packets, unless `link` says otherwise."""
    given: DumbbellKeys = {
        "name": f"red-pd-{name}",
        "about": about,
        "rate": "10Mbit/s",
        "delay": "10ms",
        "limit": "50p",
        "record": {"interval": "1s", "events": events},
        **link,
    }
    return Dumbbell(flows=flows, qdiscs=v.qdiscs, **given)


def sack(v: ScenarioValues, name: str, sender: str, receiver: str, flows: int = 1) -> TcpPart:
    """TCP flows with SACK and windows of 50 packets, which start in the first 10 s.

    `sender` and `receiver` are the delays of their access links.
    """
    return tcp(
        flows,
        name=name,
        profile="ns2",
        recovery="sack",
        window=50,
        min_rto=v.min_rto,
        start="0s..10s",
        sender={"rate": "100Mbit/s", "delay": sender},
        receiver={"rate": "100Mbit/s", "delay": receiver},
    )


def constant(v: ScenarioValues, name: str, sender: str, receiver: str) -> UdpPart:
    """An unresponsive flow, whose rate the caller sets."""
    return udp(
        name=name,
        profile="ns2",
        jitter=v.jitter,
        start="0s..10s",
        sender={"rate": "100Mbit/s", "delay": sender},
        receiver={"rate": "100Mbit/s", "delay": receiver},
    )


#: Delays of the senders' and of the receivers' links in the authors' `netMix`.
SENDERS = ("3ms", "13ms", "23ms")
RECEIVERS = ("1ms", "1.5ms", "2ms")


def mix(v: ScenarioValues) -> list[TcpPart]:
    """The TCP flows of `netMix`, 1 to 9, from each of three senders to each of three receivers.

    Over a link of 10 ms, propagation alone makes round trips of 28, 29, 30, 48, 49, 50, 68, 69 and 70 ms.
    """
    pairs = [(sender, receiver) for sender in SENDERS for receiver in RECEIVERS]
    return [sack(v, f"flow{n}", *pair) for n, pair in enumerate(pairs, 1)]


def tcp_rate_bps(rtt_s: float, drop_rate: float) -> float:
    """f(R, p) of equation (1), the target bandwidth; NaN without drops."""
    return PACKET_BITS * math.sqrt(1.5 / drop_rate) / rtt_s if drop_rate > 0 else math.nan


def ambient(run: Run) -> float:
    """The ambient drop rate: drops at the queue over arrivals at it.

    A packet that RED-PD drops before the queue counts in neither, also if its flow was found unresponsive.
    """
    before = sum(float(run.flows(f"dropped_{reason}").sum()) for reason in PREFILTER)
    dropped, arrived = float(run.flows("dropped").sum()), float(run.flows("arrived").sum())
    return (dropped - before) / (arrived - before)


def target(run: Run) -> float:
    """f(R, p) for 40 ms at the ambient drop rate of the run, in bit/s."""
    return tcp_rate_bps(0.040, ambient(run))


def held_back(*groups: str) -> RunMeasure:
    """Mean share of the packets that RED-PD dropped before the queue, over groups of one flow each."""
    return average(*(dropped_share(*PREFILTER, group=group) for group in groups))

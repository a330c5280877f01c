"""Common to the experiments of this paper: section 3.1's network and flows, the disciplines, open parameters."""

from functools import partial
from typing import Any, Unpack

from headgate.build.keys import DumbbellKeys
from headgate.build.parts import FlowsPart, tcp, udp
from headgate.experiment import findings
from headgate.experiment.claims import Condition, in_each_case
from headgate.experiment.declare import Experiment, OpenParameter, ScenarioValues, grid
from headgate.experiment.measures import RunMeasure, throughput, throughput_share
from headgate.experiment.plots import AxisScale
from headgate.scenario.network import Dumbbell

#: Why our runs differ from the paper.
WHY = findings.read(__package__)

#: The rates of figure 4-1's axis, in Mbit/s; the link has 1.
RATES = (0.1, 0.2, 0.4, 0.8, 1, 2, 4, 8)
#: The rates above the link's.
BEYOND = (2, 4, 8)
#: The axis of rates, at equal distances as in the paper.
RATE = AxisScale("UDP rate (Mbit/s)", ticks={place: str(rate) for place, rate in enumerate(RATES)})

RED = "red:minth=50p,maxth=100p,maxp=$maxp"
CHOKE = "choke:minth=50p,maxth=100p,maxp=$maxp"
#: A-CHOKe with five regions (section 3.3.4).
A_CHOKE = f"{CHOKE},adaptive=5"
BLUE = "blue:d1=0.02,d2=0.002,freeze_time=10ms"

#: All six, as in figures 4 and 5; FRED's and SFB's defaults are those of section 3.3.
QDISCS = {"DropTail": "droptail", "RED": RED, "FRED": "fred", "BLUE": BLUE, "SFB": "sfb", "CHOKe": A_CHOKE}

#: The paper's fair share for TCP: FRED's 0.80 Mbit/s (table 1) of an equal share of 10/11 Mbit/s.
FAIR_ENOUGH = 0.88

#: Throughputs in Mbit/s, and that of all flows as a share of the link.
MEASURES: dict[str, RunMeasure] = {
    "cbr": throughput("cbr") * 1e-6,
    "tcp": throughput(kind="tcp") * 1e-6,
    "total": throughput_share(),
}

DURATION = OpenParameter("duration", "100s", "the paper gives no duration; the first 20 s are not counted")
DELAY = OpenParameter(
    "delay",
    "10ms",
    "figure 3 is lost; with 5 ms of access on each side the round-trip time is 40 ms",
    ("2ms", "40ms", "133ms"),
)
JITTER = OpenParameter(
    "jitter",
    0.1,
    "ns-2's CBR has none by default. But then packets arrive in lockstep with departures, and the lockstep "
    "decides which flow loses",
    (0, 0.5),
)
OVERHEAD = OpenParameter(
    "send_jitter", "1ms", "a random delay before each TCP packet, against the same lockstep", ("0s", "4ms")
)
CC = OpenParameter("recovery", "newreno", "the paper says TCP alone", ("reno", "sack"))
MAXP = OpenParameter("maxp", 0.02, "for RED the paper gives thresholds alone; 0.02 is what FRED has", (0.05, 0.1))
#: Open parameters of TCP flows alone, and of TCP flows beside a constant flow.
TCP_ALONE = (DURATION, DELAY, OVERHEAD, CC)
SHARED = (DURATION, DELAY, JITTER, OVERHEAD, CC)


def network(
    v: ScenarioValues,
    name: str,
    about: str,
    /,
    *,
    tcp_flows: int = 10,
    window: int = 50,
    cbr: str | None = "",
    cbr_flows: int = 1,
    cbr_start: str = "0s..1s",
    events: str = "off",
    **link: Unpack[DumbbellKeys],
) -> Dumbbell:
    """Section 3.1: by default ten TCP flows and a constant flow on 1 Mbit/s.

    The constant rate is the case's `cbr` in Mbit/s unless it is given; None leaves TCP flows alone.
    """
    flows: list[FlowsPart] = [
        tcp(
            tcp_flows,
            profile="ns2",
            recovery=v.recovery,
            window=window,
            access={"delay": "5ms"},
            start="0s..1s",
            send_jitter=v.send_jitter,
        )
    ]
    if cbr is not None:
        constant = udp(cbr or f"{v.cbr}Mbit/s", name="cbr", profile="ns2", flows=cbr_flows, jitter=v.jitter)
        flows.append(constant.replace(access={"delay": "5ms"}, start=cbr_start))
    given: DumbbellKeys = {
        "name": f"comparison-{name}",
        "about": about,
        "duration": v.duration,
        "warmup": "20s",
        "rate": "1Mbit/s",
        "delay": v.delay,
        "limit": "150p",
        "record": {"events": events},
        **link,
    }
    return Dumbbell(flows=flows, qdiscs=v.qdiscs, **given)


def beyond(condition: Condition, **where: Any) -> Condition:
    """Whether a condition holds at every UDP rate above the link's."""
    return in_each_case(condition, cbr=lambda rate: rate > 1, **where)


def place_of(rate: float) -> float:
    """Position of a rate on the axis."""
    return float(RATES.index(rate))


#: An experiment against the UDP flow's rate, with RED among the disciplines.
by_rate = partial(Experiment, cases=grid(cbr=RATES), choices=(*SHARED, MAXP))

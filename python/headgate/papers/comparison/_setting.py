"""Common to the experiments of this paper: section 3.1's network and flows, the disciplines, open parameters."""

from functools import partial
from typing import Any, Unpack

from headgate.build.keys import AccessKeys, DumbbellKeys
from headgate.build.parts import FlowsPart, tcp, udp
from headgate.experiment import findings
from headgate.experiment.claims import Condition, in_each_case
from headgate.experiment.declare import Experiment, OpenParameter, ScenarioValues, grid
from headgate.experiment.measures import RunMeasure, throughput, throughput_share
from headgate.experiment.plots import AxisScale
from headgate.scenario.network import Dumbbell

#: Why our runs differ from the paper.
WHY = findings.read(__package__)

#: A flow's own links.
ACCESS: AccessKeys = {"rate": "100Mbit/s", "delay": "5ms"}
#: The UDP flow's rates in figure 4-1, in Mbit/s. The link's rate is 1 Mbit/s.
RATES = (0.1, 0.2, 0.4, 0.8, 1, 2, 4, 8)
#: Those above the link's rate.
RATES_ABOVE_LINK = (2, 4, 8)
#: The axis of the UDP flow's rate. Rates have equal distances, as in the paper.
RATE_AXIS = AxisScale("UDP rate (Mbit/s)", ticks={place: str(rate) for place, rate in enumerate(RATES)})

RED = "red:minth=50p,maxth=100p,maxp=$maxp"
CHOKE = "choke:minth=50p,maxth=100p,maxp=$maxp"
#: A-CHOKe with five regions (section 3.3.4).
A_CHOKE = f"{CHOKE},adaptive=5"
BLUE = "blue:d1=0.02,d2=0.002,freeze_time=10ms"

SFB = "sfb:$drops"

#: All six disciplines, as in figures 4 and 5. FRED and SFB have the settings of section 3.3 by default.
QDISCS = {"DropTail": "droptail", "RED": RED, "FRED": "fred", "BLUE": BLUE, "SFB": SFB, "CHOKe": A_CHOKE}

#: The bits per second of the paper's Mbit/s of throughput. Table 1 has totals of 0.48, 0.95, 1.90 and 3.80 Mbit/s on
#: links of 0.5 to 4 Mbit/s. A full link of 1 Mbit/s is 0.954 times 2^20 bit/s.
MBIT = 2**20

#: TCP counts as treated fairly if it gets this part of its fair share, 0.92. In the paper, FRED is fair with 0.80
#: Mbit/s for TCP (table 1), whose fair share is ten of eleven equal shares of the link.
FAIR_ENOUGH = 0.80 * MBIT / (1e6 * 10 / 11)

#: Throughput of UDP and of TCP in the paper's Mbit/s, and throughput of all flows over the link's nominal rate, as the
#: paper computes it. A full link has 0.954.
MEASURES: dict[str, RunMeasure] = {
    "cbr": throughput("cbr") * (1 / MBIT),
    "tcp": throughput(kind="tcp") * (1 / MBIT),
    "total": throughput_share() * (1e6 / MBIT),
}

UNIT = OpenParameter(
    "unit of throughput",
    "2^20 bit/s",
    "table 1's totals of 0.48, 0.95, 1.90 and 3.80 Mbit/s are full links over 1.048576; `headgate paper run "
    "comparison/table1` has them in both units",
)
DURATION = OpenParameter("duration", "100s", "the paper gives no duration; the first 20 s are not counted")
DELAY = OpenParameter(
    "delay",
    "10ms",
    "our text has no figure 3; with 5 ms of access on each side, the round-trip time is 40 ms",
    ("2ms", "40ms", "126.6ms"),
)
JITTER = OpenParameter(
    "jitter",
    0.1,
    "ns-2's CBR has none by default. But then packets arrive in lockstep with departures, and the lockstep "
    "decides whose packets are dropped",
    (0, 0.5),
)
SEND_JITTER = OpenParameter(
    "send_jitter", "1ms", "a random delay before each TCP packet, against the same lockstep", ("0s", "4ms")
)
RECOVERY = OpenParameter("recovery", "newreno", "the paper says only TCP", ("reno", "sack"))
MAXP = OpenParameter("maxp", 0.02, "for RED the paper states only thresholds; 0.02 is FRED's maxp", (0.05, 0.1))
DROPS = OpenParameter(
    "drops",
    "overfull=any,penalty_alone=on",
    "one overfull bin suffices, as in the loop of section 2.4's pseudocode. But by section 4.3 a packet of a "
    "non-responsive flow is enqueued if and only if Boxtime has passed. In figure 11b UDP gets 0.27 Mbit/s, while bins "
    "of 10 packets would let it have 0.09",
    ("overfull=any,penalty_alone=off", "overfull=all,penalty_alone=on", "overfull=all,penalty_alone=off"),
)
#: Open parameters of experiments with TCP flows alone, and with TCP flows beside UDP flows.
TCP_ALONE = (UNIT, DURATION, DELAY, SEND_JITTER, RECOVERY)
WITH_UDP = (UNIT, DURATION, DELAY, JITTER, SEND_JITTER, RECOVERY)


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
    """The network of section 3.1: by default ten TCP flows and a constant flow on 1 Mbit/s.

    `cbr` is the rate of each constant flow, by default the case's `cbr` in Mbit/s. With None there are TCP flows only.
    """
    flows: list[FlowsPart] = [
        tcp(
            tcp_flows,
            profile="ns2",
            recovery=v.recovery,
            window=window,
            access=ACCESS,
            start="0s..1s",
            send_jitter=v.send_jitter,
        )
    ]
    if cbr is not None:
        constant = udp(cbr or f"{v.cbr}Mbit/s", name="cbr", profile="ns2", flows=cbr_flows, jitter=v.jitter)
        flows.append(constant.replace(access=ACCESS, start=cbr_start))
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


def at_rates_above_link(condition: Condition, **where: Any) -> Condition:
    """Whether a condition holds at every UDP rate above the link's."""
    return in_each_case(condition, cbr=lambda rate: rate > 1, **where)


def axis_position(rate: float) -> float:
    """Position of a rate on the axis."""
    return float(RATES.index(rate))


#: An experiment with a case for each rate of the UDP flow. Its disciplines take maxp, as RED does.
by_rate = partial(Experiment, cases=grid(cbr=RATES), choices=(*WITH_UDP, MAXP))

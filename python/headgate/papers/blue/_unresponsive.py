"""Common to the experiments of section IV: 400 TCP flows beside unresponsive flows."""

from functools import partial
from typing import Unpack

import numpy as np

from headgate.analysis.runs import Array, Run
from headgate.build.keys import TopKeys
from headgate.build.parts import udp
from headgate.experiment.declare import Experiment, OpenParameter, QuickVariant, ScenarioValues
from headgate.experiment.layers import ReferenceLine, RunLine
from headgate.experiment.measures import RunMeasure, dropped_bps, jain, share_of_flows_between, throughput
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.blue._network import ACCESS, CHOICES, EVEN, PAIRS, connection, network
from headgate.scenario.network import Network

#: Number of TCP flows.
FLOWS = 400
#: A TCP flow's share of 45 Mbit/s, less the 0.16 Mbit/s to which SFB limits the unresponsive flows.
FAIR_BPS = (45e6 - 0.16e6) / FLOWS


def scenario(v: ScenarioValues, schedule: str = "", **top: Unpack[TopKeys]) -> Network:
    """TCP flows between all pairs of nodes. All unresponsive flows have the same sending and receiving node.

    `schedule` changes the rate of the unresponsive flows over time. `top` are further keys of the scenario.
    """
    return network(
        v,
        connection(v).replace(flows=FLOWS // PAIRS, start="0s..1s", ecn_timeout=v.ecn_timeout),
        "200KB",
        EVEN,
        [
            udp(
                traffic=f"cbr:rate={v.rate}Mbit/s,schedule=[{schedule}]",
                name="unresponsive",
                profile="ns2",
                from_="n0",
                to="n5",
                flows=v.unresponsive,
                access=ACCESS,
                packet="1000B",
                jitter=v.jitter,
                ecn=v.cbr_ecn,
                start="0s..1s",
            )
        ],
        name="blue-unresponsive",
        about=f"400 TCP flows, and {v.unresponsive} unresponsive of {v.rate} Mbit/s, on 45 Mbit/s.",
        **{"duration": "100s", "warmup": v.warmup, **top},
    )


#: SFB with fixed hash functions.
SFB = "sfb:preset=blue,rehash=0s,$steps,$drops,lower_at_departure=$departures"
QDISCS = {
    "SFB": SFB,
    "RED": "red:preset=R2",
    "SFRED": "sfred:preset=blue,$drops",
    "SFQ+RED": "sfq_red:preset=blue,limit=414KB,wq=$sfq_wq",
}

#: Open parameters of these experiments.
OPEN = (
    *CHOICES,
    OpenParameter(
        "warmup",
        "20s",
        "table III leaves an unresponsive flow no more than 0.16 Mbit/s under SFB. It cannot include the packets "
        "that pass before SFB identifies the flow",
        ("0s",),
    ),
    OpenParameter(
        "jitter",
        1,
        "intervals between packets are uniform from 0 to twice the mean. A steadier flow of exactly the link's rate "
        "takes each place in the queue as it becomes free. But in table III RED drops the same share of its packets "
        "as of TCP's, 23 %",
        (0.1,),
    ),
    OpenParameter(
        "steps",
        "d1=0.005,d2=0.001,freeze_time=1ms",
        "the paper gives none for SFB; these are the comparison paper's. The others are those of B3 and B1, and "
        "equal steps without a freeze time, as in figure 14",
        (
            "d1=0.02,d2=0.002,freeze_time=10ms",
            "d1=0.0025,d2=0.00025,freeze_time=10ms",
            "d1=0.0005,d2=0.0005,freeze_time=0s",
            "d1=0.005,d2=0.005,freeze_time=0s",
        ),
    ),
    OpenParameter(
        "drops",
        "overfull=all,penalty_alone=on",
        "the text: section IV-A, figure 15 and equation (1) count only flows polluted at every level (all), and the "
        "enqueues of flows with a pmin of 1 are limited in rate (on). Figure 14 as printed drops within its loop, for "
        "any overfull bin and whatever pmin is (any, off). Table III's 0.01 Mbit/s of TCP's drops speaks for all",
        ("overfull=any,penalty_alone=off", "overfull=any,penalty_alone=on", "overfull=all,penalty_alone=off"),
    ),
    OpenParameter(
        "departures",
        "on",
        "the comparison paper's pseudocode lowers the probability of a bin that a departure empties; figure 14 does "
        "not",
        ("off",),
    ),
    OpenParameter(
        "ecn_timeout",
        False,
        "section IV does not say; the sources of sections III-B and III-E have none. Table III is divided. Beside 45 "
        "Mbit/s RED drops 3.07 Mbit/s of TCP's packets there: with ECN timeouts it drops almost none here. Beside "
        "2 Mbit/s it drops 1.76 there: without ECN timeouts it drops none here",
        (True,),
    ),
    OpenParameter(
        "cbr_ecn",
        True,
        "in table III RED drops 10.32 Mbit/s of a flow of 45 Mbit/s, the same share as of TCP. So RED marks its "
        "packets as TCP's",
        (False,),
    ),
)
#: Open parameters of the disciplines that SFB is compared with.
OPEN_REDS = (
    *OPEN,
    OpenParameter("wq of RED", 0.002, "not stated; that of R2, which the paper's plots over time show"),
    OpenParameter(
        "maxp of SFQ's REDs", 1, "only thresholds are stated; the same as in the other REDs, which mark above maxth"
    ),
    OpenParameter(
        "sfq_wq",
        0.002,
        "not stated for the REDs in SFQ; that of R2 and of section III-E. Table III does not decide. The unresponsive "
        "flow's drops of 1.03 Mbit/s fit 0.002, TCP's drops of 2.57 and 2.53 fit 0.2. Claims judge TCP's drops",
        (0.02, 0.2),
    ),
)

MEASURES: dict[str, RunMeasure] = {
    "loss": dropped_bps(packet_bytes=1000) * 1e-6,
    "loss_unresponsive": dropped_bps(kind="udp", packet_bytes=1000) * 1e-6,
    "loss_tcp": dropped_bps(kind="tcp", packet_bytes=1000) * 1e-6,
    "unresponsive_rate": throughput(kind="udp") * 1e-6,
    "tcp_rate": throughput(kind="tcp") * 1e-6,
    "jain": jain(kind="tcp", alike=True),
}
#: The shares of TCP flows with almost no goodput, with about their fair share, and with more than twice as much.
SHARES: dict[str, RunMeasure] = {
    "starved": share_of_flows_between(0, 0.1 * FAIR_BPS, kind="tcp"),
    "near_fair": share_of_flows_between(0.5 * FAIR_BPS, 1.5 * FAIR_BPS, kind="tcp"),
    "grabbing": share_of_flows_between(2 * FAIR_BPS, 45e6, kind="tcp"),
}


#: The look of the marks for single flows.
DOTS = {"marker": ".", "linestyle": "", "markersize": 3}


def each_flow(*labels: str) -> Plot:
    """Goodput of each TCP flow of the first seed, a panel for each discipline."""
    fair = ReferenceLine(FAIR_BPS / 1e6, {"linestyle": "-", "linewidth": 0.8})
    x, y = AxisScale("TCP flow"), AxisScale("Goodput (Mbit/s)")
    return Plot(
        [PlotPanel((RunLine(_goodput, label, look=DOTS), fair), x, y, label) for label in labels],
        note="Each point a flow of the first seed. Line: the fair share.",
        height=2.4,
    )


def _goodput(run: Run) -> tuple[Array, Array]:
    # `--set tcp.flows` changes the number of flows.
    goodput = run.flows("goodput_bps", kind="tcp") / 1e6
    return np.arange(float(len(goodput))), goodput


experiment = partial(Experiment, scenario=scenario, choices=OPEN, quick=QuickVariant(set=("duration=40s",)))

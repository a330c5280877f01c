"""Throughput and drop rate on the testbed by the number of connections."""

from headgate.build.parts import tcp
from headgate.experiment.claims import above, below, in_each_case, m, over, rises
from headgate.experiment.declare import Claim, Experiment, HeadlineMeasure, OpenParameter, QuickVariant, for_each, grid
from headgate.experiment.layers import Lines
from headgate.experiment.measures import drop_rate, gauge, link, throughput
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.blue._network import WHY
from headgate.scenario.network import Dumbbell

#: Sessions of netperf.
CONNECTIONS = (50, 100, 200, 300, 400)
QDISCS = {
    "RED": "red:minth=10KB,maxth=40KB,maxp=1,wq=0.002,mark_above_maxth=$above_maxth",
    "BLUE": "blue:preset=testbed",
}
FULL = WHY["fig13 full"]


EXPERIMENT = Experiment(
    about="Sessions of netperf between FreeBSD 2.2.7 hosts over an Ethernet of 10 Mbit/s with 50 KB of buffer, "
    "here simulated.",
    scenario=lambda v: Dumbbell(
        name="blue-testbed",
        about=f"{v.connections} sessions of netperf over 10 Mbit/s.",
        duration="60s",
        warmup="10s",
        rate="10Mbit/s",
        delay=v.delay,
        limit="50KB",
        flows=tcp(
            v.connections,
            access={"rate": "100Mbit/s", "delay": "0s"},
            recovery="reno",
            window=v.window,
            initial_window=1,
            delayed_ack="200ms",
            min_rto="1s",
            rto_granularity="500ms",
            limited_transmit=False,
            ecn=True,
            ecn_timeout=False,
            ecn_retransmits=True,
            start="0s..1s",
        ),
        qdiscs=v.qdiscs,
        record={"interval": "1s"},
    ),
    qdiscs=QDISCS,
    cases=grid(connections=CONNECTIONS),
    measures={
        "throughput": throughput(),
        "utilization": link("utilization"),
        "loss": drop_rate(),
        "pm": gauge("probability"),
    },
    choices=(
        OpenParameter("connections", CONNECTIONS, "the text says a range of workloads; it has no figure 13"),
        OpenParameter(
            "delay",
            "100us",
            "hosts of one local network; nearly all of the round-trip time is the queue's 40 ms",
            ("1ms", "10ms"),
        ),
        OpenParameter("window", 11, "FreeBSD 2.2.7's socket buffers, 16 KiB, in segments of 1460 bytes", (44,)),
        OpenParameter(
            "TCP",
            "Reno, 1 segment at first, ACKs delayed by 200 ms, clock of 500 ms, timeout of 1 s at least",
            "FreeBSD 2.2.7's, of BSD 4.4 descent",
        ),
        OpenParameter(
            "Ethernet",
            "full duplex",
            "the testbed's segments were shared: ACKs collided with data, which is not simulated here",
        ),
        OpenParameter(
            "retransmissions",
            "can be marked",
            "the testbed has the ECN of RFC 2481; the later RFC 3168 (section 6.1.5) forbids ECN-capable "
            "retransmissions",
        ),
        OpenParameter(
            "above_maxth",
            "off",
            "the testbed's RED is ALTQ's. Its red_addq (altq_red.c) drops every packet above maxth, also with ECN. "
            "Section III-B: marks (on)",
            ("on",),
        ),
        OpenParameter("interval", "50 s, after 10 s", "the same mean as over the paper's five intervals of 10 s"),
    ),
    stated_in="section III-E",
    claims=(
        *for_each(
            QDISCS,
            "{} keeps a high throughput (90 %) at every load",
            lambda label: in_each_case(above(m("utilization", label), 0.9)),
            {"RED": WHY["fig13 swings"]},
        ),
        Claim(
            "RED's throughput is below BLUE's, at every load",
            in_each_case(below(m("throughput", "RED"), m("throughput", "BLUE"))),
            FULL,
            place="section III-E, figure 13(a)",
        ),
        Claim(
            "RED's drop rate increases with the number of connections",
            rises(over("connections", "loss", "RED")),
            WHY["fig13 two courses"],
            place="section III-E, figure 13(b)",
        ),
        Claim(
            "BLUE drops less than RED at every load",
            in_each_case(below(m("loss", "BLUE"), m("loss", "RED"))),
            FULL,
            place="section III-E, figure 13(b)",
        ),
        Claim(
            "At the highest load BLUE marks with a probability of about 1 (0.95)",
            above(m("pm", "BLUE", connections=CONNECTIONS[-1]), 0.95),
        ),
    ),
    plot=Plot(
        [
            PlotPanel((Lines(y, "connections", scale=scale),), AxisScale("Connections"), AxisScale(name, 0), title)
            for y, scale, name, title in (
                ("throughput", 1e-6, "Throughput (Mbit/s)", "(a) Throughput"),
                ("loss", 100, "Drop rate (%)", "(b) Drop rate"),
            )
        ],
        "Bands: the 95 % interval over seeds.",
        "apart",
        legend=1,
    ),
    headline=HeadlineMeasure("loss", "drop rate with 400 sessions, %", {"connections": 400}, 100),
    quick=QuickVariant(set=("duration=30s",)),
)

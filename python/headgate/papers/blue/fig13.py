"""blue/fig13: throughput and loss on the testbed by the number of connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import above, below, every, rises
from headgate.experiment.declare import Choice, Claim, Experiment, Headline, Quick, grid
from headgate.papers import axes
from headgate.papers.measures import gauge, link, loss_rate, throughput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found

#: Sessions of netperf.
CONNECTIONS = (50, 100, 200, 300, 400)

SCENARIO = """
name = "blue-testbed"
about = "$connections sessions of netperf over 10 Mbit/s."
duration = "60s"
warmup = "10s"
qdiscs = ["blue"]

[record]
interval = "1s"

[link]
rate = "10Mbit/s"
delay = "$delay"
limit = "50KB"

[[tcp]]
flows = $connections
access = { rate = "100Mbit/s", delay = "0s" }
cc = "reno"
window = $window
initial_window = 1
delayed_ack = "200ms"
min_rto = "1s"
rto_granularity = "500ms"
limited_transmit = false
ecn = true
ecn_timeout = false
ecn_retransmits = true
start = "0s..1s"
"""

QDISCS = {
    "RED": "red:minth=10KB,maxth=40KB,maxp=1,wq=0.002,mark_above_maxth=on",
    "BLUE": "blue:preset=testbed",
}


def _high(label: str, found: Found) -> Judgement:
    return every(above(found("utilisation", label, connections=load), 0.9) for load in found.axis("connections"))


def _slightly_below(found: Found) -> Judgement:
    return every(
        below(found("throughput", "RED", connections=load), found("throughput", "BLUE", connections=load))
        for load in found.axis("connections")
    )


def _increases(found: Found) -> Judgement:
    return rises(found.over("connections", "loss", "RED")[1])


def _small(found: Found) -> Judgement:
    return every(
        below(found("loss", "BLUE", connections=load), found("loss", "RED", connections=load))
        for load in found.axis("connections")
    )


def _certain(found: Found) -> Judgement:
    return above(found("pm", "BLUE", connections=CONNECTIONS[-1]), 0.95)


def _plot(found: Found) -> Figure:
    drawn = axes.apart(["(a) Throughput", "(b) Packet loss"])
    axes.curves(drawn[0], found, "throughput", "connections", scale=1e-6)
    axes.curves(drawn[1], found, "loss", "connections", scale=100)
    for panel, label in zip(drawn, ("Throughput (Mbit/s)", "Loss (%)"), strict=True):
        panel.set_xlabel("Connections")
        panel.set_ylabel(label)
        panel.set_ylim(bottom=0)
    return axes.finish(drawn[0].figure, EXPERIMENT.title, "Bands: the 95 % interval over seeds.", drawn[1])  # type: ignore[arg-type]


SWINGS = "With 50 and with 200 sessions RED swings between marking all and none, and the link idles in between."
FULL = (
    "From 300 sessions on both mark every packet, and which of them loses more is no longer theirs to decide: windows "
    "of one packet do not fit into 33 packets of buffer. Up to 200 it is as the paper says."
)

EXPERIMENT = Experiment(
    title="Throughput and loss on the testbed by the number of connections",
    place="figure 13",
    about="Sessions of netperf between FreeBSD 2.2.7 hosts over an Ethernet of 10 Mbit/s with 50 KB of buffer, "
    "here simulated.",
    scenario=SCENARIO,
    qdiscs=QDISCS,
    cases=grid(connections=CONNECTIONS),
    measures={
        "throughput": throughput(),
        "utilisation": link("utilisation"),
        "loss": loss_rate(),
        "pm": gauge("probability"),
    },
    choices=(
        Choice("connections", CONNECTIONS, "the text says a range of workloads; the figure is lost"),
        Choice(
            "delay", "100us", "one local network: the queue's 40 ms are nearly all of the round trip", ("1ms", "10ms")
        ),
        Choice("window", 11, "FreeBSD 2.2.7's socket buffers, 16 KiB, in segments of 1460 bytes", (44,)),
        Choice(
            "TCP",
            "Reno, 1 segment at first, ACKs delayed by 200 ms, clock of 500 ms, timeout of 1 s at least",
            "FreeBSD 2.2.7's, of BSD 4.4 descent",
        ),
        Choice(
            "Ethernet",
            "full duplex",
            "the testbed's segments were shared: ACKs collided with data, which is not simulated here",
        ),
        Choice(
            "retransmissions",
            "can be marked",
            "its ECN is that of RFC 2481, of before RFC 3168 excepted what is sent again (section 6.1.5)",
        ),
        Choice("RED above maxth", "marks", "as the paper's other REDs, which mark deterministically there"),
        Choice("interval", "50 s at once after 10 s", "the mean of five intervals of 10 s, as the paper has it"),
    ),
    claims=(
        Claim(
            "RED keeps a high throughput (90 %) at every load",
            "section III-E",
            lambda found: _high("RED", found),
            SWINGS,
        ),
        Claim("BLUE keeps a high throughput (90 %) at every load", "section III-E", lambda found: _high("BLUE", found)),
        Claim("RED's throughput is below BLUE's, at every load", "section III-E, figure 13(a)", _slightly_below, FULL),
        Claim("RED's loss increases with the number of connections", "section III-E, figure 13(b)", _increases, FULL),
        Claim("BLUE loses less than RED at every load", "section III-E, figure 13(b)", _small, FULL),
        Claim("At the highest load BLUE marks with a probability of about 1 (0.95)", "section III-E", _certain),
    ),
    plot=_plot,
    headline=Headline("loss", "loss with 400 sessions, %", {"connections": 400}, 100),
    quick=Quick(set=("duration=30s",)),
)

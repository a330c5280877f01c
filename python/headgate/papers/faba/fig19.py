"""faba/fig19: what three kinds of traffic get over time from a hierarchy of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate import style
from headgate.analysis.judge import near
from headgate.experiment.declare import Choice, Claim, Experiment, Published, Quick
from headgate.papers import axes
from headgate.papers.faba import _common as common
from headgate.papers.measures import goodput, in_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found

#: Fair shares in Mbit/s, and what a kind is called.
KINDS = {"cbr": (5.0, "CBR"), "telnet": (5.0, "Telnet"), "ftp": (10.0, "FTP")}

SCENARIO = """
name = "faba-hierarchy"
about = "400 constant flows, 400 Telnet and 200 FTP connections in a hierarchy of classes on 20 Mbit/s."
duration = "$duration"
warmup = "20s"
qdiscs = ["faba"]

[link]
rate = "20Mbit/s"
delay = "14ms"
limit = "${buffer}p"

[[tcp]]
name = "telnet"
profile = "ns2"
flows = 400
traffic = "telnet:gap=exp(273ms)"
cc = "$cc"
packet = "512B"
window = $window
min_rto = "$min_rto"
start = "0s..1s"
overhead = "200us"

[[tcp]]
name = "ftp"
profile = "ns2"
flows = 200
cc = "$cc"
packet = "512B"
window = $window
min_rto = "$min_rto"
start = "0s..1s"
overhead = "200us"

[[udp]]
name = "cbr"
profile = "ns2"
flows = 400
rate = "50kbit/s"
packet = "512B"
jitter = 0.1
start = "0s..1s"

[[class]]
name = "cbr"
protocol = "udp"
weight = 1

[[class]]
name = "tcp"
protocol = "tcp"
weight = 3

[[class]]
name = "telnet"
parent = "tcp"
label = "telnet"
weight = 1

[[class]]
name = "ftp"
parent = "tcp"
label = "ftp"
weight = 2

[record]
interval = "1s"
"""


def _close(kind: str) -> Claim:
    fair, name = KINDS[kind]
    return Claim(
        f"{name} traffic gets close to its fair share of {fair:g} Mbit/s (within 10 %)",
        "section 6.3, figure 19",
        lambda found: near(found(kind, "FABA"), fair, within=0.1),
    )


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    colours = {"cbr": style.UNRESPONSIVE, "telnet": style.TCP_SHADES[1], "ftp": style.TCP}
    for kind, (fair, name) in KINDS.items():
        time, rate = found.runs("FABA")[0].series("goodput_bps", kind)
        drawn.plot(time, rate * 1e-6, color=colours[kind], linewidth=1.1, label=name)
        drawn.axhline(fair, color=colours[kind], linestyle=":", linewidth=1.0)
    drawn.set_ylim(0, 20)
    drawn.set_xlabel("Time (s)")
    drawn.set_ylabel("Bandwidth of all flows of a kind (Mbit/s)")
    note = "Means over 1 s, seed 1. Dotted: fair shares."
    return axes.finish(drawn.figure, EXPERIMENT.title, note, drawn)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="What three kinds of traffic get from a hierarchy",
    place="figure 19",
    about="CBR traffic (400 flows of 50 kbit/s) is due a quarter of 20 Mbit/s; of the rest Telnet (400 connections of "
    "15 kbit/s on average) is due a third and FTP (200 connections) two.",
    scenario=SCENARIO,
    qdiscs={"FABA": "faba:per=$per"},
    measures={kind: in_unit(goodput(kind), 1e-6) for kind in KINDS},
    published=tuple(
        Published(kind, "section 6.3, fair share", {"FABA": (fair,)}, unit="Mb/s") for kind, (fair, _) in KINDS.items()
    ),
    choices=(
        Choice("per", "flow_in_class", "a leaf of the tree is a flow with a bucket (section 6.3)", ("class",)),
        common.OPEN_BUFFER,
        common.DURATION,
        common.WINDOW,
        common.CC,
        common.MIN_RTO,
        common.PHASE,
    ),
    claims=tuple(_close(kind) for kind in KINDS),
    plot=_plot,
    modern=False,
    quick=Quick(set=("duration=50s",)),
)

"""SFB with 30 bins and one unresponsive flow among 1000."""

from headgate.experiment.claims import below, m
from headgate.experiment.declare import Basis, Claim, Experiment, HeadlineMeasure, QuickVariant
from headgate.experiment.layers import Bars
from headgate.experiment.measures import throughput
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.blue._network import WHY
from headgate.papers.blue._thousand import FAIR, OPEN, scenario

QDISCS = {"SFB": "sfb:preset=blue,limit=$buffer,levels=3,bins=10,bin_size=auto,rehash=0s", "RED": "red:preset=R2"}

EXPERIMENT = Experiment(
    place="section V-B",
    about="999 TCP flows and an unresponsive flow of 0.5 Mbit/s share 100 Mbit/s. SFB has three levels of 10 bins. "
    "Does it detect the flow?",
    scenario=lambda v: scenario(v, "blue-detect", duration="60s", warmup="20s"),
    qdiscs=QDISCS,
    measures={"unresponsive_rate": throughput(kind="udp") * 1e-6, "tcp_rate": throughput(kind="tcp") * 1e-6},
    choices=OPEN,
    stated_in="section V-B",
    claims=(
        Claim(
            "10 bins in each of 3 levels are enough to detect the flow: it gets less under SFB than under RED",
            below(m("unresponsive_rate", "SFB"), m("unresponsive_rate", "RED")),
            # The paper only says that the flow is detected.
            basis=Basis.OURS,
        ),
        Claim(
            "SFB limits the flow to no more than twice its fair share",
            below(m("unresponsive_rate", "SFB"), 2 * FAIR),
            WHY["detect unknown"],
        ),
    ),
    plot=Plot(
        [PlotPanel((Bars("unresponsive_rate", {}),), y=AxisScale("Throughput (Mbit/s)"), title="Unresponsive flow")],
        "Bars: the 95 % interval over seeds. The flow sends 0.5 Mbit/s; its fair share is 0.1.",
    ),
    headline=HeadlineMeasure("unresponsive_rate", "throughput of the unresponsive flow, Mbit/s"),
    quick=QuickVariant(set=("duration=30s", "warmup=10s")),
)

"""FRED and SFB beside an unresponsive flow, by buffer size."""

from headgate.build.parts import tcp, udp
from headgate.experiment.claims import above, below, m
from headgate.experiment.declare import Claim, Experiment, HeadlineMeasure, OpenParameter, QuickVariant, grid
from headgate.experiment.layers import Lines
from headgate.experiment.measures import throughput
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.blue._network import ACCESS, WHY
from headgate.scenario.network import Dumbbell

#: Buffer sizes in packets: a fifth of the bandwidth-delay product, and twice it.
SMALL, LARGE = 10, 100
QDISCS = {"FRED": "fred:ecn=off", "SFB": "sfb:penalty=rate,bin_size=auto,ecn=off"}

EXPERIMENT = Experiment(
    place="section V-C",
    about="Nine TCP flows and an unresponsive flow of 4 Mbit/s share 10 Mbit/s. How small a buffer fails FRED?",
    scenario=lambda v: Dumbbell(
        name="blue-fred",
        about="Nine TCP flows and one unresponsive of 4 Mbit/s on 10 Mbit/s.",
        duration="60s",
        warmup="20s",
        rate="10Mbit/s",
        delay="20ms",
        limit=f"{v.buffer}p",
        flows=[
            tcp(9, profile="ns2", access=ACCESS, window=100, start="0s..1s"),
            udp("4Mbit/s", profile="ns2", access=ACCESS, packet="1000B", jitter=v.jitter, start="0s..1s"),
        ],
        qdiscs=v.qdiscs,
    ),
    qdiscs=QDISCS,
    cases=grid(buffer=(SMALL, LARGE)),
    measures={"unresponsive_rate": throughput(kind="udp") * 1e-6},
    choices=(
        OpenParameter("scenario", "nine TCP flows, 10 Mbit/s, 40 ms", "section V-C has no experiment"),
        OpenParameter("jitter", 0.1, "a steady flow never has many packets queued; 1 varies its intervals", (1,)),
    ),
    stated_in="section V-C",
    claims=(
        Claim(
            "FRED needs a large buffer: with a small one the unresponsive flow gets more",
            above(m("unresponsive_rate", "FRED", buffer=SMALL), m("unresponsive_rate", "FRED", buffer=LARGE)),
        ),
        Claim(
            "With a small buffer SFB protects TCP better: the flow gets less than under FRED (a tenth)",
            below(m("unresponsive_rate", "SFB", buffer=SMALL), m("unresponsive_rate", "FRED", buffer=SMALL), times=0.9),
            WHY["fred steady"],
        ),
    ),
    plot=one_panel(
        (Lines("unresponsive_rate", "buffer"),),
        AxisScale("Buffer (packets)"),
        AxisScale("Throughput of the unresponsive flow (Mbit/s)", 0),
        note="Bands: the 95 % interval over seeds.",
    ),
    headline=HeadlineMeasure("unresponsive_rate", "unresponsive flow, buffer of 10 packets, Mbit/s", {"buffer": SMALL}),
    quick=QuickVariant(set=("duration=40s",)),
)

"""Packets reordered when the hash functions of SFQ and SFB change."""

from headgate.experiment.claims import above, at_most, every, m
from headgate.experiment.declare import Basis, Claim, HeadlineMeasure, OpenParameter, QuickVariant, grid
from headgate.experiment.layers import Bars
from headgate.experiment.measures import RunMeasure, link, percent, total
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.blue._network import WHY
from headgate.papers.blue._unresponsive import OPEN, SFB, experiment

#: Seconds between changes of the hash function, as in figure 19.
PERIOD = 2
SFQ = "sfq:preset=blue"
MOVING = f"{SFQ},perturb={PERIOD}s"
QDISCS = {
    "SFB": SFB.replace("rehash=0s", f"rehash={PERIOD}s"),
    "SFQ": f"{MOVING},move_queued=off",
    "SFQ, book-keeping": MOVING,
    "SFQ, fixed hash": SFQ,
}

#: Packets that arrived after a packet of their flow that was sent later, in percent of the packets sent.
REORDERED = percent("reordered", "sent")
#: Packets reordered per change of the hash function, over the mean number of packets queued.
PER_CHANGE = total("reordered") / RunMeasure(lambda run: run.seconds / PERIOD * link("queue_packets_mean")(run))

EXPERIMENT = experiment(
    place="section V-E",
    about="400 TCP flows and eight unresponsive flows of 5 Mbit/s, as in figure 19. The hash functions of SFB and of "
    "SFQ change every 2 s. A packet counts as reordered if it reaches the receiver after a packet of its flow that was "
    "sent later. SFQ leaves queued packets in their queues, or, with book-keeping, moves them to new ones.",
    qdiscs=QDISCS,
    cases=grid(unresponsive=(8,), rate=(5,)),
    measures={
        "reordered": REORDERED,
        "per_change": PER_CHANGE,
        "of_unresponsive": total("reordered", kind="udp") / total("reordered"),
        "queue": link("queue_packets_mean"),
    },
    choices=(
        *OPEN,
        OpenParameter("period", f"{PERIOD}s", "section V-E has no experiment; the period is that of figure 19"),
    ),
    stated_in="section V-E",
    claims=(
        Claim(
            "Changing SFQ's hash function reorders packets",
            above(m("reordered", "SFQ"), 0.0),
            # The paper compares with no reordering at all.
            basis=Basis.PAPER,
        ),
        Claim(
            "The reordering is significant: each change reorders more than a tenth of the queued packets",
            above(m("per_change", "SFQ"), 0.1),
            WHY["rehash one packet"],
        ),
        Claim(
            "SFB's hash functions change without reordering",
            at_most(m("reordered", "SFB"), 0.0),
            # SFB is a FIFO queue, so nothing else is possible.
            basis=Basis.ILLUSTRATION,
        ),
        Claim(
            "Mapping flows into other queues is the cause: with book-keeping, or a fixed hash function, SFQ reorders "
            "nothing",
            every(at_most(m("reordered", label), 0.0) for label in ("SFQ, book-keeping", "SFQ, fixed hash")),
            # Each flow then has one FIFO queue at any time.
            basis=Basis.ILLUSTRATION,
        ),
    ),
    plot=Plot(
        [PlotPanel((Bars("reordered"),), y=AxisScale("Reordered packets (%)"))],
        "Bars: the 95 % interval over seeds.",
    ),
    headline=HeadlineMeasure("reordered", "packets reordered, %"),
    quick=QuickVariant(set=("duration=40s",)),
)

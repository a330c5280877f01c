"""comparison/fig15: the queues of TCP and UDP flows in CHOKe and RED, by the UDP flow's rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate import style
from headgate.analysis.judge import above, below, every, near
from headgate.experiment import queues
from headgate.experiment.declare import Claim, Experiment, Quick, grid
from headgate.papers import axes
from headgate.papers.comparison._setting import (
    A_CHOKE,
    BEYOND,
    MAXP,
    MEASURES,
    PLACES,
    RATES,
    RED,
    SHARED,
    Judge,
    rate_axis,
    scenario,
)
from headgate.papers.measures import jain
from headgate.plot.panels import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found

MINTH, MAXTH = 50, 100
#: Why the two differ below the link's rate.
ALWAYS = (
    "TCP alone fills RED beyond minth: 77 packets wait with 0.1 Mbit/s of UDP. CHOKe then compares, and drops, at any "
    "rate, and keeps 49 to 51."
)


def _similar(measure: str) -> Judge:
    """CHOKe's is within a quarter of RED's at each rate below the link's."""
    rates = [rate for rate in RATES if rate < 1]

    def judge(found: Found) -> Judgement:
        ours = [rate for rate in rates if rate in found.axis("cbr")]
        return every(
            near(found(measure, "CHOKe", cbr=rate) / found(measure, "RED", cbr=rate), 1, within=0.25) for rate in ours
        )

    return judge


def _beyond(measure: str, label: str, least: float) -> Judge:
    return lambda found: every(above(found(measure, label, cbr=rate), least) for rate in BEYOND)


def _better(measure: str) -> Judge:
    return lambda found: every(
        above(found(measure, "CHOKe", cbr=rate), found(measure, "RED", cbr=rate)) for rate in BEYOND
    )


def _plot(found: Found) -> Figure:
    drawn = axes.panels(list(found.labels), height=3.4)
    for panel, label in zip(drawn, found.labels, strict=True):
        for measure, name, colour, mark in (
            ("queue", "total", style.FAIR, "D"),
            ("cbr_queue", "UDP", style.UNRESPONSIVE, "s"),
            ("tcp_queue", "TCP", style.TCP, "o"),
        ):
            line = {"label": name, "color": colour, "marker": mark, "linestyle": "-"}
            axes.curves(panel, found, measure, "cbr", labels=[label], x=PLACES, line=line)
        rate_axis(panel, "")
    drawn[0].set_ylabel("Queue size (packets)")
    note = "Mean over time and seeds with its 95 % interval. minth is 50 packets, maxth 100; the link has 1 Mbit/s."
    return axes.finish(figure_of(drawn[0]), EXPERIMENT.title, note, drawn[-1])


EXPERIMENT = Experiment(
    title="The queues of TCP and UDP flows in RED and CHOKe, by the UDP flow's rate",
    place="figure 15",
    about="Ten TCP flows and one UDP flow share 1 Mbit/s under RED, then under A-CHOKe. Whose packets wait?",
    scenario=scenario("fig15", "Ten TCP flows and one of $cbr Mbit/s that does not slow down.", events="all"),
    qdiscs={"RED": RED, "CHOKe": A_CHOKE},
    cases=grid(cbr=RATES),
    measures={
        **MEASURES,
        "queue": queues.packets(),
        "cbr_queue": queues.packets("cbr"),
        "tcp_queue": queues.packets(kind="tcp"),
        "cbr_held": queues.share("cbr"),
        "below_maxth": queues.share_of_time(MAXTH),
        "jain": jain(),
    },
    choices=(*SHARED, MAXP),
    claims=(
        Claim(
            "With a UDP rate below the link's, CHOKe and RED perform very similarly: UDP's queue (within 25 %)",
            "section 4.4, figure 15",
            _similar("cbr_queue"),
            ALWAYS,
        ),
        Claim(
            "With a UDP rate below the link's, CHOKe and RED perform very similarly: TCP's queue (within 25 %)",
            "section 4.4, figure 15",
            _similar("tcp_queue"),
            ALWAYS,
        ),
        Claim(
            "With a UDP rate above the link's, CHOKe keeps the queue around minth, 50 packets (within 20 %)",
            "section 4.4, figure 15",
            lambda found: every(near(found("queue", "CHOKe", cbr=rate), MINTH, within=0.2) for rate in BEYOND),
        ),
        Claim(
            "With a UDP rate above the link's, CHOKe enables TCP to get a high throughput (more than 0.8 Mbit/s)",
            "section 4.4",
            _beyond("tcp", "CHOKe", 0.8),
        ),
        Claim(
            "RED keeps the queue at or below maxth most of the time, with a UDP rate above the link's",
            "section 4.4, figure 15",
            _beyond("below_maxth", "RED", 0.5),
        ),
        Claim(
            "Most of RED's queue is occupied by UDP, with a UDP rate above the link's",
            "section 4.4, figure 15",
            _beyond("cbr_held", "RED", 0.5),
        ),
        Claim(
            "TCP's throughput is then very low in RED (less than 0.05 Mbit/s)",
            "section 4.4",
            lambda found: every(below(found("tcp", "RED", cbr=rate), 0.05) for rate in BEYOND),
        ),
        Claim(
            "CHOKe achieves much better fairness than RED, with a UDP rate above the link's (Jain's index)",
            "section 4.4, figure 15",
            _better("jain"),
        ),
    ),
    plot=_plot,
    quick=Quick(seeds=1, set=("duration=50s",)),
)

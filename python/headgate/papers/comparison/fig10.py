"""comparison/fig10: how SFB limits a UDP flow of forty times the link's rate among 49 TCP flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import above, at_most, below, between
from headgate.experiment import queues
from headgate.experiment.declare import Choice, Claim, Experiment, Headline, Published, Quick
from headgate.papers.comparison._many import many, queue_over_time
from headgate.papers.comparison._setting import CC, DELAY, DURATION, JITTER, MEASURES, OVERHEAD

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found


def _plot(found: Found) -> Figure:
    return queue_over_time(found, EXPERIMENT.title, ("tcp", "cbr"))


EXPERIMENT = Experiment(
    title="How SFB limits a UDP flow of forty times the link's rate among 49 TCP flows",
    place="figure 10",
    about="49 TCP flows and a UDP flow of 40 Mbit/s share 1 Mbit/s and a buffer of 150 KB under SFB.",
    scenario=many("fig10", "49 TCP flows and one of 40 Mbit/s under SFB.", "150p", udp=True),
    qdiscs={"SFB": "sfb:boxtime=$boxtime"},
    seeds=10,
    measures={
        **MEASURES,
        "cbr_queue": queues.packets("cbr"),
        "cbr_most": queues.greatest_average("cbr"),
    },
    published=(
        Published("cbr", "section 4.3", {"SFB": (0.026,)}, unit="Mbit/s"),
        Published("tcp", "section 4.3", {"SFB": (0.925,)}, unit="Mbit/s"),
        Published("cbr_queue", "section 4.3", {"SFB": (4.5,)}, unit="KB"),
    ),
    choices=(
        Choice("boxtime", "50ms", "the figure's Boxtime is not given; section 3.3.3 has 0.05 s", ("100ms", "300ms")),
        DURATION,
        DELAY,
        JITTER,
        OVERHEAD,
        CC,
    ),
    claims=(
        Claim(
            "The UDP flow gets 0.026 Mbit/s only (less than 0.03)",
            "section 4.3",
            lambda found: below(found("cbr", "SFB"), 0.03),
            "Boxtime 0.05 s allows 0.16 Mbit/s. What binds is Bin_Size: 10 packets of UDP in a queue of 0.9 s are 0.09 "
            "Mbit/s. The paper's 0.026 asks for a Boxtime of 0.3 s or more.",
        ),
        Claim(
            "The 49 TCP flows still get 0.925 Mbit/s or more",
            "section 4.3",
            lambda found: above(found("tcp", "SFB"), 0.9245),
            "UDP takes the rest of a full link, for the reasons above; with a Boxtime of 0.1 s and more TCP has more.",
        ),
        Claim(
            "The UDP flow holds 4 to 5 KB of the queue",
            "section 4.3, figure 10",
            lambda found: between(found("cbr_queue", "SFB"), 4, 5),
            "The paper's numbers do not go together: 4.5 KB at 0.026 Mbit/s would wait 1.4 s (Little's law), but a "
            "full buffer of 150 KB drains in 1.2 s.",
        ),
        Claim(
            "Its queue is so small all the time: the average never exceeds 5 KB",
            "section 4.3, figure 10",
            lambda found: at_most(found("cbr_most", "SFB"), 5),
            "Bin_Size, 1.5/23 of 150 packets, lets it hold 10, and its Boxtime of 0.05 s brings them within half a "
            "second.",
        ),
    ),
    plot=_plot,
    headline=Headline("cbr", "Throughput of a UDP flow that sends 40 Mbit/s over 1 Mbit/s among 49 TCP flows, Mbit/s"),
    quick=Quick(seeds=1),
)

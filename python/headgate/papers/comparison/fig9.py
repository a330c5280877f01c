"""comparison/fig9: the queue that SFB keeps under 49 TCP flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import above
from headgate.experiment import queues
from headgate.experiment.declare import Claim, Experiment, Published, Quick
from headgate.papers.comparison._many import many, queue_over_time
from headgate.papers.comparison._setting import CC, DELAY, DURATION, MEASURES, OVERHEAD

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found


def _plot(found: Found) -> Figure:
    return queue_over_time(found, EXPERIMENT.title)


EXPERIMENT = Experiment(
    title="The queue that SFB keeps under 49 TCP flows",
    place="figure 9",
    about="49 TCP flows with windows of 300 KB share 1 Mbit/s and a buffer of 150 KB under SFB.",
    scenario=many("fig9", "49 TCP flows under SFB.", "150p", udp=False),
    qdiscs={"SFB": "sfb"},
    measures={"tcp": MEASURES["tcp"], "total": MEASURES["total"], "queue": queues.packets()},
    published=(Published("tcp", "section 4.3", {"SFB": (0.94,)}, unit="Mbit/s"),),
    choices=(DURATION, DELAY, OVERHEAD, CC),
    claims=(
        Claim(
            "The 49 TCP flows get 0.94 Mbit/s or more",
            "section 4.3",
            lambda found: above(found("tcp", "SFB"), 0.935),
        ),
    ),
    plot=_plot,
    quick=Quick(seeds=1),
)

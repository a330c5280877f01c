"""comparison/fig11: what SFB's Boxtime decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate import style
from headgate.analysis.judge import above, below
from headgate.experiment import queues
from headgate.experiment.declare import Claim, Experiment, Published, Quick, grid
from headgate.papers import axes
from headgate.papers.comparison._many import many
from headgate.papers.comparison._setting import CC, DELAY, DURATION, JITTER, MEASURES, OVERHEAD
from headgate.plot.panels import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found

LARGE, SMALL = "500ms", "20ms"

#: Why a small Boxtime does not let UDP take more.
BINS = (
    "Bin_Size, 1.5/23 of 150 packets, lets UDP hold 10 packets at most; in a queue of 0.9 s that is 0.09 Mbit/s. If "
    "overfull bins did not drop (bin_max=150p), UDP would get 0.39 Mbit/s, near Boxtime's 0.4."
)


def _plot(found: Found) -> Figure:
    drawn = axes.panels(["(a) Boxtime 0.5 s", "(b) Boxtime 0.02 s"], height=3.4)
    for panel, boxtime in zip(drawn, (LARGE, SMALL), strict=True):
        for group, colour in (("tcp", style.TCP), ("cbr", style.UNRESPONSIVE)):
            name = "UDP" if group == "cbr" else "TCP"
            case = {"boxtime": boxtime}
            axes.average_over_time(panel, found, "SFB", group=group, case=case, color=colour, label=name)
        panel.set_xlabel("Time (s)")
        panel.set_ylim(bottom=0)
    drawn[0].set_ylabel("Average queue (KB)")
    note = "Averages over arrivals with weight 0.002, in packets of 1 KB; one seed."
    return axes.finish(figure_of(drawn[0]), EXPERIMENT.title, note, drawn[-1])


EXPERIMENT = Experiment(
    title="What SFB's Boxtime decides: the queues of TCP and UDP flows",
    place="figure 11",
    about="49 TCP flows and a UDP flow of 40 Mbit/s share 1 Mbit/s and a buffer of 150 KB under SFB, which lets one "
    "packet of unresponsive flows in each Boxtime.",
    scenario=many("fig11", "49 TCP flows and one of 40 Mbit/s under SFB, Boxtime $boxtime.", "150p", udp=True),
    qdiscs={"SFB": "sfb:boxtime=$boxtime"},
    cases=grid(boxtime=(LARGE, SMALL)),
    measures={**MEASURES, "cbr_queue": queues.packets("cbr"), "tcp_queue": queues.packets("tcp")},
    published=(
        Published("cbr", "section 4.3", {"SFB": (0.013, 0.27)}, axis="boxtime", at=(LARGE, SMALL), unit="Mbit/s"),
        Published("tcp", "section 4.3", {"SFB": (0.926, 0.66)}, axis="boxtime", at=(LARGE, SMALL), unit="Mbit/s"),
    ),
    choices=(DURATION, DELAY, JITTER, OVERHEAD, CC),
    claims=(
        Claim(
            "With a large Boxtime UDP's average queue is very small (less than a tenth of TCP's)",
            "section 4.3, figure 11a",
            lambda found: below(
                found("cbr_queue", "SFB", boxtime=LARGE), found("tcp_queue", "SFB", boxtime=LARGE), times=0.1
            ),
        ),
        Claim(
            "With a small Boxtime UDP's average queue is quite large (more than five times that with a large one)",
            "section 4.3, figure 11b",
            lambda found: above(
                found("cbr_queue", "SFB", boxtime=SMALL), found("cbr_queue", "SFB", boxtime=LARGE), times=5
            ),
            BINS,
        ),
        Claim(
            "A large Boxtime means a low UDP throughput: 0.013 Mbit/s (less than 0.016, a packet each 0.5 s)",
            "section 4.3",
            lambda found: below(found("cbr", "SFB", boxtime=LARGE), 0.0165),
            "It is a packet each Boxtime; the bound of the claim lies just above it, within the interval.",
        ),
        Claim(
            "A small Boxtime leads to a high UDP throughput: more than ten times that with a large one",
            "section 4.3",
            lambda found: above(found("cbr", "SFB", boxtime=SMALL), found("cbr", "SFB", boxtime=LARGE), times=10),
            BINS,
        ),
        Claim(
            "With a small Boxtime TCP gets less than with a large one",
            "section 4.3",
            lambda found: below(found("tcp", "SFB", boxtime=SMALL), found("tcp", "SFB", boxtime=LARGE)),
        ),
    ),
    plot=_plot,
    quick=Quick(seeds=1),
    modern=False,
)

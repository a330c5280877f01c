"""comparison/fig6: how much buffer FRED needs to be fair, without its rule of two packets for each flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import above, below, every
from headgate.experiment.declare import Choice, Claim, Experiment, Quick, grid
from headgate.papers import axes
from headgate.papers.comparison._setting import FAIR_ENOUGH, MEASURES, SHARED, scenario
from headgate.papers.measures import share_of_fair
from headgate.plot.panels import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found

#: Buffers in packets; the paper names 45 alone.
BUFFERS = (10, 15, 20, 30, 45, 60, 75, 90, 120, 150)
ENOUGH = 45


def _small(found: Found) -> Judgement:
    sizes = [size for size in found.axis("buffer") if size <= ENOUGH]
    return every(below(found("tcp_fair", "FRED", buffer=size), FAIR_ENOUGH) for size in sizes)


def _large(found: Found) -> Judgement:
    sizes = [size for size in found.axis("buffer") if size > ENOUGH]
    return every(above(found("tcp_fair", "FRED", buffer=size), FAIR_ENOUGH) for size in sizes)


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    axes.curves(drawn, found, "tcp", "buffer", labels=["FRED"], line={"label": "TCP, ten flows together"})
    axes.curves(drawn, found, "cbr", "buffer", labels=["FRED"], line={"label": "UDP", "linestyle": "--", "marker": "s"})
    drawn.axvline(ENOUGH, color="#6B6B6B", linewidth=1, linestyle=":")
    drawn.set_ylim(0, 1.02)
    drawn.set_xlabel("Buffer (packets)")
    drawn.set_ylabel("Throughput (Mbit/s)")
    note = "Dotted: 45 packets, above which the paper finds FRED fair. Fair shares: TCP 0.91, UDP 0.09 Mbit/s."
    return axes.finish(figure_of(drawn), EXPERIMENT.title, note, drawn)


EXPERIMENT = Experiment(
    title="How much buffer FRED needs to be fair",
    place="figure 6",
    about="Ten TCP flows and one UDP flow share 1 Mbit/s under FRED without its rule of two packets for each flow. How "
    "large must the buffer be for the UDP flow to be held?",
    scenario=scenario("fig6", "FRED with $buffer packets of buffer.", limit="${buffer}p"),
    qdiscs={"FRED": "fred:many_flows=off"},
    cases=grid(buffer=BUFFERS),
    measures={**MEASURES, "tcp_fair": share_of_fair(kind="tcp")},
    choices=(
        Choice("cbr", 2, "the figure's UDP rate is not given; 2 Mbit/s as in table 1", (1, 8)),
        *SHARED,
    ),
    claims=(
        Claim("FRED works well with buffers of more than 45 packets: TCP has its fair share", "section 4.1", _large),
        Claim("FRED does not work well with smaller ones: TCP has less than its fair share", "section 4.1", _small),
    ),
    plot=_plot,
    quick=Quick(seeds=1, set=("duration=50s",)),
    modern=False,
)

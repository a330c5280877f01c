"""comparison/fig12: whether SFB is fair among several flows that do not slow down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headgate import style
from headgate.analysis.judge import above
from headgate.experiment.declare import Choice, Claim, Experiment, Quick
from headgate.papers import axes
from headgate.papers.comparison._setting import CC, DELAY, DURATION, MEASURES, OVERHEAD, scenario
from headgate.papers.measures import jain
from headgate.plot.panels import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.analysis.runs import Run
    from headgate.experiment.found import Found

#: Why it does not matter here whether Boxtime is fixed.
CHANCE = (
    "UDP gets 0.43 Mbit/s, of which Boxtime accounts for 0.16: bins that fall empty lose d2 = 0.001 each millisecond, "
    "and packets pass by chance, evenly. With d2 = 0 and Boxtime 49.9 ms one UDP flow does take 0.13 to 0.15 of 0.16 "
    "Mbit/s."
)

FIXED, RANDOM = "Boxtime fixed", "Boxtime randomised"


def _first_over_others(run: Run) -> float:
    """What the UDP flow that gets most has over the mean of the four others."""
    sent = np.sort(run.flows("sent", "cbr"))
    return float(sent[-1] / sent[:-1].mean())


def _plot(found: Found) -> Figure:
    drawn = axes.panels([f"({letter}) {label}" for letter, label in zip("ab", found.labels, strict=False)], height=3.4)
    for panel, label in zip(drawn, found.labels, strict=True):
        run = found.runs(label)[0]
        for kind, colour, first in (("udp", style.UNRESPONSIVE, 0), ("tcp", style.TCP, 5)):
            rates = run.flows("sent_bytes", kind=kind) * 8e-6 / run.seconds
            panel.bar(np.arange(len(rates)) + first, rates, color=colour, label=kind.upper())
        panel.set_xticks(range(15))
        panel.set_xlabel("Flow")
    drawn[0].set_ylabel("Throughput (Mbit/s)")
    note = "Flows 0 to 4 are UDP, 5 to 14 TCP; one seed. Which UDP flow takes most differs from seed to seed."
    return axes.finish(figure_of(drawn[0]), EXPERIMENT.title, note, drawn[-1])


EXPERIMENT = Experiment(
    title="Whether SFB is fair among several flows that do not slow down",
    place="figure 12",
    about="Five UDP flows of 4 Mbit/s and ten TCP flows share 1 Mbit/s under SFB, which lets one packet of "
    "unresponsive flows in each Boxtime. With a fixed Boxtime a flow can fall into step with it.",
    scenario=scenario("fig12", "Five UDP flows of 4 Mbit/s and ten TCP flows under SFB.", cbr="4Mbit/s", cbr_flows="5"),
    qdiscs={FIXED: "sfb", RANDOM: "sfb:randomize_boxtime=on"},
    seeds=20,
    measures={
        **MEASURES,
        "udp_jain": jain(kind="udp"),
        "tcp_jain": jain(kind="tcp"),
        "first": _first_over_others,
    },
    choices=(
        Choice(
            "jitter",
            0,
            "ns-2's CBR has none unless asked; here nothing must hide that flows fall into step with the Boxtime",
            (0.01, 0.1),
        ),
        DURATION,
        DELAY,
        OVERHEAD,
        CC,
    ),
    claims=(
        Claim(
            "With a fixed Boxtime one UDP flow consumes more than the others (twice their mean)",
            "section 4.3, figure 12a",
            lambda found: above(found("first", FIXED), 2),
            CHANCE,
        ),
        Claim(
            "The fairness among TCP flows is obvious (Jain's index above 0.9)",
            "section 4.3, figure 12a",
            lambda found: above(found("tcp_jain", FIXED), 0.9),
        ),
        Claim(
            "With a randomised Boxtime the fairness among UDP flows is improved (Jain's index)",
            "section 4.3, figure 12b",
            lambda found: above(found("udp_jain", RANDOM), found("udp_jain", FIXED)),
            CHANCE,
        ),
    ),
    plot=_plot,
    quick=Quick(seeds=1),
    modern=False,
)

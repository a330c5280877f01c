"""faba/fig5: what a flow that does not slow down gets, by how many tokens FABA has for each packet of room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate import style
from headgate.analysis.judge import above, at_most, below, rises
from headgate.experiment.declare import Claim, Experiment, Quick, grid
from headgate.papers import axes
from headgate.papers.faba import _common as common
from headgate.papers.measures import goodput, in_unit, total

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found

#: Why alpha does not do here what the paper says.
NEVER_FULL = (
    "The buffer never fills: of 780 packets 183 wait on average with alpha = 1 and 256 with 1.5, and with 39 to 780 "
    "packets of room nothing is dropped for want of it. So more tokens do what a larger buffer does."
)


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    axes.curves(drawn, found, "cbr", "alpha")
    drawn.axhline(1.0, color=style.FAIR, linestyle=":", linewidth=1.0)
    drawn.set_xlim(1.0, 1.5)
    drawn.set_ylim(bottom=0)
    drawn.set_xlabel("alpha (tokens for each packet of room)")
    drawn.set_ylabel("Bandwidth of the CBR flow (Mbit/s)")
    note = "FABA, with the 95 % interval over seeds. Dotted: the flow's fair share."
    return axes.finish(drawn.figure, EXPERIMENT.title, note)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="What a flow that does not slow down gets, by FABA's stock of tokens",
    place="figure 5",
    about="As figure 4, with lambda2 = 1/4; alpha is the number of tokens over the packets of room. Above 1 the buffer "
    "can be full while buckets still hold tokens, and then drops whoever comes.",
    scenario=common.MIX,
    qdiscs={"FABA": "faba:alpha=$alpha"},
    cases=grid(alpha=tuple(each / 100 for each in range(100, 151, 5))),
    measures={
        "cbr": in_unit(goodput(kind="udp"), 1e-6),
        "tcp": in_unit(goodput(kind="tcp"), 1e-6),
        "tcp_overflows": total("dropped_overflow", kind="tcp"),
    },
    choices=(common.OPEN_BUFFER, *common.MIX_CHOICES),
    claims=(
        Claim(
            "The CBR flow gets more with a higher alpha",
            "section 5.1, figure 5",
            lambda found: rises(found.over("alpha", "cbr", "FABA")[1]),
            NEVER_FULL,
        ),
        Claim(
            "With alpha = 1 TCP loses nothing to a full buffer",
            "section 5.1",
            lambda found: at_most(found("tcp_overflows", "FABA", alpha=1.0), 0),
        ),
        Claim(
            "With alpha above 1 (1.5) TCP loses packets to a full buffer",
            "section 5.1",
            lambda found: above(found("tcp_overflows", "FABA", alpha=1.5), 0),
            NEVER_FULL,
        ),
        Claim(
            "Above alpha = 1.2 (at 1.5) TCP gets less than at 1.2",
            "section 5.1, figure 5",
            lambda found: below(found("tcp", "FABA", alpha=1.5), found("tcp", "FABA", alpha=1.2)),
            NEVER_FULL,
        ),
    ),
    plot=_plot,
    modern=False,
    quick=Quick(seeds=3, set=("duration=60s",)),
)

"""Goodput of the unresponsive flow, by FABA's stock of tokens."""

from headgate.experiment.claims import above, at_most, below, m, over, rises
from headgate.experiment.declare import Basis, Claim, Experiment, QuickVariant, grid
from headgate.experiment.layers import Lines, ReferenceLine
from headgate.experiment.measures import link, total
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.faba._setting import GOODPUTS, MIX_CHOICES, SAME_BUFFER, WHY, mix

NEVER_FULL = WHY["fig5 never full"]

EXPERIMENT = Experiment(
    about="As figure 4, with lambda2 = 1/4. alpha is the number of tokens over the buffer's size in packets. "
    "Above 1 the buffer can be full while buckets still hold tokens. It then drops the arriving packets "
    "of any flow.",
    scenario=mix,
    qdiscs={"FABA": "faba:alpha=$alpha"},
    cases=grid(alpha=tuple(each / 100 for each in range(100, 151, 5))),
    measures={
        **GOODPUTS,
        "tcp_overflows": total("dropped_overflow", kind="tcp"),
        "queue": link("queue_packets_mean"),
    },
    choices=(SAME_BUFFER, *MIX_CHOICES),
    stated_in="section 5.1, figure 5",
    claims=(
        Claim("The CBR flow gets more with a higher alpha", rises(over("alpha", "cbr", "FABA")), NEVER_FULL),
        Claim(
            "With alpha = 1 a full buffer drops none of TCP's packets",
            at_most(m("tcp_overflows", "FABA", alpha=1.0), 0),
            place="section 5.1",
            # Every queued packet holds a token, and there are no more tokens than places in the buffer.
            basis=Basis.ILLUSTRATION,
        ),
        Claim(
            "With alpha above 1 (1.5) a full buffer drops TCP's packets",
            above(m("tcp_overflows", "FABA", alpha=1.5), 0),
            NEVER_FULL,
            place="section 5.1",
            basis=Basis.PAPER,
        ),
        Claim(
            "Above alpha = 1.2 (at 1.5) TCP gets less than at 1.2",
            below(m("tcp", "FABA", alpha=1.5), m("tcp", "FABA", alpha=1.2)),
            NEVER_FULL,
        ),
    ),
    plot=one_panel(
        (Lines("cbr", "alpha"), ReferenceLine(1.0)),
        AxisScale("alpha (tokens for each packet of buffer)", 1.0, 1.5),
        AxisScale("Goodput of the CBR flow (Mbit/s)", 0),
        note="FABA, with the 95 % interval over seeds. Dotted: the flow's fair share.",
        legend=None,
    ),
    modern=False,
    quick=QuickVariant(seeds=3, set=("duration=60s",)),
)

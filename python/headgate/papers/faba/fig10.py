"""Goodput of the unresponsive flow over time."""

from headgate.experiment.claims import above, below, m
from headgate.experiment.declare import Basis, Claim, Experiment, HeadlineMeasure, QuickVariant, for_each
from headgate.experiment.layers import ReferenceLine, RunLine, series
from headgate.experiment.measures import goodput
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.faba._setting import CHOKE_MINTH, FABA, MIX_BUFFER, MIX_CHOICES, OTHERS, WHY, mix

EXPERIMENT = Experiment(
    about="Nine TCP flows share 10 Mbit/s with a constant flow of 5 Mbit/s; the buffer is 780 packets. The "
    "constant flow's fair share is 1 Mbit/s. Our text of the paper has lost figure 10's curves, so the "
    "disciplines are those of section 5.",
    scenario=lambda v: mix(v, interval="1s"),
    qdiscs={**OTHERS, **FABA},
    measures={"cbr": goodput(kind="udp") * 1e-6},
    choices=(MIX_BUFFER, CHOKE_MINTH, *MIX_CHOICES),
    stated_in="section 5.3, figure 10",
    claims=(
        *for_each(
            OTHERS,
            "The CBR flow gets less under FABA than under {}",
            lambda other: below(m("cbr", "FABA"), m("cbr", other)),
            {"FRED": WHY["fig10 FRED"]},
        ),
        Claim(
            "Under FABA the CBR flow gets not much more than its fair share (less than 1.5 times)",
            below(m("cbr", "FABA"), 1.5),
        ),
        *for_each(
            (*OTHERS, *FABA),
            "The CBR flow gets at least its fair share under {}",
            lambda label: above(m("cbr", label), 1.0),
            basis=Basis.PAPER,
        ),
    ),
    plot=one_panel(
        (RunLine(series("goodput_bps", "cbr"), scale=1e-6), ReferenceLine(1.0)),
        AxisScale("Time (s)"),
        AxisScale("Goodput of the CBR flow (Mbit/s)", 0),
        note="Means over 1 s, seed 1. Dotted: the flow's fair share.",
    ),
    headline=HeadlineMeasure("cbr", "CBR flow, Mbit/s (fair: 1)"),
    quick=QuickVariant(seeds=2),
)

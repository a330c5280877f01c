"""Few flows send most of the bytes and packets of a trace."""

from functools import partial

from headgate import style
from headgate.experiment.claims import m, near, over
from headgate.experiment.declare import Basis, Claim, PublishedNumbers
from headgate.experiment.layers import Line
from headgate.experiment.plots import one_panel
from headgate.papers.red_pd import _skew as skew

LOOKS = {"bytes": {"color": style.TCP, "marker": "o"}, "packets": {"color": style.UNRESPONSIVE, "marker": "s"}}

EXPERIMENT = skew.experiment(
    about="The largest flows' share of the bytes and packets of a trace. The paper's trace is an hour of the "
    "year 2000. --trace names any capture; without it, traces are generated with the published skew.",
    compute=skew.whole,
    qdiscs={"the trace": "whole"},
    published=(
        PublishedNumbers("bytes", "section 3", {"the trace": (80,)}, axis="flows", at=(0.01,), unit="%", scale=100.0),
        PublishedNumbers("packets", "section 3", {"the trace": (64,)}, axis="flows", at=(0.01,), unit="%", scale=100.0),
    ),
    choices=(skew.TRACE, skew.AXES),
    stated_in="section 3, figure 3",
    claims=(
        Claim(
            "1 % of the flows account for about 80 % of the bytes (within 10 %; in generated traces by construction)",
            near(m("bytes", "the trace", flows=0.01), 0.80, within=0.1),
            basis=Basis.ILLUSTRATION,
        ),
        Claim(
            "... and for 64 % of the packets (within 10 %; in generated traces by construction)",
            near(m("packets", "the trace", flows=0.01), 0.64, within=0.1),
            basis=Basis.ILLUSTRATION,
        ),
    ),
    plot=one_panel(
        tuple(
            layer
            for y, look in LOOKS.items()
            for layer in (
                Line(over("flows", y, "the trace"), {**look, "label": y}, scale=100, at=skew.percent, bars=True),
                skew.crosses(y),
            )
        ),
        skew.X,
        skew.Y,
        note=partial(skew.note, "Crosses: the paper's text."),
        legend_place="lower right",
    ),
)

"""Flows that send most now send most in the next seconds."""

from functools import partial

from headgate import style
from headgate.experiment.claims import Curve, above, in_each_case, m, near
from headgate.experiment.declare import Basis, Claim, PublishedNumbers
from headgate.experiment.layers import MARKERS, FixedLine, Line
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.red_pd import _skew as skew


def _next(label: str) -> Curve:
    """The share of the next window's bytes, against the share of this window's bytes."""
    return Curve(
        lambda results, _: (
            [now.mean for now in results.over("flows", "bytes", label)[1]],
            results.over("flows", "following", label)[1],
        )
    )


LINES = [
    Line(
        _next(label),
        {"color": color, "marker": marker, "label": f"windows of {label}"},
        scale=100,
        at=skew.percent,
        bars=True,
    )
    for label, color, marker in zip(skew.WINDOWS_BY_LABEL, style.TCP_SHADES, MARKERS, strict=False)
]
AS_MUCH = {"color": "0.7", "linewidth": 1, "linestyle": "-", "label": "as much as now"}
PAPER = {"color": "black", "marker": "x", "linestyle": "", "markersize": 8}

EXPERIMENT = skew.experiment(
    about="The flows that sent most in one window: their share of the bytes of the next window.",
    published=(
        PublishedNumbers("following", "section 3", {"5 s": (36,)}, axis="flows", at=(0.01,), unit="%", scale=100.0),
    ),
    claims=(
        Claim(
            "The 1 % of the flows that send most in 5 s send 36 % of the bytes of the next 5 s (within 10 %)",
            near(m("following", "5 s", flows=0.01), 0.36, within=0.1),
            place="section 3, figure 5",
            basis=Basis.ILLUSTRATION,
        ),
        Claim(
            "High-bandwidth flows of 5 s predict those of the next 5 s: the top 0.1 % to 10 % of the flows "
            "keep more than half of their share",
            in_each_case(above(m("following", "5 s"), m("bytes", "5 s"), times=0.5), flows=lambda part: part <= 0.1),
            place="section 3",
            basis=Basis.ILLUSTRATION,
        ),
    ),
    plot=one_panel(
        (
            FixedLine((0, 100), (0, 100), AS_MUCH),
            *LINES,
            FixedLine((50,), (36,), {**PAPER, "label": "the paper: 1 % of the flows, 5 s"}),
        ),
        AxisScale("Bytes in this window (%)", 0, 100),
        AxisScale("Bytes in the next window (%)", 0, 100),
        note=partial(skew.note, "The largest 0.1 % to 50 % of the flows of a window, means over windows."),
        legend_place="upper left",
    ),
    seeds=10,
)

"""faba/fig17: what an aggregate of constant flows gets beside an aggregate of TCP flows, by what it sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate import style
from headgate.analysis.judge import Judgement, every, near
from headgate.experiment.declare import Claim, Experiment, Quick, grid
from headgate.papers import axes
from headgate.papers.faba import _common as common
from headgate.papers.measures import goodput, in_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found

PLACE = "section 6.2, figure 17"

SCENARIO = """
name = "faba-aggregates"
about = "A hundred TCP flows as one class, constant flows of 500 kbit/s as another."
duration = "$duration"
warmup = "20s"
qdiscs = ["faba:per=class"]

[link]
rate = "10Mbit/s"
delay = "14ms"
limit = "${buffer}p"

[[tcp]]
profile = "ns2"
flows = 100
cc = "$cc"
packet = "512B"
window = $window
min_rto = "$min_rto"
start = "0s..1s"
overhead = "200us"

[[udp]]
name = "cbr"
profile = "ns2"
flows = $constant
rate = "500kbit/s"
packet = "512B"
jitter = 0.1
start = "0s..1s"

[[class]]
name = "tcp"
protocol = "tcp"

[[class]]
name = "cbr"
protocol = "udp"
"""


def _served(found: Found) -> Judgement:
    few = [flows for flows in found.axis("constant") if flows <= 8]
    return every(near(found("cbr", "FABA", constant=flows), 0.5 * flows, within=0.05) for flows in few)


def _held(found: Found) -> Judgement:
    many = [flows for flows in found.axis("constant") if flows >= 10]
    return every(near(found("cbr", "FABA", constant=flows), 5.0, within=0.05) for flows in many)


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    axes.curves(drawn, found, "cbr", "constant", x={flows: 0.5 * flows for flows in found.axis("constant")})
    drawn.plot([0, 5, 10], [0, 5, 5], color=style.FAIR, linestyle=":", linewidth=1.2, label="fair")
    drawn.set_xlim(0, 10.2)
    drawn.set_ylim(0, 6)
    drawn.set_xlabel("What the CBR flows send together (Mbit/s)")
    drawn.set_ylabel("What they get together (Mbit/s)")
    return axes.finish(drawn.figure, EXPERIMENT.title, "With the 95 % interval over seeds.", drawn)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="What an aggregate of constant flows gets beside one of TCP flows",
    place="figure 17",
    about="A hundred TCP flows are one aggregate with one bucket, up to twenty constant flows of 500 kbit/s another. "
    "Each is due half of 10 Mbit/s.",
    scenario=SCENARIO,
    qdiscs={"FABA": "faba:per=class"},
    cases=grid(constant=(1, 2, 4, 6, 8, 9, 10, 11, 12, 14, 16, 18, 20)),
    measures={"cbr": in_unit(goodput(kind="udp"), 1e-6), "tcp": in_unit(goodput(kind="tcp"), 1e-6)},
    choices=(
        common.OPEN_BUFFER,
        common.DURATION,
        common.WINDOW,
        common.CC,
        common.MIN_RTO,
        common.PHASE,
    ),
    claims=(
        Claim("Below its fair share the aggregate of CBR flows gets what it sends (within 5 %)", PLACE, _served),
        Claim("From 5 Mbit/s on it gets nearly its fair share of 5 Mbit/s (within 5 %)", PLACE, _held),
    ),
    plot=_plot,
    modern=False,
    quick=Quick(seeds=2, cases=grid(constant=(2, 6, 10, 14, 20)), set=("duration=60s",)),
)

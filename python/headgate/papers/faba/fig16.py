"""faba/fig16: what a fragile flow gets, by the window that it is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headgate import style
from headgate.analysis.judge import Judgement, Quantity, above, at_most, below, every, near
from headgate.experiment.declare import Choice, Claim, Experiment, Headline, Quick, grid
from headgate.papers import axes
from headgate.papers.faba import _common as common
from headgate.papers.measures import in_unit, throughput, total

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found

#: Packets; 110 of them a round trip of 40 ms are the fair share of 11.25 Mbit/s.
WINDOWS = (10, 20, 30, 40, 60, 80, 110, 140, 170, 200)
FAIR = 11.25
#: What a packet a round trip is worth: 512 bytes in 40 ms, in Mbit/s.
MBPS = 512 * 8 / 0.040 / 1e6
PLACE = "section 5.6, figure 16"

SCENARIO = """
name = "faba-fragile"
about = "A TCP flow of 40 ms beside two of 6 ms and one of 40 Mbit/s that does not slow down, on 45 Mbit/s."
duration = "40s"
warmup = "10s"
qdiscs = ["faba"]

[link]
rate = "45Mbit/s"
delay = "2ms"
limit = "${buffer}p"

[[tcp]]
name = "fragile"
profile = "ns2"
cc = "$cc"
packet = "512B"
window = $fragile
min_rto = "$min_rto"
sender = { delay = "18ms" }
receiver = { delay = "0ms" }
start = "0s..1s"
overhead = "40us"

[[tcp]]
name = "robust"
profile = "ns2"
flows = 2
cc = "$cc"
packet = "512B"
window = $window
min_rto = "$min_rto"
receiver = { delay = "0ms" }
start = "0s..1s"
overhead = "40us"

[[udp]]
name = "cbr"
profile = "ns2"
rate = "40Mbit/s"
packet = "512B"
jitter = 0.1
receiver = { delay = "0ms" }
start = "0s..1s"
"""


def _ideal(window: int) -> float:
    return min(window * MBPS, FAIR)


def _follows(found: Found) -> Judgement:
    return every(
        above(found("fragile", "FABA", fragile=window), 0.9 * _ideal(window)) for window in found.axis("fragile")
    )


def _unharmed(label: str) -> Claim:
    return Claim(
        f"Under {label} a small window (10) sees no drops",
        PLACE,
        lambda found: at_most(found("dropped", label, fragile=10), 0),
        "RED and CHOKe do not tell flows apart, and the two others and the CBR flow fill the link: at any buffer from"
        " 66 to 1760 packets RED drops packets of a window of 10.",
    )


def _saturates(label: str, finding: str = "") -> Claim:
    def judge(found: Found) -> Judgement:
        most, before = (found("fragile", label, fragile=window) for window in (200, 110))
        return every((below(most, 0.75 * FAIR), _level(most, before)))

    return Claim(
        f"Under {label} the flow's rate becomes constant (within a fifth from 110 to 200), much below the fair share "
        "(by a quarter at least)",
        PLACE,
        judge,
        finding,
    )


def _level(a: Quantity, b: Quantity) -> Judgement:
    return near(a / b, 1.0, within=0.2)


def _better(other: str) -> Claim:
    def judge(found: Found) -> Judgement:
        return above(found("fragile", "FABA", fragile=200), found("fragile", other, fragile=200))

    return Claim(f"With a large window (200) the flow gets more under FABA than under {other}", PLACE, judge)


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    axes.curves(drawn, found, "fragile", "fragile")
    windows = np.linspace(0, 200, 201)
    ideal = np.minimum(windows * MBPS, FAIR)
    drawn.plot(windows, ideal, color=style.FAIR, linestyle=":", linewidth=1.2, label="ideal")
    drawn.set_xlim(0, 205)
    drawn.set_ylim(bottom=0)
    drawn.set_xlabel("Greatest window of the fragile flow (packets)")
    drawn.set_ylabel("Its throughput (Mbit/s)")
    return axes.finish(drawn.figure, EXPERIMENT.title, "With the 95 % interval over seeds.", drawn)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="What a fragile flow gets, by the window that it is allowed",
    place="figure 16",
    about="A TCP flow with a round trip of 40 ms shares 45 Mbit/s with two of 6 ms and a constant flow of 40 Mbit/s. "
    "Ideally its throughput is window over round trip, up to its fair share of 11.25 Mbit/s.",
    scenario=SCENARIO,
    qdiscs={**common.OTHERS, "FABA": "faba"},
    cases=grid(fragile=WINDOWS),
    measures={"fragile": in_unit(throughput("fragile"), 1e-6), "dropped": total("dropped", "fragile")},
    choices=(
        Choice("duration", "40s", "not stated; figures cover the last 30 s"),
        Choice(
            "buffer",
            264,
            "not stated; as in section 5.3, a bandwidth-delay product for each of the four flows, 66 packets at 6 ms",
            (66, 130, 440, 1760),
        ),
        common.CHOKE_MINTH,
        common.WINDOW,
        common.CC,
        common.MIN_RTO,
        Choice("overhead", "40us", "half a packet's time on the link, against falling into step"),
    ),
    claims=(
        Claim(
            "FABA gives almost the ideal share (a tenth less at most) at every window",
            PLACE,
            _follows,
            "Open: the buffer. The ideal line leaves out queueing, which is 7 ms with 264 packets: a window of 10 over "
            "47 ms is 0.87 Mbit/s, which the flow gets. With 66 packets small windows keep to the line, and large ones "
            "lose packets and stay below 4 Mbit/s; with 130 packets the line is followed up to 9.6 Mbit/s.",
        ),
        *(_unharmed(label) for label in (*common.OTHERS, "FABA")),
        *(_saturates(label) for label in common.OTHERS),
        *(_better(label) for label in common.OTHERS),
    ),
    plot=_plot,
    headline=Headline("fragile", "fragile flow with a window of 200, Mbit/s (fair: 11.25)", {"fragile": 200}),
    quick=Quick(seeds=4, cases=grid(fragile=(10, 40, 110, 200)), set=("duration=25s",)),
)

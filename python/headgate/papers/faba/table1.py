"""faba/table1: how much of its fair share TCP gets beside a flow that does not slow down, by buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.papers import axes
from headgate.papers.experiment import Choice, Claim, Experiment, Headline, Published, Quick, grid
from headgate.papers.judge import above, every, rises
from headgate.papers.measures import share_of_fair

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.papers.found import Found
    from headgate.papers.judge import Judgement

#: The buffers in packets: 1/10, 1/5, 1/2, 1 and 2 times 780, the bandwidth-delay products of ten flows together.
BUFFERS = (78, 156, 390, 780, 1560)

SCENARIO = """
name = "faba-table1"
about = "9 TCP flows and one of 5 Mbit/s that does not slow down on 10 Mbit/s."
duration = "$duration"
warmup = "20s"
qdiscs = ["faba"]

[link]
rate = "10Mbit/s"
delay = "14ms"
limit = "${buffer}p"

[[tcp]]
profile = "ns2"
flows = 9
cc = "newreno"
packet = "512B"
window = $window
start = "0s..1s"
overhead = "200us"

[[udp]]
name = "cbr"
profile = "ns2"
rate = "5Mbit/s"
packet = "512B"
jitter = 0.1
start = "0s..1s"
"""

QDISCS = {
    "RED": "red:minth=25%,maxth=50%,maxp=0.02",
    "CHOKe": "choke:minth=25%,maxth=50%,maxp=0.02",
    "FRED": "fred:minth=25%,maxth=50%,maxp=0.02",
    "SFED": "sfed",
    "FABA": "faba",
}


def _best(found: Found) -> Judgement:
    others = [label for label in ("RED", "CHOKe", "FRED") if label in found.labels]
    return every(
        above(found("tcp_share", "FABA", buffer=buffer), found("tcp_share", label, buffer=buffer))
        for buffer in found.axis("buffer")
        for label in others
    )


def _rises(found: Found) -> Judgement:
    return every(rises(found.over("buffer", "tcp_share", label)[1]) for label in ("CHOKe", "FRED", "SFED", "FABA"))


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    axes.curves(drawn, found, "tcp_share", "buffer")
    axes.published(drawn, found, "tcp_share")
    drawn.set_xscale("log", base=2)
    drawn.set_xticks(BUFFERS, [str(buffer) for buffer in BUFFERS])
    drawn.set_xlabel("Buffer (packets of 512 bytes)")
    drawn.set_ylabel("TCP's goodput over its fair share")
    note = "Lines: here, with the 95 % interval over seeds. Crosses: the paper's table 1."
    return axes.finish(drawn.figure, EXPERIMENT.title, note, drawn)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="TCP's share of its fair share beside a flow that does not slow down, by buffer",
    place="table 1",
    about="Nine TCP flows share 10 Mbit/s with a constant flow of 5 Mbit/s; the buffer is a part of the bandwidth-delay "
    "product of all flows, 780 packets. How much of nine tenths of the link do the nine get?",
    scenario=SCENARIO,
    qdiscs=QDISCS,
    cases=grid(buffer=BUFFERS),
    measures={"tcp_share": share_of_fair(kind="tcp"), "cbr_share": share_of_fair(kind="udp")},
    published=(
        Published(
            "tcp_share",
            "table 1",
            {
                "RED": (0.551, 0.564, 0.559, 0.557, 0.556),
                "CHOKe": (0.622, 0.631, 0.659, 0.685, 0.688),
                "FRED": (0.814, 0.873, 0.945, 0.961, 0.962),
                "SFED": (0.923, 0.975, 0.982, 0.990, 0.994),
                "FABA": (0.888, 0.953, 0.975, 0.987, 0.993),
            },
            axis="buffer",
            at=BUFFERS,
        ),
    ),
    choices=(
        Choice("duration", "100s", "the paper gives no duration"),
        Choice(
            "window", 10000, "the paper states no receiver's window; a small one would hide what queues do", (20, 78)
        ),
    ),
    claims=(
        Claim("FABA gives TCP more than RED, CHOKe and FRED do, at every buffer", "section 5.2, table 1", _best),
        Claim("With more buffer, TCP gets more under CHOKe, FRED, SFED and FABA", "table 1", _rises),
    ),
    plot=_plot,
    headline=Headline("tcp_share", "TCP's share of its fair share, buffer of 780 packets", {"buffer": 780}),
    quick=Quick(seeds=1, set=("duration=40s",)),
)

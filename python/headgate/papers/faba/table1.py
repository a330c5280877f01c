"""faba/table1: how much of its fair share TCP gets beside a flow that does not slow down, by buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import Judgement, above, every, near, rises
from headgate.experiment.declare import Claim, Experiment, Headline, Published, Quick, grid
from headgate.papers import axes
from headgate.papers.faba import _common as common
from headgate.papers.measures import throughput_of_fair

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found

#: The buffers in packets: 1/10, 1/5, 1/2, 1 and 2 times 780, the bandwidth-delay products of ten flows together.
BUFFERS = (78, 156, 390, 780, 1560)


def _better(other: str, finding: str = "") -> Claim:
    def judge(found: Found) -> Judgement:
        return every(
            above(found("tcp_share", "FABA", buffer=buffer), found("tcp_share", other, buffer=buffer))
            for buffer in found.axis("buffer")
        )

    return Claim(f"FABA gives TCP more than {other} does, at every buffer", "section 5.4, table 1", judge, finding)


def _rises(label: str, finding: str = "") -> Claim:
    return Claim(
        f"With more buffer, TCP gets more under {label}",
        "table 1",
        lambda found: rises(found.over("buffer", "tcp_share", label)[1]),
        finding,
    )


def _small(found: Found) -> Judgement:
    return above(found("tcp_share", "FABA", buffer=78), found("tcp_share", "FRED", buffer=78))


def _as_sfed(found: Found) -> Judgement:
    return every(
        near(found("tcp_share", "FABA", buffer=buffer) / found("tcp_share", "SFED", buffer=buffer), 1.0, within=0.05)
        for buffer in found.axis("buffer")
    )


#: Why FABA is not as SFED with a small buffer.
SMALL_SFED = (
    "At 78 packets FABA is 6 % better: SFED trims buckets at once, and TCP times out three times as often. With a "
    "round trip of 12 instead of 32 ms SFED is ahead by 1 %."
)


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    axes.curves(drawn, found, "tcp_share", "buffer")
    axes.published(drawn, found, "tcp_share")
    drawn.set_xscale("log", base=2)
    drawn.set_xticks(BUFFERS, [str(buffer) for buffer in BUFFERS])
    drawn.set_xlabel("Buffer (packets of 512 bytes)")
    drawn.set_ylabel("TCP's bandwidth over its fair share")
    note = "Lines: here, with the 95 % interval over seeds. Crosses: the paper's table 1."
    return axes.finish(drawn.figure, EXPERIMENT.title, note, drawn)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="TCP's share of its fair share beside a flow that does not slow down, by buffer",
    place="table 1",
    about="Nine TCP flows share 10 Mbit/s with a constant flow of 5 Mbit/s; the buffer is a part of the "
    "bandwidth-delay product of all flows, 780 packets. How much of nine tenths of the link do the nine "
    "get, repeats included? "
    "(With repeats, RED's column and the constant flow's 5 Mbit/s fill the link in the paper as they do here.)",
    scenario=common.MIX,
    qdiscs={**common.OTHERS, "SFED": "sfed", "FABA": "faba"},
    cases=grid(buffer=BUFFERS),
    measures={"tcp_share": throughput_of_fair(kind="tcp")},
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
    choices=(common.CHOKE_MINTH, *common.MIX_CHOICES),
    claims=(
        _better("RED"),
        _better("CHOKe"),
        _better(
            "FRED",
            "Ahead up to 390 packets, level at 780, behind at 1560. FRED's strikes are forgotten when the queue holds "
            "nothing more of a flow; in a large buffer that never happens to the CBR flow, and every drop of it is for "
            "strikes. Under FABA, TCP flows that back off after a burst of drops lose their buckets, and the CBR flow "
            "shares their tokens; with SACK, which loses less to bursts, FABA is ahead at 780 packets.",
        ),
        Claim("With a constrained buffer (78 packets) FABA does better than FRED", "section 1, table 1", _small),
        Claim(
            "FABA does almost as well as SFED (within 5 %), at every buffer",
            "section 5.4, table 1",
            _as_sfed,
            SMALL_SFED,
        ),
        _rises(
            "CHOKe",
            "Open: CHOKe's thresholds, which section 5 does not give. With a minth of a quarter of the buffer nine TCP "
            "flows keep the average at minth, where only part of the arrivals are compared; with 5 % TCP's part rises "
            "from 0.58 to 0.64.",
        ),
        _rises("FRED"),
        _rises("SFED"),
        _rises("FABA"),
    ),
    plot=_plot,
    headline=Headline("tcp_share", "TCP's share of its fair share, buffer of 780 packets", {"buffer": 780}),
    quick=Quick(seeds=1, set=("duration=60s",)),
)

"""TCP's share of its fair share beside an unresponsive flow, by buffer."""

from headgate.experiment.claims import above, in_each_case, m, near, over, rises
from headgate.experiment.declare import (
    Claim,
    Experiment,
    HeadlineMeasure,
    PublishedNumbers,
    QuickVariant,
    for_each,
    grid,
)
from headgate.experiment.layers import Lines, PublishedMarks
from headgate.experiment.measures import gauge, throughput_of_fair, total
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.faba._setting import CHOKE_MINTH, FABA, MIX_CHOICES, OTHERS, WHY, mix

#: Buffer sizes in packets: 1/10, 1/5, 1/2, 1 and 2 times the bandwidth-delay products of ten flows, 780 packets.
BUFFERS = (78, 156, 390, 780, 1560)

EXPERIMENT = Experiment(
    about="Nine TCP flows share 10 Mbit/s with a constant flow of 5 Mbit/s. The buffer is a multiple of 780 "
    "packets, the bandwidth-delay product of all flows. How much of nine tenths of the link do the nine "
    "flows get? Retransmissions count: only then do RED's numbers in the paper and the constant flow's 5 "
    "Mbit/s fill the link, as they do here.",
    scenario=mix,
    qdiscs={**OTHERS, "SFED": "sfed", **FABA},
    cases=grid(buffer=BUFFERS),
    measures={
        "tcp_share": throughput_of_fair(kind="tcp"),
        "buckets": gauge("flows"),
        "timeouts": total("timeouts", kind="tcp"),
    },
    published=(
        PublishedNumbers(
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
    choices=(CHOKE_MINTH, *MIX_CHOICES),
    stated_in="section 5.4, table 1",
    claims=(
        *for_each(
            OTHERS,
            "FABA gives TCP more than {} does, at every buffer",
            lambda other: in_each_case(above(m("tcp_share", "FABA"), m("tcp_share", other))),
            {"FRED": WHY["table1 FRED"]},
        ),
        Claim(
            "With a constrained buffer (78 packets) FABA does significantly better (by 5 %) than FRED",
            above(m("tcp_share", "FABA", buffer=78), m("tcp_share", "FRED", buffer=78), times=1.05),
            WHY["table1 small"],
            place="section 1",
        ),
        Claim(
            "FABA does almost as well as SFED (within 5 %), at every buffer",
            in_each_case(near(m("tcp_share", "FABA") / m("tcp_share", "SFED"), 1.0, within=0.05)),
            WHY["table1 SFED"],
        ),
        *for_each(
            ("CHOKe", "FRED", "SFED", "FABA"),
            "With more buffer, TCP gets more under {}",
            lambda label: rises(over("buffer", "tcp_share", label)),
            {"CHOKe": WHY["table1 CHOKe"]},
            place="table 1",
        ),
    ),
    plot=one_panel(
        (Lines("tcp_share", "buffer"), PublishedMarks("tcp_share")),
        AxisScale("Buffer (packets of 512 bytes)", ticks={buffer: str(buffer) for buffer in BUFFERS}, log=2),
        AxisScale("TCP's throughput over its fair share"),
        note="Lines: here, with the 95 % interval over seeds. Crosses: the paper's table 1.",
    ),
    headline=HeadlineMeasure("tcp_share", "TCP's share of its fair share, buffer of 780 packets", {"buffer": 780}),
    quick=QuickVariant(set=("duration=60s",)),
)

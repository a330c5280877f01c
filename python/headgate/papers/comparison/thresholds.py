"""CHOKe's queue by its thresholds."""

from headgate.experiment import queues
from headgate.experiment.claims import Condition, in_each_case, m, near
from headgate.experiment.declare import Claim, Experiment, OpenParameter, QuickVariant, grid
from headgate.experiment.layers import Lines
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.comparison._setting import MAXP, MEASURES, WHY, WITH_UDP, network

#: The values of minth in packets. maxth is twice minth, as in section 3.3.
MINTHS = (25, 50, 100)
#: The value of minth in all other experiments.
MINTH = 50


def _proportional(measure: str) -> Condition:
    """Whether a measure over minth is within a quarter of its value with the paper's thresholds, in each case."""
    ratio = m(measure, "CHOKe") / m(measure, "CHOKe", minth=MINTH, maxth=2 * MINTH)
    return in_each_case(
        near(ratio, lambda case: case["minth"] / MINTH, within=0.25), minth=lambda minth: minth != MINTH
    )


EXPERIMENT = Experiment(
    place="section 4.4 (4)",
    about="Ten TCP flows and one UDP flow above the link's rate share 1 Mbit/s under A-CHOKe with half, the usual and "
    "twice the thresholds. Do queue and throughput follow them?",
    scenario=lambda v: network(
        v,
        "thresholds",
        f"Ten TCP flows and one of {v.cbr} Mbit/s under CHOKe with minth {v.minth} packets.",
        # As in section 3.3, the buffer is three times minth.
        limit=f"{3 * v.minth}p",
        events="all",
    ),
    qdiscs={"CHOKe": "choke:minth=${minth}p,maxth=${maxth}p,maxp=$maxp,adaptive=5"},
    cases=tuple({**case, "maxth": 2 * case["minth"]} for case in grid(minth=MINTHS, cbr=(2, 4))),
    measures={**MEASURES, "queue": queues.packets(), "cbr_queue": queues.packets("cbr")},
    choices=(
        OpenParameter("thresholds", "25/50, 50/100, 100/200 packets", "the paper gives no values for this section"),
        OpenParameter("buffer", "75, 150, 300 packets", "three times minth, as in the paper's other experiments"),
        *WITH_UDP,
        MAXP,
    ),
    stated_in="section 4.4 (4)",
    claims=(
        Claim("The queue changes proportionally with minth and maxth (within 25 %)", _proportional("queue")),
        Claim(
            "UDP's queue changes proportionally with minth and maxth (within 25 %)",
            _proportional("cbr_queue"),
            WHY["thresholds UDP"],
        ),
        Claim(
            "UDP's throughput changes proportionally with minth and maxth (within 25 %)",
            _proportional("cbr"),
            WHY["thresholds UDP"],
        ),
    ),
    plot=Plot(
        [
            PlotPanel((Lines(y, "minth", case={"cbr": 2}),), AxisScale("minth (packets)"), AxisScale(what, 0), title)
            for y, what, title in (
                ("queue", "Queue (packets)", "Queue"),
                ("cbr", "UDP throughput (Mbit/s)", "Throughput"),
            )
        ],
        "UDP sends 2 Mbit/s. Mean over seeds with its 95 % interval. The buffer is three times minth.",
        "apart",
        legend=0,
    ),
    quick=QuickVariant(set=("duration=50s",)),
    modern=False,
)

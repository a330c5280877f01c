"""Drop rate and utilization of RED and BLUE by buffer size, with ECN timeouts."""

from headgate.experiment.claims import Term, above, below, every, in_each_case, m, mean
from headgate.experiment.declare import Claim, HeadlineMeasure, QuickVariant, for_each
from headgate.experiment.plots import Plot
from headgate.papers.blue._loss import BLUES, REDS, SHORT, cases, experiment, panel
from headgate.papers.blue._network import WHY

#: The paper's "low" loss and "high" utilization, for which it gives no numbers.
LOW, HIGH = 0.01, 0.95


def _utilization(label: str) -> Term:
    return mean("utilization", label, ecn_timeout=True)


EXPERIMENT = experiment(
    about="As figure 5, but a sender with a cwnd of one waits for its timer when a mark is echoed. Claims also compare "
    "the runs of figure 5.",
    cases=(*cases(timeouts=True), *cases(timeouts=False)),
    stated_in="section III-D",
    claims=(
        *for_each(
            BLUES,
            "{} keeps the drop rate low (1 %) in all experiments",
            lambda each: in_each_case(below(m("loss", each), LOW), ecn_timeout=True),
            WHY["fig11 full"],
        ),
        *for_each(
            BLUES,
            "{} keeps utilization high (95 %) in all experiments",
            lambda each: in_each_case(above(m("utilization", each), HIGH), ecn_timeout=True),
        ),
        *for_each(
            REDS,
            "{} drops less with ECN timeouts than without (mean over all cases)",
            lambda each: below(mean("loss", each, ecn_timeout=True), mean("loss", each, ecn_timeout=False)),
            WHY["fig11 swings"],
            place="section III-D, figures 5 and 11",
        ),
        *for_each(
            REDS[1:],
            "{} uses less of the link than every BLUE (mean over all cases)",
            lambda each: every(below(_utilization(each), _utilization(blue)) for blue in BLUES),
            WHY["fig11 fewer"],
        ),
        Claim(
            "R1, with an extremely small wq, comes nearest to BLUE among the REDs: its utilization is the highest of "
            "them (mean over all cases)",
            every(above(_utilization("R1"), _utilization(other)) for other in REDS[1:]),
            WHY["fig11 fewer"],
        ),
    ),
    plot=Plot(
        [
            panel(measure, f"{name}, {number} connections", x, y, connections=number, ecn_timeout=True)
            for measure, name, number, x, y in (
                ("loss", "Drop rate", 1000, "", "Drop rate (%)"),
                ("loss", "Drop rate", 4000, "", ""),
                ("utilization", "Utilization", 1000, "Buffer (ms at 45 Mbit/s)", "Utilization (%)"),
                ("utilization", "Utilization", 4000, "Buffer (ms at 45 Mbit/s)", ""),
            )
        ],
        "Bands: the 95 % interval over seeds.",
        "apart",
        2.9,
        legend=2,
    ),
    headline=HeadlineMeasure(
        "utilization",
        "utilization at 4000 connections, 100 KB, %",
        {"connections": 4000, "buffer": 100, "ecn_timeout": True},
        100,
    ),
    quick=QuickVariant(
        set=SHORT, cases=(*cases(True, (1000, 100), (4000, 100)), *cases(False, (1000, 100), (4000, 100)))
    ),
)

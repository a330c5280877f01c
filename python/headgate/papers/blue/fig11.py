"""Drop rate and utilization of RED and BLUE by buffer size, with ECN timeouts."""

from headgate.experiment.claims import Term, above, below, every, in_each_case, m, mean
from headgate.experiment.declare import Claim, HeadlineMeasure, QuickVariant
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
        Claim(
            "BLUE keeps the drop rate low (1 %) in all experiments",
            every(in_each_case(below(m("loss", blue), LOW), ecn_timeout=True) for blue in BLUES),
            WHY["fig11 full"],
        ),
        Claim(
            "BLUE keeps utilization high (95 %) in all experiments",
            every(in_each_case(above(m("utilization", blue), HIGH), ecn_timeout=True) for blue in BLUES),
        ),
        Claim(
            "RED drops less with ECN timeouts than without (mean over all cases)",
            every(below(mean("loss", red, ecn_timeout=True), mean("loss", red, ecn_timeout=False)) for red in REDS),
            WHY["fig11 swings"],
            place="section III-D, figures 5 and 11",
        ),
        Claim(
            "RED apart from R1 uses less of the link than BLUE (mean over all cases)",
            every(below(_utilization(red), _utilization(blue)) for red in REDS[1:] for blue in BLUES),
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

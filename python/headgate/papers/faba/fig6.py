"""Tokens that FABA distributes for each departure, in the long run."""

from headgate.experiment.claims import at_most, m, near
from headgate.experiment.declare import Basis, Claim, Experiment, OpenParameter, QuickVariant
from headgate.experiment.layers import RunLine
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.faba._setting import FABA, MIX_BUFFER, MIX_CHOICES, WHY, mix
from headgate.papers.faba._tokens import tokens_so_far

SCENARIO = OpenParameter(
    "scenario", "figure 9", "our text has no captions of figures 6 to 8; here figures 6 and 7 have figure 9's flows"
)


EXPERIMENT = Experiment(
    about="FABA draws sigma/Q + 1 buckets for each departure. It adds a token to each, or takes one back. The figure "
    "shows the tokens added less those taken back, over all departures until each time.",
    scenario=lambda v: mix(v, interval="10ms"),
    qdiscs=FABA,
    measures={
        "amortised": lambda run: float(tokens_so_far(run)[1][-1]),
        "draws": lambda run: float(run.series("gauge:draws_per_departure")[1][-1]),
    },
    choices=(MIX_BUFFER, *MIX_CHOICES, SCENARIO),
    claims=(
        Claim(
            "In the long run a departure costs O(1): 0.9 to 1.1 buckets drawn",
            near(m("draws", "FABA"), 1.0, within=0.1),
            place="section 5.2, figure 6",
        ),
        Claim(
            "Tokens distributed, less those taken back, are no more than packets departed in the long run",
            at_most(m("amortised", "FABA"), 1.0),
            WHY["fig6 again"],
            place="section 5.2",
            basis=Basis.PAPER,
        ),
    ),
    plot=one_panel(
        (RunLine(tokens_so_far, "FABA", look={"linewidth": 1.0}, every_seed=True),),
        AxisScale("Time (s)"),
        AxisScale("Tokens distributed per departure so far", 0, 2),
        note="FABA, a line for each seed.",
        legend=None,
    ),
    modern=False,
    quick=QuickVariant(set=("duration=40s",)),
)

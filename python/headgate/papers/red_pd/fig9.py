"""How likely a TCP flow is identified in a round."""

import math

import numpy as np

from headgate import style
from headgate.analysis.runs import Run
from headgate.experiment.claims import Condition, above, at_most, every, in_each_case, m, over, rises
from headgate.experiment.declare import Case, Claim, Experiment, QuickVariant
from headgate.experiment.layers import Lines
from headgate.experiment.measures import goodput
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.red_pd._network import MIN_RTO, WHY, network, sack, tcp_rate_bps

#: Target round-trip time in seconds, number of lists, and the number of lists that identify a flow (section 4.1).
R, M, K = 0.040, 5, 3
DROP_RATES = (0.01, 0.02, 0.03, 0.04, 0.05)
MULTIPLES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0)
FLOWS = 5
LABELS = {f"p = {rate:.0%}": rate for rate in DROP_RATES}


def _cases(*multiples: float) -> tuple[Case, ...]:
    return tuple({"multiple": multiple, "delay": f"{R / multiple / 2 * 1000:.6f}ms"} for multiple in multiples)


def _identified(run: Run) -> float:
    """Share of the rounds of M lists in which a flow is identified, as in the authors' `testIdent`."""
    rate, warmup = LABELS[run.label], run.result.scenario.warmup_s
    length = min(max(K / M * R / math.sqrt(1.5 * rate), 2 * R), 10 * R)
    rounds = math.floor(run.seconds / (M * length))
    time, flow = run.drops()
    at = np.floor((time - warmup) / length).astype(int)
    counted = (at >= 0) & (at < rounds * M)
    lists = np.zeros((FLOWS, rounds * M), dtype=bool)
    lists[flow[counted].astype(int), at[counted]] = True
    return float((lists.reshape(FLOWS, rounds, M).sum(axis=2) >= K).mean())


def _sent(run: Run) -> float:
    """Mean goodput of a flow over f(R, p)."""
    return goodput()(run) / FLOWS / tcp_rate_bps(R, LABELS[run.label])


def _small(label: str) -> Condition:
    """Whether a flow of less than f(R, p) is identified, but rarely."""
    return every(
        (
            above(m("identified", label, multiple=0.75), 0.0),
            in_each_case(at_most(m("identified", label), 0.2), multiple=lambda multiple: multiple < 1),
        )
    )


EXPERIMENT = Experiment(
    about="Five TCP flows cross a link that drops a fixed share p of the packets, in a run for each round-trip "
    "time. How likely is it that a flow is identified in a round of five lists? As in the authors' scripts, "
    "flows are identified but not limited: RED-PD only drops the share p, and the lists are built from the "
    "recorded drops.",
    # As in the authors' `netTestFRp`, links are so fast that only the fixed share is dropped, and the senders' links
    # have the whole round-trip time.
    scenario=lambda v: network(
        v,
        "fig9",
        f"TCP flows of {v.multiple} f(R, p) over a link that drops a fixed share of the packets.",
        [sack(v, "tcp", "0s", "0s", FLOWS).replace(sender={"rate": "1Gbit/s", "delay": v.delay})],
        rate="1Gbit/s",
        delay="0s",
        limit="1000p",
        warmup="10s",
        duration="500s",
        record={"interval": "10s", "events": "drops"},
    ),
    qdiscs={
        label: f"red_pd:fixed_drop_rate={rate},target_rtt=1ms,lists=64,min_lists=64" for label, rate in LABELS.items()
    },
    cases=_cases(*MULTIPLES),
    measures={"identified": _identified, "sent": _sent},
    choices=(MIN_RTO,),
    stated_in="section 5.1, figure 9",
    claims=(
        Claim(
            "The probability of identification increases with the sending rate, at every drop rate",
            every(rises(over("multiple", "identified", label)) for label in LABELS),
        ),
        Claim(
            "The probability increases quickly: from f(R, p)/2 to 2 f(R, p) more than fourfold, at every drop rate",
            every(
                above(m("identified", label, multiple=2.0), m("identified", label, multiple=0.5), times=4)
                for label in LABELS
            ),
        ),
        Claim(
            "A flow of less than f(R, p) is identified with some small probability, 20 % at most, at every drop rate",
            every(_small(label) for label in LABELS),
        ),
        Claim(
            "The probability is high, more than 80 %, for flows of twice f(R, p) and more, at every drop rate",
            every(
                in_each_case(above(m("identified", label), 0.8), multiple=lambda multiple: multiple >= 2)
                for label in LABELS
            ),
            WHY["fig9 timeouts"],
        ),
    ),
    plot=one_panel(
        (Lines("identified", "multiple", bars=True, shades=style.TCP_SHADES),),
        AxisScale("Sending rate, as a multiple of f(R, p)", 0, 4.05),
        AxisScale("Probability of identification", 0, 1),
        note="A flow at a multiple of g has a round-trip time of R/g, R = 40 ms. Bars: 95 % interval over seeds.",
        legend_place="lower right",
    ),
    quick=QuickVariant(set=("duration=110s",), cases=_cases(0.5, 0.75, 1.0, 2.0, 4.0)),
    modern=False,
)

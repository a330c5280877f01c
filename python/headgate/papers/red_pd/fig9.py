"""red-pd/fig9: how likely a TCP flow is identified in a round, by how fast it sends, at fixed drop rates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from headgate import style
from headgate.analysis.judge import above, at_most, every, rises
from headgate.experiment.declare import Claim, Experiment, Quick
from headgate.papers import axes
from headgate.papers.measures import goodput
from headgate.papers.red_pd import _network as net

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.analysis.runs import Run
    from headgate.experiment.declare import Case
    from headgate.experiment.found import Found

#: Target round-trip time in seconds, lists kept, and lists a flow must be in to be identified (section 4.1).
R, M, K = 0.040, 5, 3
DROP_RATES = (0.01, 0.02, 0.03, 0.04, 0.05)
MULTIPLES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0)
FLOWS = 5

# The authors' `netTestFRp`: links so fast that only the fixed rate drops, and all of the round trip in the senders'
# links.
SCENARIO = f"""
name = "red-pd-fig9"
about = "TCP flows of $multiple f(R, p) over a link that drops a fixed share of the packets."
duration = "500s"
warmup = "10s"
qdiscs = ["red_pd"]

[link]
rate = "1Gbit/s"
delay = "0s"
limit = "1000p"

[[tcp]]
profile = "ns2"
flows = {FLOWS}
cc = "sack"
window = 50
min_rto = "$min_rto"
start = "0s..10s"
sender = {{ rate = "1Gbit/s", delay = "$delay" }}
receiver = {{ rate = "100Mbit/s", delay = "0s" }}

[record]
interval = "10s"
events = "drops"
"""

LABELS = {f"p = {rate:.0%}": rate for rate in DROP_RATES}


def _case(multiple: float) -> Case:
    return {"multiple": multiple, "delay": f"{R / multiple / 2 * 1000:.6f}ms"}


def _identified(run: Run) -> float:
    """The part of rounds that identify a flow: a round is M lists, as the authors' `testIdent` counts."""
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
    return goodput()(run) / FLOWS / net.tcp_rate_bps(R, LABELS[run.label])


def _rises(label: str) -> Callable[[Found], Judgement]:
    return lambda found: rises(found.over("multiple", "identified", label)[1])


def _small(label: str) -> Callable[[Found], Judgement]:
    def judge(found: Found) -> Judgement:
        slow = [multiple for multiple in found.axis("multiple") if multiple < 1]
        return every(
            (
                above(found("identified", label, multiple=max(slow)), 0.0),
                *(at_most(found("identified", label, multiple=multiple), 0.2) for multiple in slow),
            )
        )

    return judge


def _high(label: str) -> Callable[[Found], Judgement]:
    return lambda found: every(
        above(found("identified", label, multiple=multiple), 0.8)
        for multiple in found.axis("multiple")
        if multiple >= 2
    )


TIMEOUTS = (
    "The axis says how fast a flow of that round-trip time would send by equation (1). The more is dropped, the more "
    "timeouts, of which the equation knows nothing: at p = 5 % a flow at 2 f(R, p) sends 1.4 f(R, p)."
)


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    for label, colour, marker in zip(found.labels, style.TCP_SHADES, "os^Dv", strict=False):
        at, quantities = found.over("multiple", "identified", label)
        mean, half = [each.mean for each in quantities], [each.half for each in quantities]
        drawn.errorbar(at, mean, half, color=colour, marker=marker, ms=4.5, capsize=2, label=label)
    drawn.set_xlim(0, 4.05)
    drawn.set_ylim(0, 1)
    drawn.set_xlabel("Sending rate, as a multiple of f(R, p)")
    drawn.set_ylabel("Probability of identification")
    drawn.legend(loc="lower right")
    note = "A flow at a multiple of g has a round-trip time of R/g, R = 40 ms. Bars: 95 % interval over seeds."
    return axes.finish(drawn.figure, EXPERIMENT.title, note)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="How likely a TCP flow is identified in a round",
    place="figure 9",
    about="Five TCP flows over a link that drops a fixed share p of the packets, once for each round-trip time. As in "
    "the authors' scripts flows are only identified, not held back: RED-PD drops at its fixed rate, set so that it "
    "monitors nobody, and its lists are made from the log of the drops. Probability is of one flow in one round of "
    "five lists.",
    scenario=SCENARIO,
    qdiscs={
        label: f"red_pd:fixed_drop_rate={rate},target_rtt=1ms,lists=64,min_lists=64" for label, rate in LABELS.items()
    },
    cases=tuple(_case(multiple) for multiple in MULTIPLES),
    measures={"identified": _identified, "sent": _sent},
    choices=(net.MIN_RTO,),
    claims=(
        *(
            Claim(
                f"The probability of identification increases with the sending rate ({label})",
                "section 5.1, figure 9",
                _rises(label),
            )
            for label in LABELS
        ),
        *(
            Claim(
                f"A flow of less than f(R, p) is identified with some small probability, 20 % at most ({label})",
                "section 5.1, figure 9",
                _small(label),
            )
            for label in LABELS
        ),
        *(
            Claim(
                f"The probability is high, more than 80 %, for flows of twice f(R, p) and more ({label})",
                "section 5.1, figure 9",
                _high(label),
                TIMEOUTS,
            )
            for label in LABELS
        ),
    ),
    plot=_plot,
    quick=Quick(
        seeds=1, set=("duration=110s",), cases=tuple(_case(multiple) for multiple in (0.5, 0.75, 1.0, 2.0, 4.0))
    ),
    modern=False,
)

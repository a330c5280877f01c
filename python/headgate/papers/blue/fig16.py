"""blue/fig16: what each TCP flow gets beside a flow of 45 Mbit/s that does not slow down."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from headgate.analysis.judge import above, below
from headgate.experiment.declare import Claim, Experiment, Headline, grid
from headgate.papers.blue._shares import SHARES, scatter
from headgate.papers.blue._unresponsive import LEAK, MEASURES, OPEN_REDS, OVERFULL, QDISCS, QUICK, SCENARIO

if TYPE_CHECKING:
    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found


def _near_fair(found: Found) -> Judgement:
    return above(found("near_fair", "SFB"), 0.95)


def _sfb_limits(found: Found) -> Judgement:
    return below(found("unresponsive_rate", "SFB"), 4.5)


def _red_suffers(found: Found) -> Judgement:
    return below(found("tcp_rate", "RED"), 22.5)


def _sfred_limits(found: Found) -> Judgement:
    return below(found("unresponsive_rate", "SFRED"), 4.5)


def _sfred_drops(found: Found) -> Judgement:
    return above(found("loss_tcp", "SFRED"), found("loss_tcp", "SFB"), times=10)


def _sfq_limits(found: Found) -> Judgement:
    return below(found("unresponsive_rate", "SFQ+RED"), 4.5)


def _sfq_unfair(found: Found) -> Judgement:
    return below(found("jain", "SFQ+RED"), found("jain", "SFB"))


def _sfq_grab(found: Found) -> Judgement:
    return above(found("grabbing", "SFQ+RED"), 0.0)


def _sfq_starves(found: Found) -> Judgement:
    # A flow in 46 shares its queue with the unresponsive one.
    return above(found("starved", "SFQ+RED"), 0.5 / 46)


def _none_starves(found: Found) -> Judgement:
    return below(found("starved", "SFB"), 1 / 400)


TITLE = "What each TCP flow gets beside a flow of 45 Mbit/s that does not slow down"

EXPERIMENT = Experiment(
    title=TITLE,
    place="figure 16",
    about="The runs of table III with the unresponsive flow at 45 Mbit/s: 400 TCP flows, one by one.",
    scenario=SCENARIO,
    qdiscs=QDISCS,
    cases=grid(unresponsive=(1,), rate=(45,)),
    measures={**MEASURES, **SHARES},
    choices=OPEN_REDS,
    claims=(
        Claim(
            "SFB allows each TCP flow close to its fair share (95 % of the flows within a half of it)",
            "section IV-B, figure 16(a)",
            _near_fair,
            LEAK,
        ),
        Claim(
            "SFB protects all TCP flows: none gets less than a tenth of its share", "section IV-B", _none_starves, LEAK
        ),
        Claim(
            "SFB limits the unresponsive flow to well below its rate (a tenth)",
            "section IV-B, figure 16(a)",
            _sfb_limits,
        ),
        Claim(
            "Under RED the throughput of TCP suffers considerably (half of the link is gone)",
            "section IV-B, figure 16(b)",
            _red_suffers,
        ),
        Claim("SFRED limits the unresponsive flow (a tenth of its rate)", "section IV-B, figure 16(c)", _sfred_limits),
        Claim(
            "SFRED drops a significant amount of TCP's packets (ten times SFB's)",
            "section IV-B, figure 16(c)",
            _sfred_drops,
            OVERFULL,
        ),
        Claim(
            "SFQ with RED limits the unresponsive flow (a tenth of its rate)", "section IV-B, figure 16(d)", _sfq_limits
        ),
        Claim(
            "SFQ with RED is less fair among TCP flows than SFB (Jain's index)",
            "section IV-B, figure 16(d)",
            _sfq_unfair,
            "Flows that share one of the unresponsive flow's two bins find it overfull and starve under SFB, for the "
            "reason "
            "given above; SFQ with RED starves only the one in 46 that share its queue.",
        ),
        Claim(
            "Under SFQ with RED a few TCP flows grab a disproportionate amount (twice their share)",
            "section IV-B, figure 16(d)",
            _sfq_grab,
        ),
        Claim(
            "Under SFQ with RED flows in the unresponsive flow's queue, one in 46, get next to nothing (a tenth "
            "of a share)",
            "section IV-B",
            _sfq_starves,
        ),
    ),
    plot=partial(scatter, title=TITLE, labels=tuple(QDISCS)),
    headline=Headline("near_fair", "TCP flows within a half of their fair share, %", scale=100),
    quick=QUICK,
)

"""RFC 7928, section 10: several AQMs in series."""

from __future__ import annotations

from headgate.evaluate.criteria import busy, share, short
from headgate.evaluate.measures import idle, path_delay_ms
from headgate.evaluate.network import HEAD, room, tcp, udp
from headgate.evaluate.section import Case, Headline, Section, Test, Times
from headgate.papers.measures import in_unit, share_of_fair

_LINKS = f"""{HEAD}
[[link]]
name = "first"
from = "A"
to = "B"
rate = "10Mbit/s"
delay = "24ms"
limit = "{room()}p"
qdisc = "$first"

[[link]]
name = "second"
from = "B"
to = "C"
rate = "10Mbit/s"
delay = "24ms"
limit = "{room()}p"
"""


def _through(start: str, end: str) -> dict[str, str]:
    return {"from": f'"{start}"', "to": f'"{end}"'}


_SERIES = Test(
    name="10-2",
    place="10.2",
    title="Two congested links",
    about="Three flows cross both links, three more each of them alone, and a UDP stream of 2 Mbit/s both.",
    scenario=_LINKS
    + tcp("long", 3, **_through("A", "C"))
    + tcp("cross-1", 3, access='{ delay = "13ms" }', **_through("A", "B"))
    + tcp("cross-2", 3, access='{ delay = "13ms" }', **_through("B", "C"))
    + udp("stream", 1, rate='"2Mbit/s"', jitter="0.1", **_through("A", "C")),
    cases=(
        Case("the same at both", {"first": "compared"}),
        Case("behind FQ-CoDel", {"first": "fq_codel"}),
        Case("behind RED-PD", {"first": "red_pd"}),
    ),
    measures={
        "long_share": in_unit(share_of_fair("long"), 100),
        "long_ms": path_delay_ms("long"),
        "second_idle": idle(link="second"),
    },
    criteria=(
        share("long_share", "flows that cross both links"),
        busy("second_idle", "the second link"),
        short("long_ms", "the queues of both links", "mean"),
    ),
    times=Times(90, 20),
    quick=Times(40, 15),
)

SECTION = Section(
    number=10,
    title="Several AQMs in series",
    about="What becomes of flows that cross two queues, with the same discipline at both, or a fair one before it?",
    tests=(_SERIES,),
    headlines=(
        Headline("10-2", "long_share", "flows over both links, % of fair", "the same at both"),
        Headline("10-2", "long_ms", "both queues, mean ms", "the same at both"),
    ),
    choices=(
        "The discipline stands at both links, or behind one that shares by flow (FQ-CoDel) or that singles out flows "
        "(RED-PD).",
        "DropTail, the baseline, stands behind the same first queue.",
    ),
)

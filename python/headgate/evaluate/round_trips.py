"""RFC 7928, section 6: round-trip time fairness."""

from __future__ import annotations

from headgate.evaluate.criteria import busy
from headgate.evaluate.measures import evenness, loss_percent, ratio
from headgate.evaluate.network import HEAD, RTT_MS, room, tcp
from headgate.evaluate.section import Case, Criterion, Headline, Section, Test, Times
from headgate.papers.measures import in_unit

FLOWS = 5

_NETWORK = f"""{HEAD}
[link]
rate = "10Mbit/s"
delay = "1ms"
limit = "${{limit}}p"
"""


def _access(rtt_ms: float) -> str:
    """Each of the four access links that a round trip crosses, beside the bottleneck's 1 ms each way."""
    return f"{(rtt_ms / 2 - 1) / 2:g}ms"


def _case(rtt_ms: int) -> Case:
    values = {"access": _access(rtt_ms), "limit": room(rtt_ms=max(rtt_ms, RTT_MS))}
    return Case(f"RTT {rtt_ms} ms", values)


_EVEN = Criterion(
    measure="evenness",
    what="goodput of the slower group over the faster's",
    unit="% of the faster's",
    strong=1.25,
    weak=0.8,
    relative=True,
    strength="evens out round-trip times, the slower group gets",
    failure="adds to the advantage of one round-trip time, the slower group gets",
)

_FAIRNESS = Test(
    name="6-2",
    place="6.2",
    title="Two categories of round-trip time",
    about=f"{FLOWS} NewReno flows at 100 ms beside {FLOWS} at 5 to 560 ms.",
    scenario=_NETWORK
    + tcp("cat-1", FLOWS, access=f'{{ delay = "{_access(RTT_MS)}" }}')
    + tcp("cat-2", FLOWS, access='{ delay = "$access" }'),
    cases=tuple(_case(rtt_ms) for rtt_ms in (5, 20, 50, 200, 560)),
    measures={
        "evenness": in_unit(evenness("cat-1", "cat-2"), 100),
        "ratio": ratio("cat-2", "cat-1"),
        "loss_cat_1": loss_percent("cat-1"),
        "loss_cat_2": loss_percent("cat-2"),
    },
    criteria=(_EVEN, busy()),
    times=Times(120, 30),
    quick=Times(50, 20),
)

SECTION = Section(
    number=6,
    title="Round-trip time fairness",
    about="What do flows of a round-trip time of 5 to 560 ms get beside flows of 100 ms?",
    tests=(_FAIRNESS,),
    headlines=(
        Headline("6-2", "ratio", "goodput, 20 ms over 100 ms", "RTT 20 ms"),
        Headline("6-2", "ratio", "goodput, 560 ms over 100 ms", "RTT 560 ms"),
    ),
    choices=(
        f"{FLOWS} flows in each category; round-trip times of 5, 20, 50, 200 and 560 ms out of the RFC's range.",
        "The buffer is the bandwidth-delay product of the larger round-trip time.",
    ),
)

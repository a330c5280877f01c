"""RFC 7928, section 6: round-trip time fairness."""

from dataclasses import replace

from headgate.evaluate.criteria import busy
from headgate.evaluate.network import RTT_MS, buffer_packets, dumbbell, tcp
from headgate.evaluate.section import Criterion, GuidelineTest, RfcSection, RunTimes, SectionCase, SectionHeadline
from headgate.experiment.declare import ScenarioValues
from headgate.experiment.measures import drop_percent, evenness, ratio
from headgate.scenario import Scenario


def _access(rtt_ms: float) -> str:
    """The delay of an access link. A round trip crosses four of them, and twice the bottleneck with 1 ms."""
    return f"{(rtt_ms / 2 - 1) / 2:g}ms"


def _case(rtt_ms: int) -> SectionCase:
    values = {"access": _access(rtt_ms), "limit": buffer_packets(rtt_ms=max(rtt_ms, RTT_MS))}
    return SectionCase(f"RTT {rtt_ms} ms", values)


_EVEN = Criterion(
    "goodput of the slower flow over the faster's", "% of the faster's", 1.25, 0.8,
    "evens out round-trip times, the slower flow gets",
    "adds to the advantage of one round-trip time, the slower flow gets", relative=True,
)  # fmt: skip

_ALIKE = Criterion(
    "goodput of the slower of two like flows over the faster's", "% of the faster's", 80, 50,
    "treats like flows alike, the slower gets", "is unfair between like flows, the slower gets",
)  # fmt: skip


def _scenario(v: ScenarioValues) -> Scenario:
    ends = {"cat-1": _access(RTT_MS), "cat-2": v.access}
    flows = [tcp(v, name, access={"delay": delay}) for name, delay in ends.items()]
    return dumbbell(v, *flows, delay="1ms", limit=f"{v.limit}p")


_FAIRNESS = GuidelineTest(
    name="6-2",
    place="6.2",
    title="Two round-trip times",
    about="A NewReno flow at 100 ms (category I) beside one at 5 to 560 ms (category II).",
    scenario=_scenario,
    cases=tuple(_case(rtt_ms) for rtt_ms in (5, 20, 50, 200, 560)),
    # Section 6.3 asks for the ratio of goodputs and the drop rate of each category. `evenness` is judged.
    measures={
        "evenness": evenness("cat-1", "cat-2") * 100,
        "ratio": ratio("cat-2", "cat-1"),
        "loss_cat_1": drop_percent("cat-1"),
        "loss_cat_2": drop_percent("cat-2"),
    },
    reported={"ratio": "II over I", "loss_cat_1": "I: dropped %", "loss_cat_2": "II: dropped %"},
    groups={"cat-1": "category I", "cat-2": "category II"},
    criteria=(_EVEN.of("evenness"), busy()),
    # At 560 ms, a Reno flow with half of the link has a window of 233 packets: halved, it regains it in two minutes.
    times=RunTimes(300, 60),
    quick=RunTimes(90, 30),
)

_EQUAL = replace(
    _FAIRNESS,
    name="6-2-equal",
    place="6.1",
    title="Equal round-trip times",
    about="Two NewReno flows at 100 ms.",
    cases=(_case(100),),
    criteria=(_ALIKE.of("evenness"), busy()),
)

SECTION = RfcSection(
    number=6,
    title="Round-trip time fairness",
    about="How much goodput has a flow with a round-trip time of 5 to 560 ms beside a flow with 100 ms?",
    tests=(_FAIRNESS, _EQUAL),
    headlines=(
        SectionHeadline("6-2", "ratio", "goodput, 20 ms over 100 ms", "RTT 20 ms"),
        SectionHeadline("6-2", "ratio", "goodput, 560 ms over 100 ms", "RTT 560 ms"),
    ),
    choices=(
        "Round-trip times are 5, 20, 50, 200 and 560 ms of the RFC's range, and 100 ms for the equal flows of 6.1.",
        "The buffer is the bandwidth-delay product of the larger round-trip time (section 3.2).",
    ),
)

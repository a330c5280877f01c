"""RFC 7928, section 5: senders of different kinds."""

from functools import partial

from headgate.evaluate.criteria import COMPLETION, SHARE, busy, short
from headgate.evaluate.network import dumbbell, tcp, udp
from headgate.evaluate.section import Criterion, GuidelineTest, RfcSection, RunTimes, SectionCase, SectionHeadline
from headgate.experiment.measures import completion_ms, ratio, share_of_fair

#: Most tests judge idle capacity and delay. Between two losses, the window of a single Reno flow grows by 83 packets,
#: half a packet a round trip: about 20 s. Runs last several such periods.
_test = partial(GuidelineTest, criteria=(busy(), short()), times=RunTimes(140, 20), quick=RunTimes(45, 15))

_FRIENDLY = _test(
    name="5-1-1-tcp",
    place="5.1.1",
    title="One TCP flow",
    about="A single long-lived NewReno flow with an initial window of 3.",
    scenario=lambda v: dumbbell(v, tcp(v, "newreno", initial_window=3, start="0s..2s")),
)

_TFRC = _test(
    name="5-1-1-tfrc",
    weight="may",
    place="5.1.1",
    title="One TFRC flow",
    about="A single flow of TCP-friendly rate control (RFC 5348).",
    scenario=lambda v: dumbbell(v, udp("tfrc", cc="tfrc", packet="1500B", ecn=v.ecn, jitter=0.1, start="0s..2s")),
)

_WINDOWS = _test(
    name="5-1-2",
    place="5.1.2",
    title="Short transfers beside a long one",
    about="Transfers of 96 packets with initial windows of 3 and 10, one after the other, beside a long-lived flow.",
    scenario=lambda v: dumbbell(
        v,
        tcp(v, "long", initial_window=3),
        tcp(v, "short", traffic="http:transfer=140KB,wait=exp(2s)", initial_window=v.iw, start="10s..12s"),
    ),
    cases=(SectionCase("window of 3", {"iw": 3}), SectionCase("window of 10", {"iw": 10})),
    measures={"completion_ms": completion_ms("short", 0.5)},
    groups={"long": "the long flow", "short": "short transfers"},
    criteria=(COMPLETION.of("completion_ms", "short transfers"),),
)

_AGGRESSIVE = _test(
    name="5-2-alone",
    place="5.2",
    title="One CUBIC flow",
    about="A single long-lived CUBIC flow.",
    scenario=lambda v: dumbbell(v, tcp(v, "cubic", cc="cubic", start="0s..2s")),
)

_BESIDE_CUBIC = _test(
    name="5-2-beside",
    weight="",
    place="5.2",
    title="NewReno beside CUBIC",
    about="Two long-lived flows, one of each.",
    scenario=lambda v: dumbbell(v, tcp(v, "newreno"), tcp(v, "cubic", cc="cubic")),
    measures={"share": share_of_fair("newreno") * 100},
    groups={"newreno": "NewReno", "cubic": "CUBIC"},
    criteria=(SHARE.of("share", "NewReno beside CUBIC"), busy(), short()),
)

_FLOOD = _test(
    name="5-3-alone",
    place="5.3",
    title="An unresponsive sender alone",
    about="UDP at 12 Mbit/s, a fifth above the link's rate, and no other flow.",
    scenario=lambda v: dumbbell(v, udp("udp", rate="12Mbit/s", jitter=0.1)),
    times=RunTimes(60, 10),
    quick=RunTimes(20, 5),
    ecn=False,
)

_BESIDE_UDP = _test(
    name="5-3-beside",
    place="5.3",
    title="TCP beside an unresponsive sender",
    about="UDP at 8 Mbit/s, four fifths of the link, beside one NewReno flow; the fair share of each is 5 Mbit/s.",
    scenario=lambda v: dumbbell(v, tcp(v, "newreno"), udp("udp", rate="8Mbit/s", jitter=0.1)),
    measures={"share": share_of_fair("newreno") * 100},
    groups={"newreno": "NewReno", "udp": "UDP"},
    criteria=(SHARE.of("share", "TCP beside unresponsive UDP"), short()),
)

_YIELDS = Criterion(
    "LEDBAT's goodput over NewReno's", "% of NewReno's", 25, 75,
    "lets LEDBAT yield, its goodput", "does not let LEDBAT yield, its goodput",
)  # fmt: skip

_SCAVENGER = _test(
    name="5-4",
    weight="may",
    place="5.4",
    title="Less than best effort",
    about="A LEDBAT flow (RFC 6817), which slows if the queueing delay exceeds its target, beside a NewReno flow.",
    scenario=lambda v: dumbbell(v, tcp(v, "newreno"), tcp(v, "ledbat", cc="ledbat", target=v.target, gain=v.gain)),
    cases=(
        SectionCase("target 5 ms, gain 10", {"target": "5ms", "gain": 10}),
        SectionCase("target 100 ms, gain 1", {"target": "100ms", "gain": 1}),
    ),
    measures={"lbe_ratio": ratio("ledbat", "newreno") * 100},
    groups={"newreno": "NewReno", "ledbat": "LEDBAT"},
    criteria=(_YIELDS.of("lbe_ratio"), busy()),
)

SECTION = RfcSection(
    number=5,
    title="Transport protocols",
    about="Does the discipline serve senders that react to losses differently, and protect responsive ones?",
    tests=(_FRIENDLY, _TFRC, _WINDOWS, _AGGRESSIVE, _BESIDE_CUBIC, _FLOOD, _BESIDE_UDP, _SCAVENGER),
    headlines=(
        SectionHeadline("5-1-1-tcp", "idle", "idle beside one TCP flow, %"),
        SectionHeadline("5-3-beside", "share", "TCP beside UDP, % of fair"),
    ),
    choices=(
        "5.1.2 asks for one short transfer after the long one has settled. Here short transfers follow each other with "
        "pauses of 2 s on average, so that there are enough to judge.",
        "5.2 asks for the aggressive flow alone. The test of NewReno beside it is ours.",
        "5.3: the rates of the unresponsive sender are ours. 12 Mbit/s is above the link's rate, and 8 between half of "
        "it and all.",
        "5.4: a target of 5 ms and a gain of 10 are the RFC's recommendation. RFC 6817 (section 2.5) forbids a gain "
        "above 1: the second case has the largest target and gain that it allows.",
    ),
)

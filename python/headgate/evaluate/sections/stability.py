"""RFC 7928, section 8: stability while load and capacity change."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from headgate.build.parts import TcpPart
from headgate.evaluate.criteria import busy, short
from headgate.evaluate.network import RATE_BPS, bdp, buffer_packets, dumbbell, tcp
from headgate.evaluate.periods import Phase
from headgate.evaluate.section import Criterion, GuidelineTest, RfcSection, RunTimes, SectionCase, SectionHeadline
from headgate.experiment.declare import ScenarioValues
from headgate.experiment.measures import throughput_share
from headgate.scenario import Scenario


def flows_for(loss: float, rate_bps: float = RATE_BPS) -> int:
    """The number of flows with the drop rate `loss` at a DropTail queue (section 8.2.1, after Morris, INFOCOM 2000).

    loss = 0.76 N^2 / S^2, where S is the bandwidth-delay product and the buffer together, in packets.
    """
    return round((bdp(rate_bps) + buffer_packets(rate_bps)) * math.sqrt(loss / 0.76))


MILD, MEDIUM, HEAVY = (flows_for(loss) for loss in (0.001, 0.005, 0.01))

_STEADY = GuidelineTest(
    name="8-2-steady",
    weight="could",
    place="8.2.2-4",
    title="Mild, medium and heavy congestion",
    about=f"{MILD}, {MEDIUM} and {HEAVY} NewReno flows: drop rates of 0.1, 0.5 and 1 % at a DropTail queue.",
    scenario=lambda v: dumbbell(v, tcp(v, "newreno", v.flows, start="0s..5s")),
    cases=(
        SectionCase("mild", {"flows": MILD}),
        SectionCase("medium", {"flows": MEDIUM}),
        SectionCase("heavy", {"flows": HEAVY}),
    ),
    criteria=(busy(), short()),
)


#: The three phases, and how often they follow each other.
_MILD, _MEDIUM, _HEAVY = (Phase(number, 3) for number in range(3))
_TIMES_OVER = 2


def _joining(v: ScenarioValues) -> Iterator[TcpPart]:
    """The flows that start in the medium and in the heavy phase. They stop when the next mild phase begins."""
    for time in range(_TIMES_OVER):
        for phase, name, flows in ((1, "medium", MEDIUM - MILD), (2, "heavy", HEAVY - MEDIUM)):
            yield tcp(v, f"{name}-{time + 1}", flows, start=v.ends[3 * time + phase], stop=v.ends[3 * time + 3])


def _load(warmup: float, seconds: float) -> RunTimes:
    """Phases of `seconds` each; `ends` has the time at which each ends.

    The RFC's time 0, when all flows have left slow start, is the end of the warm-up.
    """
    number = 3 * _TIMES_OVER
    ends = [warmup + each * seconds for each in range(number + 1)]
    return RunTimes(ends[-1], warmup, {"phase": seconds, "ends": ends})


_LOAD = GuidelineTest(
    name="8-2-5",
    place="8.2.5",
    title="Load that changes",
    about=f"Phases I, II and III, twice: {MILD}, {MEDIUM} and {HEAVY} flows, for 20 s each.",
    scenario=lambda v: dumbbell(v, tcp(v, "mild", MILD), *_joining(v)),
    measures={
        "heavy_ms": _HEAVY.delay_ms(10e6),
        "after_idle": lambda run: 100 - Phase(0, 3, skip_first=True).used_percent()(run),
        "use_1": _MILD.used_percent(),
        "use_2": _MEDIUM.used_percent(),
        "use_3": _HEAVY.used_percent(),
    },
    reported={"use_1": "Phase I: use %", "use_2": "II: use %", "use_3": "III: use %"},
    parts=(
        _MILD.part("I", "phase I, mild", 10e6),
        _MEDIUM.part("II", "phase II, medium", 10e6),
        _HEAVY.part("III", "phase III, heavy", 10e6),
    ),
    criteria=(
        short("heavy_ms", "the queue when load rises", "mean"),
        busy("after_idle", "the link when load falls"),
    ),
    times=_load(20, 20),
    quick=_load(10, 8),
)


def _link_varies(v: ScenarioValues, record: Mapping[str, str] | None = None) -> Scenario:
    """A link of 100 and of 10 Mbit/s in turn. Its limit is the bandwidth-delay product at 100 Mbit/s."""
    link = {"rate": "100Mbit/s", "schedule": [{"at": v.phase, "rate": "10Mbit/s"}], "schedule_period": 2 * v.phase}
    flows = tcp(v, "newreno", MILD, access={"rate": "1Gbit/s", "delay": "1ms"}, send_jitter="120us")
    return dumbbell(v, flows, **link, limit=f"{buffer_packets(100e6)}p", record=record)


_FAST, _SLOW = Phase(0, 2), Phase(1, 2)


def _varying(periods: int, counted: int, seconds: float) -> RunTimes:
    """Phases I and II of `seconds` each, in turn: `periods` pairs as warm-up, then `counted` pairs."""
    return RunTimes(2 * seconds * (periods + counted), 2 * seconds * periods, {"phase": seconds})


_BUSY_FAST = Criterion(
    "use of the link while it is fast", "%", 0.95, 0.8, "takes up capacity that returns, use of the fast link",
    "is slow to take up capacity that returns, use of the fast link", relative=True,
)  # fmt: skip

_CAPACITY = GuidelineTest(
    name="8-2-6-slow",
    place="8.2.6",
    title="Capacity that changes every 20 s",
    about=f"Experiment 1: {MILD} NewReno flows while the link has 100 Mbit/s (phase I) and 10 (phase II) in turn.",
    scenario=_link_varies,
    measures={"use_1": _FAST.used_percent(), "use_2": _SLOW.used_percent(), "slow_ms": _SLOW.delay_ms(10e6)},
    reported={"use_1": "Phase I: use %", "use_2": "II: use %"},
    parts=(_FAST.part("I", "phase I, 100 Mbit/s", 100e6), _SLOW.part("II", "phase II, 10 Mbit/s", 10e6)),
    criteria=(short("slow_ms", "the queue of the slow link", "mean"), _BUSY_FAST.of("use_1")),
    times=_varying(1, 2, 20),
    quick=_varying(1, 1, 8),
)

_FAST_CAPACITY = replace(
    _CAPACITY,
    name="8-2-6-fast",
    title="Capacity that changes every 100 ms",
    about=f"Experiment 2: {MILD} NewReno flows while the rate changes every 100 ms, 55 Mbit/s on average.",
    # Half a phase: receivers get packets half a round trip (50 ms) after the link sends them.
    scenario=lambda v: _link_varies(v, {"interval": "50ms"}),
    # Idle time does not give the unused capacity here: a second at 100 Mbit/s counts ten times one at 10 Mbit/s.
    measures={
        "use_1": _FAST.used_percent(),
        "use_2": _SLOW.used_percent(),
        "unused": lambda run: 100 * (1 - throughput_share()(run)),
    },
    criteria=(short("delay_ms", "the queue", "mean"), busy("unused")),
    times=_varying(100, 300, 0.1),
    quick=_varying(25, 75, 0.1),
)

SECTION = RfcSection(
    number=8,
    title="Stability",
    about="Does the queue stay short and the link busy while the number of flows and the capacity change?",
    tests=(_STEADY, _LOAD, _CAPACITY, _FAST_CAPACITY),
    headlines=(
        SectionHeadline("8-2-steady", "p95_ms", "queue under heavy load, p95 ms", "heavy"),
        SectionHeadline("8-2-6-slow", "slow_ms", "queue at 10 after 100 Mbit/s, ms"),
    ),
    choices=(
        f"The numbers of flows follow section 8.2.1: {MILD}, {MEDIUM} and {HEAVY}, for a bandwidth-delay product and a "
        "buffer of 167 packets together.",
        "Time 0 of the phases is the end of the warm-up. It is 20 s of mild congestion in 8.2.5, one phase of each "
        "kind in 8.2.6, and 20 s of such phases in experiment 2.",
        "The queueing delay of a phase is computed by Little's law. Its goodput is counted 50 ms later, when receivers "
        "have the data. In experiment 2, up to 2 Mbit/s of phase I still count in phase II.",
        "8.2.6 has the number of flows of mild congestion at 10 Mbit/s. The buffer is the bandwidth-delay product at "
        "100 Mbit/s.",
        "For 8.3, the sensitivity to parameters, use `headgate sensitivity`.",
    ),
)

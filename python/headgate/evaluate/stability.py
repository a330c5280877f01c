"""RFC 7928, section 8: stability while load and capacity change."""

from __future__ import annotations

import math
from collections.abc import Callable

from headgate.evaluate.criteria import busy, short
from headgate.evaluate.measures import during
from headgate.evaluate.network import DUMBBELL, HEAD, bdp, room, tcp
from headgate.evaluate.section import Case, Criterion, Headline, Section, Test, Times
from headgate.papers.measures import Measure, throughput_share
from headgate.papers.run import Array, Run


def flows_for(loss: float) -> int:
    """Flows that lose this part of their packets at a DropTail queue (section 8.2.1, after Morris, ICNP 2000).

    loss = 0.76 N^2 / S^2, where S is the bandwidth-delay product and the buffer together, in packets.
    """
    return round((bdp() + room()) * math.sqrt(loss / 0.76))


MILD, MEDIUM, HEAVY = (flows_for(loss) for loss in (0.001, 0.005, 0.01))

_STEADY = Test(
    name="8-2-steady",
    place="8.2.2-4",
    title="Mild, medium and heavy congestion",
    about=f"{MILD}, {MEDIUM} and {HEAVY} NewReno flows: 0.1, 0.5 and 1 % of packets lost at a DropTail queue.",
    scenario=DUMBBELL + tcp("newreno", "$flows", start='"0s..5s"'),
    cases=(
        Case("mild", {"flows": MILD}),
        Case("medium", {"flows": MEDIUM}),
        Case("heavy", {"flows": HEAVY}),
    ),
    criteria=(busy(), short()),
    times=Times(90, 20),
    quick=Times(30, 10),
)


def _phases(seconds: float) -> dict[str, float]:
    """The ends of phases, for templates: t1, t2 ..."""
    return {"phase": seconds, **{f"t{number}": number * seconds for number in range(1, 6)}}


def _in_phase(metric: str, number: int, take: Callable[[Array], float]) -> Measure:
    """What `take` makes of a metric in the phase of this number, from 0."""

    def value(run: Run) -> float:
        seconds = _seconds(run)
        return take(during(metric, number * seconds, (number + 1) * seconds)(run))

    return value


def _seconds(run: Run) -> float:
    return float(str(run.case["phase"]))


def _delay_ms(rate_bps: float) -> Callable[[Array], float]:
    """What a queue's mean length in bytes takes to send, in ms."""
    return lambda queue_bytes: float(queue_bytes.mean()) * 8e3 / rate_bps


def _idle(utilisation: Array) -> float:
    return 100 * (1 - float(utilisation.mean()))


_LOAD = Test(
    name="8-2-5",
    place="8.2.5",
    title="Load that changes",
    about=f"{MILD}, {MEDIUM}, {HEAVY}, {MEDIUM}, {MILD} flows, for 20 s each.",
    scenario=DUMBBELL
    + tcp("mild", MILD)
    + tcp("medium", MEDIUM - MILD, start='"${t1}s"', stop='"${t4}s"')
    + tcp("heavy", HEAVY - MEDIUM, start='"${t2}s"', stop='"${t3}s"')
    + '\n[record]\ninterval = "100ms"\n',
    measures={
        "heavy_ms": _in_phase("queue_bytes", 2, _delay_ms(10e6)),
        "after_idle": _in_phase("utilisation", 3, _idle),
    },
    criteria=(
        short("heavy_ms", "the queue when load rises", "mean"),
        busy("after_idle", "the link when load falls"),
    ),
    times=Times(100, 1, _phases(20)),
    quick=Times(40, 1, _phases(8)),
)

#: A link of 100 Mbit/s that falls to 10, and the packets that the faster one needs room for.
_VARYING = f"""{HEAD}
[link]
rate = "100Mbit/s"
schedule = [{{ at = "${{phase}}s", rate = "10Mbit/s" }}]
schedule_period = "${{twice}}s"
delay = "48ms"
limit = "{room(100e6)}p"

[record]
interval = "100ms"
"""


def _every_other(metric: str, first: int, take: Callable[[Array], float]) -> Measure:
    """What `take` makes of a metric in each second phase from `first` on, on average."""

    def value(run: Run) -> float:
        seconds = _seconds(run)
        numbers = range(first, round(run.result.scenario.duration_s / seconds), 2)
        values = [take(during(metric, number * seconds, (number + 1) * seconds)(run)) for number in numbers]
        return sum(values) / len(values)

    return value


def _varying(seconds: float) -> dict[str, float]:
    return {"phase": seconds, "twice": 2 * seconds}


def _busy(utilisation: Array) -> float:
    return 100 * float(utilisation.mean())


_BUSY_FAST = Criterion(
    measure="fast_busy",
    what="use of the link while it is fast",
    unit="%",
    strong=0.95,
    weak=0.8,
    relative=True,
    strength="takes up capacity that returns, use of the fast link",
    failure="is slow to take up capacity that returns, use of the fast link",
)

_CAPACITY = Test(
    name="8-2-6-slow",
    place="8.2.6",
    title="Capacity that changes every 20 s",
    about=f"Experiment 1: {MILD} NewReno flows while the link goes from 100 to 10 Mbit/s and back.",
    scenario=_VARYING + tcp("newreno", MILD, access='{ rate = "1Gbit/s", delay = "1ms" }', overhead='"120us"'),
    measures={
        "slow_ms": _every_other("queue_bytes", 1, _delay_ms(10e6)),
        "fast_busy": _every_other("utilisation", 2, _busy),
    },
    criteria=(short("slow_ms", "the queue of the slow link", "mean"), _BUSY_FAST),
    times=Times(120, 1, _varying(20)),
    quick=Times(32, 1, _varying(8)),
)


def _unused(run: Run) -> float:
    """Per cent of what the link could have sent: where its rate changes, that is not the time in which it was idle."""
    return 100 * (1 - throughput_share()(run))


_FAST_CAPACITY = Test(
    name="8-2-6-fast",
    place="8.2.6",
    title="Capacity that changes every 100 ms",
    about=f"Experiment 2: the same ten times a second, 55 Mbit/s on average, with {MILD} flows.",
    scenario=_VARYING + tcp("newreno", MILD, access='{ rate = "1Gbit/s", delay = "1ms" }', overhead='"120us"'),
    measures={"unused": _unused},
    criteria=(short("delay_ms", "the queue", "mean"), busy("unused")),
    times=Times(80, 20, _varying(0.1)),
    quick=Times(20, 5, _varying(0.1)),
)

SECTION = Section(
    number=8,
    title="Stability",
    about="Does the queue stay short and the link busy while the number of flows and the capacity change?",
    tests=(_STEADY, _LOAD, _CAPACITY, _FAST_CAPACITY),
    headlines=(
        Headline("8-2-steady", "p95_ms", "queue under heavy load, p95 ms", "heavy"),
        Headline("8-2-6-slow", "slow_ms", "queue after 100 to 10 Mbit/s, ms"),
    ),
    choices=(
        f"Numbers of flows by section 8.2.1: {MILD}, {MEDIUM} and {HEAVY} of a bandwidth-delay product and buffer "
        "of 167 packets together.",
        "8.2.5 goes up to heavy congestion and down again once.",
        "8.2.6: as many flows as make mild congestion at 10 Mbit/s; the buffer is the product at 100 Mbit/s.",
        "8.3, sensitivity to parameters, is left to sweeps.",
    ),
)

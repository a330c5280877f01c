"""RFC 7928, section 7: bursts."""

from dataclasses import replace

from headgate.build.parts import FlowsPart
from headgate.evaluate.criteria import COMPLETION, PACKET_LOSS
from headgate.evaluate.network import dumbbell, tcp, udp
from headgate.evaluate.section import GuidelineTest, RfcSection, RunTimes, SectionCase, SectionHeadline
from headgate.evaluate.web import CONNECTIONS, OBJECTS, page_ms, pages
from headgate.experiment.declare import ScenarioValues
from headgate.experiment.measures import drop_percent, group_delay_ms, jitter_ms
from headgate.scenario import Scenario

#: Seconds from one page to the next.
_EVERY_S = 8

#: Video of 2.5 Mbit/s: 25 frames a second, each a burst of 9 packets.
_VIDEO = udp("video", traffic="telnet:gap=40ms,size=12600B", packet="1428B")

CBR = udp("cbr", rate="1Mbit/s", packet="1000B", jitter=0.1)


def _bulk(first: str, second: str) -> tuple[SectionCase, SectionCase]:
    """The two cases of figure 2 that differ in a bulk transfer."""
    without = SectionCase(f"case {first}, no bulk transfer", {"bulk": False})
    return without, SectionCase(f"case {second}, bulk transfer", {"bulk": True})


def _scenario(v: ScenarioValues, *video: FlowsPart) -> Scenario:
    bulk = (tcp(v, "bulk"),) if v.bulk else ()
    return dumbbell(v, pages(v, _EVERY_S), CBR, *video, *bulk)


_WITHOUT_VIDEO = GuidelineTest(
    name="7-2-web",
    place="7.2",
    title="Pages, a constant stream, with and without a bulk transfer",
    about=f"Cases I and II: every {_EVERY_S} s a page of {CONNECTIONS * OBJECTS} objects over {CONNECTIONS} "
    "connections with an initial window of 10, beside UDP at 1 Mbit/s. In case II also a NewReno flow.",
    scenario=_scenario,
    cases=_bulk("I", "II"),
    measures={
        "page_ms": page_ms(),
        "cbr_loss": drop_percent("cbr"),
        "cbr_ms": group_delay_ms("cbr", 0.95),
        "cbr_jitter_ms": jitter_ms("cbr"),
    },
    reported={"cbr_ms": "Constant rate: delay ms, p95", "cbr_jitter_ms": "jitter ms, p95"},
    groups={"web": "pages", "cbr": "constant rate"},
    criteria=(COMPLETION.of("page_ms", "web pages"), PACKET_LOSS.of("cbr_loss", "the stream at a constant rate")),
    times=RunTimes(90, 10),
    quick=RunTimes(34, 10),
)

_WITH_VIDEO = replace(
    _WITHOUT_VIDEO,
    name="7-2-video",
    title="Pages, a constant stream and bursty video",
    about="Cases III and IV: cases I and II with video, 25 frames a second, each a burst of 9 packets.",
    scenario=lambda v: _scenario(v, _VIDEO),
    cases=_bulk("III", "IV"),
    measures={
        **_WITHOUT_VIDEO.measures,
        "video_loss": drop_percent("video"),
        "video_ms": group_delay_ms("video", 0.95),
        "video_jitter_ms": jitter_ms("video"),
    },
    reported={**_WITHOUT_VIDEO.reported, "video_ms": "Video: delay ms, p95", "video_jitter_ms": "jitter ms, p95"},
    groups={**_WITHOUT_VIDEO.groups, "video": "video"},
    criteria=(PACKET_LOSS.of("video_loss", "bursty video"), *_WITHOUT_VIDEO.criteria),
)

SECTION = RfcSection(
    number=7,
    title="Burst absorption",
    about="Are short bursts dropped or delayed, and do they harm the traffic that shares their queue?",
    tests=(_WITHOUT_VIDEO, _WITH_VIDEO),
    headlines=(
        SectionHeadline("7-2-video", "video_loss", "bursty video lost, %", "case IV, bulk transfer"),
        SectionHeadline("7-2-video", "page_ms", "web pages, mean ms", "case IV, bulk transfer"),
    ),
    choices=(
        f"An object has 14 KB. A page begins {_EVERY_S} s after the page before, finished or not. Each of its "
        f"connections loads {OBJECTS} objects, one after the other.",
        "All frames of the video have the same size. Frame rate, frame size and the stream's 1 Mbit/s are ours.",
        "The bulk transfer has no graph: its goodput is the capacity that the other flows leave.",
    ),
)

"""RFC 7928, section 7: bursts."""

from __future__ import annotations

from headgate.evaluate.criteria import quick, spared
from headgate.evaluate.measures import completion_ms, group_delay_ms, loss_percent
from headgate.evaluate.network import DUMBBELL, tcp, udp
from headgate.evaluate.section import Case, Headline, Section, Test, Times

#: Six connections that load pages of 54 objects, each on a fresh connection: its 9 packets go at once.
WEB = tcp("web", 6, traffic='"web:pages=auto,think=2s,objects=9,size=12KB,gap=0s"', start='"0s..2s"')

#: 25 frames a second of 9 packets that arrive at once: 2.5 Mbit/s.
VIDEO = udp("video", traffic='"telnet:gap=40ms,size=12600B"', packet='"1428B"')

CBR = udp("cbr", rate='"1Mbit/s"', packet='"1000B"', jitter="0.1")

BULK = tcp("bulk")

_CBR_CRITERIA = (spared("cbr_loss", "the stream at a constant rate"),)
_WEB = {
    "web_ms": completion_ms("web", 0.95),
    "cbr_loss": loss_percent("cbr"),
    "cbr_ms": group_delay_ms("cbr", 0.95),
}

_WITHOUT_VIDEO = Test(
    name="7-2-web",
    place="7.2",
    title="Pages, a constant stream, with and without a bulk transfer",
    about="Cases I and II: pages over six connections with initial windows of 10, UDP at 1 Mbit/s, a NewReno flow.",
    scenario=DUMBBELL + WEB + CBR + "$bulk",
    cases=(Case("case I, no bulk transfer", {"bulk": ""}), Case("case II, bulk transfer", {"bulk": BULK})),
    measures=_WEB,
    criteria=(quick("web_ms", "web objects (95th percentile)"), *_CBR_CRITERIA),
    times=Times(60, 10),
    quick=Times(30, 10),
)

_WITH_VIDEO = Test(
    name="7-2-video",
    place="7.2",
    title="The same with bursty video",
    about="Cases III and IV: besides, video frames of 9 packets at once, 25 a second.",
    scenario=DUMBBELL + WEB + CBR + VIDEO + "$bulk",
    cases=(Case("case III, no bulk transfer", {"bulk": ""}), Case("case IV, bulk transfer", {"bulk": BULK})),
    measures={**_WEB, "video_loss": loss_percent("video"), "video_ms": group_delay_ms("video", 0.95)},
    criteria=(
        spared("video_loss", "bursty video"),
        quick("web_ms", "web objects (95th percentile)"),
        *_CBR_CRITERIA,
    ),
    times=Times(60, 10),
    quick=Times(30, 10),
)

SECTION = Section(
    number=7,
    title="Burst absorption",
    about="Do short bursts get through, and do those who wait for them, or share the queue with them, suffer?",
    tests=(_WITHOUT_VIDEO, _WITH_VIDEO),
    headlines=(
        Headline("7-2-video", "video_loss", "bursty video lost, %", "case IV, bulk transfer"),
        Headline("7-2-video", "web_ms", "web objects, p95 ms", "case IV, bulk transfer"),
    ),
    choices=(
        "The six connections of a page load their objects one after the other, 12 KB each, and think for 2 s on their "
        "own: they do not wait for each other.",
        "The video's frames are all alike; rate, frame size and the constant stream's 1 Mbit/s are ours.",
    ),
)

"""RFC 7928, section 9: mixed traffic, and traffic in both directions."""

from dataclasses import replace
from typing import Any

from headgate.evaluate.criteria import ACK_LOSS, COMPLETION, PACKET_LOSS, SHARE, UTILIZATION, busy, short
from headgate.evaluate.network import buffer_packets, dumbbell, tcp, udp
from headgate.evaluate.section import GuidelineTest, RfcSection, RunTimes, SectionCase, SectionHeadline
from headgate.evaluate.sections.bursts import CBR
from headgate.evaluate.sections.stability import MILD, flows_for
from headgate.evaluate.web import page_ms, pages
from headgate.experiment.declare import ScenarioValues
from headgate.experiment.measures import ack_drop_percent, drop_percent, group_delay_ms, jitter_ms, link, share_of_fair
from headgate.scenario import Scenario

#: Seconds between pages: six users each load a page of section 7.2 every 12 s, one after the other.
_PAGES_EVERY_S = 2

#: The keys of a group that sends in reverse.
_UP: dict[str, Any] = {"from_": "right", "to": "left"}

_MIX = GuidelineTest(
    name="9-1",
    weight="recommended",
    place="9.1",
    title="A mix of applications",
    about="A call in both directions, web pages of six users, a constant stream, an adaptive film, 5 bulk transfers.",
    scenario=lambda v: dumbbell(
        v,
        udp("call", traffic="voip", packet="200B"),
        udp("call-back", traffic="voip", packet="200B", **_UP),
        pages(v, _PAGES_EVERY_S),
        CBR,
        tcp(v, "film", traffic="video:ladder=[500kbit/s; 1Mbit/s; 2Mbit/s]"),
        tcp(v, "bulk", 5, start="0s..2s"),
    ),
    measures={
        "page_ms": page_ms(),
        "calls_ms": group_delay_ms("call", 0.95),
        "calls_loss": drop_percent("call"),
        "calls_jitter_ms": jitter_ms("call"),
        "cbr_loss": drop_percent("cbr"),
        "cbr_jitter_ms": jitter_ms("cbr"),
        "film": share_of_fair("film") * 100,
    },
    reported={"calls_jitter_ms": "Call: jitter ms, p95", "cbr_jitter_ms": "Constant rate: jitter ms, p95"},
    groups={"call": "call", "web": "pages", "cbr": "constant rate", "film": "film", "bulk": "bulk"},
    criteria=(
        short("calls_ms", "the queue for calls"),
        PACKET_LOSS.of("calls_loss", "calls"),
        PACKET_LOSS.of("cbr_loss", "the stream at a constant rate"),
        COMPLETION.of("page_ms", "web pages"),
        SHARE.of("film", "adaptive film"),
        busy(),
    ),
    times=RunTimes(100, 20),
    quick=RunTimes(40, 15),
)

#: Rate of the slower direction of the asymmetric link, in Mbit/s.
_UP_MBPS = 2


def _both_ways(title: str, up_mbps: float, up_qdisc: str = "compared") -> SectionCase:
    """A case with 10 Mbit/s down and `up_mbps` up. Limit and number of flows are those of each direction's rate."""
    rate, up = up_mbps * 1e6, {"flows": flows_for(0.001, up_mbps * 1e6)}
    return SectionCase(title, {"rate": rate, "room": f"{buffer_packets(rate)}p", "up": up_qdisc, **up})


def _scenario(v: ScenarioValues) -> Scenario:
    down, up = tcp(v, "down", MILD, start="0s..5s"), tcp(v, "up", v.flows, start="0s..5s", **_UP)
    return dumbbell(v, down, up, reverse={"rate": v.rate, "limit": v.room, "qdisc": v.up})


#: Criteria of the direction down (forward), and of the direction up.
_GRADED_DOWN = (
    UTILIZATION.of("use_down", "the link down"),
    short("p95_down_ms", "the queue down"),
    ACK_LOSS.of("acks_up_lost", "uploads"),
)
_GRADED_UP = (
    UTILIZATION.of("use_up", "the link up"),
    short("p95_up_ms", "the queue up"),
    ACK_LOSS.of("acks_down_lost", "downloads"),
)

_BOTH_WAYS = GuidelineTest(
    name="9-2",
    weight="may",
    place="9.2",
    title="Traffic in both directions, the discipline in both",
    about=f"Mild congestion in each direction ({MILD} NewReno flows down). The discipline is at both ends of the link.",
    scenario=_scenario,
    cases=(_both_ways("symmetric", 10), _both_ways("asymmetric", _UP_MBPS)),
    measures={
        "use_down": link("utilization", "forward") * 100,
        "use_up": link("utilization", "reverse") * 100,
        "p95_down_ms": link("queue_delay_ms_p95", "forward"),
        "p95_up_ms": link("queue_delay_ms_p95", "reverse"),
        "acks_down_lost": ack_drop_percent("reverse", "up"),
        "acks_up_lost": ack_drop_percent("forward", "down"),
        "loss_down": drop_percent("down"),
        "loss_up": drop_percent("up"),
    },
    reported={
        "use_down": "Down: use %",
        "use_up": "up: use %",
        "p95_down_ms": "Down: queue ms, p95",
        "p95_up_ms": "up: queue ms, p95",
        "loss_down": "Down: data dropped %",
        "loss_up": "up: data dropped %",
        "acks_down_lost": "ACKs dropped % of downloads",
        "acks_up_lost": "of uploads",
    },
    groups={"down": "down", "up": "up"},
    criteria=_GRADED_DOWN + _GRADED_UP,
)

_ONE_WAY = replace(
    _BOTH_WAYS,
    name="9-2-one",
    title="Traffic in both directions, the discipline in one",
    about=f"The asymmetric link, with DropTail for the {_UP_MBPS} Mbit/s up and the discipline only down.",
    cases=(_both_ways("asymmetric, one way", _UP_MBPS, "droptail"),),
    criteria=_GRADED_DOWN,
)

SECTION = RfcSection(
    number=9,
    title="Traffic mixes and both directions",
    about="Do calls, pages, films and bulk transfers share the link well, and do uploads harm the ACKs of downloads?",
    tests=(_MIX, _BOTH_WAYS, _ONE_WAY),
    headlines=(
        SectionHeadline("9-1", "calls_ms", "queue for calls, p95 ms"),
        SectionHeadline("9-2", "use_down", "use with traffic both ways, %", "symmetric"),
        SectionHeadline("9-2", "acks_down_lost", "ACKs of downloads lost, asymmetric, %", "asymmetric"),
    ),
    choices=(
        f"9.1 is the RFC's example. Its six page downloads are six users, one of whom begins a page every "
        f"{_PAGES_EVERY_S} s. The discipline is at the queue in the direction of the pages.",
        f"9.2: 10 Mbit/s in both directions, or 10 down and {_UP_MBPS} up, where one flow makes mild congestion. The "
        "limit of each direction is its own bandwidth-delay product. The mix of 9.1 is not run in both directions.",
    ),
)

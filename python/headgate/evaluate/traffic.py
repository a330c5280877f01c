"""RFC 7928, section 9: mixed traffic, and traffic both ways."""

from __future__ import annotations

from headgate.evaluate.criteria import busy, quick, share, short, spared, used
from headgate.evaluate.measures import completion_ms, group_delay_ms, loss_percent, p95_ms, used_percent
from headgate.evaluate.network import DUMBBELL, HEAD, room, tcp, udp
from headgate.evaluate.section import Headline, Section, Test, Times
from headgate.evaluate.stability import MILD
from headgate.papers.measures import in_unit, share_of_fair

_MIX = Test(
    name="9-1",
    place="9.1",
    title="A mix of applications",
    about="Ten calls, web transfers at three tenths of the link's rate, two adaptive films and two bulk transfers.",
    scenario=DUMBBELL
    + tcp("web", None, traffic='"ftp:size=pareto2(12KB,1.2)"', start="{ load = 0.3 }")
    + tcp("film", 2, traffic='"video:ladder=[500kbit/s; 1Mbit/s; 2Mbit/s]"', start='"0s..2s"')
    + tcp("bulk", 2, start='"0s..2s"')
    + udp("calls", 10, traffic='"voip"', packet='"200B"'),
    measures={
        "web_ms": completion_ms("web", 0.5),
        "calls_ms": group_delay_ms("calls", 0.95),
        "calls_loss": loss_percent("calls"),
        "film": in_unit(share_of_fair("film"), 100),
    },
    criteria=(
        short("calls_ms", "the queue for calls"),
        spared("calls_loss", "calls"),
        quick("web_ms", "web transfers (median)"),
        share("film", "adaptive films"),
        busy(),
    ),
    times=Times(90, 20),
    quick=Times(40, 15),
)

_BOTH_WAYS = Test(
    name="9-2",
    place="9.2",
    title="Traffic both ways",
    about=f"{MILD} NewReno flows each way, which is mild congestion; the discipline is at both ends of the link.",
    scenario=f"""{HEAD}
[link]
rate = "10Mbit/s"
delay = "48ms"
limit = "{room()}p"
reverse = {{ limit = "{room()}p", qdisc = "compared" }}
"""
    + tcp("down", MILD, start='"0s..5s"')
    + tcp("up", MILD, start='"0s..5s"', **{"from": '"right"', "to": '"left"'}),
    measures={
        "use_down": used_percent("forward"),
        "use_up": used_percent("reverse"),
        "p95_down_ms": p95_ms("forward"),
        "p95_up_ms": p95_ms("reverse"),
    },
    criteria=(
        used("use_down", "the link down"),
        used("use_up", "the link up"),
        short("p95_down_ms", "the queue down"),
        short("p95_up_ms", "the queue up"),
    ),
    times=Times(90, 20),
    quick=Times(30, 10),
)

SECTION = Section(
    number=9,
    title="Traffic mixes and both directions",
    about="Do calls, pages, films and bulk transfers get on, and do transfers each way harm each other's ACKs?",
    tests=(_MIX, _BOTH_WAYS),
    headlines=(
        Headline("9-1", "calls_ms", "queue for calls, p95 ms"),
        Headline("9-2", "use_down", "use with traffic both ways, %"),
    ),
    choices=("The mix is ours: the RFC names kinds of applications.", "9.2: both directions have the same rate."),
)

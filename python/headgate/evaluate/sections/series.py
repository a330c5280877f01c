"""RFC 7928, section 10: several AQMs in series."""

from headgate.build.parts import link
from headgate.evaluate.criteria import SHARE, busy, short
from headgate.evaluate.network import buffer_packets, tcp, top
from headgate.evaluate.section import GuidelineTest, RfcSection, RunTimes, SectionCase, SectionHeadline, of_group
from headgate.evaluate.sections.stability import MILD
from headgate.experiment.declare import ScenarioValues
from headgate.experiment.measures import idle, path_delay_ms, share_of_fair
from headgate.scenario import Scenario
from headgate.scenario.network import Network

#: Rate of the link behind router L, in Mbit/s. Senders A could get 5 at router M, so both links are congested.
_FIRST_MBPS = 4


def _scenario(v: ScenarioValues) -> Scenario:
    """Figure 3. The link behind router M is listed first: it is the bottleneck with any discipline at router L."""
    second = link("M", "R", name="second", rate="10Mbit/s", delay="24ms", limit=f"{buffer_packets()}p")
    first = link("L", "M", name="first", rate=_FIRST_MBPS * 1e6, delay="24ms", limit=v.room, qdisc=v.first)
    half = tcp(v, "A", MILD // 2, start="0s..5s", rtt="100ms", from_="L", to="R")
    return Network(**top(v), links=[second, first], flows=[half, half.replace(name="B", from_="M")])


def _case(title: str, first: str, part: float = 1) -> SectionCase:
    """A case: the discipline of the first link, and its limit as a part of the bandwidth-delay product."""
    return SectionCase(title, {"first": first, "room": f"{round(part * buffer_packets(_FIRST_MBPS * 1e6))}p"})


_SERIES = GuidelineTest(
    name="10-2",
    weight="may",
    place="10.2",
    title="Two congested links",
    about=f"Figure 3: {MILD // 2} NewReno flows of senders A cross both links, {MILD // 2} of senders B the second.",
    scenario=_scenario,
    cases=(
        _case("the same at both", "compared"),
        _case("half the room at the first", "compared", 0.5),
        _case("behind FQ-CoDel", "fq_codel"),
        _case("behind RED-PD", "red_pd"),
    ),
    measures={
        "long_share": share_of_fair("A") * 100,
        "long_ms": path_delay_ms("A"),
        "first_idle": idle(link="first"),
        "second_idle": idle(link="second"),
    },
    reported={"first_idle": "First link: idle %", "second_idle": "second: idle %"},
    parts=(of_group("A", "senders A, both queues"), of_group("B", "senders B")),
    criteria=(
        SHARE.of("long_share", "flows that cross both links"),
        busy("second_idle", "the second link"),
        short("long_ms", "the queues of both links", "mean"),
    ),
    quick=RunTimes(40, 15),
)

SECTION = RfcSection(
    number=10,
    title="Several AQMs in series",
    about="Do flows that cross two queues get their share, with the same discipline at both or another at the first?",
    tests=(_SERIES,),
    headlines=(
        SectionHeadline("10-2", "long_share", "flows over both links, % of fair", "the same at both"),
        SectionHeadline("10-2", "long_ms", "both queues, mean ms", "the same at both"),
    ),
    choices=(
        f"The first link has {_FIRST_MBPS} Mbit/s, the second 10. Senders A could get 5 of the second, but the first "
        f"carries {_FIRST_MBPS}, so both links are congested. Graphs of all flows together show router M's queue.",
        "The case with other parameters halves the limit at the first link: every discipline has this parameter. It "
        "changes nothing if the settings of a discipline give a `limit`.",
        "The cases with two schemes put the discipline behind FQ-CoDel, which shares by flow, or behind RED-PD, which "
        "limits heavy hitters. DropTail, the baseline, is behind the same first queue.",
    ),
)

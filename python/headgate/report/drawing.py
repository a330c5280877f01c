"""What was tried, as values for a drawing: senders, the queues with their disciplines, the links, the receivers.

Flows enter at the first drawn queue of their route. Opposite directions of a link are drawn one below the other, each
with its own senders and receivers.
"""

import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from headgate import _core, style
from headgate.analysis.data import qdiscs
from headgate.analysis.links import LinkDirection
from headgate.counting import counted
from headgate.report import colors
from headgate.results import Result
from headgate.scenario import Group, Role, Scenario
from headgate.scenario.queues import Queue, queue_of

WIDTH = 360
#: Letters of a line beside the dots of a group, and of a line across the drawing.
_BESIDE, _ACROSS = 40, 52
_LINE, _GAP = 17, 16
_MOST_GROUPS, _MOST_DOTS, _MOST_QDISCS, _MOST_LINKS = 8, 12, 8, 3
#: The sources whose idea needs no words: one endless transfer, and a constant rate.
_PLAIN = ("ftp", "cbr", "")

_ROLES = {
    Role.RESPONSIVE: "reduces its rate when packets are dropped.",
    Role.UNRESPONSIVE: "does not reduce its rate when packets are dropped.",
    Role.MODEST: "demands at most its fair share.",
}


class DrawnLine(NamedTuple):
    """A line of text: its height on the drawing, its text, and its class."""

    y: int
    text: str
    look: str


class DrawnGroup(NamedTuple):
    """Senders: their dots, a color, the lines beside them, and the top of the queue that they send to."""

    y: int
    dots: list[tuple[int, int]]
    color: str
    lines: list[DrawnLine]
    queue: int = 0


class DrawnLink(NamedTuple):
    """A queue and its link below: the top of the box, its height, the packets in it, and the lines of both.

    The wire to it begins at `wire`, the end of the link before if flows come from there.
    """

    y: int
    wire: int
    height: int
    packets: list[tuple[int, str]]
    lines: list[DrawnLine]
    end: int


class ScenarioDrawing(NamedTuple):
    """The drawing of a scenario."""

    width: int
    height: int
    groups: list[DrawnGroup]
    links: list[DrawnLink]
    receivers: list[int]
    alternative: str


def drawing(result: Result) -> ScenarioDrawing:
    """The drawing of the scenario of a result."""
    scenario = result.scenario
    document = tomllib.loads(scenario.to_toml())
    hues = style.colors_of_groups([group.role for group in scenario.groups])
    colored = {group: colors.both(hue) for group, hue in zip(scenario.groups, hues, strict=True)}
    names = [look.label for look in style.looks(qdiscs(result)).values()]
    queues = _drawn_queues(scenario)[:_MOST_LINKS]
    y, groups, links, receivers = 10, list[DrawnGroup](), list[DrawnLink](), list[int]()
    entered: set[Group] = set()
    for number, queue in enumerate(queues):
        before = set(queues[number - 1].groups) if number else set()
        if number and not before & set(queue.groups):
            receivers.append(y)
            y += 62
        entering = [group for group in queue.groups if group not in entered]
        entered.update(queue.groups)
        senders, top = _senders(y, entering, colored, document)
        wire = y if before & set(queue.groups) else top
        heading = _heading(queue, several=len(queues) > 1, one_link=len({each.link for each in queues}) == 1)
        known = [] if queue.qdisc is not None or links else names
        crossing = [colored[group] for group in queue.groups[:_MOST_GROUPS]]
        links.append(_link(top + 22, wire, heading, (_table(document, queue), queue), known, crossing))
        groups += [each._replace(queue=top + 22) for each in senders]
        y = links[-1].end
    receivers.append(y)
    texts = [*(group.lines for group in groups), *(link.lines for link in links)]
    words = [line.text for lines in texts for line in lines]
    return ScenarioDrawing(WIDTH, y + 46, groups, links, receivers, ". ".join(word.rstrip(".") for word in words))


def _senders(
    y: int, entering: list[Group], colored: Mapping[Group, str], document: Mapping[str, Any]
) -> tuple[list[DrawnGroup], int]:
    """The groups that enter at a queue, and the place below them."""
    senders = []
    for group in entering[:_MOST_GROUPS]:
        senders.append(_group(y, group, colored[group], _source(document, group)))
        y = senders[-1].lines[-1].y + _GAP
    if more := entering[_MOST_GROUPS:]:
        senders[-1].lines.append(DrawnLine(y, f"and {len(more)} more groups of flows", "quiet"))
        y += _GAP
    return senders, y


def _drawn_queues(scenario: Scenario) -> list[Queue]:
    """The queues that run the compared disciplines, and for groups that cross none of them the slowest on their route.

    In the order of routes: reverse directions are crossed from the last link to the first.
    """
    own = [queue_of(scenario, group) for group in scenario.groups]
    drawn = [queue for queue in scenario.queues if queue.groups and (queue.qdisc is None or queue in own)]
    forward = [queue for queue in drawn if queue.direction == "forward"]
    reverse = [queue for queue in reversed(drawn) if queue.direction == "reverse"]
    return [*forward, *reverse] or scenario.queues[:1]


def _heading(queue: Queue, *, several: bool, one_link: bool) -> str:
    if not several:
        return "Queue"
    return f"Queue {queue.direction}" if one_link else f"Queue of link {LinkDirection(*queue[:2]).label}"


def _table(document: Mapping[str, Any], queue: Queue) -> dict[str, Any]:
    """The keys of a link in the direction of a queue."""
    given = document.get("link", {})
    tables: list[dict[str, Any]] = given if isinstance(given, list) else [given]
    table = next((each for each in tables if each.get("name") == queue.link), tables[0])
    return table | table.get("reverse", {}) if queue.direction == "reverse" else table


def _source(document: Mapping[str, Any], group: Group) -> str:
    """The idea of the group's traffic source in a sentence; empty if it needs no words."""
    tables = document.get(group.kind, [])
    written = next((str(each.get("traffic", "")) for each in tables if each.get("name") == group.name), "")
    name, _, settings = written.partition(":")
    if name in _PLAIN and not settings:
        return ""
    summary = next((source.summary for source in _core.sources() if source.name == name), "")
    return summary.partition(";")[0].rstrip(".") + "." if summary else ""


def _group(y: int, group: Group, color: str, source: str) -> DrawnGroup:
    protocol = "TFRC" if group.kind == "udp" and group.responsive else group.kind.upper()
    each = f" of {style.rate(group.rate_bps)}" if group.rate_bps else ""
    count = counted(group.flows, f"{protocol} flow") + each
    name = "" if group.name.lower() == protocol.lower() else f" “{group.name}”"
    lines = [DrawnLine(y + 12, style.fold(f"{count}{name}", _BESIDE, 1), "strong")]
    about = f"{source} {'It' if group.flows == 1 else 'Each'} {_ROLES[group.role]}".strip()
    texts = textwrap.wrap(about, _BESIDE, max_lines=4, placeholder=" …")
    lines += [DrawnLine(y + 12 + (number + 1) * _LINE, text, "quiet") for number, text in enumerate(texts)]
    dots = min(group.flows, _MOST_DOTS)
    places = [(34 + 12 * (number % 5), y + 8 + 12 * (number // 5)) for number in range(dots)]
    return DrawnGroup(y, places, color, lines)


def _link(
    y: int, wire: int, heading: str, link: tuple[Mapping[str, Any], Queue], names: list[str], hues: list[str]
) -> DrawnLink:
    table, queue = link
    lines = [DrawnLine(y + 18, f"{heading}: {_limit(str(table.get('limit', '')))}", "strong")]
    texts = (
        _disciplines(names)
        if queue.qdisc is None
        else [f"Its discipline is {style.looks([queue.qdisc])[queue.qdisc].label}."]
    )
    lines += [DrawnLine(y + 58 + number * _LINE, text, "quiet") for number, text in enumerate(texts)]
    height = (lines[-1].y if texts else y + 42) - y + 12
    packets = [(24 + 21 * number, hues[number * 7 % len(hues)]) for number in range(15)]
    rate, delay = table.get("rate", ""), table.get("delay", "")
    about = f"{rate if isinstance(rate, str) else 'a changing rate'}, {delay} to the other end"
    sizes = style.fold(f"Link: {_spaced(about)}", _BESIDE, 2).split("\n")
    lines += [DrawnLine(y + height + 26 + number * _LINE, text, "strong") for number, text in enumerate(sizes)]
    return DrawnLink(y, wire, height, packets, lines, y + height + 48 + (len(sizes) - 1) * _LINE)


def _disciplines(names: list[str]) -> list[str]:
    """The sentence on the disciplines of the queue, in lines."""
    if not names:
        return []
    named, more = names[:_MOST_QDISCS], len(names) - _MOST_QDISCS
    tried = f"Tried: {style.listed([*named, f'{more} more'] if more > 0 else named)}."
    return textwrap.wrap(f"Which packets wait, which are dropped? {tried}", _ACROSS, max_lines=4, placeholder=" …")


def _limit(limit: str) -> str:
    """`780p` in words."""
    if limit.endswith("p") and limit[:-1].isdigit():
        return f"at most {int(limit[:-1]):,} packets".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return f"at most {_spaced(limit)}" if limit else "packets wait"


def _spaced(text: str) -> str:
    """`10Mbit/s, 14ms` with a blank between number and unit."""
    return "".join(_with_blanks(text))


def _with_blanks(text: str) -> Iterator[str]:
    for before, letter in zip(" " + text, text, strict=False):
        yield f"\N{NO-BREAK SPACE}{letter}" if before.isdigit() and letter.isalpha() else letter

"""What was tried, as values for a drawing: senders, the queue with its disciplines, the link, the receivers."""

import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from headgate import _core, style
from headgate.analysis.data import qdiscs
from headgate.counting import counted
from headgate.report import colors
from headgate.results import Result
from headgate.scenario import Group, Role

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
    """Senders: their dots, a color, and the lines beside them."""

    y: int
    dots: list[tuple[int, int]]
    color: str
    lines: list[DrawnLine]


class DrawnLink(NamedTuple):
    """A queue and its link below: the top of the box, its height, the packets in it, and the lines of both."""

    y: int
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
    receivers: int
    alternative: str


def drawing(result: Result) -> ScenarioDrawing:
    """The drawing of the scenario of a result."""
    scenario = result.scenario
    document = tomllib.loads(scenario.to_toml())
    hues = style.colors_of_groups([group.role for group in scenario.groups])
    y, groups = 10, []
    for group, hue in list(zip(scenario.groups, hues, strict=True))[:_MOST_GROUPS]:
        drawn = _group(y, group, colors.both(hue), _source(document, group))
        groups.append(drawn)
        y = drawn.lines[-1].y + _GAP
    if more := scenario.groups[_MOST_GROUPS:]:
        last = groups[-1]
        last.lines.append(DrawnLine(y, f"and {len(more)} more groups of flows", "quiet"))
        y += _GAP
    names = [look.label for look in style.looks(qdiscs(result)).values()]
    links: list[DrawnLink] = []
    for table in _compared(document)[:_MOST_LINKS]:
        links.append(_link(y + 22, table, [] if links else names, [each.color for each in groups]))
        y = links[-1].end
    first = links[0].lines
    words = [line.text for group in groups for line in group.lines] + [line.text for line in first]
    return ScenarioDrawing(WIDTH, y + 46, groups, links, y, ". ".join(word.rstrip(".") for word in words))


def _compared(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The links whose queues have the compared disciplines; the first link if none is declared so."""
    given = document.get("link", {})
    tables: list[dict[str, Any]] = given if isinstance(given, list) else [given]
    sides = [side for table in tables for side in (table, table | table.get("reverse", {}))]
    return [side for side in sides if side.get("qdisc") == "compared"] or tables[:1]


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


def _link(y: int, table: Mapping[str, Any], names: list[str], hues: list[str]) -> DrawnLink:
    named = f"Queue of link {_name(table)}" if not names else "Queue"
    lines = [DrawnLine(y + 18, f"{named}: {_limit(str(table.get('limit', '')))}", "strong")]
    lines += [DrawnLine(y + 58 + number * _LINE, text, "quiet") for number, text in enumerate(_disciplines(names))]
    height = (lines[-1].y if names else y + 42) - y + 12
    packets = [(24 + 21 * number, hues[number * 7 % len(hues)]) for number in range(15)]
    rate, delay = table.get("rate", ""), table.get("delay", "")
    about = f"{rate if isinstance(rate, str) else 'a changing rate'}, {delay} to the other end"
    sizes = style.fold(f"Link: {_spaced(about)}", _BESIDE, 2).split("\n")
    lines += [DrawnLine(y + height + 26 + number * _LINE, text, "strong") for number, text in enumerate(sizes)]
    return DrawnLink(y, height, packets, lines, y + height + 48 + (len(sizes) - 1) * _LINE)


def _disciplines(names: list[str]) -> list[str]:
    """The sentence on the disciplines of the queue, in lines."""
    if not names:
        return []
    named, more = names[:_MOST_QDISCS], len(names) - _MOST_QDISCS
    tried = f"Tried: {style.listed([*named, f'{more} more'] if more > 0 else named)}."
    return textwrap.wrap(f"Which packets wait, which are dropped? {tried}", _ACROSS, max_lines=4, placeholder=" …")


def _name(table: Mapping[str, Any]) -> str:
    return str(table.get("name", "")) or f"{table.get('from', '')}-{table.get('to', '')}"


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

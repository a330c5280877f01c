"""How each discipline divided the link, and the one sentence that says what came of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate import style
from headgate.plot import data

if TYPE_CHECKING:
    from headgate.results import Result

_MOST_PARTS = 6
_SAME = 0.02
"""Goodputs closer than this share of the link's rate are the same to a reader."""


_EVEN = 1.1
"""Groups nearer to each other than this factor are even to a reader."""


class Part(NamedTuple):
    """What some of the flows got together, in bit/s, averaged over seeds."""

    name: str
    unresponsive: bool
    flows: int
    goodput_bps: float
    fair_bps: float


class Division(NamedTuple):
    """What one discipline made of the link."""

    label: str
    parts: list[Part]
    delay_ms_p95: float | None
    jain: float | None

    @property
    def has_classes(self) -> bool:
        """Whether the parts are TCP and the flows that do not slow down, rather than groups of one kind."""
        return {part.unresponsive for part in self.parts} == {False, True}

    @property
    def unfairness_bps(self) -> float:
        """How much goodput is not where the fair division would have it."""
        return sum(abs(part.goodput_bps - part.fair_bps) for part in self.parts)

    @property
    def goodput_bps(self) -> float:
        """All goodput together."""
        return sum(part.goodput_bps for part in self.parts)

    @property
    def unresponsive_bps(self) -> float:
        """What flows that do not slow down got."""
        return sum(part.goodput_bps for part in self.parts if part.unresponsive)

    def ratio(self) -> tuple[float, Part, Part]:
        """Per fair share, how many times as much the best-off part got as the worst-off, and which these are."""
        ranked = sorted(self.parts, key=_share)
        worst, best = ranked[0], ranked[-1]
        return (_share(best) / _share(worst) if _share(worst) > 0 else math.inf), best, worst


def _share(part: Part) -> float:
    return part.goodput_bps / part.fair_bps if part.fair_bps > 0 else 0.0


def divisions(result: Result) -> list[Division]:
    """One division a discipline, the nearest to the fair one first."""
    summary = {entry["qdisc"]: entry for entry in result.summary()}
    found = [
        _division(result, qdisc, look.label, summary[qdisc]) for qdisc, look in style.looks(data.qdiscs(result)).items()
    ]
    return sorted(found, key=_unfairness)


def _unfairness(division: Division) -> float:
    """What the title speaks of, less is better: misplaced goodput, a ratio between groups, or unevenness."""
    if division.has_classes:
        return division.unfairness_bps
    return division.ratio()[0] if len(division.parts) > 1 else -(division.jain or 0.0)


def _division(result: Result, qdisc: str, label: str, entry: dict[str, Any]) -> Division:
    parts = [
        Part(
            group.name,
            group.unresponsive,
            group.flows,
            float(group.goodput_bps.sum(axis=1).mean()),
            float(group.fair_bps.sum()),
        )
        for group in data.groups(result, qdisc)
    ]
    if {part.unresponsive for part in parts} == {False, True}:
        parts = [_together([part for part in parts if part.unresponsive is kind]) for kind in (False, True)]
    elif len(parts) > _MOST_PARTS:
        parts = [*parts[: _MOST_PARTS - 1], _together(parts[_MOST_PARTS - 1 :])._replace(name="all other groups")]
    p95 = entry["bottleneck"]["queue_delay_ms"]["p95"]["mean"]
    return Division(label, parts, _known(p95), _known(entry["jain"]["mean"]))


def _known(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _together(parts: list[Part]) -> Part:
    flows = sum(part.flows for part in parts)
    goodput, fair = sum(part.goodput_bps for part in parts), sum(part.fair_bps for part in parts)
    return Part(parts[0].name, parts[0].unresponsive, flows, goodput, fair)


def part_name(part: Part, classes: bool) -> str:
    """A part as the legend names it; `classes` if the parts are TCP and unresponsive flows."""
    if not classes:
        return f"{part.name} ({part.flows} {'flow' if part.flows == 1 else 'flows'})"
    if part.unresponsive:
        return "the flow that does not slow down" if part.flows == 1 else f"{part.flows} flows that do not slow down"
    return "1 TCP flow" if part.flows == 1 else f"{part.flows} TCP flows together"


def headline(found: list[Division], rate_bps: float) -> str:
    """What came of it, in one plain sentence computed from the divisions, which are sorted best first."""
    best, worst = found[0], found[-1]
    if not any(division.goodput_bps for division in found):
        return "No data reached a receiver after the warm-up"
    if best.has_classes:
        return _protection(found, rate_bps)
    if len(best.parts) > 1:
        return _between_groups(best, worst)
    return _among_flows(best, worst)


def _protection(found: list[Division], rate_bps: float) -> str:
    best, worst = found[0], found[-1]
    greedy = best.parts[1]
    one = greedy.flows == 1
    who = "the flow that does not slow down" if one else f"the {greedy.flows} flows that do not slow down"
    takes, its = ("takes", "its") if one else ("take", "their")
    unit, scale = style.unit_of(rate_bps)
    link = f"{style.plain(rate_bps / scale)} {unit}"
    least, most = (style.number(division.unresponsive_bps / scale, 2) for division in (best, worst))
    fair = f"{its} fair share is {style.number(greedy.fair_bps / scale, 2)}"
    taken = [division.unresponsive_bps for division in found]
    if len(found) == 1:
        return f"With {best.label}, {who} {takes} {least} of {link}; {fair}"
    if max(taken) - min(taken) < _SAME * rate_bps:
        return f"With every discipline here, {who} {takes} about {most} of {link}; {fair}"
    return f"With {worst.label}, {who} {takes} {most} of {link}; with {best.label} {least} ({fair})"


def _between_groups(best: Division, worst: Division) -> str:
    times, most, least = worst.ratio()
    if times < _EVEN:
        which = "With every discipline here" if best is not worst else f"With {worst.label}"
        return f"{which}, each group gets about its fair share: at most {style.number(times, 3)} times another's"
    said = f"With {worst.label}, {_compared(times, most, least)}"
    if best is worst:
        return said
    again, ahead, behind = best.ratio()
    name = best.label
    if again < _EVEN:
        return f"{said}; with {name} about as much"
    if (ahead.name, behind.name) == (most.name, least.name):
        return f"{said}; with {name} {style.number(again, 2)} times"
    return f"{said}; with {name}, {_compared(again, ahead, behind)}"


def _compared(times: float, most: Part, least: Part) -> str:
    if math.isinf(times):
        return f"“{least.name}” gets nothing"
    same = math.isclose(most.fair_bps / most.flows, least.fair_bps / least.flows, rel_tol=0.01)
    measure = "" if same else ", measured by its fair share"
    return f"a flow of “{most.name}” gets {style.number(times, 2)} times as much as one of “{least.name}”{measure}"


def _among_flows(best: Division, worst: Division) -> str:
    part = best.parts[0]
    who = "One flow has the link" if part.flows == 1 else f"{part.flows} flows share the link"
    if part.flows == 1:
        unit, scale = style.unit_of(best.goodput_bps)
        got = style.number(best.goodput_bps / scale, 3)
        return f"{who} and gets {got} {unit} with {best.label}"
    even = f"Jain's index {style.number(best.jain or 0.0, 3)} with {best.label}"
    if best is worst:
        return f"{who}: {even} (1 is even)"
    return f"{who}: {even}, {style.number(worst.jain or 0.0, 3)} with {worst.label} (1 is even)"

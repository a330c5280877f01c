"""The one sentence that says what came of a run: the terminal ends with it, the page and the overview begin with it."""

import math
from collections.abc import Callable

from headgate import style
from headgate.analysis.division import Division, LinkShare, divisions, leaders
from headgate.analysis.links import first
from headgate.files.result_tables import ResultTables
from headgate.scenario import Role

_ALIKE = 0.02
"""Goodputs closer than this share of the link's rate are the same to a reader."""
_EVEN = 1.1
"""Groups nearer to each other than this factor are even to a reader."""
_MOST_NAMES = 3


def verdict(result: ResultTables) -> str:
    """The sentence of a result."""
    return sentence(divisions(result), result.scenario.rate_bps, first(result))


def sentence(found: list[Division], rate_bps: float, link: str = "") -> str:
    """The sentence of divisions, sorted best first, on a link of `rate_bps`; `link` names it if there are several."""
    if not any(division.goodput_bps for division in found):
        return "No data reached a receiver after the warm-up"
    if len(found) > 1 and _none_better(found, rate_bps):
        return _alike(found, rate_bps, link)
    if found[0].has_classes:
        return _protection(found, rate_bps, link)
    return _between_groups(found) if len(found[0].compared) > 1 else _among_flows(found)


def _none_better(found: list[Division], rate_bps: float) -> bool:
    """Whether all share the first place, or are too near to each other to matter."""
    return len(leaders(found)) == len(found) or found[-1].misplaced - found[0].misplaced < _ALIKE * rate_bps


def _protection(found: list[Division], rate_bps: float, link: str) -> str:
    """Both kinds of flows: who keeps the share of those that slow down from those that do not?"""
    scale = style.unit_of(rate_bps)[1]
    taken = _each(found, lambda division: style.number(_taken(division) / scale))
    fair = style.number(found[0].of(Role.UNRESPONSIVE).fair_bps / scale)
    lead = "Of" if len(found) == 1 else f"{_lead(found, 'protect')} {found[0].of(Role.RESPONSIVE).name} best: of"
    return f"{lead} {_capacity(rate_bps, link)}, {_takers(found[0])} {taken} (fair: {fair})"


def _capacity(rate_bps: float, link: str) -> str:
    """`10 Mbit/s`, or `10 Mbit/s on A-B`."""
    return f"{style.rate(rate_bps)} on {link}" if link else style.rate(rate_bps)


def _taken(division: Division) -> float:
    """What flows that do not slow down got, in bit/s."""
    return division.of(Role.UNRESPONSIVE).goodput_bps


def _takers(division: Division) -> str:
    flows = division.of(Role.UNRESPONSIVE).flows
    return "the flow that does not slow down takes" if flows == 1 else f"the {flows} flows that do not slow down take"


def _alike(found: list[Division], rate_bps: float, link: str) -> str:
    """No discipline divides better than another: without flows that do not slow down, the wait is what differs."""
    best = found[0]
    if best.has_classes:
        scale = style.unit_of(rate_bps)[1]
        taken = sorted(map(_taken, found))
        due = best.of(Role.UNRESPONSIVE).fair_bps
        least, most, fair = (style.number(bps / scale, 2) for bps in (taken[0], taken[-1], due))
        amount = f"about {most}" if least == most else f"{least} to {most}"
        return f"With every discipline here, of {_capacity(rate_bps, link)}, {_takers(best)} {amount} (fair: {fair})"
    said = f"Every discipline here divides the link{'s' if link else ''} alike"
    waits = sorted((division.delay_ms_p95, division.label) for division in found if division.delay_ms_p95 is not None)
    if not waits:
        return said
    (short, quick), (long, slow) = waits[0], waits[-1]
    where = f" at {link}" if link else ""
    wait = f"95 % of packets wait{where} at most {style.number(short)} ms with {quick}"
    return f"{said}; {wait}, {style.number(long)} with {slow}"


def _between_groups(found: list[Division]) -> str:
    """Groups: how much more does a flow of the best-off get?"""
    best, last = found[0], found[-1]
    times, most, least = extremes(best.compared)
    said = "each group gets about its fair share" if times < _EVEN else _compared(times, most, least)
    if len(found) == 1:
        return f"With {best.label}, {said}"
    said = f"{_lead(found, 'divide')} the link most fairly: {said}"
    again, ahead, behind = extremes(last.compared)
    if times >= _EVEN and (ahead.name, behind.name) == (most.name, least.name) and math.isfinite(again):
        return f"{said}, {style.number(again, 2)} times with {last.label}"
    return f"{said}; with {last.label}, {_compared(again, ahead, behind)}"


def extremes(parts: list[LinkShare]) -> tuple[float, LinkShare, LinkShare]:
    """Per fair share, how many times as much the best-off part got as the worst-off, and which these are."""
    ranked = sorted(parts, key=lambda part: part.share)
    worst, best = ranked[0], ranked[-1]
    return (best.share / worst.share if worst.share > 0 else math.inf), best, worst


def _compared(times: float, most: LinkShare, least: LinkShare) -> str:
    if math.isinf(times):
        return f"“{least.name}” gets nothing"
    same = math.isclose(most.fair_bps / most.flows, least.fair_bps / least.flows, rel_tol=0.01)
    measure = "" if same else ", measured by its fair share"
    return f"a flow of “{most.name}” gets {style.number(times, 2)} times as much as one of “{least.name}”{measure}"


def _among_flows(found: list[Division]) -> str:
    """One group that asks for more than its share: how even are its flows?"""
    first = found[0]
    flows = first.compared[0].flows
    link = "the link" if len(first.parts) == 1 else "what the others leave of the link"
    if flows == 1:
        unit, scale = style.unit_of(first.goodput_bps)
        got = _each(found, lambda division: f"{style.number(division.compared[0].goodput_bps / scale)} {unit}")
        return f"One flow has {link} and gets {got}"
    alone = len(found) == 1
    lead = f"{flows} flows share {link}" if alone else f"{_lead(found, 'share')} {link} best among {flows} flows"
    return f"{lead}: Jain's index {_each(found, lambda division: style.number(division.jain or 0.0))} (1 is even)"


def _each(found: list[Division], value: Callable[[Division], str]) -> str:
    """The numbers of those that matter most: `1.2 with FRED, 1.3 with FABA, 5.0 with DropTail`."""
    return ", ".join(f"{value(division)} with {division.label}" for division in _named(found))


def _named(found: list[Division]) -> list[Division]:
    """Whose numbers are told: the leaders, or the leader and the next, and the last."""
    first = found[: min(max(2, len(leaders(found))), _MOST_NAMES)]
    return first if found[-1] in first else [*first, found[-1]]


def _lead(found: list[Division], verb: str) -> str:
    """`FABA divides`, `FABA and SFB divide`, `FABA, SFB and FRED divide`; what is beyond three is counted."""
    names = [division.label for division in leaders(found)]
    if len(names) == 1:
        return f"{names[0]} {verb}s"
    if len(names) > _MOST_NAMES:
        names = [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1} more"]
    return f"{', '.join(names[:-1])} and {names[-1]} {verb}"

"""The verdict on a result in one or two sentences, for the terminal, the page and the overview."""

import math
from collections.abc import Callable

from headgate import style
from headgate.analysis.division import Division, LinkShare, divisions, leaders
from headgate.analysis.links import first
from headgate.files.result_tables import ResultTables
from headgate.scenario import Role

#: Differences of less than this share of the link's rate are not reported.
_ALIKE = 0.02
#: Groups whose goodputs over fair share are within this factor are reported as equal.
_EVEN = 1.1
#: Unresponsive flows with at most this many times their fair share count as held to it.
LIMITED_TO = 1.5
#: Maximum number of disciplines that a sentence names.
_MOST_NAMES = 3


def verdict(result: ResultTables) -> str:
    """The verdict on a result, without the final full stop."""
    return sentence(divisions(result), result.scenario.rate_bps, first(result))


def sentence(ranked: list[Division], rate_bps: float, link: str = "") -> str:
    """The verdict on `ranked`, the best discipline first. With several links, `link` names the one with `rate_bps`."""
    if not any(division.goodput_bps for division in ranked):
        return "No data reached a receiver after the warm-up"
    if len(ranked) > 1 and _none_better(ranked, rate_bps):
        return _alike(ranked, rate_bps, link)
    if ranked[0].has_classes:
        return _protection(ranked, rate_bps, link)
    return _between_groups(ranked) if len(ranked[0].compared) > 1 else _among_flows(ranked)


def _none_better(ranked: list[Division], rate_bps: float) -> bool:
    """Whether all disciplines share the first place, or differ by less than `_ALIKE` of the link's rate."""
    return len(leaders(ranked)) == len(ranked) or ranked[-1].misallocated - ranked[0].misallocated < _ALIKE * rate_bps


def _protection(ranked: list[Division], rate_bps: float, link: str) -> str:
    """With unresponsive flows: their goodput under the best disciplines, then under the next and the last."""
    scale = style.unit_of(rate_bps)[1]
    best = leaders(ranked)
    tie = "; difference not significant" if len(best) > 1 else ""
    fair = style.number(ranked[0].of(Role.UNRESPONSIVE).fair_bps / scale)
    statement = f"{_where(link)}{_limit(best, rate_bps)} (fair share {fair}{tie})"
    others = [each for each in _named(ranked) if each not in best]
    amounts = {each.label: style.number(_taken(each) / scale) for each in others}
    # The next best may hold the flow too, to a little more.
    if others and _holds(others[0]) and _holds(best[0]):
        label = others.pop(0).label
        statement = f"{statement}, {label} to {amounts[label]}"
    if not others:
        return statement
    them = "it" if ranked[0].of(Role.UNRESPONSIVE).flows == 1 else "them"
    label, *rest = (each.label for each in others)
    taken = [f"{label} lets {them} take {amounts[label]}", *(f"{each} {amounts[each]}" for each in rest)]
    return f"{statement}. {', '.join(taken)}"


def _holds(division: Division) -> bool:
    return division.of(Role.UNRESPONSIVE).share <= LIMITED_TO


def _limit(best: list[Division], rate_bps: float) -> str:
    """`FRED and FABA hold the unresponsive flow to 1.17 and 1.18 Mbit/s`; `let ... take` if that is far above fair."""
    unit, scale = style.unit_of(rate_bps)
    rates = list(dict.fromkeys(style.number(_taken(each) / scale) for each in best))
    if len(best) > _MOST_NAMES and len(rates) > 1:
        rates = [" to ".join(style.number(end(map(_taken, best)) / scale) for end in (min, max))]
    elif len(rates) > 1:
        rates = [style.number(_taken(each) / scale) for each in best]
    amount = f"{style.listed(rates)} {unit}"
    if _holds(best[0]):
        return f"{_lead(best, 'hold')} {_flows(best[0])} to {amount}"
    return f"{_lead(best, 'let')} {_flows(best[0])} take {amount}"


def _where(link: str) -> str:
    """Begins a verdict on one of several links with its name."""
    return f"On link {link}, " if link else ""


def _taken(division: Division) -> float:
    """Goodput of the unresponsive flows together, in bit/s."""
    return division.of(Role.UNRESPONSIVE).goodput_bps


def _flows(division: Division) -> str:
    flows = division.of(Role.UNRESPONSIVE).flows
    return "the unresponsive flow" if flows == 1 else f"the {flows} unresponsive flows"


def _alike(ranked: list[Division], rate_bps: float, link: str) -> str:
    """No discipline divides the link better than another: reports the unresponsive flows or the queueing delay."""
    best = ranked[0]
    if best.has_classes:
        unit, scale = style.unit_of(rate_bps)
        taken = sorted(map(_taken, ranked))
        due = best.of(Role.UNRESPONSIVE).fair_bps
        least, most, fair = (style.number(bps / scale, 2) for bps in (taken[0], taken[-1], due))
        amount = f"about {most}" if least == most else f"{least} to {most}"
        take = "takes" if best.of(Role.UNRESPONSIVE).flows == 1 else "take"
        statement = f"{_flows(best)} {take} {amount} {unit} with each (fair share {fair})"
        return f"{_where(link)}{'t' if link else 'T'}he disciplines do not differ noticeably: {statement}"
    statement = f"The disciplines divide the link{'s' if link else ''} equally well"
    delays = sorted(
        (division.queue_delay_ms_p95, division.label) for division in ranked if division.queue_delay_ms_p95 is not None
    )
    if not delays:
        return statement
    (short, quick), (long, slow) = delays[0], delays[-1]
    at = f" at {link}" if link else ""
    delay = f"95 % of packets have a queueing delay{at} of at most {style.number(short)} ms with {quick}"
    return f"{statement}. {delay}, {style.number(long)} ms with {slow}"


def _between_groups(ranked: list[Division]) -> str:
    """With several groups: the goodput of a flow of the best-off group over one of the worst-off."""
    best, last = ranked[0], ranked[-1]
    times, most, least = extremes(best.compared)
    statement = "each group gets about its fair share" if times < _EVEN else _compared(times, most, least)
    if len(ranked) == 1:
        return f"With {best.label}, {statement}"
    statement = f"{_lead(ranked, 'divide')} the link most fairly: {statement}"
    again, ahead, behind = extremes(last.compared)
    if times >= _EVEN and (ahead.name, behind.name) == (most.name, least.name) and math.isfinite(again):
        return f"{statement}. With {last.label}: {style.number(again, 2)} times"
    return f"{statement}. With {last.label}, {_compared(again, ahead, behind)}"


def extremes(parts: list[LinkShare]) -> tuple[float, LinkShare, LinkShare]:
    """The best-off and the worst-off share by goodput over fair share, and the ratio of the two."""
    ranked = sorted(parts, key=lambda part: part.share)
    worst, best = ranked[0], ranked[-1]
    return (best.share / worst.share if worst.share > 0 else math.inf), best, worst


def _compared(times: float, most: LinkShare, least: LinkShare) -> str:
    if math.isinf(times):
        return f"“{least.name}” gets no goodput"
    same = math.isclose(most.fair_bps / most.flows, least.fair_bps / least.flows, rel_tol=0.01)
    measure = "" if same else ", relative to its fair share"
    return f"a flow of “{most.name}” gets {style.number(times, 2)} times the goodput of one of “{least.name}”{measure}"


def _among_flows(ranked: list[Division]) -> str:
    """With one group that demands more than its share: how evenly its flows share."""
    first = ranked[0]
    flows = first.compared[0].flows
    link = "the link" if len(first.parts) == 1 else "the rest of the link"
    if flows == 1:
        unit, scale = style.unit_of(first.goodput_bps)
        got = _each(ranked, lambda division: f"{style.number(division.compared[0].goodput_bps / scale)} {unit}")
        return f"One flow uses {link} alone. Its goodput is {got}"
    alone = len(ranked) == 1
    lead = (
        f"{flows} flows share {link}" if alone else f"{_lead(ranked, 'divide')} {link} most evenly among {flows} flows"
    )
    index = _each(ranked, lambda division: style.number(division.jain or 0.0))
    return f"{lead}. Jain's index is {index} (1: equal shares)"


def _each(ranked: list[Division], value: Callable[[Division], str]) -> str:
    """The numbers of the reported disciplines: `1.2 with FRED, 1.3 with FABA, 5.0 with DropTail`."""
    return ", ".join(f"{value(division)} with {division.label}" for division in _named(ranked))


def _named(ranked: list[Division]) -> list[Division]:
    """The reported disciplines: the leaders, or the leader and the next, and the last."""
    first = ranked[: min(max(2, len(leaders(ranked))), _MOST_NAMES)]
    return first if ranked[-1] in first else [*first, ranked[-1]]


def _lead(ranked: list[Division], verb: str) -> str:
    """`FABA divides`, `FABA and SFB divide`, `FABA, SFB and 2 more divide`."""
    names = [division.label for division in leaders(ranked)]
    if len(names) == 1:
        return f"{names[0]} {verb}s"
    if len(names) > _MOST_NAMES:
        names = [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1} more"]
    return f"{', '.join(names[:-1])} and {names[-1]} {verb}"

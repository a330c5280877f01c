"""The verdict on a result in one or two sentences, for the terminal, the page and the overview.

It states the finding that is largest against its interval: how disciplines divide the link, or how long they delay a
group of flows. A discipline is named best only if the seeds show it (`analysis.pairs`).
"""

import math
from collections.abc import Callable, Sequence

from headgate import style
from headgate.analysis import findings
from headgate.analysis.division import Division, LinkShare
from headgate.analysis.findings import ComparedFindings, Finding, compared, more_seeds
from headgate.analysis.links import first
from headgate.analysis.significance import LEAST_SEEDS
from headgate.files.result_tables import ResultTables
from headgate.scenario import Role
from headgate.scenario.fair import plural

#: Groups whose goodputs over fair share are within this factor are reported as equal.
_EVEN = 1.1
#: Unresponsive flows count as held to their fair share if the whole 95 % interval is at most this many times it.
LIMITED_TO = 1.5
#: Maximum number of disciplines that a sentence names.
_MOST_NAMES = 3


def verdict(result: ResultTables) -> str:
    """The verdict on a result, without the final full stop."""
    return of(result, findings.of(result))


def of(result: ResultTables, comparison: ComparedFindings) -> str:
    """The verdict on a result whose disciplines are compared."""
    return stated(comparison, first(result))


def sentence(ranked: list[Division], rate_bps: float, link: str = "") -> str:
    """The verdict on `ranked`, the fairest first. With several links, `link` names the one with `rate_bps`."""
    return stated(compared(ranked, rate_bps), link)


def stated(comparison: ComparedFindings, link: str) -> str:
    """The verdict on compared disciplines."""
    if not any(division.goodput_bps for finding in comparison.divided for division in finding.ranked):
        return "No data reached a receiver after the warm-up"
    if len(comparison.ranked) == 1:
        return _described(comparison, link)
    if comparison.seeds < LEAST_SEEDS:
        few = "One seed shows" if comparison.seeds == 1 else f"{comparison.seeds} seeds show"
        return f"{_described(comparison, link)}. {few} no difference: at least {LEAST_SEEDS} are needed"
    finding = comparison.shown
    if finding is None:
        return _none_shown(comparison, link)
    if finding.delay_of is not None:
        return _shorter(comparison, finding, finding.queue or link)
    alike = [each for each in comparison.divided if each.ranked[0].direction == finding.ranked[0].direction]
    several = len(alike) > 1
    return ". ".join(f"{_of_what(each, by_unit=several)}{_divided(comparison, each, link)}" for each in alike)


def _of_what(finding: Finding, *, by_unit: bool) -> str:
    """Begins a statement on one direction of several, or by one unit of several: `Reverse, by host: `."""
    one = finding.ranked[0]
    words = ", ".join(filter(None, (one.direction, f"by {one.unit}" if by_unit else "")))
    return f"{words[0].upper()}{words[1:]}: " if words else ""


def _divided(comparison: ComparedFindings, finding: Finding, link: str) -> str:
    """The division of the link under the best disciplines, and under the next or the last."""
    if len(comparison.leaders(finding)) == len(comparison.by(finding)):
        return f"no difference shown with {comparison.seeds} seeds"
    one = finding.ranked[0]
    if one.has_classes:
        return _protection(comparison, finding, link)
    return _between_groups(comparison, finding) if len(one.compared) > 1 else _among_units(comparison, finding)


def _none_shown(comparison: ComparedFindings, link: str) -> str:
    """That no noticeable difference is shown, the numbers, and the seeds that would show one."""
    described = _described(comparison, link)
    described = described[0].lower() + described[1:] if described.startswith(("The ", "On ")) else described
    if comparison.noticeable:
        return f"No best discipline shown with {comparison.seeds} seeds: {described}"
    if any(pair.shown for pair in comparison.pairs.all):
        return f"The disciplines do not differ noticeably: {described}"
    return f"No difference shown with {comparison.seeds} seeds: {described}{more_seeds(comparison)}"


def _described(comparison: ComparedFindings, link: str) -> str:
    """The numbers of the disciplines without an order."""
    delay = next((each for each in comparison.findings if each.delay_of is not None and comparison.by(each)), None)
    if len(comparison.ranked) > 1 and delay is not None and not comparison.ranked[0].has_classes:
        return _delays_of_each(comparison, delay, delay.queue or link)
    several = len({finding.ranked[0].unit for finding in comparison.divided}) > 1
    return ". ".join(
        f"{_of_what(each, by_unit=several)}{_division_of_each(each.ranked, link)}" for each in comparison.divided
    )


def _division_of_each(ranked: list[Division], link: str) -> str:
    best = ranked[0]
    if best.has_classes:
        return _taken_by_each(ranked, link)
    if len(best.compared) == 1:
        return _units_alone(ranked)
    groups = [f"{_balance(each)} with {each.label}" for each in _ends(ranked)]
    return ", ".join(groups)[0].upper() + ", ".join(groups)[1:]


def _taken_by_each(ranked: list[Division], link: str) -> str:
    unit, scale = style.unit_of(ranked[0].rate_bps)
    fair = style.number(ranked[0].of(Role.UNRESPONSIVE).fair_bps / scale)
    flows = _flows(ranked[0])
    takes = "takes" if ranked[0].of(Role.UNRESPONSIVE).flows == 1 else "take"
    each = [f"{style.number(_taken(one) / scale)} with {one.label}" for one in _ends(ranked)]
    amounts = f"{each[0].replace(' with', f' {unit} with', 1)}{''.join(f', {other}' for other in each[1:])}"
    text = f"{_where(ranked[0], link)}{flows} {takes} {amounts} (fair share {fair})"
    return text[0].upper() + text[1:]


def _delays_of_each(comparison: ComparedFindings, finding: Finding, link: str) -> str:
    each = _ms_with(comparison, finding, _ends(comparison.by(finding)))
    return f"{_queued(finding, link)} at most {', '.join(each)}"


def _shorter(comparison: ComparedFindings, finding: Finding, link: str) -> str:
    """The delay of a group that needs a short one, or of all packets."""
    best, rest = _parted(comparison, finding)
    whom = f"“{finding.delay_of}”" if finding.delay_of else "packets"
    than = "least" if len(best) == 1 else f"less than {_some(rest)}"
    named = [best[0], *rest[:1], *([rest[-1]] if len(rest) > 1 else [])]
    amounts = ", ".join(_ms_with(comparison, finding, named))
    lead = f"{best[0].label} delays {whom} {than}"
    return f"{lead}: {_queued(finding, link, of=False)} at most {amounts}{_open(comparison, best)}"


def _parted(comparison: ComparedFindings, finding: Finding) -> tuple[list[Division], list[Division]]:
    """The disciplines of the first place, and those that are shown to be worse than the first."""
    best = comparison.leaders(finding)
    return best, [each for each in comparison.by(finding) if each not in best]


def _open(comparison: ComparedFindings, best: list[Division]) -> str:
    """The disciplines that may be as good as the first, as a sentence; empty without any."""
    others = best[1:]
    return f". No difference from {_some(others)} shown with {comparison.seeds} seeds" if others else ""


def _some(named: Sequence[Division]) -> str:
    """`FABA`, `FABA and SFB`, `FABA, SFB and 2 more`."""
    names = [division.label for division in named]
    if len(names) > _MOST_NAMES:
        names = [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1} more"]
    return style.listed(names)


def _queued(finding: Finding, link: str, *, of: bool = True) -> str:
    at = f" at {link}" if link else ""
    whose = f" of “{finding.delay_of}”" if finding.delay_of and of else ""
    return f"95 % of {'its ' if finding.delay_of and not of else ''}packets{whose} have a queueing delay{at} of"


def _ms_with(comparison: ComparedFindings, finding: Finding, named: Sequence[Division]) -> list[str]:
    """The means of a delay with the disciplines' names: `1.6 ms with FQ-CoDel`, `230 with DropTail`."""
    means = [style.number(comparison.pairs.mean(finding.name, each.label)) for each in named]
    texts = [f"{mean} with {each.label}" for mean, each in zip(means, named, strict=True)]
    return [texts[0].replace(" with", " ms with", 1), *texts[1:]]


def _protection(comparison: ComparedFindings, finding: Finding, link: str) -> str:
    """With unresponsive flows: their goodput under the best disciplines, then under the next and the last."""
    best, rest = _parted(comparison, finding)
    scale = style.unit_of(best[0].rate_bps)[1]
    # Disciplines beyond one that is shown to be worse are not named with the best.
    together = [each for each in best if each.misallocated <= min(other.misallocated for other in rest)]
    doubt = _open(comparison, best) if together != best else ""
    tie = f"; no difference from {best[0].label} shown" if together == best and len(best) > 1 else ""
    named = together if together == best else best[:1]
    fair = style.number(best[0].of(Role.UNRESPONSIVE).fair_bps / scale)
    statement = f"{_where(best[0], link)}{_limit(named)} (fair share {fair}{tie})"
    others = [*(rest[:1] if len(named) == 1 else []), rest[-1]][-2 if len(rest) > 1 else -1 :]
    amounts = {each.label: style.number(_taken(each) / scale) for each in others}
    # The next best may hold the flow too, to a little more.
    if _holds(others[0]) and all(map(_holds, named)):
        label = others.pop(0).label
        statement = f"{statement}, {label} to {amounts[label]}"
    if not others:
        return statement + doubt
    them = "it" if best[0].of(Role.UNRESPONSIVE).flows == 1 else "them"
    label, *more = (each.label for each in others)
    taken = [f"{label} lets {them} take {amounts[label]}", *(f"{each} {amounts[each]}" for each in more)]
    return f"{statement}. {', '.join(taken)}{doubt}"


def _holds(division: Division) -> bool:
    share = division.of(Role.UNRESPONSIVE)
    # A flow that has stopped has no fair share: nothing held it.
    return share.fair_bps > 0 and share.most_share is not None and share.most_share <= LIMITED_TO


def _limit(best: list[Division]) -> str:
    """`FRED and FABA hold the unresponsive flow to 1.17 and 1.18 Mbit/s`; `let ... take` if that is far above fair."""
    unit, scale = style.unit_of(best[0].rate_bps)
    rates = list(dict.fromkeys(style.number(_taken(each) / scale) for each in best))
    if len(best) > _MOST_NAMES and len(rates) > 1:
        rates = [" to ".join(style.number(end(map(_taken, best)) / scale) for end in (min, max))]
    elif len(rates) > 1:
        rates = [style.number(_taken(each) / scale) for each in best]
    amount = f"{style.listed(rates)} {unit}"
    if all(map(_holds, best)):
        return f"{_listed(best, 'hold')} {_flows(best[0])} to {amount}"
    return f"{_listed(best, 'let')} {_flows(best[0])} take {amount}"


def _where(division: Division, link: str) -> str:
    """Begins a verdict on one of several links with its name; a direction is named before."""
    return f"On link {link}, " if link and not division.direction else ""


def _taken(division: Division) -> float:
    """Goodput of the unresponsive flows together, in bit/s."""
    return division.of(Role.UNRESPONSIVE).goodput_bps


def _flows(division: Division) -> str:
    flows = division.of(Role.UNRESPONSIVE).flows
    return "the unresponsive flow" if flows == 1 else f"the {flows} unresponsive flows"


def _between_groups(comparison: ComparedFindings, finding: Finding) -> str:
    """With several groups: the goodput of a flow of the best-off group over one of the worst-off."""
    best, rest = _parted(comparison, finding)
    last = rest[-1]
    times, most, least = extremes(best[0].compared)
    than = "most fairly" if len(best) == 1 else f"more fairly than {_some(rest)}"
    among = "" if best[0].unit == "flow" else f" among {_units(best[0])}"
    statement = f"{best[0].label} divides the link{among} {than}: {_balance(best[0])}"
    again, ahead, behind = extremes(last.compared)
    if times >= _EVEN and (ahead.name, behind.name) == (most.name, least.name) and math.isfinite(again):
        worst = f"{style.number(again, 2)} times"
        return f"{statement}. With {last.label}: {worst}{_open(comparison, best)}"
    return f"{statement}. With {last.label}, {_compared(again, ahead, behind, last.unit)}{_open(comparison, best)}"


def _balance(division: Division) -> str:
    """How far the groups are from equal goodputs over fair share."""
    times, most, least = extremes(division.compared)
    return "each group gets about its fair share" if times < _EVEN else _compared(times, most, least, division.unit)


def extremes(parts: list[LinkShare]) -> tuple[float, LinkShare, LinkShare]:
    """The best-off and the worst-off share by goodput over fair share, and the ratio of the two."""
    ranked = sorted(parts, key=lambda part: part.share)
    worst, best = ranked[0], ranked[-1]
    return (best.share / worst.share if worst.share > 0 else math.inf), best, worst


def _compared(times: float, most: LinkShare, least: LinkShare, unit: str) -> str:
    if math.isinf(times):
        return f"“{least.name}” gets no goodput"
    if unit != "flow":
        return f"“{most.name}” gets {style.number(times, 2)} times as much of its fair share as “{least.name}”"
    same = math.isclose(most.fair_bps / most.flows, least.fair_bps / least.flows, rel_tol=0.01)
    measure = "" if same else ", relative to its fair share"
    return f"a flow of “{most.name}” gets {style.number(times, 2)} times the goodput of one of “{least.name}”{measure}"


def _among_units(comparison: ComparedFindings, finding: Finding) -> str:
    """With one group that demands more than its share: how evenly its flows or hosts share."""
    best, rest = _parted(comparison, finding)
    if _count(best[0]) == 1:
        return f"{_units_alone([best[0], rest[-1]])}{_open(comparison, best)}"
    than = "most evenly" if len(best) == 1 else f"more evenly than {_some(rest)}"
    lead = f"{best[0].label} divides {_link(best[0])} {than} among {_count(best[0])} {_units(best[0])}"
    named = [best[0], *(rest[:1] if len(rest) > 1 else []), rest[-1]]
    return f"{lead}. Jain's index is {_indices(named)} (1: equal shares){_open(comparison, best)}"


def _units_alone(ranked: list[Division]) -> str:
    """The goodput of one flow, or Jain's index of several, without an order of disciplines."""
    best = ranked[0]
    link = _link(best)
    if _count(best) == 1:
        unit, scale = style.unit_of(best.goodput_bps)
        got = _each(_ends(ranked), lambda division: f"{style.number(division.compared[0].goodput_bps / scale)} {unit}")
        return f"One {best.unit} uses {link} alone. Its goodput is {got}"
    return f"{_count(best)} {_units(best)} share {link}. Jain's index is {_indices(_ends(ranked))} (1: equal shares)"


def _count(division: Division) -> int:
    """The number of flows of the only group that demands more than its share, or the number of other units."""
    return division.compared[0].flows if division.unit == "flow" else division.units


def _units(division: Division) -> str:
    return plural(division.unit)


def _link(division: Division) -> str:
    return "the link" if len(division.parts) == 1 else "the rest of the link"


def _indices(named: Sequence[Division]) -> str:
    return _each(named, lambda division: style.number(division.jain or 0.0))


def _each(named: Sequence[Division], value: Callable[[Division], str]) -> str:
    """The numbers of disciplines: `1.2 with FRED, 1.3 with FABA, 5.0 with DropTail`."""
    return ", ".join(f"{value(division)} with {division.label}" for division in named)


def _ends(ranked: Sequence[Division]) -> list[Division]:
    """The first and the last of several disciplines."""
    return [ranked[0], ranked[-1]] if len(ranked) > 1 else list(ranked)


def _listed(best: list[Division], verb: str) -> str:
    """`FABA divides`, `FABA and SFB divide`, `FABA, SFB and 2 more divide`."""
    return f"{_some(best)} {verb}{'s' if len(best) == 1 else ''}"

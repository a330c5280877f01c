"""Sentences of the verdict on the division of a link among groups, hosts, or responsive and unresponsive flows."""

import math
from collections.abc import Sequence

from headgate import style
from headgate.analysis.disciplines_named import MOST_NAMES, each_with, ends, listed, parted, some, undecided
from headgate.analysis.division import FAIR_WITHIN, Division, LinkShare
from headgate.analysis.findings import ComparedFindings, Finding
from headgate.scenario import Role
from headgate.scenario.fair import plural

#: Unresponsive flows count as held to their fair share if the whole 95 % interval is at most this many times it.
LIMITED_TO = 1.5


def divided(comparison: ComparedFindings, finding: Finding, link: str) -> str:
    """The division of the link under the best disciplines, and under the next or the last."""
    if len(comparison.leaders(finding)) == len(comparison.by(finding)):
        return f"no difference shown with {comparison.seeds} seeds"
    one = finding.ranked[0]
    if one.has_classes:
        return _protection(comparison, finding, link)
    return _between_groups(comparison, finding) if len(one.compared) > 1 else _among_units(comparison, finding)


def division_of_each(ranked: list[Division], link: str) -> str:
    """The division of the link under the first and the last discipline, without an order."""
    best = ranked[0]
    if best.has_classes:
        return _taken_by_each(ranked, link)
    if len(best.compared) == 1:
        return _units_alone(ranked)
    groups = [f"{_balance(each)} with {each.label}" for each in ends(ranked)]
    return ", ".join(groups)[0].upper() + ", ".join(groups)[1:]


def _taken_by_each(ranked: list[Division], link: str) -> str:
    unit, scale = style.unit_of(ranked[0].rate_bps)
    fair = style.number(ranked[0].of(Role.UNRESPONSIVE).fair_bps / scale)
    flows = _flows(ranked[0])
    takes = "takes" if ranked[0].of(Role.UNRESPONSIVE).flows == 1 else "take"
    each = [f"{style.number(_taken(one) / scale)} with {one.label}" for one in ends(ranked)]
    amounts = f"{each[0].replace(' with', f' {unit} with', 1)}{''.join(f', {other}' for other in each[1:])}"
    text = f"{_where(ranked[0], link)}{flows} {takes} {amounts} (fair share {fair})"
    return text[0].upper() + text[1:]


def _protection(comparison: ComparedFindings, finding: Finding, link: str) -> str:
    """With unresponsive flows: their goodput under the best disciplines, then under the next and the last."""
    best, rest = parted(comparison, finding)
    scale = style.unit_of(best[0].rate_bps)[1]
    # Disciplines beyond one that is shown to be worse are not named with the best.
    together = [each for each in best if each.misallocated <= min(other.misallocated for other in rest)]
    doubt = undecided(comparison, best) if together != best else ""
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
    if len(best) > MOST_NAMES and len(rates) > 1:
        rates = [" to ".join(style.number(end(map(_taken, best)) / scale) for end in (min, max))]
    elif len(rates) > 1:
        rates = [style.number(_taken(each) / scale) for each in best]
    amount = f"{style.listed(rates)} {unit}"
    if all(map(_holds, best)):
        return f"{listed(best, 'hold')} {_flows(best[0])} to {amount}"
    return f"{listed(best, 'let')} {_flows(best[0])} take {amount}"


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
    best, rest = parted(comparison, finding)
    last = rest[-1]
    _, most, least = _extremes(best[0].compared)
    than = "most fairly" if len(best) == 1 else f"more fairly than {some(rest)}"
    among = "" if best[0].unit == "flow" else f" among {_units(best[0])}"
    statement = f"{best[0].label} divides the link{among} {than}: {_balance(best[0])}"
    again, ahead, behind = _extremes(last.compared)
    if not _is_even(best[0]) and (ahead.name, behind.name) == (most.name, least.name) and math.isfinite(again):
        worst = f"{style.number(again, 2)} times"
        return f"{statement}. With {last.label}: {worst}{undecided(comparison, best)}"
    return f"{statement}. With {last.label}, {_compared(again, ahead, behind, last.unit)}{undecided(comparison, best)}"


def _balance(division: Division) -> str:
    """How far the groups are from their fair shares."""
    if _is_even(division):
        return f"each group gets its fair share within {FAIR_WITHIN * 100:.0f} %"
    return _compared(*_extremes(division.compared), division.unit)


def _is_even(division: Division) -> bool:
    """Whether the seeds show that each group gets its fair share (`significance.equivalent`)."""
    return all(part.is_fair for part in division.compared)


def _extremes(parts: list[LinkShare]) -> tuple[float, LinkShare, LinkShare]:
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
    best, rest = parted(comparison, finding)
    if _count(best[0]) == 1:
        return f"{_units_alone([best[0], rest[-1]])}{undecided(comparison, best)}"
    than = "most evenly" if len(best) == 1 else f"more evenly than {some(rest)}"
    lead = f"{best[0].label} divides {_link(best[0])} {than} among {_count(best[0])} {_units(best[0])}"
    named = [best[0], *(rest[:1] if len(rest) > 1 else []), rest[-1]]
    return f"{lead}. Jain's index is {_indices(named)} (1: equal shares){undecided(comparison, best)}"


def _units_alone(ranked: list[Division]) -> str:
    """The goodput of one flow, or Jain's index of several, without an order of disciplines."""
    best = ranked[0]
    link = _link(best)
    if _count(best) == 1:
        unit, scale = style.unit_of(best.goodput_bps)
        got = each_with(
            ends(ranked), lambda division: f"{style.number(division.compared[0].goodput_bps / scale)} {unit}"
        )
        return f"One {best.unit} uses {link} alone. Its goodput is {got}"
    return f"{_count(best)} {_units(best)} share {link}. Jain's index is {_indices(ends(ranked))} (1: equal shares)"


def _count(division: Division) -> int:
    """The number of flows of the only group that demands more than its share, or the number of other units."""
    return division.compared[0].flows if division.unit == "flow" else division.units


def _units(division: Division) -> str:
    return plural(division.unit)


def _link(division: Division) -> str:
    return "the link" if len(division.parts) == 1 else "the rest of the link"


def _indices(named: Sequence[Division]) -> str:
    return each_with(named, lambda division: style.number(division.jain or 0.0))

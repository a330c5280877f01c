"""The findings by which disciplines are compared: the division of the link, and the delays of groups.

All pairs of disciplines by all findings are one family of tests (`analysis.pairs`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from headgate import style
from headgate.analysis.data import qdiscs
from headgate.analysis.division import Division, divisions, sensitive, sharings
from headgate.analysis.links import LinkDirection, first
from headgate.analysis.pairs import ComparedPairs
from headgate.analysis.repeats import repeats
from headgate.analysis.spread import Estimate
from headgate.files.result_tables import ResultTables
from headgate.scenario.queues import queue_of

#: Differences of less than this share of the link's rate are not reported.
_ALIKE = 0.02
#: Differences of a delay below this are not reported, in ms.
_SAME_MS = 1.0
#: A difference of two delays counts in full if the longer one is above this, in ms. Shorter delays disturb no call.
_LONG_MS = 100.0

#: The name of the finding on the division of the link.
DIVISION = "misallocated goodput"


class Finding(NamedTuple):
    """A quantity by which disciplines are compared; less is better. `delay_of` is a group, empty for all packets.

    `ranked` are the divisions that it is of. `scale` is the difference that counts in full, `least` the smallest one
    that is reported. `queue` names the queue of a delay if the scenario compares disciplines at several.
    """

    name: str
    ranked: list[Division]
    delay_of: str | None
    values: dict[str, list[float | None]]
    scale: float
    least: float
    unit: str
    per_unit: float = 1.0
    queue: str = ""


class ComparedFindings(NamedTuple):
    """The disciplines of a result, their findings, the tests of all pairs, and the largest finding that is shown."""

    ranked: list[Division]
    findings: list[Finding]
    pairs: ComparedPairs
    seeds: int

    @property
    def shown(self) -> Finding | None:
        """The finding that is largest against its interval; None if the seeds show none that matters.

        In a finding, the first discipline is shown to be better than another one. A delay that a group does not stand
        comes before the division of the link: calls that cannot be held are worse than unequal transfers.
        """
        decided = [finding for finding in self.noticeable if len(self.leaders(finding)) < len(self.by(finding))]
        return max(decided, key=lambda finding: (self._spoils(finding), self._size(finding)), default=None)

    @property
    def divided(self) -> list[Finding]:
        """The findings on the division of the link: in each direction, by each unit."""
        return [finding for finding in self.findings if finding.delay_of is None]

    def _spoils(self, finding: Finding) -> bool:
        """Whether some disciplines spoil the traffic of a group that needs short delays, and others do not."""
        return bool(finding.delay_of) and self._sure(finding) >= _LONG_MS

    @property
    def noticeable(self) -> list[Finding]:
        """The findings in which a pair of disciplines is shown to differ noticeably."""
        return [finding for finding in self.findings if self._size(finding) > 0]

    def _size(self, finding: Finding) -> float:
        """The largest sure difference over its scale; 0 if no pair is shown to differ noticeably."""
        largest = self._sure(finding)
        return largest / finding.scale if largest >= finding.least else 0.0

    def _sure(self, finding: Finding) -> float:
        """The largest sure difference of a pair that is shown to differ; 0 if none is."""
        return max((pair.sure for pair in self.pairs.of(finding.name) if pair.shown), default=0.0)

    def leaders(self, finding: Finding) -> list[Division]:
        """The disciplines that share the first place, the best first."""
        return [_of(finding, label) for label in self.pairs.leaders(finding.name)]

    def by(self, finding: Finding) -> list[Division]:
        """The disciplines, the best by a finding first; without those for which it was not measured."""
        return [_of(finding, label) for label in self.pairs.ranked(finding.name)]


def _of(finding: Finding, label: str) -> Division:
    return next(division for division in finding.ranked if division.label == label)


def of(result: ResultTables) -> ComparedFindings:
    """Compares the disciplines of a result."""
    looks = style.looks(qdiscs(result))
    by_label = {looks[qdisc].label: places for qdisc, places in repeats(result).items()}
    scenario = result.scenario
    queues = {group.name: queue_of(scenario, group) for group in sensitive(scenario)} if first(result) else {}
    both = len(scenario.ways) > 1
    names = {
        group: f"{queue.link} {queue.direction}" if both else LinkDirection(queue.link, queue.direction).label
        for group, queue in queues.items()
    }
    return _compared([divisions(result, sharing) for sharing in sharings(scenario)], by_label, names)


def compared(
    ranked: list[Division], rate_bps: float, repeats_by_label: Mapping[str, Sequence[int]] = {}
) -> ComparedFindings:
    """Compares all pairs of disciplines by every finding; `repeats_by_label` as for `ComparedPairs`."""
    return _compared([[division._replace(rate_bps=rate_bps) for division in ranked]], repeats_by_label, {})


def _compared(
    rankings: list[list[Division]], repeats_by_label: Mapping[str, Sequence[int]], queues: Mapping[str, str]
) -> ComparedFindings:
    """Compares disciplines by every ranking; `queues` names the queue of each group that needs short delays."""
    several = len({ranked[0].unit for ranked in rankings}) > 1
    pooled = not any(division.delays for ranked in rankings for division in ranked)
    # The delays do not depend on the unit.
    once = {ranked[0].direction: ranked for ranked in reversed(rankings)}
    findings = [
        *(_division(ranked, by_unit=several or ranked[0].unit != "flow") for ranked in rankings),
        *(finding for ranked in reversed(once.values()) for finding in _delays(ranked, queues, pooled=pooled)),
    ]
    seeds = max(len(division.misallocated_bps["per_seed"]) for division in rankings[0])
    return ComparedFindings(
        rankings[0], findings, ComparedPairs({each.name: each.values for each in findings}, repeats_by_label), seeds
    )


def _division(ranked: list[Division], *, by_unit: bool) -> Finding:
    values = {division.label: division.misallocated_bps["per_seed"] for division in ranked}
    one = ranked[0]
    unit, scale = style.unit_of(one.rate_bps)
    name = " ".join(filter(None, (DIVISION, one.direction, f"by {one.unit}" if by_unit else "")))
    return Finding(name, ranked, None, values, one.rate_bps, _ALIKE * one.rate_bps, unit, scale)


def _delays(ranked: list[Division], queues: Mapping[str, str], *, pooled: bool) -> list[Finding]:
    """The delays of the groups that need short ones; if no group does (`pooled`), that of all packets.

    Beside unresponsive flows, all packets together are mostly theirs: their delay is no finding.
    """
    sensitive = list(dict.fromkeys(group for division in ranked for group in division.delays))
    per_group = {group: [division.delays.get(group) for division in ranked] for group in sensitive}
    if pooled and not ranked[0].has_unresponsive:
        per_group = {"": [division.queue_delay_ms_p95 for division in ranked]}
    return [_delay(group, ranked, estimates, queues.get(group, "")) for group, estimates in per_group.items()]


def _delay(group: str, ranked: list[Division], estimates: Sequence[Estimate | None], queue: str) -> Finding:
    values = {
        division.label: estimate["per_seed"]
        for division, estimate in zip(ranked, estimates, strict=True)
        if estimate is not None
    }
    longest = max((value for each in values.values() for value in each if value is not None), default=0.0)
    direction = "" if group else ranked[0].direction
    name = f"p95 queueing delay{f' of {group}' if group else ''}{f' {direction}' if direction else ''}"
    return Finding(name, ranked, group, values, max(longest, _LONG_MS), _SAME_MS, "ms", queue=queue)


def more_seeds(comparison: ComparedFindings) -> str:
    """The seeds that would show a noticeable difference, as a sentence; empty if nothing differs."""
    needed = [
        each
        for finding in comparison.findings
        if (each := comparison.pairs.needed(finding.name)) is not None and abs(each.pair.test.mean) >= finding.least
    ]
    if not needed:
        return ""
    fewest = min(needed, key=lambda each: each.seeds or math.inf)
    what = f"{fewest.pair.quantity}, {fewest.pair.first} and {fewest.pair.second}"
    if fewest.seeds is None:
        return ". More than 1000 would be needed"
    return f". About {fewest.seeds} would show one ({what})"

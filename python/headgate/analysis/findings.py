"""The findings by which disciplines are compared: the division of the link, and the delays of groups.

All pairs of disciplines by all findings are one family of tests (`analysis.pairs`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from headgate import style
from headgate.analysis.data import qdiscs
from headgate.analysis.division import Division, divisions
from headgate.analysis.pairs import ComparedPairs
from headgate.analysis.repeats import repeats
from headgate.analysis.spread import Estimate
from headgate.files.result_tables import ResultTables

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

    `scale` is the difference that counts in full, `least` the smallest one that is reported.
    """

    name: str
    delay_of: str | None
    values: dict[str, list[float | None]]
    scale: float
    least: float
    unit: str
    per_unit: float = 1.0


class ComparedFindings(NamedTuple):
    """The disciplines of a result, their findings, the tests of all pairs, and the largest finding that is shown."""

    ranked: list[Division]
    findings: list[Finding]
    pairs: ComparedPairs
    seeds: int

    @property
    def shown(self) -> Finding | None:
        """The finding that is largest against its interval; None if the seeds show none that matters.

        In a finding, the first discipline is shown to be better than another one.
        """
        decided = [finding for finding in self.noticeable if len(self.leaders(finding)) < len(self.by(finding))]
        return max(decided, key=self._size, default=None)

    @property
    def noticeable(self) -> list[Finding]:
        """The findings in which a pair of disciplines is shown to differ noticeably."""
        return [finding for finding in self.findings if self._size(finding) > 0]

    def _size(self, finding: Finding) -> float:
        """The largest sure difference over its scale; 0 if no pair is shown to differ noticeably."""
        shown = [pair.sure for pair in self.pairs.of(finding.name) if pair.shown]
        largest = max(shown, default=0.0)
        return largest / finding.scale if largest >= finding.least else 0.0

    def leaders(self, finding: Finding) -> list[Division]:
        """The disciplines that share the first place, the best first."""
        return [self.of(label) for label in self.pairs.leaders(finding.name)]

    def of(self, label: str) -> Division:
        """The division under the discipline of this label."""
        return next(division for division in self.ranked if division.label == label)

    def by(self, finding: Finding) -> list[Division]:
        """The disciplines, the best by a finding first; without those for which it was not measured."""
        return [self.of(label) for label in self.pairs.ranked(finding.name)]


def of(result: ResultTables) -> ComparedFindings:
    """Compares the disciplines of a result."""
    looks = style.looks(qdiscs(result))
    by_label = {looks[qdisc].label: places for qdisc, places in repeats(result).items()}
    return compared(divisions(result), result.scenario.rate_bps, by_label)


def compared(
    ranked: list[Division], rate_bps: float, repeats_by_label: Mapping[str, Sequence[int]] = {}
) -> ComparedFindings:
    """Compares all pairs of disciplines by every finding; `repeats_by_label` as for `ComparedPairs`."""
    findings = [_division(ranked, rate_bps), *_delays(ranked)]
    seeds = max(len(division.misallocated_bps["per_seed"]) for division in ranked)
    return ComparedFindings(
        ranked, findings, ComparedPairs({each.name: each.values for each in findings}, repeats_by_label), seeds
    )


def _division(ranked: list[Division], rate_bps: float) -> Finding:
    values = {division.label: division.misallocated_bps["per_seed"] for division in ranked}
    unit, scale = style.unit_of(rate_bps)
    return Finding(DIVISION, None, values, rate_bps, _ALIKE * rate_bps, unit, scale)


def _delays(ranked: list[Division]) -> list[Finding]:
    """The delays of the groups that need short ones; without such groups, that of all packets.

    Beside unresponsive flows, all packets together are mostly theirs: their delay is no finding.
    """
    sensitive = list(dict.fromkeys(group for division in ranked for group in division.delays))
    per_group = {group: [division.delays.get(group) for division in ranked] for group in sensitive}
    if not sensitive and not ranked[0].has_unresponsive:
        per_group = {"": [division.queue_delay_ms_p95 for division in ranked]}
    return [_delay(group, ranked, estimates) for group, estimates in per_group.items()]


def _delay(group: str, ranked: list[Division], estimates: Sequence[Estimate | None]) -> Finding:
    values = {
        division.label: estimate["per_seed"]
        for division, estimate in zip(ranked, estimates, strict=True)
        if estimate is not None
    }
    longest = max((value for each in values.values() for value in each if value is not None), default=0.0)
    name = f"p95 queueing delay{f' of {group}' if group else ''}"
    return Finding(name, group, values, max(longest, _LONG_MS), _SAME_MS, "ms")


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

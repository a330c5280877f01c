"""All pairs of disciplines compared by several quantities. All comparisons are one family of tests (Holm)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from headgate.analysis.significance import ALPHA, TTest, holm, once, paired, seeds_needed

#: What a star says; see `ComparedPairs.starred`.
STARRED = "no other is shown to be better, and another to be worse"
#: A quantity under each discipline: one value per seed, NaN or None where nothing was measured. Less is better.
PerDiscipline = Mapping[str, Sequence[float | None]]


class ComparedPair(NamedTuple):
    """Two disciplines compared by a quantity: the test of the first less the second, and the corrected p-value."""

    quantity: str
    first: str
    second: str
    test: TTest
    p: float

    @property
    def shown(self) -> bool:
        """Whether the seeds show a difference."""
        return self.p < ALPHA

    @property
    def sure(self) -> float:
        """The least difference within the 95 % interval; 0 if the interval reaches 0 or there is none."""
        return max(0.0, abs(self.test.mean) - self.test.half) if self.test.half is not None else 0.0

    def turned(self) -> ComparedPair:
        """The same with the disciplines exchanged."""
        test = self.test._replace(mean=-self.test.mean, p_below=self.test.p_above, p_above=self.test.p_below)
        return ComparedPair(self.quantity, self.second, self.first, test, self.p)


class SeedsNeeded(NamedTuple):
    """The pair that the fewest seeds would show to differ, and this number; None if it is above the largest."""

    pair: ComparedPair
    seeds: int | None


class ComparedPairs:
    """The tests of all pairs of disciplines by each quantity.

    `repeats` has, for each discipline and seed, the place of the first seed with the same run (`analysis.repeats`).
    Seeds that gave the same runs of both disciplines count once. Without it, all runs count as different.
    """

    def __init__(self, quantities: Mapping[str, PerDiscipline], repeats: Mapping[str, Sequence[int]] = {}) -> None:
        self.values = {
            quantity: {name: [math.nan if value is None else value for value in of] for name, of in each.items()}
            for quantity, each in quantities.items()
        }
        pairs = [(quantity, *names) for quantity, each in self.values.items() for names in combinations(each, 2)]
        tests = [
            paired(
                *once((self.values[quantity][one], self.values[quantity][two]), (repeats.get(one), repeats.get(two)))
            )
            for quantity, one, two in pairs
        ]
        corrected = holm([test.p for test in tests])
        self.all = [ComparedPair(*pair, test, p) for pair, test, p in zip(pairs, tests, corrected, strict=True)]
        self._by_names = {(pair.quantity, pair.first, pair.second): pair for pair in self.all}

    def of(self, quantity: str) -> list[ComparedPair]:
        """All pairs of a quantity."""
        return [pair for pair in self.all if pair.quantity == quantity]

    def pair(self, quantity: str, one: str, other: str) -> ComparedPair:
        """The comparison of `one` with `other`: the mean is that of `one` less `other`."""
        found = self._by_names.get((quantity, one, other))
        return self._by_names[quantity, other, one].turned() if found is None else found

    def ranked(self, quantity: str) -> list[str]:
        """The disciplines with a value, the least mean first."""
        means = {name: mean for name in self.values[quantity] if math.isfinite(mean := self.mean(quantity, name))}
        return sorted(means, key=means.__getitem__)

    def mean(self, quantity: str, name: str) -> float:
        """The mean over the seeds that have a value; NaN without any."""
        known = [value for value in self.values[quantity][name] if math.isfinite(value)]
        return math.fsum(known) / len(known) if known else math.nan

    def leaders(self, quantity: str) -> list[str]:
        """The disciplines that are not shown to be worse than the one with the least mean, which comes first."""
        ranked = self.ranked(quantity)
        return [name for name in ranked if name == ranked[0] or not self.pair(quantity, ranked[0], name).shown]

    def starred(self, quantity: str) -> list[str]:
        """The disciplines that no other is shown to be better than, and that are shown to be better than another.

        Without the second condition, a discipline whose seeds differ much would be among them wherever its mean lies.
        """
        ranked = self.ranked(quantity)
        shown = {(pair.first, pair.second): pair.test.mean for pair in self.of(quantity) if pair.shown}
        better = {(one, other) for (one, other), mean in shown.items() if mean < 0}
        better |= {(other, one) for (one, other), mean in shown.items() if mean > 0}
        beaten, winners = {other for _, other in better}, {one for one, _ in better}
        return [name for name in ranked if name in winners - beaten]

    def best(self, quantity: str) -> str | None:
        """The discipline that is shown to differ from every other and has the least mean; None if there is none."""
        leaders = self.leaders(quantity)
        return leaders[0] if len(leaders) == 1 and len(self.values[quantity]) > 1 else None

    def needed(self, quantity: str) -> SeedsNeeded | None:
        """The fewest seeds that would show a difference of this quantity; None without an interval or a difference."""
        tried = [pair for pair in self.of(quantity) if pair.test.half is not None and pair.test.mean]
        if not tried:
            return None
        clearest = max(tried, key=lambda pair: abs(pair.test.mean) / (pair.test.deviation or math.inf))
        return SeedsNeeded(clearest, seeds_needed(clearest.test, len(self.all)))

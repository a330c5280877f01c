"""Metrics by name: `p95 queue delay`, `goodput tcp`, and bounds on them: `p99_queue_delay < 20ms`.

`headgate tune`, `headgate sensitivity` and `headgate check` share this grammar; docs/reference/metrics.md explains it.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from headgate import _core
from headgate.analysis.judge import Judgement, Quantity, Verdict
from headgate.analysis.links import LinkDirection
from headgate.analysis.metrics.catalogue import MEASURES, OF_FLOWS, OF_LINK, Measure, owner
from headgate.analysis.metrics.measuring import SPREAD
from headgate.analysis.metrics.views import FlowsView, LinkView
from headgate.analysis.repeats import repeats
from headgate.errors import UsageError, did_you_mean, warn_renamed
from headgate.files import renamed
from headgate.files.result_tables import ResultTables
from headgate.scenario import Group, Scenario

#: Words for all groups of a kind. A group with exactly this name takes precedence.
KINDS = ("tcp", "udp")


class Metric(NamedTuple):
    """A metric of a scenario: a measure, the part of its distribution, and the groups (None for all)."""

    measure: Measure
    part: str | None
    group: str | None

    def __str__(self) -> str:
        return " ".join(word for word in (self.part, self.measure.name, self.group) if word is not None)

    @property
    def lower(self) -> bool:
        """Whether less of it is better."""
        return self.measure.lower

    def of(self, result: ResultTables, qdisc: str) -> Quantity:
        """One value per seed, in the measure's unit; NaN for seeds without a value."""
        measured = self._taken(result, qdisc)
        per_seed = (measured if self.part is None else measured[self.part])["per_seed"]
        values = tuple(math.nan if value is None else value for value in per_seed)
        return Quantity(values, tuple(repeats(result).get(qdisc, ())))

    def show(self, measured: Quantity) -> str:
        """Mean and half its 95 % interval, with the unit."""
        return self.measure.units.show(measured.mean, measured.half)

    def _taken(self, result: ResultTables, qdisc: str) -> Any:
        if self.group is None and (of_link := OF_LINK.get(self.measure.key)) is not None:
            return of_link.take(LinkView(result, qdisc, LinkDirection(*result.scenario.bottleneck)))
        of_flows = OF_FLOWS.get(self.measure.key, self.measure)
        return of_flows.take(FlowsView(result, qdisc, groups_of(result.scenario, self.group)))


class Bound(NamedTuple):
    """A bound on a metric: `p99 queue delay < 20ms`. `value` is in the metric's unit."""

    metric: Metric
    sign: str
    value: float

    def __str__(self) -> str:
        return f"{self.metric} {self.sign} {self.metric.measure.units.setting(self.value)}"

    def excess(self, value: float) -> float:
        """The amount by which `value` misses the bound; 0 or less if it is kept. Equality misses `<` and `>`."""
        excess = value - self.value if self.sign.startswith("<") else self.value - value
        return math.ulp(self.value) if excess == 0 and self.sign in ("<", ">") else excess

    def judge(self, measured: Quantity) -> Judgement:
        """Whether the bound is kept, by the mean's 95 % interval; with one seed, by its value."""
        numbers = f"{self.metric.show(measured)} {self.sign} {self.metric.measure.units.setting(self.value)}"
        excess, half = self.excess(measured.mean), measured.half
        if not math.isfinite(excess):
            return Judgement(Verdict.INCONCLUSIVE, numbers)
        if excess + half <= 0:
            return Judgement(Verdict.HOLDS, numbers)
        return Judgement(Verdict.DIFFERS if excess - half > 0 else Verdict.INCONCLUSIVE, numbers)


def metric(text: str, scenario: Scenario) -> Metric:
    """The metric that `text` names in `scenario`; `UsageError` with the nearest name if there is none.

    Words can be in any order, and separated by blanks or `_`: `p95 queue delay`, `queue_delay_p95`, `goodput tcp`.
    """
    names = _owners(scenario)
    for words in (text.split(), re.split(r"[\s_]+", text.strip())):
        # A word of the grammar takes precedence over a group of this name.
        for owner_index in (None, *(number for number, word in enumerate(words) if word in names)):
            rest = [word for number, word in enumerate(words) if number != owner_index]
            if (found := _measure(rest)) is not None:
                checked = _checked(Metric(*found, None if owner_index is None else words[owner_index]), text)
                if (old := _split(rest)[0]) in renamed.METRICS:
                    warn_renamed(f"the metric `{old}` is called `{checked.measure.name}` now")
                return checked
    raise _unknown(text, names)


def bound(text: str, scenario: Scenario) -> Bound:
    """The bound that `text` states, such as `utilization >= 0.95`; `UsageError` if it states none."""
    match = re.fullmatch(r"(?P<metric>[^<>=]+)(?P<sign><=|>=|<|>)(?P<value>[^<>=]+)", text)
    if match is None:
        raise UsageError(
            f'{text!r} is not a bound: expected a metric, <, <=, > or >= and a value: "utilization >= 0.95"'
        )
    bounded = metric(match["metric"].strip(), scenario)
    try:
        value = bounded.measure.units.read(match["value"])
    except ValueError as error:
        raise UsageError(f"{text!r}: {error}") from None
    return Bound(bounded, match["sign"], value)


def groups_of(scenario: Scenario, owner_name: str | None) -> Sequence[Group]:
    """The groups called `owner_name`, or else those of this kind. None means all groups."""
    named = [group for group in scenario.groups if owner_name is None or group.name == owner_name]
    return named or [group for group in scenario.groups if group.kind == owner_name]


def _owners(scenario: Scenario) -> list[str]:
    kinds = {group.kind for group in scenario.groups}
    return list(dict.fromkeys([*(group.name for group in scenario.groups), *(kind for kind in KINDS if kind in kinds)]))


def _measure(words: Sequence[str]) -> tuple[Measure, str | None] | None:
    """The measure that the words name, and the part of its distribution; None if they name none."""
    name, parts = _split(words)
    name = renamed.METRICS.get(name, name)
    found = next((measure for measure in MEASURES if name in _names(measure)), None)
    return None if found is None or len(parts) > 1 else (found, parts[0] if parts else None)


def _split(words: Sequence[str]) -> tuple[str, list[str]]:
    """The name that the words spell, and the parts of a distribution among them."""
    split = [part for word in words for part in re.split(r"[_-]", word.lower()) if part not in ("", "of")]
    return " ".join(word for word in split if not _is_part(word)), [word for word in split if _is_part(word)]


def _is_part(word: str) -> bool:
    return word in SPREAD or re.fullmatch(r"p\d+", word) is not None


def _names(measure: Measure) -> Iterator[str]:
    yield from (measure.name, *measure.also)
    yield " ".join(word for word in measure.key.split("_") if word != "of")


def _checked(parsed: Metric, text: str) -> Metric:
    measure, part, group = parsed
    if part is not None and part not in measure.parts:
        parts = f"it has {', '.join(measure.parts)}" if measure.parts else "it is one number a run"
        raise UsageError(f"{text!r}: {measure.name} has no {part}; {parts}")
    if group is not None and owner(measure) in ("link", "all"):
        what = "the link" if owner(measure) == "link" else "all flows together"
        raise UsageError(f"{text!r}: {measure.name} is measured for {what}, not for a group")
    usual = "mean" if "mean" in measure.parts else next(iter(measure.parts), None)
    return parsed._replace(part=part or usual)


def _unknown(text: str, owners: Sequence[str]) -> UsageError:
    words = text.split()
    known = [measure.name for measure in MEASURES]
    name = " ".join(word for word in re.split(r"[\s_-]+", text.lower()) if word not in owners and not _is_part(word))
    for number, word in enumerate(words):
        found = _measure(words[:number] + words[number + 1 :]) if len(words) > 1 else None
        # The remaining word is meant as a group, unless the whole text is closer to another metric: `queue delya` means
        # `queue delay`, and not `queue` of a group.
        if found is not None and (_core.nearest(word, owners) or _core.nearest(name, known) in (found[0].name, None)):
            return UsageError(
                f"{text!r}: no group is called {word!r}{did_you_mean(word, owners)} Groups: {', '.join(owners)}"
            )
    return UsageError(f"{text!r} is not a metric{did_you_mean(name, known)} Metrics: {', '.join(known)}")

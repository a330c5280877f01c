"""The goals of a search: metrics to minimize or maximize, and bounds to keep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from headgate.analysis.judge import Quantity, Verdict
from headgate.analysis.metrics import Bound, Metric, bound, metric
from headgate.analysis.significance import ALPHA, TTest, holm, once, paired, seeds_needed
from headgate.errors import UsageError
from headgate.results import Result
from headgate.scenario import Scenario
from headgate.units import Units

DIRECTIONS = {"minimise": True, "minimize": True, "maximise": False, "maximize": False}


class Goal(NamedTuple):
    """A metric, and whether less of it is better."""

    metric: Metric
    lower: bool

    @property
    def direction(self) -> Literal["minimize", "maximize"]:
        """The direction in Optuna's words."""
        return "minimize" if self.lower else "maximize"

    def __str__(self) -> str:
        return f"{'minimize' if self.lower else 'maximize'} {self.metric}"

    @property
    def scale(self) -> float:
        """The divisor of values in a figure: rates are drawn in Mbit/s."""
        return 1e6 if self.metric.measure.units is Units.RATE else 1.0

    @property
    def label(self) -> str:
        """The metric as an axis of a figure calls it, with the unit."""
        unit = "Mbit/s" if self.metric.measure.units is Units.RATE else self.metric.measure.units.value.name
        name = f"{self.metric}{f' ({unit})' if unit else ''}"
        return name[0].upper() + name[1:]


class SettingChange(NamedTuple):
    """A goal's metric with another setting and with the original one, and whether the seeds show a difference.

    The verdict is on "better". With one seed it is inconclusive.
    """

    goal: Goal
    now: Quantity
    was: Quantity
    test: TTest
    verdict: Verdict

    @property
    def shown(self) -> bool:
        """Whether the seeds show a difference."""
        return self.verdict is not Verdict.INCONCLUSIVE

    @property
    def relative(self) -> float:
        """The change over the original value, which is not 0."""
        return self.test.mean / abs(self.was.mean)


def changes(compared: Iterable[tuple[Goal, Quantity, Quantity]]) -> list[SettingChange]:
    """Compares each `now` with its `was` in (goal, now, was): paired t tests, corrected for their number (Holm)."""
    rows = list(compared)
    tests = [paired(*once((now.per_seed, was.per_seed), (now.repeats, was.repeats))) for _, now, was in rows]
    corrected = holm([test.p for test in tests])
    return [
        SettingChange(*row, test, _verdict(row[0], test) if p < ALPHA else Verdict.INCONCLUSIVE)
        for row, test, p in zip(rows, tests, corrected, strict=True)
    ]


def _verdict(goal: Goal, test: TTest) -> Verdict:
    return Verdict.HOLDS if (test.mean < 0) == goal.lower else Verdict.DIFFERS


def more_seeds(of: Iterable[SettingChange], tests: int) -> str:
    """The seeds that would show the clearest of some changes, among so many `tests`; empty if no number would."""
    known = [change.test for change in of if change.test.half is not None and change.test.mean]
    if not known:
        return ""
    clearest = max(known, key=lambda test: abs(test.mean) / (test.deviation or float("inf")))
    needed = seeds_needed(clearest, tests)
    return f"about {needed} would show one" if needed else "more than 1000 would be needed"


class Goals(NamedTuple):
    """The objectives and bounds of a search."""

    goals: tuple[Goal, ...]
    bounds: tuple[Bound, ...]

    @classmethod
    def of(cls, objectives: Sequence[str], subject_to: Sequence[str], scenario: Scenario) -> Goals:
        """Reads objectives (`p95 queue delay`, `minimize share cbr`) and bounds; `UsageError` for an unknown metric."""
        if not objectives:
            raise UsageError('the objective is missing: give one, as in --objective "p95 queue delay"')
        goals = tuple(goal(text, scenario) for text in objectives)
        metrics = [str(each.metric) for each in goals]
        if again := next((name for name in metrics if metrics.count(name) > 1), None):
            raise UsageError(f"--objective names {again} more than once")
        return cls(goals, tuple(dict.fromkeys(bound(text, scenario) for text in subject_to)))

    @property
    def metrics(self) -> list[Metric]:
        """Every metric of the objectives and bounds, without repetition."""
        return list(dict.fromkeys([*(each.metric for each in self.goals), *(each.metric for each in self.bounds)]))

    def measure(self, result: Result, qdisc: str) -> dict[str, Quantity]:
        """Every metric of one discipline in a result, by its name, as a trial of a search keeps it: values alone."""
        return {name: Quantity(each.per_seed) for name, each in self._measured(result, qdisc).items()}

    def measure_all(self, result: Result, specs: Iterable[str]) -> dict[str, dict[str, Quantity]]:
        """Every metric of a result's disciplines, by the texts in `specs`, by which they were requested."""
        return {spec: self._measured(result, qdisc) for spec, qdisc in zip(specs, result.scenario.qdiscs, strict=True)}

    def _measured(self, result: Result, qdisc: str) -> dict[str, Quantity]:
        return {str(each): each.of(result, qdisc) for each in self.metrics}

    def __str__(self) -> str:
        bounds = f", subject to {' and '.join(map(str, self.bounds))}" if self.bounds else ""
        return " and ".join(map(str, self.goals)) + bounds


def goal(text: str, scenario: Scenario) -> Goal:
    """A metric with an optional `minimize` or `maximize` before it; by default the metric's own direction."""
    first, _, rest = text.strip().partition(" ")
    if first.lower() in DIRECTIONS:
        return Goal(metric(rest, scenario), DIRECTIONS[first.lower()])
    parsed = metric(text, scenario)
    return Goal(parsed, parsed.lower)

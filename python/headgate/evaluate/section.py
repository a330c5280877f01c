"""The parts of an evaluation: sections of RFC 7928, their tests, and criteria for strengths and failures.

A section is one file of the package `sections` that binds `SECTION`. A scenario is a function of `ScenarioValues`: the
values of the case, the test's durations, and `ecn`, which says whether senders accept marks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from headgate.experiment.declare import ScenarioValues
from headgate.experiment.measures import RunFunction, goodput, path_delay_ms
from headgate.scenario import Scenario


@dataclass(frozen=True)
class SectionCase:
    """A case of a test: its name in words, and the values for its scenario."""

    title: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Criterion:
    """The thresholds of strength and failure of a measure. Values between them are fair.

    If `strong` is less than `weak`, small values are good, otherwise large ones. `relative` measures are divided by
    DropTail's in the same case and seed. The RFC sets no thresholds: these are ours. `strength` and `failure` are words
    for the sentence on each.
    """

    what: str
    unit: str
    strong: float
    weak: float
    strength: str
    failure: str
    relative: bool = False
    measure: str = ""

    def of(self, measure: str, *names: str) -> Self:
        """The criterion of a measure, with names in place of `{}`."""
        words = {word: getattr(self, word).format(*names) for word in ("what", "strength", "failure")}
        return replace(self, measure=measure, **words)


@dataclass(frozen=True)
class RunTimes:
    """Duration and warm-up of a run in seconds, and further values that depend on them."""

    duration: float
    warmup: float
    further: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class GraphedPart:
    """A class of traffic or a phase of a run with a graph of its own: queueing delay against goodput (section 2.7).

    Its measures are called after it, as in `delay_ms:web`.
    """

    name: str
    title: str
    delay_ms: RunFunction
    goodput_mbps: RunFunction

    def measures(self) -> dict[str, RunFunction]:
        """Its delay and goodput, by their names among the test's measures."""
        return {f"delay_ms:{self.name}": self.delay_ms, f"goodput_mbps:{self.name}": self.goodput_mbps}


def of_group(name: str, title: str) -> GraphedPart:
    """A group of flows as a part."""
    return GraphedPart(name, title, path_delay_ms(name), goodput(name) * 1e-6)


@dataclass(frozen=True, kw_only=True)
class GuidelineTest:
    """One test of the guidelines: a scenario, its cases, the measures and the criteria.

    `name` is unique in its section, `place` is its section number in the RFC. `weight` is the RFC's word in figure 4 or
    in the section: `must`, `may`, `could`, `recommended`; empty for a test of ours.

    `reported` are further measures of the table, with their titles. Each of `parts` has a graph besides that of all
    flows. `groups`, with their titles, have graphs in its place. Without `ecn`, no flow of the test supports ECN.
    """

    name: str
    place: str
    title: str
    about: str
    scenario: Callable[[ScenarioValues], Scenario]
    criteria: tuple[Criterion, ...]
    times: RunTimes = RunTimes(90, 20)
    quick: RunTimes = RunTimes(30, 10)
    cases: tuple[SectionCase, ...] = (SectionCase(),)
    measures: Mapping[str, RunFunction] = field(default_factory=dict)
    reported: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[GraphedPart, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    weight: str = "must"
    ecn: bool = True

    @property
    def every_part(self) -> tuple[GraphedPart, ...]:
        """All parts: `parts`, and one for each of `groups`."""
        return (*self.parts, *(of_group(name, title) for name, title in self.groups.items()))

    def every_measure(self) -> dict[str, RunFunction]:
        """The measures of this test, without those common to all tests."""
        return {**self.measures, **{name: each for part in self.every_part for name, each in part.measures().items()}}

    def graphs(self) -> list[dict[str, str]]:
        """Names and titles of the graphs. The graph of all flows together has an empty name."""
        together = {} if self.groups else {"": "all together" if self.parts else ""}
        titles = together | {part.name: part.title for part in self.every_part}
        return [{"name": name, "title": title} for name, title in titles.items()]

    def scenario_of(self, case: SectionCase, spec: str, *, ecn: bool, quick: bool, seeds: int) -> Scenario:
        """The scenario of a case with one discipline."""
        values = {**self.values(case, quick=quick), "name": f"rfc7928-{self.name}", "ecn": ecn}
        return self.scenario(ScenarioValues(values, [spec])).changed(seeds=seeds)

    def values(self, case: SectionCase, *, quick: bool) -> dict[str, Any]:
        """Every value of a case that its scenario or its measures may use."""
        times = self.quick if quick else self.times
        return {"duration": f"{times.duration}s", "warmup": f"{times.warmup}s", **times.further, **case.values}


@dataclass(frozen=True)
class SectionHeadline:
    """A number that the overview table shows for a section: a measure of a test in one case, without ECN."""

    test: str
    measure: str
    shown: str
    case: str = ""


@dataclass(frozen=True, kw_only=True)
class RfcSection:
    """One section of the RFC. `choices` states our values of open parameters, and our deviations from the RFC."""

    number: int
    title: str
    about: str
    tests: tuple[GuidelineTest, ...]
    headlines: tuple[SectionHeadline, ...]
    choices: tuple[str, ...] = ()

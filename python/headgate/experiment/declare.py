"""Declares an experiment of a paper: scenario, cases, published numbers, our values of open parameters, and claims.

An experiment is one file in the folder of its paper that binds `EXPERIMENT`. Its scenario is a function of
`ScenarioValues`: our open parameters, the values of the case, and the disciplines. In the text of a discipline, `$name`
stands for such a value.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Template
from typing import TYPE_CHECKING, Any, TypeVar

from headgate.errors import UsageError, did_you_mean
from headgate.experiment.claims import Condition
from headgate.experiment.measures import Number
from headgate.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from headgate.experiment.results import ExperimentResults

T = TypeVar("T")
#: A case: one value for each axis.
Case = Mapping[str, Any]


def grid(**axes: Iterable[Any]) -> tuple[Case, ...]:
    """Every combination of the values of some axes, the last varying fastest."""
    return tuple(dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))


@dataclass(frozen=True)
class OpenParameter:
    """A parameter that the paper does not state: our value, and why.

    The scenario or a discipline takes it by its `name`. If `values` has others to try, `headgate paper sensitivity`
    shows their effect.
    """

    name: str
    value: Any
    reason: str
    values: tuple[Any, ...] = ()


def toml_text(value: Any) -> str:
    """A value as a scenario file has it: `true`, not `True`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class PublishedNumbers:
    """Numbers that the paper prints: `rows[label]` has one for each value of `axis`, or one without an axis.

    `place` is the figure or table, `measure` our measure to compare, `case` the fixed values of further axes. `scale`
    converts the measure to the paper's unit, `unit` (1e-6 and "Mb/s").
    """

    measure: str
    place: str
    rows: Mapping[str, Sequence[float]]
    axis: str | None = None
    at: Sequence[Any] = ()
    case: Case = field(default_factory=dict)
    unit: str = ""
    scale: float = 1.0


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and the condition that decides it.

    `finding` names the explanation (`findings`) if our runs differ. `place` is set if the claim is not in the
    experiment's section.
    """

    text: str
    judge: Condition
    finding: str = ""
    place: str = ""


def for_each(
    items: Iterable[T], text: str, judge: Callable[[T], Condition], finding: str | Mapping[T, str] = "", place: str = ""
) -> Iterator[Claim]:
    """The same claim for each item. The item replaces `{}` in the text; `finding` is for all items or by item."""
    for item in items:
        why = finding if isinstance(finding, str) else finding.get(item, "")
        yield Claim(text.format(item), judge(item), why, place)


@dataclass(frozen=True)
class HeadlineMeasure:
    """The measure by which an experiment compares disciplines, in one case, with its name and unit.

    Tables of added disciplines (`--with`) show it.
    """

    measure: str
    what: str
    case: Case = field(default_factory=dict)
    scale: float = 1.0


@dataclass(frozen=True)
class QuickVariant:
    """A shortened run: its seeds, its changes as with `--set`, and its cases (all if None)."""

    seeds: int = 1
    set: tuple[str, ...] = ()
    cases: tuple[Case, ...] | None = None


@dataclass(frozen=True)
class ComputedRun:
    """One run of an experiment that computes instead of simulating: curve, case, seed, and the user's packet trace."""

    label: str
    case: Case
    seed: int
    quick: bool
    trace: Path | None


class ScenarioValues:
    """The inputs of a scenario function as attributes: each open parameter, each value of the case, and `qdiscs`."""

    def __init__(self, named: Mapping[str, Any], qdiscs: Sequence[str]) -> None:
        self._named = named
        self.qdiscs = qdiscs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._named:
            raise AttributeError(f"neither a choice nor the case has {name!r}{did_you_mean(name, self._named)}")
        return self._named[name]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One figure or table of a paper.

    The docstring of its file is its title. The file's name is its place in the paper unless another is given (`fig5`).
    `stated_in` is the section with its claims. `qdiscs` are the disciplines by their names in the paper.

    With `compute` instead of `scenario` the experiment is a computation: it returns every measure of one run, and
    `qdiscs` name its curves. `modern` says whether further disciplines (`--with`) can be added.
    """

    title: str = ""
    place: str = ""
    about: str
    stated_in: str = ""
    qdiscs: Mapping[str, str]
    claims: tuple[Claim, ...]
    plot: Callable[[ExperimentResults], Figure]
    scenario: Callable[[ScenarioValues], Scenario] | None = None
    compute: Callable[[ComputedRun], Mapping[str, float]] | None = None
    cases: tuple[Case, ...] = ({},)
    seeds: int = 5
    measures: Mapping[str, Number] = field(default_factory=dict)
    published: tuple[PublishedNumbers, ...] = ()
    choices: tuple[OpenParameter, ...] = ()
    quick: QuickVariant = QuickVariant()
    headline: HeadlineMeasure | None = None
    modern: bool = True

    def cases_of(self, quick: bool) -> tuple[Case, ...]:
        """The cases of a full run, or of a shortened one if `quick`."""
        return self.quick.cases if quick and self.quick.cases is not None else self.cases

    def place_of(self, claim: Claim) -> str:
        """The section, figure or table of the paper with this claim."""
        return claim.place or self.stated_in

    def labels(self, further: Sequence[str] = ()) -> dict[str, str]:
        """The disciplines by label, then the added ones (`further`), whose label is their own text."""
        return {**self.qdiscs, **({spec: spec for spec in further} if self.modern else {})}

    def values_of(self, case: Case, specs: Iterable[str], choices: Mapping[str, Any] | None = None) -> ScenarioValues:
        """The inputs of the scenario of a case with these disciplines; `choices` replaces values of open parameters."""
        named = {**{choice.name: choice.value for choice in self.choices}, **(choices or {}), **case}
        return ScenarioValues(named, [Template(spec).substitute(named) for spec in specs])

    def scenario_of(
        self,
        case: Case,
        specs: Iterable[str],
        *,
        quick: bool = False,
        seeds: int | None = None,
        choices: Mapping[str, Any] | None = None,
    ) -> Scenario:
        """The scenario of a case with these disciplines, shortened if `quick`."""
        if self.scenario is None:
            raise UsageError(f"{self.title} is a computation: it has no scenario")
        number = seeds if seeds is not None else self.quick.seeds if quick else self.seeds
        return self.scenario(self.values_of(case, specs, choices)).changed(
            set=self.quick.set if quick else (), seeds=number
        )

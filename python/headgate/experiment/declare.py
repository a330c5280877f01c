"""The parts of an experiment: scenario, cases, published numbers, our values of open parameters, and claims.

An experiment is one file in the folder of its paper, which binds `EXPERIMENT`. Its scenario is a function of
`ScenarioValues`: open parameters, values of the case, and disciplines. In the text of a discipline, `$name` stands for
an open parameter or a value of the case.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from string import Template
from typing import TYPE_CHECKING, Any, TypeVar

from headgate.errors import UsageError, did_you_mean
from headgate.experiment.claims import Condition
from headgate.experiment.measures import RunFunction
from headgate.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from headgate.experiment.results import ExperimentResults

T = TypeVar("T")
#: A case: one value for each axis.
Case = Mapping[str, Any]


def grid(**axes: Iterable[Any]) -> tuple[Case, ...]:
    """Every combination of the axes' values. The last axis varies fastest."""
    return tuple(dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))


@dataclass(frozen=True)
class OpenParameter:
    """A parameter that the paper does not state, with our value and the reason for it.

    The scenario or a discipline reads the value by `name`. Each of `values` is a reading of the paper:
    `headgate paper readings` judges the claims under each.
    """

    name: str
    value: Any
    reason: str
    values: tuple[Any, ...] = ()


def toml_text(value: Any) -> str:
    """A value in TOML's spelling: `true`, not `True`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class PublishedNumbers:
    """Numbers that the paper states for each discipline, by its label.

    There is one for each value `at` the `axis`, or a single one without an axis. `case` fixes further axes. `place` is
    the figure, table or section. `measure` is our measure to compare; `scale` converts it to the paper's `unit`, such
    as 1e-6 to "Mb/s".
    """

    measure: str
    place: str
    rows: Mapping[str, Sequence[float]]
    axis: str | None = None
    at: Sequence[Any] = ()
    case: Case = field(default_factory=dict)
    unit: str = ""
    scale: float = 1.0


class Basis(Enum):
    """The origin of the bound that decides a claim. Scores are counted for each basis."""

    PAPER = "paper"
    """The paper states the bound, or the claim compares two measured quantities as the paper does."""
    OURS = "ours"
    """The paper has a word, such as "significantly", and we chose the number."""
    ILLUSTRATION = "illustration"
    """The claim cannot fail: arithmetic, or a result that the settings imply. It is not scored."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and the condition that decides it.

    `finding` explains why our runs differ from it (`findings`). `place` is set if the claim stands elsewhere than the
    experiment's `stated_in`. Without a `basis`, a number in the condition counts as ours.
    """

    text: str
    judge: Condition
    finding: str = ""
    place: str = ""
    basis: Basis | None = None

    @property
    def counts_as(self) -> Basis:
        """The basis of the claim: as declared, else by its condition."""
        return self.basis or (Basis.OURS if self.judge.numeric else Basis.PAPER)


def for_each(
    items: Iterable[T],
    text: str,
    judge: Callable[[T], Condition],
    finding: str | Mapping[T, str] = "",
    place: str = "",
    basis: Basis | None = None,
) -> Iterator[Claim]:
    """The same claim for each item, which replaces `{}` in the text. `finding` is for all items, or by item."""
    for item in items:
        why = finding if isinstance(finding, str) else finding.get(item, "")
        yield Claim(text.format(item), judge(item), why, place, basis)


@dataclass(frozen=True)
class HeadlineMeasure:
    """The measure by which an experiment compares disciplines, in one case. `what` is its name with the unit.

    The tables of disciplines that `--with` adds show it.
    """

    measure: str
    what: str
    case: Case = field(default_factory=dict)
    scale: float = 1.0


@dataclass(frozen=True)
class QuickVariant:
    """A shortened run: number of seeds, changed keys as with `--set`, and cases (None: all)."""

    seeds: int = 1
    set: tuple[str, ...] = ()
    cases: tuple[Case, ...] | None = None


@dataclass(frozen=True)
class ComputedRun:
    """One run of an experiment that computes instead of simulating: label of the curve, case, seed, and options.

    `trace` is the user's packet trace, if one was given.
    """

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
            raise AttributeError(f"no open parameter or axis is called {name!r}{did_you_mean(name, self._named)}")
        return self._named[name]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One figure or table of a paper.

    `title` is the docstring of its file. `place` is its place in the paper, by default from the file's name (`fig5`).
    `stated_in` is the section with its claims. `qdiscs` are the disciplines by label, their name in the paper.

    With `compute` instead of `scenario`, the experiment simulates nothing. `compute` returns every measure of one run,
    and the labels of `qdiscs` name the curves. `modern` says whether `--with` can add disciplines.
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
    measures: Mapping[str, RunFunction] = field(default_factory=dict)
    published: tuple[PublishedNumbers, ...] = ()
    choices: tuple[OpenParameter, ...] = ()
    quick: QuickVariant = QuickVariant()
    headline: HeadlineMeasure | None = None
    modern: bool = True

    def cases_of(self, quick: bool) -> tuple[Case, ...]:
        """The cases of a full run, or of a shortened one if `quick`."""
        return self.quick.cases if quick and self.quick.cases is not None else self.cases

    @property
    def exact(self) -> bool:
        """Whether it computes with one seed, so that its numbers have no chance in them."""
        return self.compute is not None and self.seeds == 1

    def place_of(self, claim: Claim) -> str:
        """The section, figure or table of the paper with this claim."""
        return claim.place or self.stated_in

    def labels(self, further: Sequence[str] = ()) -> dict[str, str]:
        """The paper's disciplines by label, then the added disciplines (`further`), each labeled with its own text."""
        return {**self.qdiscs, **({spec: spec for spec in further} if self.modern else {})}

    def values_of(self, case: Case, specs: Iterable[str], choices: Mapping[str, Any] | None = None) -> ScenarioValues:
        """The inputs of a case's scenario with these disciplines. `choices` replaces values of open parameters."""
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
        settings: Sequence[str] = (),
    ) -> Scenario:
        """The scenario of a case with these disciplines, shortened if `quick`. `settings` change its keys."""
        if self.scenario is None:
            raise UsageError(f"{self.title} is a computation: it has no scenario")
        number = seeds if seeds is not None else self.quick.seeds if quick else self.seeds
        return self.scenario(self.values_of(case, specs, choices)).changed(
            set=[*(self.quick.set if quick else ()), *settings], seeds=number
        )

    def split(self, settings: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
        """Splits `KEY=VALUE` settings: values of open parameters by name, and settings of the scenario's keys."""
        ours = {choice.name: choice.value for choice in self.choices}
        choices, keys = {}, []
        for setting in settings:
            name, _, value = setting.partition("=")
            if name in ours:
                choices[name] = _of_kind(ours[name], value)
            else:
                keys.append(setting)
        return choices, keys


def _of_kind(ours: Any, text: str) -> Any:
    """The value that `text` spells: a truth value or a number in place of one, else the text."""
    if isinstance(ours, bool):
        return {"true": True, "false": False}.get(text, text)
    try:
        return json.loads(text) if isinstance(json.loads(text), int | float) else text
    except ValueError:
        return text

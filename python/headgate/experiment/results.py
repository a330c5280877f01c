"""The results of an experiment: the measures of every discipline and case, with one value per seed, and the runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headgate.analysis.judge import Quantity
from headgate.analysis.repeats import repeats
from headgate.analysis.runs import Run
from headgate.experiment.measures import RunFunction

if TYPE_CHECKING:
    from headgate.experiment.declare import Case, Experiment

#: The name of a measure, the label of a discipline, and the number of a case.
MeasureKey = tuple[str, str, int]


class NotRunError(KeyError):
    """A case of the experiment that a shortened run left out."""


class ExperimentResults:
    """The measures of an experiment. A call returns one: `results("throughput", "RED", buffer=100)`."""

    def __init__(
        self,
        experiment: Experiment,
        labels: Mapping[str, str],
        cases: Sequence[Case],
        values: Mapping[MeasureKey, Quantity],
        runs: Mapping[tuple[str, int], list[Run]] | None = None,
    ) -> None:
        self.experiment = experiment
        self.labels = dict(labels)
        self.cases = list(cases)
        self.values = dict(values)
        self._runs = dict(runs or {})

    @classmethod
    def of_runs(
        cls,
        experiment: Experiment,
        labels: Mapping[str, str],
        cases: Sequence[Case],
        runs: Mapping[tuple[str, int], list[Run]],
    ) -> ExperimentResults:
        """Measures every run."""
        values = {
            (name, label, number): quantity
            for (label, number), mine in runs.items()
            for name, quantity in measured(experiment.measures, mine).items()
        }
        return cls(experiment, labels, cases, values, runs)

    def __call__(self, measure: str, label: str, /, **case: Any) -> Quantity:
        """A measure of one discipline in the case with these values."""
        return self.values[self._known(measure, label, self._case(case))]

    @property
    def seeds(self) -> int:
        """The number of seeds of each measure; 0 without measures."""
        return max((len(quantity.per_seed) for quantity in self.values.values()), default=0)

    def over(self, axis: str, measure: str, label: str, /, **case: Any) -> tuple[list[Any], list[Quantity]]:
        """The values of `axis`, and a measure at each. `case` fixes the other axes."""
        mine = [number for number, each in enumerate(self.cases) if _fits(each, case)]
        at = [self.cases[number][axis] for number in mine]
        if len(set(at)) != len(at):
            raise KeyError(f"{case} leaves more than {axis} open: {[self.cases[number] for number in mine]}")
        return at, [self.values[self._known(measure, label, number)] for number in mine]

    def has(self, label: str, **case: Any) -> bool:
        """Whether there is a discipline of this label, and a case with these values. Shortened runs leave out some."""
        return label in self.labels and any(_fits(each, case) for each in self.cases)

    def runs(self, label: str, /, **case: Any) -> list[Run]:
        """The runs of one discipline in one case, one per seed. Figures over time read them."""
        return self._runs[label, self._case(case)]

    def _case(self, wanted: Mapping[str, Any]) -> int:
        fitting = [number for number, case in enumerate(self.cases) if _fits(case, wanted)]
        if not fitting and any(_fits(case, wanted) for case in self.experiment.cases):
            raise NotRunError(f"a shortened run leaves out {dict(wanted)}")
        if len(fitting) != 1:
            raise KeyError(f"{len(fitting)} cases have {dict(wanted)}, of {[dict(case) for case in self.cases]}")
        return fitting[0]

    def _known(self, measure: str, label: str, number: int) -> MeasureKey:
        if (measure, label, number) not in self.values:
            known = f"measures {_listed(key[0] for key in self.values)}, disciplines {_listed(self.labels)}"
            raise KeyError(f"nothing was measured for {measure!r} of {label!r}; there are {known}")
        return measure, label, number


def measured(measures: Mapping[str, RunFunction], runs: Sequence[Run]) -> dict[str, Quantity]:
    """Every measure of runs that differ only in their seed.

    All measures of one run are taken before the next run, so that its tables are read once.
    """
    rows = [[float(measure(run)) for measure in measures.values()] for run in runs]
    places = tuple(repeats(runs[0].result)[runs[0].key.qdisc]) if runs else ()
    return {name: Quantity(per_seed, places) for name, per_seed in zip(measures, zip(*rows, strict=True), strict=True)}


def _fits(case: Case, wanted: Mapping[str, Any]) -> bool:
    return all(name in case and case[name] == value for name, value in wanted.items())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))

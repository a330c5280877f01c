"""Results of short simulations and made-up searches and evaluations, for tests that look at the figures of commands."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.conftest import SMALL

import headgate
from headgate.analysis.judge import Quantity
from headgate.analysis.runs import Run
from headgate.evaluate import record
from headgate.evaluate.candidates import candidates
from headgate.evaluate.catalogue import SECTIONS
from headgate.evaluate.common import COMMON
from headgate.evaluate.running import EvaluationResults, MeasuredCase, evaluated_cases
from headgate.experiment.declare import Experiment
from headgate.experiment.results import ExperimentResults
from headgate.experiment.running import RunOptions
from headgate.papers import catalogue
from headgate.qdiscs.spec import QdiscSpec
from headgate.scenario import Scenario
from headgate.tuning.goals import Goals
from headgate.tuning.outcome import SearchOutcome, best
from headgate.tuning.sensitivity import Sensitivity, VariedValue
from headgate.tuning.space import RangeAxis, space
from headgate.tuning.study import SearchPlan, Trial

ONE = '[[tcp]]\nname = "tcp"\n'
MANY = '[[tcp]]\nname = "tcp"\nflows = 2999\n[[udp]]\nname = "cbr"\nrate = "5Mbit/s"\n'
SIX = """
[[tcp]]
name = "downloads"
flows = 3
[[tcp]]
name = "uploads"
flows = 2
[[tcp]]
name = "web"
flows = 4
cc = "cubic"
[[udp]]
name = "calls"
flows = 2
rate = "64kbit/s"
packet = "160B"
[[udp]]
name = "games"
rate = "100kbit/s"
packet = "200B"
[[udp]]
name = "camera"
rate = "8Mbit/s"
"""


def ran(groups: str, qdiscs: list[str], seeds: int = 1, *, extra: str = "", duration: str = "2s") -> headgate.Result:
    """The result of a short simulation at 5 Mbit/s."""
    named = ", ".join(f'"{each}"' for each in qdiscs)
    text = (
        f'name = "looks"\nduration = "{duration}"\nwarmup = "500ms"\nseeds = {seeds}\nqdiscs = [{named}]\n'
        f'{extra}\n[link]\nrate = "5Mbit/s"\ndelay = "5ms"\nlimit = "60p"\n{groups}'
    )
    return headgate.run(Scenario.parse(text))


def outcome_of(qdisc: str, params: list[str], objectives: list[str], trials: int = 40) -> tuple[SearchOutcome, Any]:
    """A search with made-up measures, and importances of its parameters."""
    plan = _plan(qdisc, params, objectives)
    rng = np.random.default_rng(1)
    made = [_trial(plan, number, rng) for number in range(trials)]
    shares = {axis.name: share for axis, share in zip(plan.axes, rng.dirichlet(np.ones(len(plan.axes))), strict=True)}
    return SearchOutcome(plan, made, best(made, plan.goals), [], None), dict.fromkeys(objectives, shares)


def sensitivity_of(qdisc: str, params: list[str], objectives: list[str], seeds: int = 5) -> Sensitivity:
    """Parameters varied one at a time, with made-up measures."""
    plan = _plan(qdisc, params, objectives)
    rng = np.random.default_rng(2)

    def measured() -> dict[str, Quantity]:
        return {str(goal.metric): Quantity(tuple(rng.normal(30, 5, seeds) * goal.scale)) for goal in plan.goals.goals}

    values = [
        VariedValue(axis.name, axis.text(value), number == 2, measured())
        for axis in plan.axes
        if isinstance(axis, RangeAxis)
        for number, value in enumerate(np.geomspace(axis.low, axis.high, 5))
    ]
    scenario = plan.scenario.changed(seeds=seeds)
    return Sensitivity(scenario, plan.base, plan.goals, plan.axes, measured(), values, Path())


def _plan(qdisc: str, params: list[str], objectives: list[str]) -> SearchPlan:
    scenario = Scenario.parse(SMALL, qdiscs=[qdisc])
    base = QdiscSpec.of(scenario.qdiscs[0])
    return SearchPlan(scenario, base, tuple(space(base, params)), Goals.of(objectives, [], scenario))


def _trial(plan: SearchPlan, number: int, rng: np.random.Generator) -> Trial:
    params: dict[str, Any] = {
        axis.name: float(rng.uniform(axis.low, axis.high))
        if isinstance(axis, RangeAxis)
        else str(rng.choice(axis.words))
        for axis in plan.axes
    }
    qdisc = str(plan.base) if number == 0 else f"{plan.base}:{number}"
    measured = {str(goal.metric): Quantity((float(rng.lognormal(1, 1)) * goal.scale,)) for goal in plan.goals.goals}
    return Trial(number, qdisc, {}, params, measured)


def evaluation(specs: list[str], seeds: int) -> dict[str, Any]:
    """The document of an evaluation of all sections, with made-up measures."""
    named = candidates(specs)
    rng = np.random.default_rng(3)
    rows: dict[str, list[MeasuredCase]] = {}
    for place in evaluated_cases(SECTIONS, named):
        measures = {**COMMON, **place.test.every_measure()}
        values = {name: Quantity(tuple(rng.lognormal(1, 0.5, seeds))) for name in measures}
        rows.setdefault(place.test.name, []).append(MeasuredCase(place, values, values))
    return record.document_of(SECTIONS, named, EvaluationResults(rows, 1.0, 1.0), RunOptions(seeds=seeds))


class MadeUpResults(ExperimentResults):
    """Results of an experiment with a made-up number for every measure, discipline and case, and with short runs."""

    def __init__(self, experiment: Experiment) -> None:
        super().__init__(experiment, experiment.labels(), experiment.cases, {})
        self._rng = np.random.default_rng(4)

    def __call__(self, measure: str, label: str, /, **case: Any) -> Quantity:  # noqa: ARG002
        """A made-up number."""
        self._case(case)
        return Quantity(tuple(self._rng.uniform(0.2, 0.9, self.experiment.seeds)))

    def over(self, axis: str, measure: str, label: str, /, **case: Any) -> Any:  # noqa: ARG002
        """A made-up curve."""
        at = list(dict.fromkeys(each[axis] for each in self.cases if case.items() <= each.items()))
        return at, [Quantity(tuple(self._rng.uniform(0.2, 0.9, self.experiment.seeds))) for _ in at]

    def runs(self, label: str, /, **case: Any) -> list[Run]:
        """The run of one seed of the experiment's own scenario, as short as `--quick` has it."""
        name = next(each for each in catalogue.chosen(["all"]) if catalogue.experiment(each) is self.experiment)
        return _short_runs(name, label, self._case(case))


@cache
def _short_runs(name: str, label: str, number: int) -> list[Run]:
    experiment = catalogue.experiment(name)
    case, spec = experiment.cases[number], experiment.labels()[label]
    text = experiment.scenario_of(case, [spec], quick=True, seeds=1, choices={}, settings=()).to_toml()
    scenario = Scenario.parse(text)
    return Run.of_qdisc(headgate.run(scenario), scenario.qdiscs[0], label, case)

"""The outcome of a search: the best setting or a front, compared on held-out seeds."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from headgate import _core, api
from headgate.analysis.judge import Quantity, Verdict
from headgate.analysis.metrics import Metric
from headgate.analysis.spread import estimate
from headgate.files import store
from headgate.qdiscs import tc
from headgate.qdiscs.spec import QdiscSpec, refusal
from headgate.results import Result
from headgate.scenario import Scenario
from headgate.tuning.goals import Goal, Goals, changes
from headgate.tuning.study import SearchPlan, Trial

HELD_OUT = "held-out"
PUT_BACK = "put-back"
#: Maximum number of compared settings of a front, evenly spread over it: a reader would not choose from more.
MAX_COMPARED = 8
#: The `schema` number of the JSON document.
SCHEMA = 2

#: Runs a scenario into a folder, without a report.
Runs: TypeAlias = Callable[[Path, Scenario], Result]
quietly = partial(api.run_into, report=False)


class ComparedSetting(NamedTuple):
    """A setting and the original one: every metric of both, one value for each held-out seed.

    `verdicts` says for each objective, by its metric, whether the setting is better.
    """

    trial: Trial
    reference: dict[str, Quantity]
    tuned: dict[str, Quantity]
    verdicts: dict[str, Verdict]

    def of(self, metric: Metric) -> tuple[Quantity, Quantity]:
        """A metric of the original setting, and of this setting."""
        return self.reference[str(metric)], self.tuned[str(metric)]

    def better(self, goal: Goal) -> Verdict:
        """The verdict on whether the setting is better by one objective."""
        return self.verdicts[str(goal.metric)]


class SearchOutcome(NamedTuple):
    """The outcome of a search. If no setting keeps the bounds, `best` and `compared` are empty."""

    plan: SearchPlan
    trials: list[Trial]
    best: list[Trial]
    compared: list[ComparedSetting]
    held_out: Result | None

    @property
    def held_out_seeds(self) -> list[int]:
        """The seeds of the comparison."""
        return self.held_out.scenario.seeds if self.held_out is not None else []

    @property
    def kept(self) -> int:
        """Number of measured settings that keep every bound."""
        return sum(trial.keeps(self.plan.goals) for trial in self.trials)

    @property
    def refused(self) -> int:
        """Number of settings that the discipline rejects."""
        return sum(bool(trial.refused) for trial in self.trials)

    @property
    def cpu_s(self) -> float:
        """Processor time of the simulations, in seconds: of the search and of the comparison."""
        compared = self.held_out.timing if self.held_out is not None else []
        return sum(trial.cpu_s for trial in self.trials) + sum(float(row["cpu_s"]) for row in compared)


def best(trials: Sequence[Trial], goals: Goals) -> list[Trial]:
    """The settings that keep every bound and are not dominated: one if there is one objective."""
    keeping = {trial.qdisc: trial for trial in reversed(trials) if trial.keeps(goals)}
    points = [(trial, _costs(trial, goals)) for trial in sorted(keeping.values(), key=lambda trial: trial.number)]
    front = [trial for trial, costs in points if not any(_dominates(other, costs) for _, other in points)]
    front.sort(key=lambda trial: _costs(trial, goals))
    return front[:1] if len(goals.goals) == 1 else front


def compare(
    plan: SearchPlan, trials: list[Trial], seeds: Sequence[int], folder: Path, runs: Runs = quietly
) -> SearchOutcome:
    """Runs the best settings and the original one on held-out `seeds`, into `folder`."""
    front = best(trials, plan.goals)
    if not front:
        return SearchOutcome(plan, trials, [], [], None)
    chosen = evenly_spaced(front, MAX_COMPARED)
    if len(front) == 1:
        chosen = [without_ineffective(plan, front[0], folder, runs)]
    reference = str(plan.base)
    specs = list(dict.fromkeys([reference, *(trial.qdisc for trial in chosen)]))
    scenario = plan.scenario.changed(qdiscs=specs, seeds=list(seeds))
    result = runs(folder / HELD_OUT / store.folder_name(scenario), scenario)
    measured = plan.goals.measure_all(result, specs)
    compared = compared_settings(plan.goals, measured[reference], [(trial, measured[trial.qdisc]) for trial in chosen])
    return SearchOutcome(plan, trials, front, compared, result)


def compared_settings(
    goals: Goals, reference: dict[str, Quantity], settings: Sequence[tuple[Trial, dict[str, Quantity]]]
) -> list[ComparedSetting]:
    """Compares settings with the original one. All objectives of all settings are one family of tests (Holm)."""
    rows = [
        (goal, tuned[str(goal.metric)], reference[str(goal.metric)]) for _, tuned in settings for goal in goals.goals
    ]
    verdicts = iter([change.verdict for change in changes(rows)])
    return [
        ComparedSetting(trial, reference, tuned, {str(goal.metric): next(verdicts) for goal in goals.goals})
        for trial, tuned in settings
    ]


def without_ineffective(plan: SearchPlan, trial: Trial, folder: Path, runs: Runs = quietly) -> Trial:
    """The setting without changes that have no effect. A change is undone if every measured value stays the same."""
    changed = [name for name, value in trial.settings.items() if value != plan.base.value(name)]
    back = {name: str(plan.base.with_settings({**trial.settings, name: plan.base.value(name)})) for name in changed}
    back = {name: spec for name, spec in back.items() if not refusal(plan.scenario, spec)}
    if len(changed) < 2 or not back:
        return trial
    scenario = plan.scenario.changed(qdiscs=back.values())
    result = runs(folder / PUT_BACK / store.folder_name(scenario), scenario)
    qdiscs = zip(back, result.scenario.qdiscs, strict=True)
    measured_by_name = {name: plan.goals.measure(result, qdisc) for name, qdisc in qdiscs}
    # Compared as text, since NaN does not equal itself.
    ineffective = [name for name, measured in measured_by_name.items() if repr(measured) == repr(trial.measured)]
    settings = {**trial.settings, **{name: plan.base.value(name) for name in ineffective}}
    return trial._replace(settings=settings, qdisc=str(plan.base.with_settings(settings)))


def document(outcome: SearchOutcome, importances: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """The outcome of a search and the importances of the parameters, as JSON (docs/guide/tuning.md)."""
    plan, goals = outcome.plan, outcome.plan.goals
    return {
        "schema": SCHEMA,
        "version": _core.VERSION,
        "scenario": plan.scenario.name,
        "qdisc": str(plan.base),
        "objectives": [{"metric": str(goal.metric), "direction": goal.direction} for goal in goals.goals],
        "bounds": [str(bound) for bound in goals.bounds],
        "seeds": plan.scenario.seeds,
        "held_out": outcome.held_out_seeds,
        "settings": {
            "tried": len(outcome.trials),
            "kept": outcome.kept,
            "refused": outcome.refused,
        },
        "cpu_s": outcome.cpu_s,
        "parameters": [
            {
                "name": axis.name,
                "was": plan.base.value(axis.name),
                "searched": str(axis),
                "decides": {name: shares.get(axis.name) for name, shares in importances.items()},
            }
            for axis in plan.axes
        ],
        "found": [_found(outcome, each) for each in outcome.compared],
    }


def _found(outcome: SearchOutcome, each: ComparedSetting) -> dict[str, Any]:
    plan, goals = outcome.plan, outcome.plan.goals
    command = tc.command(QdiscSpec.of(each.trial.qdisc), plan.scenario)
    metrics = {}
    for metric in goals.metrics:
        was, now = each.of(metric)
        three = {"was": was, "now": now, "difference": now - was}
        metrics[str(metric)] = {name: estimate(quantity.per_seed) for name, quantity in three.items()}
    return {
        "qdisc": each.trial.qdisc,
        "settings": each.trial.settings,
        "tc": None if command is None else {"command": command.line, "notes": list(command.notes)},
        "metrics": metrics,
        "better": {str(goal.metric): each.better(goal).value for goal in goals.goals},
        "bounds": {str(bound): bound.judge(each.tuned[str(bound.metric)]).verdict.value for bound in goals.bounds},
    }


def nearest(trials: Sequence[Trial], goals: Goals) -> Trial | None:
    """The setting that breaks the fewest bounds; of equal ones, that with the smallest relative excess."""
    measured = [trial for trial in trials if trial.values(goals) is not None]

    def broken(trial: Trial) -> tuple[int, float]:
        excesses = trial.excesses(goals)
        relative = [excesses[str(each)] / (abs(each.value) or 1.0) for each in goals.bounds]
        return sum(part > 0 for part in relative), sum(part for part in relative if part > 0)

    return min(measured, key=broken, default=None)


def evenly_spaced(front: Sequence[Trial], most: int) -> list[Trial]:
    """At most `most` settings of a front, evenly spread, including both ends."""
    if len(front) <= most:
        return list(front)
    return [front[round(place * (len(front) - 1) / (most - 1))] for place in range(most)]


def _costs(trial: Trial, goals: Goals) -> list[float]:
    """The objectives of a trial as costs: for each, less is better."""
    values = trial.values(goals) or []
    return [value if goal.lower else -value for value, goal in zip(values, goals.goals, strict=True)]


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether `one` is at least as good by every objective, and better by one."""
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

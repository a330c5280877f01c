"""The trials of a search, stored in SQLite, where Optuna's tools find them too."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate import identity
from headgate.analysis.judge import Quantity
from headgate.errors import ResultError
from headgate.files.store import build
from headgate.qdiscs.spec import QdiscSpec
from headgate.scenario import Scenario
from headgate.tuning import damage
from headgate.tuning.goals import Goals
from headgate.tuning.space import Axis

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

FILE = "study.db"
SEAL = "sha256"
NAME = "tune"

#: Hexadecimal digits of a hash that make a seed, which has 32 bits.
_SEED_DIGITS = 8


class SearchPlan(NamedTuple):
    """A search: the scenario, whose only discipline is `base`, with the seeds of the search; parameters and goals."""

    scenario: Scenario
    base: QdiscSpec
    axes: tuple[Axis, ...]
    goals: Goals

    @property
    def key(self) -> str:
        """SHA-256 of everything that affects a trial, including the build. Another key means another study."""
        bounds = [(str(each.metric), each.sign, each.value) for each in self.goals.bounds]
        axes = [repr(axis) for axis in self.axes]
        parts = [self.scenario.config_hash, build(), axes, [str(goal) for goal in self.goals.goals], bounds]
        return identity.of_values(parts)

    def folder(self, out: Path) -> Path:
        """The folder of the search."""
        return out / f"tune-{self.scenario.name}-{self.base.discipline.name}-{identity.name_of(self.key)}"

    def seed(self, batch: int) -> int:
        """The seed of Optuna's sampler for a batch of trials. It does not depend on the build."""
        axes = [f"{axis.name}: {axis}" for axis in self.axes]
        named = json.dumps(["tune", str(self.base), axes, str(self.goals), self.scenario.seeds, batch])
        return int(identity.of_text(named)[:_SEED_DIGITS], 16)


class Trial(NamedTuple):
    """One trial: its measures, one value a seed, or why the discipline rejects the setting."""

    number: int
    qdisc: str
    settings: dict[str, str]
    params: dict[str, Any]
    measured: dict[str, Quantity]
    refused: str = ""
    cpu_s: float = 0.0

    def values(self, goals: Goals) -> list[float] | None:
        """The mean of each objective; None if one of these, or of the bounded metrics, was not measured."""
        if not self.measured or any(math.isnan(self.measured[str(each)].mean) for each in goals.metrics):
            return None
        return [self.measured[str(goal.metric)].mean for goal in goals.goals]

    def excesses(self, goals: Goals) -> dict[str, float]:
        """The amount by which each bound is missed; 0 or less if it is kept."""
        return {str(each): each.excess(self.measured[str(each.metric)].mean) for each in goals.bounds}

    def keeps(self, goals: Goals) -> bool:
        """Whether the trial was measured and keeps every bound."""
        return self.values(goals) is not None and all(excess <= 0 for excess in self.excesses(goals).values())

    def frozen(self, goals: Goals, distributions: dict[str, BaseDistribution]) -> FrozenTrial:
        """The trial in Optuna's form. A trial without values is pruned, so that the search avoids such settings."""
        import optuna
        from optuna.trial import TrialState

        values = self.values(goals)
        measured = {
            name: [None if math.isnan(value) else value for value in quantity.per_seed]
            for name, quantity in self.measured.items()
        }
        return optuna.create_trial(
            state=TrialState.PRUNED if values is None else TrialState.COMPLETE,
            values=values,
            params=self.params,
            distributions=distributions,
            constraints=None if values is None else self.excesses(goals),
            user_attrs={**self._asdict(), "measured": measured, "params": None, SEAL: self._seal(measured)},
        )

    def _seal(self, measured: Mapping[str, Any]) -> str:
        """SHA-256 of the trial: SQLite has no checksums of its own."""
        content = json.dumps([*self._replace(measured={}), measured], sort_keys=True)
        return identity.of_text(content)

    @classmethod
    def thawed(cls, frozen: FrozenTrial, goals: Goals) -> Trial:
        """The trial that Optuna kept; `ValueError` if its content is damaged. `goals` are those of the search."""
        attributes = dict(frozen.user_attrs)
        seal = attributes.pop(SEAL, None)
        written = attributes["measured"]
        measured = {
            name: Quantity(tuple(math.nan if value is None else value for value in per_seed))
            for name, per_seed in attributes["measured"].items()
        }
        trial = cls(**{**attributes, "measured": measured, "params": frozen.params})
        # Trials of earlier builds have no seal.
        if seal not in (None, trial._seal(written)) or (frozen.values or None) != trial.values(goals):
            raise ValueError(f"trial {trial.number} differs from its SHA-256")
        return trial


class TrialStore:
    """The finished trials, in an SQLite file in a folder."""

    def __init__(self, folder: Path, plan: SearchPlan) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)  # our errors say what its warnings say
        self._goals = goals = plan.goals
        file = folder / FILE
        stored = damage.check_file(file, NAME)
        if stored not in (None, plan.key):
            raise _other_search(file)
        damage.forget_begin(file)
        directions = [goal.direction for goal in goals.goals]
        with damage.storing(file):
            self._study = optuna.create_study(
                storage=f"sqlite:///{file}", study_name=NAME, directions=directions, load_if_exists=True
            )
            frozen = self._study.trials
            if stored is None and frozen:
                raise _other_search(file)
            if stored is None:
                self._study.set_user_attr(damage.IDENTITY, plan.key)
        with damage.understanding(file):
            if [each.name.lower() for each in self._study.directions] != directions:
                raise ValueError("the goals of the search differ from those in the file")
            self.trials = {trial.number: trial for trial in (Trial.thawed(each, goals) for each in frozen)}
        self._file = file
        if self.trials:
            damage.record_begin(file)  # a process may have been stopped between a trial and the record

    def add(self, trial: Trial, distributions: dict[str, BaseDistribution]) -> None:
        """Stores a finished trial."""
        with damage.storing(self._file):
            self._study.add_trial(trial.frozen(self._goals, distributions))
        damage.record_begin(self._file)
        self.trials[trial.number] = trial

    def study(self, count: int) -> optuna.Study:
        """The first `count` trials in order, as a study in memory, so that Optuna's computations are repeatable."""
        study = new_study(self._goals)
        study.add_trials(sorted(self._study.trials, key=lambda each: int(each.user_attrs["number"]))[:count])
        return study


def _other_search(file: Path) -> ResultError:
    return ResultError(f"{file} holds the trials of another search. Move it away, or choose another folder with --out")


def new_study(goals: Goals) -> optuna.Study:
    """An empty study in memory."""
    import optuna

    return optuna.create_study(directions=[goal.direction for goal in goals.goals])


def importances(plan: SearchPlan, study: optuna.Study) -> dict[str, dict[str, float]]:
    """For each objective, the importance of each parameter for its best tenth, 0 to 1, the largest first.

    PED-ANOVA (Watanabe, Bansal and Hutter, IJCAI 2023), from Optuna. Empty for one parameter, or if all settings give
    equal values.
    """
    from optuna.trial import TrialState

    done = [trial for trial in study.trials if trial.state == TrialState.COMPLETE]
    if len(plan.axes) < 2 or len(done) < 2:
        return {}
    return {str(goal.metric): _importances_of(study, index) for index, goal in enumerate(plan.goals.goals)}


def _importances_of(study: optuna.Study, index: int) -> dict[str, float]:
    """The importances for one objective, from a study of this objective alone."""
    import optuna
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
    from optuna.trial import TrialState

    alone = optuna.create_study(direction=study.directions[index])
    for trial in study.trials:
        if trial.state == TrialState.COMPLETE:
            value = trial.values[index]
            alone.add_trial(optuna.create_trial(value=value, params=trial.params, distributions=trial.distributions))
    if len({trial.value for trial in alone.trials}) < 2:
        return {}
    importances_of: dict[str, float] = get_param_importances(alone, evaluator=PedAnovaImportanceEvaluator())
    return importances_of

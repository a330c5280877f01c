"""How much each parameter decides of an objective."""

from __future__ import annotations

import optuna
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.trial import FrozenTrial, TrialState

from headgate.tuning.study import Plan


def importances(plan: Plan, study: optuna.Study) -> dict[str, dict[str, float]]:
    """For each objective, the part that each parameter has in reaching its best tenth, 0 to 1, the largest first.

    PED-ANOVA (Watanabe, Bansal and Hutter, IJCAI 2023), as Optuna has it. Empty for one parameter alone, and where all
    settings come to the same.
    """
    done = [trial for trial in study.trials if trial.state == TrialState.COMPLETE]
    if len(plan.axes) < 2 or len(done) < 2:
        return {}
    return {str(goal.metric): _of(study, place) for place, goal in enumerate(plan.goals.goals)}


def _of(study: optuna.Study, place: int) -> dict[str, float]:
    """Of one objective, as a study of it alone."""
    alone = optuna.create_study(direction="minimize" if study.directions[place].name == "MINIMIZE" else "maximize")
    for trial in study.trials:
        if trial.state == TrialState.COMPLETE:
            alone.add_trial(_single(trial, place))
    if len({trial.value for trial in alone.trials}) < 2:
        return {}
    found: dict[str, float] = get_param_importances(alone, evaluator=PedAnovaImportanceEvaluator())
    return found


def _single(trial: FrozenTrial, place: int) -> FrozenTrial:
    return optuna.create_trial(value=trial.values[place], params=trial.params, distributions=trial.distributions)

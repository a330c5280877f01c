"""What a search found, as a JSON document (docs/guide/tuning.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate import _core
from headgate.analysis.spread import figure
from headgate.tuning import tc
from headgate.tuning.outcome import Compared, Outcome
from headgate.tuning.spec import Spec

SCHEMA = 1


def document(outcome: Outcome, importances: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """The document of a search, and of what each parameter decides of each objective."""
    plan, goals = outcome.plan, outcome.plan.goals
    return {
        "schema": SCHEMA,
        "version": _core.VERSION,
        "scenario": plan.scenario.name,
        "qdisc": str(plan.base),
        "objectives": [{"metric": str(goal.metric), "direction": goal.direction} for goal in goals.goals],
        "bounds": [str(bound) for bound in goals.bounds],
        "seeds": plan.scenario.seeds,
        "held_out": outcome.unseen,
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
                "decides": {name: found.get(axis.name) for name, found in importances.items()},
            }
            for axis in plan.axes
        ],
        "found": [_found(outcome, each) for each in outcome.compared],
    }


def _found(outcome: Outcome, each: Compared) -> dict[str, Any]:
    plan, goals = outcome.plan, outcome.plan.goals
    command = tc.command(Spec.of(each.trial.qdisc), plan.scenario)
    metrics = {}
    for metric in goals.metrics:
        was, now = each.of(metric)
        three = {"was": was, "now": now, "difference": now - was}
        metrics[str(metric)] = {name: figure(quantity.per_seed) for name, quantity in three.items()}
    return {
        "qdisc": each.trial.qdisc,
        "settings": each.trial.settings,
        "tc": None if command is None else {"command": command.line, "notes": list(command.notes)},
        "metrics": metrics,
        "better": {str(goal.metric): each.better(goal).value for goal in goals.goals},
        "bounds": {str(bound): bound.judge(each.tuned[str(bound.metric)]).verdict.value for bound in goals.bounds},
    }

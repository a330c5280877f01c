"""Figures of a search: each parameter against each objective, the front, and importances."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headgate import style
from headgate.counting import counted
from headgate.plot import figure_style
from headgate.plot.panels import heading, new_figure
from headgate.tuning.goals import Goal
from headgate.tuning.outcome import SearchOutcome
from headgate.tuning.space import RangeAxis
from headgate.tuning.study import Trial

#: Maximum number of panels: parameters with the highest importance come first.
MAX_PANELS = 8
#: Maximum number of tick labels on a parameter's axis: as many as fit the narrowest panel.
TICKS = 3
KEEPS, BREAKS, WAS, FOUND = style.TCP, style.MODEST, style.FAIR, style.UNRESPONSIVE


def figures(outcome: SearchOutcome, importances: Mapping[str, Mapping[str, float]]) -> dict[str, Figure]:
    """Every figure, by file name."""
    with figure_style.applied():
        return {name: make() for name, make in makers(outcome, importances).items()}


def makers(outcome: SearchOutcome, importances: Mapping[str, Mapping[str, float]]) -> dict[str, Callable[[], Figure]]:
    """The functions that draw the figures, by file name. Call them in a style that is applied."""
    drawn: dict[str, Callable[[], Figure]] = {"search": lambda: search(outcome, importances)}
    if len(outcome.plan.goals.goals) > 1:
        drawn["front"] = lambda: front(outcome)
    if any(importances.values()):
        drawn["importance"] = lambda: importance(importances)
    return drawn


def search(outcome: SearchOutcome, importances: Mapping[str, Mapping[str, float]]) -> Figure:
    """A panel for each parameter and objective, with a dot for each setting."""
    plan = outcome.plan
    decides = {axis.name: max((of.get(axis.name, 0.0) for of in importances.values()), default=0.0)
               for axis in plan.axes}  # fmt: skip
    axes = sorted(plan.axes, key=lambda axis: -decides[axis.name])[:MAX_PANELS]
    goals = plan.goals.goals
    across = figure_style.across(min(4, len(axes)))
    down = -(-len(axes) // across) * len(goals)
    figure = new_figure(2.4 * down + 1.1)
    for row, goal in enumerate(goals):
        first: Axes | None = None
        for place, axis in enumerate(axes):
            panel = figure.add_subplot(down, across, row * (down // len(goals)) * across + place + 1, sharey=first)
            first = first or panel
            panel.tick_params(labelleft=place % across == 0)
            # As many ticks at any height: the layout measures them before the panel has its final size.
            panel.locator_params(axis="y", nbins=5)
            _dots(panel, outcome, lambda trial, name=axis.name: trial.params[name], goal)  # type: ignore[misc]
            if isinstance(axis, RangeAxis) and axis.log:
                panel.set_xscale("log")
            _ticks(panel, axis if isinstance(axis, RangeAxis) else None)
            panel.set_xlabel(axis.name)
            if place % across == 0:
                panel.set_ylabel(_label(goal))
    figure.legend(*_handles(outcome), loc="outside right upper")
    title = f"{plan.scenario.name}: tried settings of {plan.base.discipline.name}"
    heading(figure, title, _note(outcome))
    return figure


def front(outcome: SearchOutcome) -> Figure:
    """The first objective against each of the others."""
    goals = outcome.plan.goals.goals
    figure = new_figure(4.4)
    for place, goal in enumerate(goals[1:], 1):
        panel = figure.add_subplot(1, len(goals) - 1, place)
        _dots(panel, outcome, lambda trial: (trial.values(outcome.plan.goals) or [math.nan])[0] / goals[0].scale, goal)
        if len(goals) == 2 and outcome.best:
            line = [(values[0] / goals[0].scale, values[1] / goal.scale) for trial in outcome.best
                    if (values := trial.values(outcome.plan.goals)) is not None]  # fmt: skip
            panel.step(*zip(*line, strict=True), where="post", color=FOUND, linewidth=1.2)
        panel.set_xlabel(_label(goals[0]))
        panel.set_ylabel(_label(goal))
    figure.legend(*_handles(outcome), loc="outside right upper")
    name = outcome.plan.base.discipline.name
    count = counted(len(outcome.best), "setting")
    title = f"{outcome.plan.scenario.name}: objectives of {name}, {count} on the Pareto front"
    heading(figure, title, _note(outcome))
    return figure


def importance(importances: Mapping[str, Mapping[str, float]]) -> Figure:
    """Bars: the importance of each parameter for reaching an objective's best tenth."""
    figure = new_figure(1.4 + 0.3 * max(len(shares) for shares in importances.values()))
    drawn = {name: shares for name, shares in importances.items() if shares}
    for place, (name, shares) in enumerate(drawn.items(), 1):
        panel = figure.add_subplot(1, len(drawn), place)
        names = list(shares)[::-1]
        bars = panel.barh(names, [100 * shares[each] for each in names], color=KEEPS)
        panel.bar_label(bars, fmt="%.0f %%", padding=3, fontsize=8.5)
        panel.set_title(name)
        panel.set_xlim(0, 100 * (1 + figure_style.share(0.15)) * max(shares.values()))
        panel.grid(visible=False, axis="y")
        panel.set_xlabel("Importance (%)")
    heading(
        figure,
        "Importance of parameters",
        "PED-ANOVA: each parameter's share in reaching the best tenth of the settings.",
    )
    return figure


def _dots(panel: Axes, outcome: SearchOutcome, x: Callable[[Trial], Any], goal: Goal) -> None:
    goals = outcome.plan.goals
    place = goals.goals.index(goal)
    for trials, look in _layers(outcome):
        points = [(x(trial), values[place] / goal.scale) for trial in trials
                  if (values := trial.values(goals)) is not None]  # fmt: skip
        if points:
            panel.plot(*zip(*points, strict=True), linestyle="none", **look)
    panel.margins(0.08)


def _layers(outcome: SearchOutcome) -> list[tuple[Sequence[Trial], dict[str, Any]]]:
    """The settings in groups with their looks, in drawing order: the last group is on top."""
    goals, base = outcome.plan.goals, str(outcome.plan.base)
    keeps = [trial for trial in outcome.trials if trial.keeps(goals)]
    breaks = [trial for trial in outcome.trials if not trial.keeps(goals)]
    was = [trial for trial in outcome.trials if trial.qdisc == base]
    hollow = {"marker": "o", "markersize": 5, "markerfacecolor": "none", "color": BREAKS, "label": "breaks a bound"}
    return [
        (breaks, hollow),
        (keeps, {"marker": "o", "markersize": 5, "color": KEEPS, "alpha": 0.6, "label": "tried"}),
        (was, {"marker": "D", "markersize": 7, "color": WAS, "label": "original"}),
        (outcome.best, {"marker": "*", "markersize": 11, "color": FOUND, "label": "best"}),
    ]


def _handles(outcome: SearchOutcome) -> tuple[list[Line2D], list[str]]:
    looks = [look for trials, look in _layers(outcome) if trials]
    return [Line2D([], [], linestyle="none", **look) for look in looks], [str(look["label"]) for look in looks]


def _ticks(panel: Axes, axis: RangeAxis | None) -> None:
    """Tick labels of a parameter's axis, as a scenario writes them."""
    if axis is None:
        return
    ends = (math.log10(axis.low), math.log10(axis.high)) if axis.log else (axis.low, axis.high)
    at = np.linspace(*ends, TICKS)
    texts = dict.fromkeys(axis.scale.text(float(10**value if axis.log else value), 2) for value in at)
    panel.set_xticks([axis.scale.read(text) or 0.0 for text in texts], list(texts))
    panel.minorticks_off()


def _label(goal: Goal) -> str:
    return style.fold(goal.label, 18)


def _note(outcome: SearchOutcome) -> str:
    seeds = len(outcome.plan.scenario.seeds)
    means = "one seed" if seeds == 1 else f"the mean of {seeds} seeds"
    return f"Each dot is a setting: {means} of the search. {style.fold(str(outcome.plan.goals), 120, 1).capitalize()}."

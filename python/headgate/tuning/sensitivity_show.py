"""The effect of varied parameters as a table, a sentence for each metric, and a figure."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.table import Table
from rich.text import Text

from headgate import style
from headgate.analysis.judge import Verdict
from headgate.experiment.show import STYLES
from headgate.plot.panels import heading, new_figure
from headgate.terminal import layout
from headgate.tuning.goals import Goal
from headgate.tuning.sensitivity import Sensitivity, VariedValue
from headgate.tuning.show import change, seeds
from headgate.tuning.space import RangeAxis


def table(result: Sensitivity) -> Table:
    """A row for each value, a column for each metric with its significant change."""
    goals = result.goals.goals
    rows = [
        layout.Variation(value.name, value.text, value.chosen, [_cell(result, value, goal) for goal in goals])
        for value in result.values
    ]
    title = f"{result.scenario.name}: parameters of {result.base}, varied one at a time"
    caption = f"{seeds(result.scenario.seeds)}; significant changes (95 %, seed by seed)"
    return layout.variations(title, [str(goal.metric) for goal in goals], rows, chosen="was", caption=caption)


def sentences(result: Sensitivity) -> Iterator[str]:
    """For each metric the parameters with a significant effect, the largest first; then invalid values."""
    for goal in result.goals.goals:
        steps = {
            axis.name: max(map(abs, _significant_changes(result, axis.name, goal)), default=0.0) for axis in result.axes
        }
        moving = sorted((name for name, step in steps.items() if step), key=lambda name: -steps[name])
        name = str(goal.metric)
        parameters = ", ".join(f"{each} (by up to {style.number(100 * steps[each], 2)} %)" for each in moving)
        yield f"{name[0].upper()}{name[1:]}: depends on {parameters or 'none of the parameters'}."
    for value in result.values:
        if value.refused:
            yield f"{value.name}={value.text} is invalid: {value.refused}."


def figure(result: Sensitivity) -> Figure:
    """A panel for each parameter and metric: means with their 95 % intervals over the values, the original in gray."""
    with style.applied():
        goals, axes = result.goals.goals, result.axes
        across = min(5, len(axes))
        down = -(-len(axes) // across)
        drawn = new_figure(2.3 * down * len(goals) + 1.1)
        for row, goal in enumerate(goals):
            first: Axes | None = None
            for place, axis in enumerate(axes):
                panel = drawn.add_subplot(down * len(goals), across, row * down * across + place + 1, sharey=first)
                first = first or panel
                _panel(panel, result, axis.name, goal, number=isinstance(axis, RangeAxis))
                panel.tick_params(labelleft=place % across == 0)
                if place % across == 0:
                    panel.set_ylabel(style.fold(goal.label, 22))
        means = f"Means over {seeds(result.scenario.seeds)} with their 95 % intervals"
        title = f"{result.scenario.name}: parameters of {result.base.discipline.name}, varied one at a time"
        heading(drawn, title, f"{means}; the band is the original setting.")
        return drawn


def _panel(panel: Axes, result: Sensitivity, name: str, goal: Goal, *, number: bool) -> None:
    scale, metric = goal.scale, str(goal.metric)
    reference = result.reference[metric]
    low, high = ((reference.mean + sign * reference.half) / scale for sign in (-1, 1))
    panel.axhspan(low, high, color=style.BAND, zorder=0)
    panel.axhline(reference.mean / scale, color=style.MODEST, linewidth=0.8)
    values = [value for value in result.values if value.name == name and value.measured]
    means = [value.measured[metric].mean / scale for value in values]
    halves = [value.measured[metric].half / scale for value in values]
    places = list(range(len(values)))
    panel.errorbar(places, means, yerr=halves, fmt="o-" if number else "o", markersize=4, color=style.TCP, capsize=2)
    panel.set_xticks(places, [value.text for value in values], fontsize=7.5)
    panel.set_xlabel(name)


def _cell(result: Sensitivity, value: VariedValue, goal: Goal) -> Text:
    if value.refused:
        return Text("invalid" if goal is result.goals.goals[0] else "", style="dim")
    now, was = value.measured[str(goal.metric)], result.reference[str(goal.metric)]
    verdict = goal.better(now, was).verdict
    cell = Text(goal.metric.show(now))
    if not value.chosen and verdict is not Verdict.INCONCLUSIVE and now != was:
        cell.append(f"  {change(now, was)}", style=STYLES[verdict])
    return cell


def _significant_changes(result: Sensitivity, name: str, goal: Goal) -> Iterator[float]:
    """The significant relative changes of a metric, one for each value of a parameter that has one."""
    was = result.reference[str(goal.metric)]
    for value in result.values:
        if value.name == name and value.measured and was.mean:
            now = value.measured[str(goal.metric)]
            if goal.better(now, was).verdict is not Verdict.INCONCLUSIVE and now != was:
                yield (now - was).mean / abs(was.mean)

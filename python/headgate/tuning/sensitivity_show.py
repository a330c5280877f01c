"""The effect of varied parameters as a table, a sentence for each metric, and a figure."""

from collections.abc import Iterator, Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.table import Table
from rich.text import Text

from headgate import style
from headgate.analysis.significance import LEAST_SEEDS
from headgate.counting import counted
from headgate.experiment.show import STYLES
from headgate.plot import figure_style
from headgate.plot.panels import heading, new_figure
from headgate.terminal import layout
from headgate.tuning.goals import Goal, SettingChange, changes, more_seeds
from headgate.tuning.sensitivity import Sensitivity, VariedValue
from headgate.tuning.show import change, seeds
from headgate.tuning.space import Axis, RangeAxis

#: Letters of tick labels at 7.5 points that fit the figure's width side by side.
_LETTERS = 110


def table(result: Sensitivity) -> Table:
    """A row for each value, a column for each metric with its change where the seeds show one."""
    goals, shown = result.goals.goals, shown_changes(result)
    rows = [
        layout.Variation(value.name, value.text, value.chosen, [_cell(value, goal, shown) for goal in goals])
        for value in result.values
    ]
    title = f"{result.scenario.name}: parameters of {result.base}, varied one at a time"
    count = len(result.scenario.seeds)
    too_few = f"fewer than {LEAST_SEEDS} seeds show no change"
    tests = f"changes that {count} seeds show (paired t, Holm over {counted(len(shown), 'change')})"
    caption = f"{seeds(result.scenario.seeds)}; {tests if count >= LEAST_SEEDS else too_few}"
    return layout.variations(title, [str(goal.metric) for goal in goals], rows, chosen="was", caption=caption)


def sentences(result: Sensitivity) -> Iterator[str]:
    """For each metric the parameters with an effect that the seeds show, the largest first; then invalid values."""
    shown = shown_changes(result)
    for goal in result.goals.goals:
        steps = {axis.name: _largest(shown, axis.name, goal) for axis in result.axes}
        moving = sorted((name for name, step in steps.items() if step), key=lambda name: -steps[name])
        name = str(goal.metric)
        parameters = ", ".join(f"{each} (by up to {style.number(100 * steps[each], 2)} %)" for each in moving)
        depends = f"depends on {parameters}" if moving else _none_shown(result, shown, goal)
        yield f"{name[0].upper()}{name[1:]}: {depends}."
    for value in result.values:
        if value.refused:
            yield f"{value.name}={value.text} is invalid: {value.refused}."


def figure(result: Sensitivity) -> Figure:
    """A panel for each parameter and metric: means with their 95 % intervals over the values, the original in gray."""
    with figure_style.applied():
        goals, axes = result.goals.goals, result.axes
        across = figure_style.across(min(5, len(axes)))
        down = -(-len(axes) // across)
        drawn = new_figure(2.3 * down * len(goals) + 1.1)
        for row, goal in enumerate(goals):
            first: Axes | None = None
            for place, axis in enumerate(axes):
                panel = drawn.add_subplot(down * len(goals), across, row * down * across + place + 1, sharey=first)
                first = first or panel
                _panel(panel, result, axis, goal, across)
                panel.tick_params(labelleft=place % across == 0)
                # As many ticks at any height: the layout measures them before the panel has its final size.
                panel.locator_params(axis="y", nbins=5)
                if place % across == 0:
                    panel.set_ylabel(style.fold(goal.label, 22))
        means = f"Means over {seeds(result.scenario.seeds)} with their 95 % intervals"
        title = f"{result.scenario.name}: parameters of {result.base.discipline.name}, varied one at a time"
        heading(drawn, title, f"{means}; the band is the original setting.")
        return drawn


def _panel(panel: Axes, result: Sensitivity, axis: Axis, goal: Goal, across: int) -> None:
    """One parameter and metric; `across` panels are side by side."""
    scale, metric = goal.scale, str(goal.metric)
    reference = result.reference[metric]
    low, high = ((reference.mean + sign * reference.half) / scale for sign in (-1, 1))
    panel.axhspan(low, high, color=style.BAND, zorder=0)
    panel.axhline(reference.mean / scale, color=style.MODEST, linewidth=0.8)
    values = [value for value in result.values if value.name == axis.name and value.measured]
    means = [value.measured[metric].mean / scale for value in values]
    halves = [value.measured[metric].half / scale for value in values]
    places = list(range(len(values)))
    fmt = "o-" if isinstance(axis, RangeAxis) else "o"
    panel.errorbar(places, means, yerr=halves, fmt=fmt, markersize=4, color=style.TCP, capsize=2)
    texts = [value.text for value in values]
    # Labels that would touch each other are turned.
    turned = sum(map(len, texts)) > _LETTERS // across
    panel.set_xticks(places, texts, fontsize=7.5, rotation=90 if turned else 0)
    panel.set_xlabel(axis.name)


def shown_changes(result: Sensitivity) -> dict[tuple[str, str, str], SettingChange]:
    """The changes of all metrics by parameter, value and metric, without the original value: one family of tests."""
    varied = [value for value in result.values if value.measured and not value.chosen]
    rows = [(value, goal) for value in varied for goal in result.goals.goals]
    names = [(value.name, value.text, str(goal.metric)) for value, goal in rows]
    compared = [(goal, value.measured[str(goal.metric)], result.reference[str(goal.metric)]) for value, goal in rows]
    return dict(zip(names, changes(compared), strict=True))


def _none_shown(result: Sensitivity, shown: Mapping[tuple[str, str, str], SettingChange], goal: Goal) -> str:
    """That no parameter is shown to change a metric, and the seeds that would show one."""
    mine = [each for each in shown.values() if each.goal == goal]
    count = len(result.scenario.seeds)
    if all(each.now == each.was for each in mine):
        return "depends on none of the parameters"
    more = more_seeds(mine, len(shown))
    with_seeds = f"{count} seeds" if count > 1 else "one seed"
    return f"no parameter is shown to change it with {with_seeds}{f'; {more}' if more else ''}"


def _cell(value: VariedValue, goal: Goal, shown: Mapping[tuple[str, str, str], SettingChange]) -> Text:
    if value.refused:
        return Text("invalid", style="dim")
    cell = Text(goal.metric.show(value.measured[str(goal.metric)]))
    step = shown.get((value.name, value.text, str(goal.metric)))
    if step is not None and step.shown:
        cell.append(f"  {change(step.now, step.was)}", style=STYLES[step.verdict])
    return cell


def _largest(shown: Mapping[tuple[str, str, str], SettingChange], name: str, goal: Goal) -> float:
    """The largest relative change of a metric that is shown for a parameter; 0 if there is none."""
    mine = [each for key, each in shown.items() if key[0] == name and each.goal == goal]
    return max((abs(each.relative) for each in mine if each.shown and each.was.mean), default=0.0)

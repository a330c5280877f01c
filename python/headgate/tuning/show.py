"""The result of a search: tables, a verdict and lines to copy."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from headgate import style
from headgate.analysis.judge import Quantity, Verdict
from headgate.analysis.metrics import Bound, Metric
from headgate.counting import agreeing, counted
from headgate.experiment.show import STYLES
from headgate.qdiscs import tc
from headgate.qdiscs.spec import QdiscSpec
from headgate.terminal import layout
from headgate.tuning.goals import Goal, more_seeds
from headgate.tuning.goals import changes as changed
from headgate.tuning.outcome import ComparedSetting, SearchOutcome, nearest

#: Words for a comparison with the original setting.
WORDS = {Verdict.HOLDS: "better", Verdict.DIFFERS: "worse", Verdict.INCONCLUSIVE: "inconclusive"}

Importances = Mapping[str, Mapping[str, float]]


def parts(outcome: SearchOutcome, importances: Importances) -> Iterator[RenderableType]:
    """The output for the terminal. Lines to copy are plain text and are not wrapped."""
    yield Text(heading(outcome))
    yield parameters(outcome, importances)
    if len(outcome.compared) == 1:
        (each,) = outcome.compared
        yield comparison(outcome, each)
        yield Text(f"{sentence(outcome, each)}\n", style="bold")
        yield lines(outcome, each)
    elif outcome.compared:
        yield front(outcome)
        yield commands(outcome)
    else:
        yield Text(none_kept(outcome), style="bold")


def heading(outcome: SearchOutcome) -> str:
    """The heading: the goals, and the number of settings by outcome."""
    plan, trials = outcome.plan, outcome.trials
    goals = plan.goals
    unmeasured = sum(trial.values(goals) is None for trial in trials) - outcome.refused
    counts = [f"{counted(len(trials), 'setting')} of {plan.base} tried with {seeds(plan.scenario.seeds)}"]
    bounds = agreeing(len(goals.bounds), "the bound")
    counts += [f"{counted(outcome.kept, 'keeps', 'keep')} {bounds}"] if goals.bounds else []
    counts += [f"{outcome.refused} invalid"] if outcome.refused else []
    counts += [f"{unmeasured} without a value"] if unmeasured else []
    return f"{plan.scenario.name}: {goals}\n{', '.join(counts)}"


def parameters(outcome: SearchOutcome, importances: Importances) -> Table:
    """Each parameter: its range, its original and its new value, and its importance."""
    alone = outcome.compared if len(outcome.compared) == 1 else []
    drawn = _table("parameter", "was", *("tuned" for _ in alone), "searched")
    for name in importances:
        drawn.add_column(f"decides {name}" if len(importances) > 1 else "decides", justify="right", vertical="top")
    for axis in outcome.plan.axes:
        tuned = [each.trial.settings[axis.name] for each in alone]
        parts = [f"{100 * shares[axis.name]:.0f} %" if axis.name in shares else "" for shares in importances.values()]
        was = outcome.plan.base.value(axis.name)
        drawn.add_row(Text(axis.name, style="bold"), was, *tuned, Text(str(axis), style="dim"), *parts)
    return drawn


def comparison(outcome: SearchOutcome, each: ComparedSetting) -> Table:
    """Every metric before and after on the held-out seeds, with the margin of error of the difference."""
    goals = outcome.plan.goals
    first = f"{seeds(outcome.held_out_seeds)}, held out"
    drawn = _table(first, str(outcome.plan.base), "tuned", "difference", "")
    for goal in goals.goals:
        was, now = each.of(goal.metric)
        judged = each.better(goal)
        word = "the same" if now == was else WORDS[judged]
        drawn.add_row(*_row(goal.metric, each), Text(word, style=STYLES[judged]))
    for bound in goals.bounds:
        drawn.add_row(*_row(bound.metric, each), _kept(bound, each))
    return drawn


def front(outcome: SearchOutcome) -> Table:
    """A row for the original setting and for each setting of a front, on held-out seeds, with changes."""
    goals = outcome.plan.goals
    drawn = _table(f"{seeds(outcome.held_out_seeds)}, held out", "", *map(str, goals.metrics))
    first = outcome.compared[0].reference
    drawn.add_row("original", str(outcome.plan.base), *(metric.show(first[str(metric)]) for metric in goals.metrics))
    for number, each in enumerate(outcome.compared, 1):
        cells = []
        for metric in goals.metrics:
            was, now = each.of(metric)
            cell = Text(metric.show(now))
            judged = next((each.better(goal) for goal in goals.goals if goal.metric == metric), None)
            if judged in (Verdict.HOLDS, Verdict.DIFFERS) and now != was:
                cell.append(f"\n{change(now, was)}", style=STYLES[judged])
            cells.append(cell)
        drawn.add_row(f"no. {number}", each.trial.qdisc, *cells)
    return drawn


def commands(outcome: SearchOutcome) -> str:
    """The tc command of each setting of a front, and notes on settings that tc lacks."""
    all_commands = [tc.command(QdiscSpec.of(each.trial.qdisc), outcome.plan.scenario) for each in outcome.compared]
    available = {number: command for number, command in enumerate(all_commands, 1) if command is not None}
    if not available:
        return f"tc        Linux has no {outcome.plan.base.discipline.name}\n"
    notes = dict.fromkeys(note for command in available.values() for note in command.notes)
    lines = [f"tc no. {number}  {command.line}" for number, command in available.items()]
    return "\n".join([*lines, *(f"          ({note})" for note in notes), ""])


def sentence(outcome: SearchOutcome, each: ComparedSetting) -> str:
    """Whether the setting is better than the original one, and by how much."""
    base, tuned = outcome.plan.base, each.trial.qdisc
    if tuned == str(base):
        return f"No tried setting is better than {base}."
    changes = []
    for goal in outcome.plan.goals.goals:
        was, now = each.of(goal.metric)
        if each.better(goal) is Verdict.INCONCLUSIVE:
            changes.append(f"{goal.metric}: no difference shown{_enough(outcome, was, now, goal)}")
        else:
            changes.append(f"{goal.metric} {change(now, was)}, from {goal.metric.show(was)} to {goal.metric.show(now)}")
    return f"With {difference(base, each)}: {'; '.join(changes)} ({len(outcome.held_out_seeds)} held-out seeds)."


def _enough(outcome: SearchOutcome, was: Quantity, now: Quantity, goal: Goal) -> str:
    """The held-out seeds that would show the difference, as a clause."""
    tests = len(outcome.compared) * len(outcome.plan.goals.goals)
    more = more_seeds(changed([(goal, now, was)]), tests)
    return f", {more}" if more else ""


def change(now: Quantity, was: Quantity) -> str:
    """The relative change of a metric, with the margin of error of the difference."""
    step = now - was
    if not was.mean:
        return "up from 0" if step.mean > 0 else "unchanged"
    part, half = 100 * step.mean / abs(was.mean), 100 * step.half / abs(was.mean)
    return f"{'down' if part < 0 else 'up'} {style.estimated(abs(part), half)} %"


def difference(base: QdiscSpec, each: ComparedSetting) -> str:
    """The changed settings."""
    changed = {name: value for name, value in each.trial.settings.items() if value != base.value(name)}
    return ", ".join(f"{name}={value}" for name, value in changed.items())


def none_kept(outcome: SearchOutcome) -> str:
    """The message that no setting keeps the bounds, with the one that misses them least."""
    goals = outcome.plan.goals
    asked = " and ".join(map(str, goals.bounds))
    closest = nearest(outcome.trials, goals)
    if closest is None:
        return f"None of {counted(len(outcome.trials), 'setting')} was measured."
    metrics = dict.fromkeys(bound.metric for bound in goals.bounds)
    values = "; ".join(f"{metric} {metric.show(closest.measured[str(metric)])}" for metric in metrics)
    return f"None of {counted(len(outcome.trials), 'setting')} keeps {asked}. The closest: {closest.qdisc} ({values})."


def seeds(numbers: Sequence[int]) -> str:
    """The seeds as text: `seeds 1 to 4`, or each seed if they are not consecutive."""
    if len(numbers) == 1:
        return f"seed {numbers[0]}"
    if list(numbers) == list(range(numbers[0], numbers[0] + len(numbers))):
        return f"seeds {numbers[0]} to {numbers[-1]}"
    return f"seeds {', '.join(map(str, numbers))}"


def lines(outcome: SearchOutcome, each: ComparedSetting) -> str:
    """The setting for a scenario file, for `--qdisc`, and as a tc command."""
    command = tc.command(QdiscSpec.of(each.trial.qdisc), outcome.plan.scenario)
    lines_shown = [f'scenario  qdiscs = ["{each.trial.qdisc}"]', f"run       --qdisc {shlex.quote(each.trial.qdisc)}"]
    if command is None:
        lines_shown.append(f"tc        Linux has no {outcome.plan.base.discipline.name}")
    else:
        lines_shown += [f"tc        {command.line}", *(f"          ({note})" for note in command.notes)]
    return "\n".join([*lines_shown, ""])


def _row(metric: Metric, each: ComparedSetting) -> tuple[str, str, str, str]:
    was, now = each.of(metric)
    step = now - was
    sign = "+" if step.mean > 0 else ""
    return str(metric), metric.show(was), metric.show(now), f"{sign}{metric.show(step)}"


def _kept(bound: Bound, each: ComparedSetting) -> Text:
    """Whether a bound is kept, and whether it was kept before."""
    before, verdict = (bound.judge(measured[str(bound.metric)]).verdict for measured in (each.reference, each.tuned))
    words = {Verdict.HOLDS: "keeps", Verdict.DIFFERS: "breaks", Verdict.INCONCLUSIVE: "inconclusive"}
    was = ", was broken" if before is Verdict.DIFFERS and verdict is Verdict.HOLDS else ""
    value = bound.metric.measure.units.setting(bound.value)
    return Text(f"{words[verdict]} {bound.sign} {value}{was}", style=STYLES[verdict])


def _table(*titles: str) -> Table:
    return layout.table(layout.text_columns(*titles, vertical="top"))

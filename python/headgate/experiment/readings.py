"""The verdicts on a paper's claims under each reading: each declared value of a parameter that it leaves open."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table
from rich.text import Text

from headgate.analysis.judge import Verdict
from headgate.errors import UsageError
from headgate.execution.runner import Watcher
from headgate.experiment import show
from headgate.experiment.declare import Experiment, toml_text
from headgate.experiment.record import judged
from headgate.experiment.running import RunOptions, run
from headgate.terminal import layout

#: With more claims than this, the table shows verdicts as marks instead of words.
MAX_WORDED = 6
MARKS = {Verdict.HOLDS.value: "+", Verdict.DIFFERS.value: "-", Verdict.INCONCLUSIVE.value: "?"}


class Reading(NamedTuple):
    """One value of one open parameter, with the verdict on every claim."""

    name: str
    value: Any
    ours: bool
    claims: tuple[dict[str, str], ...]


def rows(
    name: str, experiment: Experiment, out: Path, options: RunOptions, watcher: Callable[[str], Watcher]
) -> list[Reading]:
    """Runs the experiment for every value of every open parameter. The other parameters keep our values."""
    open_ones = [choice for choice in experiment.choices if choice.values]
    if not open_ones:
        raise UsageError(f"{name} has no open parameter with other values to try")
    judged_rows = []
    for choice in open_ones:
        for value in dict.fromkeys((choice.value, *choice.values)):
            ran = run(
                experiment,
                out,
                options._replace(choices={choice.name: value}),
                watcher(f"{choice.name} = {toml_text(value)}"),
            )
            claims = tuple(judged(claim.judge, ran.results) for claim in experiment.claims)
            judged_rows.append(Reading(choice.name, value, value == choice.value, claims))
    return judged_rows


def table(name: str, experiment: Experiment, judged_rows: list[Reading]) -> Table:
    """A row for each value, a column for each claim."""
    many = len(experiment.claims) > MAX_WORDED
    caption = [f"{number}: {claim.text}" for number, claim in enumerate(experiment.claims, 1)]
    caption += [", ".join(f"{mark} {word}" for word, mark in MARKS.items())] if many else []
    heads = [str(number) if many else f"claim {number}" for number in range(1, len(experiment.claims) + 1)]
    rows = []
    for row in judged_rows:
        words = [claim["verdict"] for claim in row.claims]
        verdicts = [Text(MARKS[word] if many else word, style=show.STYLES[Verdict(word)]) for word in words]
        rows.append(layout.Variation(row.name, toml_text(row.value), row.ours, verdicts))
    title = f"{name}: verdicts under each reading"
    return layout.variations(title, heads, rows, chosen="ours", caption="\n".join(caption))

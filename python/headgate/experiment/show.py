"""The output of experiments in the terminal: the list, an experiment in words, and its results."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from headgate import style
from headgate.analysis.judge import Verdict
from headgate.analysis.significance import LEAST_SEEDS
from headgate.counting import counted
from headgate.execution.runner import processors
from headgate.experiment.declare import Basis, Experiment, toml_text
from headgate.terminal import layout

#: The style of each verdict.
STYLES = {Verdict.HOLDS: "bold green", Verdict.DIFFERS: "bold red", Verdict.INCONCLUSIVE: "yellow"}


class ExperimentRow(NamedTuple):
    """A row of the list: an experiment, and the processor seconds of a shortened and of a whole run, if known."""

    name: str
    title: str
    quick: float | None
    whole: float | None


def listed(rows: Sequence[ExperimentRow]) -> Table:
    """The list of experiments, with estimated times on this machine."""
    drawn = layout.table(
        [*layout.text_columns("experiment", "what it shows"), *layout.number_columns("--quick", "whole")]
    )
    for row in rows:
        drawn.add_row(row.name, row.title, _duration(row.quick), _duration(row.whole))
    drawn.add_section()
    quick, whole = sum(row.quick or 0 for row in rows), sum(row.whole or 0 for row in rows)
    drawn.add_row("", f"together, on {processors()} processors", _duration(quick), _duration(whole))
    return drawn


def description(name: str, experiment: Experiment, citation: str) -> Group:
    """One experiment in words: what it shows, its disciplines, its claims, our open parameters, and its scenario."""
    parts: list[RenderableType] = [
        Text(f"{name}: {experiment.title}", style="bold"),
        Text(f"{experiment.place} of {citation}\n", style="dim"),
        Text(f"{experiment.about}\n"),
        layout.table(layout.text_columns("discipline", "as configured"), experiment.qdiscs.items()),
        layout.table(
            layout.text_columns("claim", "where"),
            ((each.text, experiment.place_of(each)) for each in experiment.claims),
        ),
    ]
    if experiment.choices:
        chosen = ((f"{each.name} = {toml_text(each.value)}", each.reason) for each in experiment.choices)
        parts.append(layout.table(layout.text_columns("not stated in the paper", "reason for our value"), chosen))
    if experiment.scenario:
        first = experiment.scenario_of(experiment.cases[0], experiment.qdiscs.values())
        parts += [Text("scenario of the first case", style="bold"), Text(first.to_toml().strip())]
    return Group(*parts)


def result_tables(document: dict[str, Any]) -> Group:
    """The results of an experiment: published numbers beside ours, then the claims."""
    kind = "shortened run" if document["quick"] else "whole run"
    seeds = seeds_of(document)
    parts: list[RenderableType] = [
        Text(f"{document['experiment']}: {document['title']}", style="bold"),
        Text(f"{document['place']}; {', '.join([kind, *document.get('set', ()), seeds])}", style="dim"),
    ]
    if document["published"]:
        parts.append(_published(document["published"]))
    parts.append(_claims(document["claims"]))
    return Group(*parts)


def seeds_of(document: dict[str, Any]) -> str:
    """The number of seeds in words, and that they are too few if they decided no claim."""
    seeds = document["seeds"]
    words = "one seed, so no intervals" if seeds == 1 else f"{seeds} seeds ± margin of error (95 %)"
    decided = {claim["verdict"] for claim in document["claims"]} - {Verdict.INCONCLUSIVE.value}
    few = seeds < LEAST_SEEDS and not decided
    return f"{words}: fewer than {LEAST_SEEDS} decide no claim" if few else words


#: The words for the basis of one claim.
BOUNDS = {"paper": "the paper's bound", "ours": "our bound", "illustration": "an illustration"}

#: The words of a score for one claim and for several.
VERDICTS = {
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.DIFFERS: ("differs", "differ"),
    Verdict.INCONCLUSIVE: ("inconclusive", "inconclusive"),
}

#: The words of a score for the basis of claims.
SCORED = {Basis.PAPER: "with the paper's bound", Basis.OURS: "with a bound of ours"}


def score(documents: Iterable[dict[str, Any]]) -> Text:
    """The number of claims by verdict, for the paper's bounds and for ours. Illustrations are counted apart."""
    claims = [claim for document in documents for claim in document["claims"]]
    verdicts = {basis: [claim["verdict"] for claim in claims if claim["basis"] == basis.value] for basis in Basis}
    scores = [f"{words}: {_scores(verdicts[basis])}" for basis, words in SCORED.items() if verdicts[basis]]
    illustrations = len(verdicts[Basis.ILLUSTRATION])
    scores += [f"not scored: {counted(illustrations, 'illustration')}"] if illustrations else []
    return Text("; ".join([counted(len(claims), "claim"), *scores]), style="bold")


def _scores(verdicts: Sequence[str]) -> str:
    counts = ", ".join(counted(verdicts.count(each.value), *words) for each, words in VERDICTS.items())
    return f"{counts} ({100 * verdicts.count(Verdict.HOLDS.value) / len(verdicts):.0f} % hold)"


def shown(row: dict[str, Any]) -> str:
    """The measured number of a document's row, with its margin of error."""
    if row["mean"] is None:
        return style.MISSING
    return style.number(row["mean"]) + (f" ± {style.number(row['half'], 2)}" if row["half"] else "")


def difference(row: dict[str, Any]) -> str:
    """The relative difference of a document's row, in percent."""
    return style.MISSING if row["relative"] is None else f"{100 * row['relative']:+.1f} %"


def case_of(row: dict[str, Any]) -> str:
    """The case of a document's row, such as `buffer=100KB, flows=400`."""
    return ", ".join(f"{name}={value}" for name, value in row["case"].items())


def measure_of(row: dict[str, Any]) -> str:
    """The measure of a document's row, with its unit."""
    words = str(row["measure"]).replace("_", " ")
    return f"{words}, {row['unit']}" if row["unit"] else words


def _published(rows: list[dict[str, Any]]) -> Table:
    titles = layout.text_columns("published in", "measure", "discipline", "case")
    drawn = layout.table([*titles, *layout.number_columns("paper", "Headgate", "difference")])
    for row in rows:
        numbers = (style.plain(row["published"]), shown(row), difference(row))
        drawn.add_row(row["place"], measure_of(row), row["label"], case_of(row), *numbers)
    return drawn


def _claims(claims: list[dict[str, Any]]) -> Table:
    columns = Column("claim of the paper", overflow="fold", ratio=5), Column("Headgate", no_wrap=True)
    drawn = layout.table([*columns, Column("numbers", overflow="fold", ratio=4)])
    for claim in claims:
        text = Text(f"{claim['text']} ").append(f"({claim['place']}; {BOUNDS[claim['basis']]})", style="dim")
        numbers = Text(claim["numbers"])
        if claim["finding"] and claim["verdict"] != Verdict.HOLDS.value:
            numbers.append(f"\n{claim['finding']}", style="dim")
        drawn.add_row(text, Text(claim["verdict"], style=STYLES[Verdict(claim["verdict"])]), numbers)
    return drawn


def _duration(cpu_s: float | None) -> str:
    """Estimated wall time on this machine, from processor seconds."""
    if cpu_s is None:
        return style.MISSING
    return style.duration(cpu_s / processors())

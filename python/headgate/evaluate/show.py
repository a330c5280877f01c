"""The output of an evaluation in the terminal: the list of tests, and one page of results."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from headgate import style
from headgate.analysis.significance import LEAST_SEEDS
from headgate.counting import counted
from headgate.evaluate import words
from headgate.evaluate.grade import Grade
from headgate.evaluate.section import RfcSection
from headgate.terminal import layout

#: The style of the verdict on a section.
STYLES = {"strong": "bold green", "fair": "green", "mixed": "yellow", "weak": "bold red", "undecided": "dim"}


def listed(sections: Sequence[RfcSection]) -> Table:
    """The tests, one row each."""
    heads = [Column("RFC 7928", no_wrap=True), *layout.text_columns("test", "description", "judged by")]
    drawn = layout.table([*heads, Column("figure 4", no_wrap=True), Column("runs", justify="right")])
    for section in sections:
        drawn.add_row(str(section.number), Text(section.title, style="bold"), section.about)
        for test in section.tests:
            judged = "; ".join(criterion.what for criterion in test.criteria)
            runs = f"{len(test.cases)} of {style.plain(test.times.duration)} s"
            drawn.add_row(test.place, test.title, test.about, judged, test.weight, runs)
    return drawn


def page(document: Mapping[str, Any]) -> Group:
    """The page: a row for each section, then the failures of each discipline."""
    parts: list[RenderableType] = [
        Text(f"RFC 7928, {kind(document)}", style="bold"),
        _table(document),
        Text("+ strengths, - failures, ? inconclusive; all other gradings are fair", style="dim"),
    ]
    for each in words.evaluated(document):
        parts.append(Text(f"\n{each['label']}", style="bold"))
        parts += [Text(f"  {line}") for line in _failures(document, each["spec"])]
    parts.append(Text(f"\n{words.answer(document)}.", style="bold"))
    return Group(*parts)


def kind(document: Mapping[str, Any]) -> str:
    """Whether runs are shortened, and the number of seeds."""
    seeds = document["seeds"]
    spread = "one seed, so no intervals" if seeds == 1 else f"means of {seeds} seeds ± margin of error (95 %)"
    few = f"; fewer than {LEAST_SEEDS} seeds decide no grade" if seeds < LEAST_SEEDS else ""
    return f"{'shortened runs' if document['quick'] else 'whole runs'}, {spread}{few}"


def headlines(document: Mapping[str, Any], section: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The headline measures of a section, each with its value for every discipline."""
    for headline in section["headlines"]:
        yield headline["shown"], [_number(section, headline, each["spec"]) for each in document["disciplines"]]


def _number(section: Mapping[str, Any], headline: Mapping[str, Any], qdisc: str) -> str:
    rows = (row for test in section["tests"] if test["name"] == headline["test"] for row in test["values"])
    key_values = {"qdisc": qdisc, "measure": headline["measure"], "case": headline["case"], "ecn": False}
    row = next(row for row in rows if all(row[key] == value for key, value in key_values.items()))
    return words.mean(row)


def _table(document: Mapping[str, Any]) -> Table:
    labels = [each["label"] + ("" if each["ecn"] else "\nno ECN") for each in document["disciplines"]]
    drawn = layout.table(
        [*layout.text_columns("section", min_width=32), *layout.text_columns(*labels, justify="right")]
    )
    for section in document["sections"]:
        verdicts = (words.counts(section, each["spec"]) for each in document["disciplines"])
        drawn.add_row(Text(f"{section['number']} {section['title']}", style="bold"), *map(_verdict, verdicts))
        for name, numbers in headlines(document, section):
            drawn.add_row(f"  {name}", *numbers)
    return drawn


def _verdict(count: words.GradeCounts) -> Text:
    counts = f"\n{count.strengths}+ {count.failures}- {count.unclear}?"
    return Text(count.verdict, style=STYLES[count.verdict]).append(counts, style="default")


def _failures(document: Mapping[str, Any], qdisc: str) -> Iterator[str]:
    """The count of a discipline's strengths and failures, then each failure in a sentence."""
    count = words.total(document, qdisc)
    grades = f"{counted(count.strengths, 'strength')}, {counted(count.failures, 'failure')}"
    yield f"{grades} in {counted(count.whole, 'grading')}"
    # A terminal would break lines at the narrow space within numbers.
    for line in words.all_sentences(document, qdisc, Grade.FAILURE):
        yield line.replace("\N{NARROW NO-BREAK SPACE}", "")

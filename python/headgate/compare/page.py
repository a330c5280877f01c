"""The comparison as one HTML page, in the form of a result's."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from headgate import report, store, style
from headgate.compare import terminal, words
from headgate.compare.figure import sides
from headgate.plot.picture import Picture
from headgate.plot.picture import picture as picture_of
from headgate.report.markup import Html, join, picture, table, tag, text

if TYPE_CHECKING:
    from headgate.compare.gaps import Comparison


def page(comparison: Comparison, drawn: Picture) -> str:
    """The page as text; `drawn` is the comparison's figure."""
    scenario = comparison.results[0].scenario
    shown = join(tag("li", text(note)) for note in [*words.held(comparison), *words.notes(comparison)])
    return Template(resources.files(__package__).joinpath("page.html").read_text("utf-8")).substitute(
        style=resources.files(report.__name__).joinpath("page.css").read_text("utf-8"),
        name=text(scenario.name),
        answer=text(words.sentence(comparison)),
        about=text(scenario.about),
        figure=picture(drawn.untitled, "Bars of both results for each discipline; the tables have the same numbers."),
        notes=tag("ul", shown),
        tables=join(_table(comparison, of) for of in [*comparison.groups, *comparison.links]),
        hashes=join(
            join([tag("dt", text(name)), tag("dd", tag("code", text(result.manifest["config_hash"])))])
            for name, result in zip(comparison.names, comparison.results, strict=True)
        ),
    )


def _table(comparison: Comparison, of: str) -> Html:
    listed = words.columns(comparison, of)
    rows = [
        [text(f"{look.label}, {name}"), *(tag("strong", text(cell)) if name == "gap" else text(cell) for cell in cells)]
        for qdisc, look in style.looks(comparison.qdiscs).items()
        for name, cells in words.lines(comparison, qdisc, of, listed)
    ]
    titles = ["Discipline", *(" ".join(column.title.split()) for column in listed)]
    return join([tag("h3", text(terminal.title(comparison, of))), table("", titles, rows)])


def write(comparison: Comparison, folder: Path) -> Path:
    """Draws the figure and writes the page into `folder`, which is made if need be; gives the page's path."""
    drawn = picture_of(sides(comparison))
    files: dict[str, store.Content] = {**drawn.files("sides"), store.REPORT: page(comparison, drawn)}
    store.write_files(folder, files, "the page", "--no-page leaves it out")
    return folder / store.REPORT


def folder_name(comparison: Comparison) -> str:
    """The name of the folder that the page goes to."""
    hashes = (result.manifest["config_hash"][:8] for result in comparison.results)
    return "-".join([comparison.results[0].scenario.name, *hashes])

"""A result as one HTML page that needs nothing else: no network, no scripts, the same bytes for the same result."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from headgate import plot, style
from headgate.report import live, sections
from headgate.report.definitions import definitions
from headgate.report.markup import join, text
from headgate.report.measures import measures
from headgate.verdict import verdict

if TYPE_CHECKING:
    from headgate.plot import Picture
    from headgate.results import Result


def write(result: Result, path: Path | str, drawn: dict[str, Picture] | None = None) -> None:
    """Writes the page to the file `path`; `drawn` are the result's pictures if they are drawn already."""
    Path(path).write_text(page(result, drawn), encoding="utf-8", newline="\n")


def page(result: Result, drawn: dict[str, Picture] | None = None) -> str:
    """The page as text."""
    scenario = result.scenario
    here = resources.files(__name__)
    shown = sections.pictures(result, plot.pictures(result) if drawn is None else drawn)
    return Template(here.joinpath("page.html").read_text("utf-8")).substitute(
        style=here.joinpath("page.css").read_text("utf-8"),
        name=text(scenario.name),
        answer=text(verdict(result)),
        about=text(scenario.about),
        overview=shown["overview"],
        summary=sections.summary(result),
        figures=join(figure for name, figure in shown.items() if name != "overview"),
        reasons=sections.reasons(result),
        measures=measures(result),
        scenario=text(scenario.to_toml()),
        disciplines=sections.disciplines(result),
        live=live.section(result),
        again=live.again(result),
        time=text("real" if scenario.live else "simulated"),
        world=text(" · on real packets" if scenario.live else ""),
        version=text(result.manifest["headgate"]),
        config_hash=text(result.manifest["config_hash"]),
        seeds=text(", ".join(map(str, scenario.seeds))),
        duration=text(style.plain(scenario.duration_s)),
        warmup=text(style.plain(scenario.warmup_s)),
        definitions=definitions(),
    )

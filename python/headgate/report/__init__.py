"""A result as one self-contained HTML page: no network, no other file, the same bytes for the same result.

A page has at most `MOST_FIGURES` bytes of figures; its charts have a bounded number of points. Larger figures are left
to the result's folder, and the page names them.
"""

from pathlib import Path

from headgate import plot
from headgate.analysis import accuracy, findings, limits, verdict, window
from headgate.files import names
from headgate.files.disk import DISK
from headgate.plot import Picture
from headgate.report import charts, glossary, script, sections
from headgate.report.certainty import certainty
from headgate.report.differences import matrices
from headgate.report.drawing import drawing
from headgate.report.pages import render
from headgate.results import Result
from headgate.scenario.shortest import shortest

#: The most bytes of figures on a page.
MOST_FIGURES = 4_000_000


def write(result: Result, path: Path | str, drawn: dict[str, Picture] | None = None) -> None:
    """Writes the page to the file `path`; `drawn` are the result's pictures if they exist."""
    DISK.write(Path(path), page(result, drawn).encode())


def page(result: Result, drawn: dict[str, Picture] | None = None) -> str:
    """The page as text."""
    compared = findings.of(result)
    held = limits.of(result)
    explain = glossary.Explainer()
    pictures = plot.pictures(result, png=False) if drawn is None else drawn
    kept = _fitting(pictures)
    shown = charts.charts(result)
    stills = {chart.still for chart in shown}
    scripts = [
        script.text("headgate.report", "uplot/uPlot.iife.min.js"),
        *(script.text("headgate.report", name) for name in ("page.js", "charts.js")),
    ]
    return render(
        "report/page.html",
        scenario=result.scenario,
        manifest=result.manifest,
        folder=names.name_for(result.scenario, result.manifest["config_hash"]),
        answer=explain(verdict.of(result, compared)),
        certainty=certainty(compared),
        window=window.check(result).sentence,
        limits=limits.line(held),
        limited=list(limits.sentences(result, held)),
        explain=explain,
        drawing=drawing(result),
        looks=charts.looks(result),
        charts=shown,
        chart_data=charts.as_json(result, shown),
        stills=kept,
        figures={name: each for name, each in kept.items() if name not in stills},
        left_out=[name for name in pictures if name not in kept and name not in stills],
        alternatives=sections.alternatives(result),
        summary=sections.summary(result),
        differences=list(matrices(compared)),
        reasons=sections.reasons(result),
        measures=sections.measures(result),
        written=shortest(result.scenario),
        disciplines=sections.disciplines(result),
        live=result.live,
        accuracy=accuracy,
        meanings=glossary.MEASURES,
        scripts=scripts,
        policy=script.allowed(*scripts),
    )


def _fitting(pictures: dict[str, Picture]) -> dict[str, Picture]:
    """The pictures that fit into a page, in their order."""
    kept, room = {}, MOST_FIGURES
    for name, each in pictures.items():
        if len(each.svg) <= room:
            kept[name] = each
            room -= len(each.svg)
    return kept

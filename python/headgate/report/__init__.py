"""A result as one self-contained HTML page: no network, no scripts, the same bytes for the same result."""

from pathlib import Path

from headgate import plot
from headgate.analysis import accuracy, findings, verdict
from headgate.plot import Picture
from headgate.report import sections
from headgate.report.definitions import DEFINITIONS
from headgate.report.differences import matrices
from headgate.report.pages import render
from headgate.results import Result


def write(result: Result, path: Path | str, drawn: dict[str, Picture] | None = None) -> None:
    """Writes the page to the file `path`; `drawn` are the result's pictures if they exist."""
    Path(path).write_text(page(result, drawn), encoding="utf-8", newline="\n")


def page(result: Result, drawn: dict[str, Picture] | None = None) -> str:
    """The page as text."""
    compared = findings.of(result)
    return render(
        "report/page.html",
        scenario=result.scenario,
        manifest=result.manifest,
        answer=verdict.of(result, compared),
        pictures=plot.pictures(result, png=False) if drawn is None else drawn,
        alternatives=sections.alternatives(result),
        summary=sections.summary(result),
        differences=list(matrices(compared)),
        reasons=sections.reasons(result),
        measures=sections.measures(result),
        disciplines=sections.disciplines(result),
        live=result.live,
        accuracy=accuracy,
        definitions=DEFINITIONS,
    )

"""The comparison as one HTML page, in the style of a result's page."""

from pathlib import Path

from headgate import identity
from headgate.compare import terminal, words
from headgate.compare.figure import sides
from headgate.compare.gaps import Comparison
from headgate.files import store
from headgate.plot import printing
from headgate.plot.picture import Picture, picture
from headgate.report.pages import render
from headgate.style import FigureFiles


def page(comparison: Comparison, drawn: Picture) -> str:
    """The page as text; `drawn` is the comparison's figure."""
    return render(
        "compare/page.html",
        scenario=comparison.results[0].scenario,
        answer=words.sentence(comparison),
        drawn=drawn,
        notes=[*words.unresponsive_shares(comparison), *words.notes(comparison)],
        tables=[
            (title, ["Discipline", *(" ".join(column.title.split()) for column in columns)], rows)
            for title, columns, rows in terminal.listed(comparison)
        ],
        results=zip(comparison.names, comparison.results, strict=True),
    )


def write(comparison: Comparison, folder: Path) -> Path:
    """Draws the figure and writes the page into `folder`, which is made if needed. Returns the page's path."""
    drawn = picture(sides(comparison))
    files: dict[str, store.Content] = {**drawn.files("sides"), store.REPORT: page(comparison, drawn)}
    store.write_files(folder, files, "the page", "use --no-page to skip it")
    return folder / store.REPORT


def write_figure(comparison: Comparison, folder: Path, wanted: FigureFiles) -> list[Path]:
    """Writes the comparison's figure for a document into `folder`. Returns the files."""
    return printing.save({"sides": lambda: sides(comparison)}, wanted, folder)


def folder_name(comparison: Comparison) -> str:
    """The name of the page's folder."""
    hashes = (identity.name_of(result.manifest["config_hash"]) for result in comparison.results)
    return "-".join([comparison.results[0].scenario.name, *hashes])

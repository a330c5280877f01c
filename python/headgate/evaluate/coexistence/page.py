"""The heat map as one self-contained HTML page, made from the JSON document alone."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from headgate.evaluate import words
from headgate.evaluate.coexistence import heatmap
from headgate.evaluate.coexistence.grid import CLASSIC, SCALABLE
from headgate.plot import figure_style, printing
from headgate.plot.picture import Picture, picture
from headgate.report.pages import render
from headgate.style import FigureFiles

#: Columns of a table: the ratio, and the measures in the order of `rows`.
HEADS = (
    "Prague / CUBIC", "Prague Mbit/s", "CUBIC Mbit/s",
    "Prague: queueing delay ms, mean", "p99", "CUBIC: mean", "p99", "Idle %",
)  # fmt: skip


def draw(document: Mapping[str, Any]) -> Picture:
    """The heat map."""
    with figure_style.applied():
        return picture(heatmap.figure(document))


def write_figures(document: Mapping[str, Any], folder: Path, wanted: FigureFiles) -> list[Path]:
    """Writes the heat map for a document into `folder`. Returns the files."""
    return printing.save({"coexistence": partial(heatmap.figure, document)}, wanted, folder)


def page(document: Mapping[str, Any], drawn: Picture) -> str:
    """The page as text."""
    return render(
        "evaluate/coexistence/page.html",
        document=document,
        drawn=drawn,
        heads=["Rate, round trip", *HEADS],
        rows=lambda spec: list(rows(document, spec)),
        answer=answer(document),
    )


def rows(document: Mapping[str, Any], spec: str) -> Iterator[list[str]]:
    """A row of text for each cell of a discipline: its name, the ratio, and the measures."""
    flows = [f"{flow}_mbps" for flow in (SCALABLE, CLASSIC)]
    delays = [f"{flow}_delay_ms_{part}" for flow in (SCALABLE, CLASSIC) for part in ("mean", "p99")]
    for cell in (cell for row in heatmap.table(document, spec) for cell in row):
        name = f"{cell['rate_bps'] / 1e6:g} Mbit/s, {cell['rtt_ms']:g} ms"
        numbers = (words.interval(cell["values"][measure]) for measure in (*flows, *delays, "idle_percent"))
        yield [name, heatmap.shown(cell["ratio"]), *numbers]


def answer(document: Mapping[str, Any]) -> str:
    """The smallest and the greatest ratio of each discipline, in a sentence."""
    return "; ".join(_of_discipline(document, each) for each in document["disciplines"])


def _of_discipline(document: Mapping[str, Any], discipline: Mapping[str, Any]) -> str:
    ratios = [cell["ratio"] for cell in document["cells"] if cell["qdisc"] == discipline["spec"]]
    known = [ratio for ratio in ratios if ratio is not None]
    least, most = (min(known), None if None in ratios else max(known)) if known else (None, None)
    if len(ratios) == 1:
        return f"{discipline['label']} {heatmap.shown(least)}"
    return f"{discipline['label']} {heatmap.shown(least)} to {heatmap.shown(most)}"

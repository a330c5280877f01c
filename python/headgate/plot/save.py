"""Figures as files, with bytes that depend on the result only."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg

from headgate import style
from headgate.plot.delay import delay_cdf
from headgate.plot.goodput import goodput
from headgate.plot.overtime import gauges, queue
from headgate.plot.overview import overview
from headgate.plot.panels import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.results import Result


def figures(result: Result) -> dict[str, Figure]:
    """Every figure that the result can fill, by file name: nothing for gauges if no discipline has any."""
    drawn = {
        "overview": overview(result),
        "goodput": figure_of(goodput(result)[0]),
        "delay": figure_of(delay_cdf(result)),
        "queue": figure_of(queue(result)[0]),
    }
    if watched := gauges(result):
        drawn["gauges"] = figure_of(watched[0])
    return drawn


def render(figure: Figure, kind: str) -> bytes:
    """A figure as `svg` or `png`: the same bytes for the same figure, whenever and wherever."""
    bare: dict[str, None] = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    buffer = io.BytesIO()
    with style.applied():
        FigureCanvasAgg(figure)
        figure.savefig(buffer, format=kind, metadata=bare)
    return buffer.getvalue()


def save_all(result: Result, folder: Path | str) -> list[Path]:
    """Writes each figure as SVG and PNG into `folder`, which is made if need be, and returns what was written."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, figure in figures(result).items():
        for kind in ("svg", "png"):
            path = folder / f"{name}.{kind}"
            path.write_bytes(render(figure, kind))
            written.append(path)
    return written

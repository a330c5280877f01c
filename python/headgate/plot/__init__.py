"""Figures of a result: functions that take a `headgate.Result` and draw with matplotlib."""

from collections.abc import Collection, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headgate import style
from headgate.analysis import data
from headgate.files.disk import DISK
from headgate.plot import figure_style, parallel, printing
from headgate.plot.curves import completion, delay_cdf, fairness
from headgate.plot.goodput import goodput
from headgate.plot.overtime import gauges, queue
from headgate.plot.overview import overview
from headgate.plot.pair import pair
from headgate.plot.panels import figure_of
from headgate.plot.picture import Picture, picture
from headgate.plot.tradeoff import tradeoff
from headgate.results import Result
from headgate.style import FigureFiles

__all__ = [
    "Picture",
    "completion",
    "delay_cdf",
    "fairness",
    "figures",
    "gauges",
    "goodput",
    "overview",
    "pair",
    "picture",
    "pictures",
    "queue",
    "save_all",
    "save_files",
    "tradeoff",
]


def figures(result: Result, names: Collection[str] = ()) -> dict[str, Figure]:
    """The figures of a result, by file name; only those with these `names` if there are any.

    Fairness needs several flows, completion needs transfers, gauges need a discipline with gauges, and a pair needs
    exactly two disciplines. Raises `UsageError` for an unknown name.
    """
    made = {name: make() for name, make in _makers(result, names).items()}
    return {name: figure for name, figure in made.items() if figure is not None}


def pictures(
    result: Result, dpi: float = figure_style.DPI, names: Collection[str] = (), *, png: bool = True
) -> dict[str, Picture]:
    """The figures as SVG, and as PNG if wanted, by file name. Files and page share them.

    `names` selects as in `figures`. A PNG takes as long as the rest of a figure, and a page shows only SVG.
    """
    return parallel.pictures(_makers(result, names), dpi, png=png)


def _makers(result: Result, names: Collection[str]) -> parallel.Makers:
    """The function of each wanted figure."""

    def first(drawn: Sequence[Axes] | None) -> Figure | None:
        return figure_of(drawn[0]) if drawn else None

    makers: parallel.Makers = {
        "overview": lambda: overview(result),
        "goodput": lambda: first(goodput(result)),
        "delay": lambda: figure_of(delay_cdf(result)),
        "tradeoff": lambda: figure_of(tradeoff(result)),
        "queue": lambda: first(queue(result)),
        "fairness": lambda: None if (axes := fairness(result)) is None else figure_of(axes),
        "completion": lambda: first(completion(result)),
        "gauges": lambda: first(gauges(result)),
        "pair": lambda: pair(result) if len(data.qdiscs(result)) == 2 else None,
    }
    style.check_figures(names)
    return {name: make for name, make in makers.items() if not names or name in names}


def save_files(result: Result, folder: Path | str, wanted: FigureFiles, names: Collection[str] = ()) -> list[Path]:
    """Writes the figures for a document into `folder`: in the formats and the style of `wanted`. Returns the files.

    `names` selects as in `figures`.
    """
    return printing.save(_makers(result, names), wanted, Path(folder))


def save_all(result: Result, folder: Path | str, drawn: dict[str, Picture] | None = None) -> list[Path]:
    """Writes each figure as SVG and PNG into `folder`, which is made if needed. Returns the files.

    `drawn` are the result's pictures if they exist; those without a PNG are written as SVG only.
    """
    folder = Path(folder)
    DISK.make_folder(folder)
    written = []
    for name, each in (pictures(result) if drawn is None else drawn).items():
        for file, content in each.files(name).items():
            DISK.write(folder / file, content)
            written.append(folder / file)
    return written

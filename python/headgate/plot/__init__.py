"""Figures of a result: functions that take a `headgate.Result` and draw with matplotlib."""

from pathlib import Path

from matplotlib.figure import Figure

from headgate import style
from headgate.analysis import data
from headgate.plot.curves import completion, delay_cdf, fairness
from headgate.plot.goodput import goodput
from headgate.plot.overtime import gauges, queue
from headgate.plot.overview import overview
from headgate.plot.pair import pair
from headgate.plot.panels import figure_of
from headgate.plot.picture import Picture, picture
from headgate.plot.tradeoff import tradeoff
from headgate.results import Result

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
    "tradeoff",
]


def figures(result: Result) -> dict[str, Figure]:
    """Every figure of a result, by file name.

    Fairness needs several flows, completion needs transfers, gauges need a discipline with gauges, and a pair needs
    exactly two disciplines.
    """
    drawn = {
        "overview": overview(result),
        "goodput": figure_of(goodput(result)[0]),
        "delay": figure_of(delay_cdf(result)),
        "tradeoff": figure_of(tradeoff(result)),
        "queue": figure_of(queue(result)[0]),
    }
    if (compared := fairness(result)) is not None:
        drawn["fairness"] = figure_of(compared)
    if finished := completion(result):
        drawn["completion"] = figure_of(finished[0])
    if watched := gauges(result):
        drawn["gauges"] = figure_of(watched[0])
    if len(data.qdiscs(result)) == 2:
        drawn["pair"] = pair(result)
    return drawn


def pictures(result: Result, dpi: float = style.DPI) -> dict[str, Picture]:
    """Every figure as SVG and PNG, by file name. Files and page share them."""
    return {name: picture(figure, dpi) for name, figure in figures(result).items()}


def save_all(result: Result, folder: Path | str, drawn: dict[str, Picture] | None = None) -> list[Path]:
    """Writes each figure as SVG and PNG into `folder`, which is made if needed. Returns the files.

    `drawn` are the result's pictures if they exist.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, each in (pictures(result) if drawn is None else drawn).items():
        for file, content in each.files(name).items():
            (folder / file).write_bytes(content)
            written.append(folder / file)
    return written

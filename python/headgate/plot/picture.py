"""A figure as bytes, reproducible on every machine."""

import re
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from headgate.files import store
from headgate.plot import figure_style, printing
from headgate.plot.panels import TITLE
from headgate.style import FigureFormat

_POINTS = 72
"""Points per inch."""


class Picture(NamedTuple):
    """A drawn figure: its title, its SVG, its PNG (None if not wanted), and the height of the title in points."""

    title: str
    svg: bytes
    png: bytes | None
    title_pt: float

    def _repr_png_(self) -> bytes | None:
        """The picture that a notebook shows."""
        return self.png

    def files(self, name: str) -> dict[str, bytes]:
        """SVG and PNG by file name."""
        return {f"{name}.svg": self.svg} | ({} if self.png is None else {f"{name}.png": self.png})

    @property
    def untitled(self) -> bytes:
        """The SVG without its title, for a page that shows it as a heading."""
        hidden = self.svg.replace(f'<g id="{TITLE}">'.encode(), f'<g id="{TITLE}" visibility="hidden">'.encode(), 1)
        return re.sub(rb' height="([\d.]+)pt" viewBox="0 0 ([\d.]+) [\d.]+"', self._cropped, hidden, count=1)

    def _cropped(self, size: re.Match[bytes]) -> bytes:
        height, width = float(size[1]) - self.title_pt, float(size[2])
        return f' height="{height:.2f}pt" viewBox="0 {self.title_pt:.2f} {width:g} {height:.2f}"'.encode()


def picture(figure: Figure, dpi: float = figure_style.DPI, *, png: bool = True) -> Picture:
    """Draws a figure as SVG, and as PNG if wanted, with one layout. `dpi` is that of the PNG."""
    with figure_style.applied():
        formats = [FigureFormat.PNG, FigureFormat.SVG] if png else [FigureFormat.SVG]
        contents = printing.printed(figure, formats, dpi)
        title_pt = _title_pt(figure)
    title = " ".join(figure.get_suptitle().split())
    return Picture(title, contents[FigureFormat.SVG], contents.get(FigureFormat.PNG), title_pt)


def save(figure: Figure, path: Path) -> Path:
    """Writes a figure as SVG and PNG to `path`, without suffix. Returns the PNG's path."""
    store.write_files(path.parent, picture(figure).files(path.name))
    return path.with_name(f"{path.name}.png")


def _title_pt(figure: Figure) -> float:
    """Points from the top of the figure to the bottom of its title; 0 if a legend is beside the title."""
    titles = [text for text in figure.texts if text.get_gid() == TITLE]
    if not titles or figure.legends:
        return 0.0
    return float(figure.bbox.height - titles[0].get_window_extent().y0) / figure.dpi * _POINTS

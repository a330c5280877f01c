"""A figure as bytes: the same for the same figure, whenever and wherever."""

import io
import re
from pathlib import Path
from typing import NamedTuple

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from headgate import style
from headgate.files import store
from headgate.plot.panels import TITLE

_POINTS = 72
"""In an inch."""

_PATH = re.compile(rb' d="[^"]*"')
_BEYOND_HUNDREDTHS = re.compile(rb"(\.\d\d)\d+")


class Picture(NamedTuple):
    """A figure drawn: its title as text, both forms, and how many points of its top hold nothing but the title."""

    title: str
    svg: bytes
    png: bytes
    title_pt: float

    def _repr_png_(self) -> bytes:
        """What a notebook shows of it."""
        return self.png

    def files(self, name: str) -> dict[str, bytes]:
        """Both forms, by the names of their files."""
        return {f"{name}.svg": self.svg, f"{name}.png": self.png}

    @property
    def untitled(self) -> bytes:
        """The SVG without its title, for a page that has it as a heading."""
        hidden = self.svg.replace(f'<g id="{TITLE}">'.encode(), f'<g id="{TITLE}" visibility="hidden">'.encode(), 1)
        return re.sub(rb' height="([\d.]+)pt" viewBox="0 0 ([\d.]+) [\d.]+"', self._cropped, hidden, count=1)

    def _cropped(self, size: re.Match[bytes]) -> bytes:
        height, width = float(size[1]) - self.title_pt, float(size[2])
        return f' height="{height:.2f}pt" viewBox="0 {self.title_pt:.2f} {width:g} {height:.2f}"'.encode()


def picture(figure: Figure, dpi: float = style.DPI) -> Picture:
    """Draws a figure: the layout is found once and holds for both forms. `dpi` is that of the PNG."""
    svg, png = io.BytesIO(), io.BytesIO()
    with style.applied():
        figure.set_dpi(dpi)
        agg = FigureCanvasAgg(figure)
        if (layout := figure.get_layout_engine()) is not None:
            layout.execute(figure)
            figure.set_layout_engine("none")
        # Straight to the canvas: `savefig` would lay out and go through the whole figure once more for each form.
        # matplotlib's canvases have no types.
        agg.print_png(png, metadata={"Software": None})  # type: ignore[no-untyped-call]
        title_pt = _title_pt(figure)
        FigureCanvasSVG(figure).print_svg(svg, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    return Picture(" ".join(figure.get_suptitle().split()), _short(svg.getvalue()), png.getvalue(), title_pt)


def save(figure: Figure, path: Path) -> Path:
    """Writes a figure as SVG and PNG, `path` without its ending; gives the PNG's path."""
    store.write_files(path.parent, picture(figure).files(path.name))
    return path.with_name(f"{path.name}.png")


def _short(svg: bytes) -> bytes:
    """The same with paths to a hundredth of a point: matplotlib writes millionths, which nobody sees."""
    return _PATH.sub(lambda path: _BEYOND_HUNDREDTHS.sub(rb"\1", path[0]), svg)


def _title_pt(figure: Figure) -> float:
    """Points from the top of the figure to the bottom of its title; 0 if a legend stands beside the title."""
    titles = [text for text in figure.texts if text.get_gid() == TITLE]
    if not titles or figure.legends:
        return 0.0
    return float(figure.bbox.height - titles[0].get_window_extent().y0) / figure.dpi * _POINTS

"""Prints a figure in every format, with the same bytes on every machine."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from matplotlib.backends.backend_agg import FigureCanvasAgg

from headgate.files import store
from headgate.plot import figure_style
from headgate.plot.fitting import fit
from headgate.style import FigureFiles, FigureFormat

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PATH = re.compile(rb' d="[^"]*"')
_BEYOND_HUNDREDTHS = re.compile(rb"(\.\d\d)\d+")


def files(makers: Mapping[str, Callable[[], Figure | None]], wanted: FigureFiles) -> dict[str, bytes]:
    """The wanted files of figures, by file name. `makers` draw them, by name; None stands for no figure."""
    made: dict[str, bytes] = {}
    if not wanted.formats:
        return made
    with figure_style.using(wanted.style), figure_style.applied():
        for name, make in makers.items():
            if (figure := make()) is not None:
                printed_by_format = printed(figure, wanted.formats)
                made |= {wanted.name(name, each): content for each, content in printed_by_format.items()}
    return made


def save(makers: Mapping[str, Callable[[], Figure | None]], wanted: FigureFiles, folder: Path) -> list[Path]:
    """Writes the wanted files of figures into `folder`, beside its other files. Returns their paths."""
    if content := files(makers, wanted):
        store.write_files(folder, content, "the figures", "leave out --format and --style to skip them")
    return [folder / name for name in content]


def printed(
    figure: Figure, formats: Iterable[FigureFormat], dpi: float = figure_style.DPI
) -> dict[FigureFormat, bytes]:
    """A figure in several formats, with one layout. `dpi` is that of the PNG."""
    lay_out(figure, dpi)
    return {each: _PRINTERS[each](figure) for each in formats}


def lay_out(figure: Figure, dpi: float = figure_style.DPI) -> None:
    """Fits a figure to its style and places its panels for good."""
    figure.set_dpi(dpi)
    FigureCanvasAgg(figure)  # its renderer measures text
    fit(figure)
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
        figure.set_layout_engine("none")


# Printed by canvases: `savefig` would lay out the figure again for each format. matplotlib's canvases have no types.
def _svg(figure: Figure) -> bytes:
    """SVG with coordinates rounded to 0.01 points; matplotlib writes millionths."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    content = io.BytesIO()
    FigureCanvasSVG(figure).print_svg(content, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    return _PATH.sub(lambda path: _BEYOND_HUNDREDTHS.sub(rb"\1", path[0]), content.getvalue())


def _png(figure: Figure) -> bytes:
    content = io.BytesIO()
    FigureCanvasAgg(figure).print_png(content, metadata={"Software": None})  # type: ignore[no-untyped-call]
    return content.getvalue()


def _pdf(figure: Figure) -> bytes:
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    content = io.BytesIO()
    without = dict.fromkeys(("CreationDate", "Creator", "Producer"))
    FigureCanvasPdf(figure).print_pdf(content, metadata=without)  # type: ignore[no-untyped-call]
    return content.getvalue()


def _pgf(figure: Figure) -> bytes:
    """PGF for LaTeX, which sets the text. matplotlib asks LaTeX for the size of text; here, its own font has it."""
    from matplotlib.backends.backend_pgf import FigureCanvasPgf, RendererPgf

    measuring = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]

    def size(_renderer: RendererPgf, text: str, font: object, _is_math: object) -> tuple[float, float, float]:
        return measuring.get_text_width_height_descent(text, font, False)  # type: ignore[no-any-return]

    content = io.StringIO()
    for artist in figure.findobj():
        artist.set_rasterized(False)  # pixels would be files of their own
    with patch.object(RendererPgf, "get_text_width_height_descent", size):
        FigureCanvasPgf(figure).print_pgf(content)  # type: ignore[no-untyped-call]
    # LaTeX's usual fonts have no narrow space that does not break.
    return content.getvalue().replace("\N{NARROW NO-BREAK SPACE}", r"\,").encode()


_PRINTERS: dict[FigureFormat, Callable[[Figure], bytes]] = {
    FigureFormat.SVG: _svg,
    FigureFormat.PNG: _png,
    FigureFormat.PDF: _pdf,
    FigureFormat.PGF: _pgf,
}

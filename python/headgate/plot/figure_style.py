"""The styles of figures: their width, their text, and the settings that make their bytes repeatable.

`screen` is for pages and notebooks. `paper` fits a column of a two-column paper, `paper2` both columns. Paper figures
have serif text of one size, and no title or note: the paper's caption says both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import matplotlib.style

from headgate.style import PageStyle

#: The resolution of a PNG: a figure of the screen's width is legible when 1000 px wide.
DPI = 144


class FigureStyle(NamedTuple):
    """A style: the width in inches, the size of all text in points (None: sizes differ), and matplotlib's settings.

    `across` is the maximum number of panels in a row. `height` scales the height of a figure; the fitting step
    increases it where the content needs more.
    """

    width_in: float
    text_pt: float | None
    across: int
    height: float
    settings: dict[str, Any]

    @property
    def is_paper(self) -> bool:
        """Whether figures of this style are for a paper, which has a caption."""
        return self.text_pt is not None


_SCREEN: dict[str, Any] = {
    # matplotlib includes DejaVu Sans and lays out text with it. The other fonts are as wide, for readers without it.
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Bitstream Vera Sans", "Verdana", "Geneva"],
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.labelsize": 9.5,
    "axes.labelcolor": "#333333",
    "axes.edgecolor": "#9A9A9A",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.7,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.titlesize": 13,
    "figure.titleweight": "bold",
    "figure.facecolor": "white",
    "figure.dpi": 100,
    "savefig.dpi": DPI,
    "figure.constrained_layout.use": True,
    # Names come from scenario files: a `$` in one is a dollar, not mathematics.
    "text.parse_math": False,
    # Text stays text, to be found and read aloud. Identifiers come from a fixed salt: the same bytes on every machine.
    "svg.fonttype": "none",
    "svg.hashsalt": "headgate",
}

#: The size of text in a paper's figures, in points.
_TEXT_PT = 8.0

_PAPER: dict[str, Any] = {
    **_SCREEN,
    # matplotlib includes STIX, which is as wide as Times. DejaVu Serif has the letters that STIX lacks.
    "font.family": ["serif", "DejaVu Serif"],
    "font.serif": ["STIXGeneral", "Times New Roman", "Times"],
    **dict.fromkeys(
        ("font.size", "axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize"),
        _TEXT_PT,
    ),
    "legend.title_fontsize": _TEXT_PT,
    "axes.titleweight": "normal",
    "axes.titlepad": 3.0,
    "axes.labelpad": 2.0,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.4,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    # Publishers refuse fonts of type 3.
    "pdf.fonttype": 42,
    # The document's own font.
    "pgf.rcfonts": False,
}

STYLES = {
    PageStyle.SCREEN: FigureStyle(10.0, None, 5, 1.0, _SCREEN),
    PageStyle.PAPER: FigureStyle(3.5, _TEXT_PT, 2, 0.6, _PAPER),
    PageStyle.PAPER2: FigureStyle(7.16, _TEXT_PT, 4, 0.7, _PAPER),
}

_current: ContextVar[FigureStyle] = ContextVar("figure_style", default=STYLES[PageStyle.SCREEN])


def current() -> FigureStyle:
    """The style of the figures that are drawn now."""
    return _current.get()


@contextmanager
def using(name: PageStyle) -> Iterator[FigureStyle]:
    """A context in which figures are drawn in this style."""
    token = _current.set(STYLES[name])
    try:
        yield STYLES[name]
    finally:
        _current.reset(token)


@contextmanager
def applied() -> Iterator[None]:
    """A context in which figures are drawn and saved in the current style, whatever the user's settings."""
    with matplotlib.style.context(["default", current().settings]):
        yield


def across(wanted: int) -> int:
    """The panels in a row: `wanted`, or as many as the style's width has room for."""
    return min(wanted, current().across)


def share(of_screen: float) -> float:
    """The share of a figure's width that has room for a text, which takes the share `of_screen` of the screen's."""
    return min(0.4, of_screen * STYLES[PageStyle.SCREEN].width_in / current().width_in)

"""The look of figures: colors, names and number formats. `headgate.plot.figure_style` has their sizes and fonts.

A discipline keeps its color in every figure and every run: its family gives the hue, its place in the family the
shade and the dashes. The hues are close to Paul Tol's "muted" set, and the two classes of traffic take blue and
vermilion of Okabe and Ito; both sets stay apart for the common forms of color blindness.
"""

from __future__ import annotations

import textwrap
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from headgate import _core
from headgate.errors import UsageError, did_you_mean
from headgate.scenario import Role

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

#: The figures of a result. `headgate.plot` draws them; here, names are checked without loading matplotlib.
FIGURES = ("overview", "goodput", "delay", "tradeoff", "queue", "fairness", "completion", "gauges", "pair")


def check_figures(names: Collection[str]) -> None:
    """Raises `UsageError` if a name is not that of a figure."""
    for name in names:
        if name not in FIGURES:
            near = did_you_mean(name, FIGURES)
            raise UsageError(f"no figure is called {name!r}{near} Figures: {', '.join(FIGURES)}")


class PageStyle(StrEnum):
    """The styles of figures: for pages on a screen, and for one or both columns of a paper."""

    SCREEN = "screen"
    PAPER = "paper"
    PAPER2 = "paper2"


class FigureFormat(StrEnum):
    """The formats of figure files."""

    SVG = "svg"
    PDF = "pdf"
    PNG = "png"
    PGF = "pgf"


class FigureFiles(NamedTuple):
    """The files of figures that a command writes beside those of its page: their formats and their style."""

    formats: tuple[FigureFormat, ...] = ()
    style: PageStyle = PageStyle.SCREEN

    def name(self, figure: str, format: FigureFormat) -> str:
        """The name of a figure's file: `overview.pdf`, `overview-paper.pdf`."""
        suffix = "" if self.style == PageStyle.SCREEN else f"-{self.style}"
        return f"{figure}{suffix}.{format}"


#: No files beside those of the page.
NO_FILES = FigureFiles()

# Colors by role: flows of each kind, the line of the fair share, secondary text, and shaded ranges.
TCP = "#0072B2"
UNRESPONSIVE = "#D55E00"
MODEST = "#8A8A8A"
FAIR = "#222222"
QUIET = "#6B6B6B"
BAND = "#E9E9E9"
TCP_SHADES = (TCP, "#56B4E9", "#004A75", "#8CC8E8", "#2F8F9D", "#A6D5D0")
UNRESPONSIVE_SHADES = (UNRESPONSIVE, "#E69F00", "#8F3E00", "#F2B98C", "#B8860B", "#F0D9A0")

MODEST_SHADES = (MODEST, "#B0884F", "#5E5E5E", "#8E7CA6", "#6F8F5F", "#B58F8F")

MISSING = "\N{EN DASH}"
"""The text for a number that was not measured."""


_ROLES = {Role.RESPONSIVE: TCP, Role.UNRESPONSIVE: UNRESPONSIVE, Role.MODEST: MODEST}


def colors_of_groups(roles: Sequence[Role]) -> list[str]:
    """A color for each group of flows: the shades of its role, in their order."""
    shades = {Role.RESPONSIVE: TCP_SHADES, Role.UNRESPONSIVE: UNRESPONSIVE_SHADES, Role.MODEST: MODEST_SHADES}
    return [shades[role][list(roles[:place]).count(role) % len(shades[role])] for place, role in enumerate(roles)]


def color_of(role: Role) -> str:
    """The color of flows by their role."""
    return _ROLES[role]


#: The dashes of a line as matplotlib takes them: the offset, then the lengths of strokes and gaps in points.
Dashes = tuple[float, tuple[float, ...] | None]


class Look(NamedTuple):
    """How figures show a discipline: its label, color and dashes."""

    label: str
    color: str
    dashes: Dashes


# Solid, long, short, dotted, dash-dotted.
_DASHES: tuple[Dashes, ...] = ((0, None), (0, (7, 2)), (0, (3, 1)), (0, (1, 1)), (0, (5, 1, 1, 1)))

# A family of the registry: its shades from strong to light.
_SHADES = {
    "queues": ("#3A3A3A", "#8A8A8A", "#5E5E5E"),
    "red": ("#882255", "#CC6677", "#AA4499"),
    "blue": ("#332288", "#3F87C9", "#5A6FB0"),
    "tokens": ("#117733", "#2E9A87"),
    "shares": ("#8A7A00", "#B9A52B"),
    "today": ("#8C510A", "#BF812D", "#A6611A"),
}
_UNKNOWN = ("#555577", "#9999BB")


def looks(qdiscs: list[str]) -> dict[str, Look]:
    """Label, color and dashes of each discipline, given as canonical text such as `sfb:bins=46,levels=1`.

    If a discipline appears more than once, labels show the settings, and dashes tell its variants apart.
    """
    names = [qdisc.partition(":")[0] for qdisc in qdiscs]
    looks_by_qdisc = {}
    for place, (name, qdisc) in enumerate(zip(names, qdiscs, strict=True)):
        settings, again = qdisc.partition(":")[2], names[:place].count(name)
        label, color, dash = _registered_look(name)
        if settings and names.count(name) > 1:
            label = f"{label} ({settings.replace(',', ', ')})"
        looks_by_qdisc[qdisc] = Look(label, color, _DASHES[(dash + again) % len(_DASHES)])
    return looks_by_qdisc


def _registered_look(name: str) -> tuple[str, str, int]:
    entry = _registry().get(name)
    if entry is None:
        return name, _UNKNOWN[0], 0
    shades = _SHADES[entry.family]
    return entry.display_name, shades[entry.family_index % len(shades)], entry.family_index // len(shades)


@cache
def _registry() -> dict[str, _core.Discipline]:
    return {each.name: each for each in _core.disciplines()}


def fold(text: str, width: int, lines: int = 2) -> str:
    """`text` broken into at most `lines` lines of about `width` letters; what does not fit becomes an ellipsis."""
    return "\n".join(textwrap.wrap(text, width, max_lines=lines, placeholder=" …"))


def number(value: float, digits: int = 3) -> str:
    """A number as a person writes it: about `digits` significant digits, thousands apart, no exponent.

    At most six decimals; a smaller number is written as below that.
    """
    if 0 < abs(value) < 0.5e-6:
        return "<0.000001"
    return fixed(value, decimals(value, digits)) if value else "0"


def decimals(value: float, digits: int = 3) -> int:
    """How many decimals show `digits` significant digits of `value`; at most six."""
    magnitude = int(f"{abs(value):e}".split("e")[1])
    return min(6, max(0, digits - 1 - magnitude))


def fixed(value: float, places: int) -> str:
    """A number with `places` decimals, thousands separated by a narrow space."""
    return f"{value:,.{places}f}".replace(",", "\u202f")


class Measured(NamedTuple):
    """A mean and its margin of error as text; the margin is empty if there is none, or none that the mean shows."""

    mean: str
    margin: str

    def __str__(self) -> str:
        return f"{self.mean} ± {self.margin}" if self.margin else self.mean


#: The most significant digits of a mean that has a margin of error.
_MOST_DIGITS = 4


def estimated(mean: float, half: float, digits: int = 3) -> Measured:
    """A mean whose significant digits follow from its margin of error `half`: 236.1 ± 4.3, 59 ± 33, 9.970 ± 0.005.

    The margin has two digits and the mean as many decimals, but at most four digits. Without a margin, or with one that
    these digits do not show, the mean has about `digits` digits.
    """
    places = decimals_of(mean, half)
    margin = "" if places is None else fixed(half, places)
    if places is None or not margin.strip("0."):
        return Measured(number(mean, digits), "")
    shown = fixed(mean, places)
    return Measured(shown if shown.strip("-0.") else shown.removeprefix("-"), margin)


def decimals_of(mean: float, half: float) -> int | None:
    """The decimals of a mean and its margin of error; None without a margin."""
    if half <= 0:
        return None
    return min(decimals(half, 2), decimals(mean, _MOST_DIGITS)) if mean else decimals(half, 2)


def unit_of(bps: float) -> tuple[str, float]:
    """The unit that suits a rate, and how many bit/s it is."""
    for unit, scale in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if abs(bps) >= scale:
            return unit, scale
    return "bit/s", 1.0


def rate(bps: float) -> str:
    """A rate with its unit: `10 Mbit/s`."""
    unit, scale = unit_of(bps)
    return f"{plain(bps / scale)} {unit}"


def measured(bps: float) -> str:
    """A measured rate with its unit, to three digits: `1.21 Mbit/s`."""
    unit, scale = unit_of(bps)
    return f"{number(bps / scale)} {unit}"


def plain(value: float) -> str:
    """The text of a configured number, without trailing zeros: `10`, `2.5`."""
    return f"{value:.6g}"


def listed(parts: list[str]) -> str:
    """A list in a sentence: `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


@cache
def legible(color: str) -> str:
    """The color, darkened until text in it has a contrast of at least 3 on white (WCAG 2.2, 1.4.11)."""
    parts = [part / 255 for part in bytes.fromhex(color.removeprefix("#"))]
    while True:
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        if 1.05 / (light + 0.05) >= 3.1:
            return "#" + "".join(f"{round(255 * part):02X}" for part in parts)
        parts = [0.95 * part for part in parts]


def ink(color: str) -> str:
    """The color, white or near black, in which a number is legible on `color`."""
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.6 * 255 else "#222222"


def duration(seconds: float) -> str:
    """A time, roughly, in the unit that fits it: `1.4 h`, `12 min`, `0.3 s`."""
    unit, size = next((unit, size) for unit, size in (("h", 3600), ("min", 60), ("s", 0)) if seconds >= 0.95 * size)
    value = seconds / (size or 1)
    return f"{max(value, 0.1):.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"

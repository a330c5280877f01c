"""Colors that follow the page: a color for light pages, and one made from it for dark pages."""

import re
from functools import cache

#: Background and text of a dark page; page.css has the same two.
PAPER, INK = "#16191c", "#e6e9ec"
#: The least contrast of a color on a dark page, as `style.legible` has it on white (WCAG 2.2, 1.4.11: graphics).
_CONTRAST = 3.1
#: Colors whose parts differ by at most this are gray.
_GRAY = 12

_COLOR = re.compile(r"(fill|stroke): (#[0-9a-fA-F]{6})")


def both(color: str) -> str:
    """The CSS color of a light and of a dark page."""
    return f"light-dark({color}, {dark(color)})"


@cache
def dark(color: str) -> str:
    """The color on a dark page. Grays are mirrored, so that white becomes the page; others are mixed with white."""
    parts = _parts(color)
    if max(parts) - min(parts) <= _GRAY:
        share = sum(parts) / 3 / 255
        return _text([share * paper + (1 - share) * ink for paper, ink in zip(_parts(PAPER), _parts(INK), strict=True)])
    while contrast(_text(parts), PAPER) < _CONTRAST:
        parts = [part + 0.06 * (255 - part) for part in parts]
    return _text(parts)


def contrast(one: str, other: str) -> float:
    """The contrast of two colors by WCAG 2.2, from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def following(svg: str) -> str:
    """The SVG with colors that follow the page. Browsers without `light-dark()` (before 2024) show the light ones."""
    return _COLOR.sub(lambda found: f"{found[0]}; {found[1]}: {both(found[2])}", svg)


def _parts(color: str) -> list[float]:
    return [float(part) for part in bytes.fromhex(color.removeprefix("#"))]


def _text(parts: list[float]) -> str:
    return "#" + "".join(f"{round(part):02x}" for part in parts)


def _luminance(color: str) -> float:
    shares = [part / 255 for part in _parts(color)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

"""Figures of matplotlib as elements of a page: their colors follow the page, and their text can be searched."""

import re

from headgate import identity
from headgate.report import colors

_HEAD = re.compile(r"\A.*?(?=<svg)|<metadata>.*?</metadata>|<style.*?</style>", re.DOTALL)
#: A title that `Picture.untitled` hides: a reader who searches the page would find it.
_HIDDEN = re.compile(r'<g id="[^"]*" visibility="hidden">.*?</g>', re.DOTALL)
_SIZE = re.compile(r' width="[^"]*" height="[^"]*"')
#: HTML knows the names of SVG without declarations.
_NAMESPACE = re.compile(r' xmlns(:\w+)?="[^"]*"')
_ID = re.compile(r'(?<= id=")|(?<=url\(#)|(?<=href="#)')
_BREAKS = re.compile(r"\n\s*")


#: The picture of each prefix, so that no two pictures share one.
_PREFIXES: dict[str, str] = {}


def inline(svg: bytes, alternative: str) -> str:
    """The SVG element of a picture. Its identifiers get a prefix: those of two figures would be the same."""
    from markupsafe import Markup, escape  # part of Jinja2, which commands without a page do not load

    prefix = f"f{_name(identity.of_bytes(svg))}-"
    text = _SIZE.sub("", _NAMESPACE.sub("", _HIDDEN.sub("", _HEAD.sub("", svg.decode()))), count=1)
    text = colors.following(_ID.sub(prefix, _BREAKS.sub(" ", text)))
    # Not escaped: matplotlib has escaped the text of its figures.
    label = f'<svg role="img" aria-label="{escape(alternative)}"'
    return Markup(text.replace("<svg", label, 1))  # noqa: S704


def _name(picture: str) -> str:
    """A name of a picture: longer than usual if another one has the usual name."""
    longer = (picture[:digits] for digits in range(len(identity.name_of(picture)), len(picture) + 1))
    return next(name for name in longer if _PREFIXES.setdefault(name, picture) == picture)

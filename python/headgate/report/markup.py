"""Pieces of HTML. Text is escaped on its way in; only what these functions return is trusted as markup."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


Html = NewType("Html", str)

NONE = Html("")


def text(content: object) -> Html:
    """Any text, with what HTML would take for markup escaped."""
    return Html(escape(str(content)))


def join(parts: Iterable[Html]) -> Html:
    """Pieces one after another."""
    return Html("\n".join(parts))


def tag(name: str, content: Html, **attributes: str) -> Html:
    """An element; a trailing underscore in an attribute's name is dropped, others become hyphens."""
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{written}>{content}</{name}>")


def table(caption: str, head: Sequence[str], body: Iterable[Sequence[Html]]) -> Html:
    """A table whose first column names its rows; it scrolls sideways by itself on a narrow screen."""
    top = join(tag("th", text(column), scope="col") for column in head)
    rows = join(
        tag("tr", join([tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])])) for row in body
    )
    whole = Html(
        f"<table>\n<caption>{text(caption)}</caption>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    )
    return tag("div", whole, class_="scroll", role="region", tabindex="0", aria_label=caption)


def picture(svg: bytes, alternative: str) -> Html:
    """A picture inside the page.

    It is an image of its own rather than markup of the page, so that the identifiers of several do not clash.
    """
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode('ascii')}"
    return Html(f'<figure><img src="{source}" alt="{escape(alternative)}"></figure>')

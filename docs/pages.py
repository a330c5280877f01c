"""Shared by the scripts that write pages: fills the text between two markers, and makes tables in Markdown."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence


def filled(text: str, marker: str, content: str) -> str:
    """The text with new `content` between `<!-- marker -->` and `<!-- /marker -->`; exits unless both occur once."""
    whole, count = re.subn(
        rf"<!-- {marker} -->\n.*?<!-- /{marker} -->\n",
        lambda _: f"<!-- {marker} -->\n{content}<!-- /{marker} -->\n",
        text,
        flags=re.DOTALL,
    )
    if count != 1:
        sys.exit(f"expected the marker <!-- {marker} --> once in a page, found it {count} times")
    return whole


def between(text: str, marker: str) -> str:
    """The content between `<!-- marker -->` and `<!-- /marker -->`; exits unless both occur."""
    found = re.search(rf"<!-- {marker} -->\n(.*?)<!-- /{marker} -->\n", text, re.DOTALL)
    if found is None:
        sys.exit(f"expected the marker <!-- {marker} --> in a page")
    return found[1]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown. Bars in cells are escaped, and line breaks become blanks."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        "| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in row) + " |\n" for row in lines
    )

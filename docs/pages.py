"""What the scripts that write pages share: a place between two markers, and tables in Markdown."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence


def filled(text: str, marker: str, content: str) -> str:
    """The text with what stands between `<!-- marker -->` and `<!-- /marker -->` replaced."""
    whole, count = re.subn(
        rf"<!-- {marker} -->\n.*?<!-- /{marker} -->\n",
        lambda _: f"<!-- {marker} -->\n{content}<!-- /{marker} -->\n",
        text,
        flags=re.DOTALL,
    )
    if count != 1:
        sys.exit(f"a page has {count} times the marker <!-- {marker} -->")
    return whole


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        "| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in row) + " |\n" for row in lines
    )

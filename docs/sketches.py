"""Draws the small picture at the top of every discipline's page: `make figures`.

A page declares its picture in a comment that begins with `<!-- sketch`. Each line is an element of `drawing.py` with
its arguments: `queue 240 60 aab.. "queue"`. The picture's title is the text of the image below the comment.
"""

from __future__ import annotations

import inspect
import re
import shlex
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from drawing import ELEMENTS, card

ROOT = Path(__file__).parent
IMAGE = r"!\[(?P<title>[^\]]+)\]\((?P<link>\S+)\)"
BLOCK = re.compile(rf"<!-- sketch\n(?P<lines>.*?)-->\n\n{IMAGE}\n\n<!-- /sketch -->", re.DOTALL)


def main() -> None:
    """Writes the pictures of all pages."""
    for path, picture in pictures():
        path.write_text(picture)


def pictures() -> Iterator[tuple[Path, str]]:
    """The file of every picture, with its text as it should be."""
    for page in sorted((ROOT / "disciplines").glob("*.md")):
        if page.stem != "README":
            yield ROOT / "figures" / f"sketch-{page.stem}.svg", picture(page)


def picture(page: Path) -> str:
    """The picture that a page declares.

    Raises:
        SystemExit: The page declares none, or an element that cannot be drawn.

    """
    text = page.read_text()
    found = BLOCK.search(text)
    if found is None:
        sys.exit(f"{page.name}: no picture; the page needs a comment <!-- sketch, the image and <!-- /sketch -->")
    if found["link"] != f"../figures/sketch-{page.stem}.svg":
        sys.exit(f"{page.name}: the image of the sketch is ../figures/sketch-{page.stem}.svg, not {found['link']}")
    first = text.count("\n", 0, found.start("lines")) + 1
    lines = enumerate(found["lines"].splitlines(), first)
    title = " ".join(found["title"].split())
    return card(title, "".join(element(line, f"{page.name}:{number}") for number, line in lines))


def element(line: str, place: str) -> str:
    """The SVG of one line of a declaration."""
    name, *words = shlex.split(line)
    if name not in ELEMENTS:
        near = get_close_matches(name, ELEMENTS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(ELEMENTS)}"
        sys.exit(f"{place}: no element {name!r}; {hint}")
    try:
        taken = inspect.signature(ELEMENTS[name]).bind(*words)
        kinds = inspect.signature(ELEMENTS[name]).parameters
        values = [float(word) if kinds[key].annotation == "float" else word for key, word in taken.arguments.items()]
        return str(ELEMENTS[name](*values))
    except (TypeError, ValueError) as error:
        sys.exit(f"{place}: {line}: {error}")


if __name__ == "__main__":
    main()

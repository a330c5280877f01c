"""Reads the tables on the page of a paper, so that rows of experiments that were not run again stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pages import between

CELL = re.compile(r"(?<!\\)\|")
WHY = re.compile(r" \(\[why\]\(#why-(\d+)\)\)$")
FINDING = re.compile(r'^- <a id="why-(\d+)"></a>\*\*.+?\*\*, \*.+?\*(?: and \d+ more)?: (.*)$', re.MULTILINE)


def documents(text: str, paper: str) -> dict[str, dict[str, Any]]:
    """The documents of the experiments on a page, by name: their claims, and their rows of published numbers."""
    found: dict[str, dict[str, Any]] = {}

    def document(name: str) -> dict[str, Any]:
        empty = {"experiment": f"{paper}/{name}", "claims": [], "rows": []}
        return found.setdefault(f"{paper}/{name}", empty)

    findings = dict(FINDING.findall(between(text, "findings")))
    for name, *cells in rows(between(text, "claims")):
        document(name)["claims"].append(claim(cells, findings))
    name = ""
    for first, *cells in rows(between(text, "published")):
        name = first or name
        document(name)["rows"].append(cells)
    return found


def claim(cells: list[str], findings: dict[str, str]) -> dict[str, Any]:
    """A claim as the document of its experiment has it."""
    stated, disciplines, basis, verdict, numbers = cells
    text, place = split(stated)
    why = WHY.search(numbers)
    return {
        "text": text,
        "place": place,
        "disciplines": [disciplines],
        "basis": basis,
        "verdict": verdict.strip("*"),
        "numbers": WHY.sub("", numbers),
        "finding": findings[why[1]] if why else "",
    }


def split(stated: str) -> tuple[str, str]:
    """Splits `text (place)`. A place can have parentheses of its own: `(section 2, figure 5(a))`."""
    depth = 0
    for at in range(len(stated) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(stated[at], 0)
        if depth == 0:
            return stated[: at - 1], stated[at + 1 : -1]
    raise ValueError(f"{stated!r} does not end in a place in parentheses")


def rows(table: str) -> Iterator[list[str]]:
    """The cells of a table in Markdown, without its head."""
    for line in table.splitlines()[2:]:
        yield [cell.strip().replace(r"\|", "|") for cell in CELL.split(line)[1:-1]]

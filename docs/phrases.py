"""Searches pages, scenarios, help texts and source for phrases that the glossary or CONTRIBUTING.md advises against."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

GLOSSARY = "docs/reference/glossary.md"
CONTRIBUTING = "CONTRIBUTING.md"
#: The section of CONTRIBUTING.md that lists phrases.
SECTION = "### Phrases and spelling"

#: Files that must name old words: the glossary itself, and the map of old names to new ones.
EXEMPT = {GLOSSARY, "CHANGELOG.md", "python/headgate/files/renamed.py"}
#: Pages, scenarios, sources, and the golden help texts of all commands.
SEARCHED = (
    "*.md",
    "docs/**/*.md",
    "docs/**/*.ipynb",
    "scenarios/*.toml",
    "crates/*/src/**/*.rs",
    "python/headgate/**/*.py",
    "tests/cli/golden/*.txt",
)


def avoided(root: Path) -> dict[str, re.Pattern[str]]:
    """Every phrase that the glossary, or the section of CONTRIBUTING.md, has in quotation marks, with its pattern.

    A single word matches all words that begin with it.
    """
    text = _text(root / GLOSSARY) + _section(_text(root / CONTRIBUTING))
    prose = re.sub(r"`[^`]+`", "", text).replace("\n", " ")
    phrases = sorted(set(re.findall(r'"([^"]+)"', prose)))
    return {each: re.compile(rf"\b{re.escape(each)}" + r"\b" * (" " in each), re.IGNORECASE) for each in phrases}


def used(root: Path) -> Iterator[tuple[str, str, int]]:
    """Each file that uses a phrase, with the phrase and how often it does."""
    patterns = avoided(root)
    for pattern in SEARCHED:
        for path in sorted(root.glob(pattern)):
            if (name := path.relative_to(root).as_posix()) not in EXEMPT:
                flat = re.sub(r"\s+", " ", _prose(path))
                small = flat.lower()
                for phrase, each in patterns.items():
                    # A search for the letters first is much faster than the pattern.
                    if phrase.lower() in small and (count := len(each.findall(flat))):
                        yield name, phrase, count


def _prose(path: Path) -> str:
    """A file's text. Comment marks at the start of a line go, so that a phrase may run on to the next line."""
    text = _text(path)
    if path.name == CONTRIBUTING:
        return text.replace(_section(text), "")
    if path.suffix == ".ipynb":
        return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return re.sub(r"^\s*(//[/!]?|#:?)\s?", "", text, flags=re.MULTILINE)


def _section(text: str) -> str:
    """The section that lists phrases, up to the next heading."""
    return text.partition(SECTION)[2].partition("\n## ")[0]


def _text(path: Path) -> str:
    return path.read_text("utf-8", errors="replace")

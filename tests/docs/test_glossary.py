"""The glossary's words are used everywhere: pages, scenarios, help texts and source."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from headgate.cli import app

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs/reference/glossary.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
#: The section of CONTRIBUTING.md that lists phrases.
SECTION = "### Phrases and spelling"

#: Files that must name old words: the glossary itself, and what maps old names to new ones.
EXEMPT = {"docs/reference/glossary.md", "CHANGELOG.md", "python/headgate/files/renamed.py"}


def phrases() -> list[str]:
    """Every phrase that the glossary, or the section of CONTRIBUTING.md, has in quotation marks."""
    text = GLOSSARY.read_text() + _section(CONTRIBUTING.read_text())
    prose = re.sub(r"`[^`]+`", "", text).replace("\n", " ")
    return sorted(set(re.findall(r'"([^"]+)"', prose)))


def _section(text: str) -> str:
    """The section that lists phrases, up to the next heading."""
    return text.split(SECTION)[1].split("\n## ")[0]


def violations(text: str) -> list[str]:
    """The phrases of the glossary that `text` uses. A single word matches all words that begin with it."""
    flat = re.sub(r"\s+", " ", text)
    patterns = {phrase: rf"\b{re.escape(phrase)}" + r"\b" * (" " in phrase) for phrase in phrases()}
    return [phrase for phrase, pattern in patterns.items() if re.search(pattern, flat, re.IGNORECASE)]


def sources() -> Iterator[tuple[str, str]]:
    """Name and text of every page, scenario and source file."""
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "docs/**/*.ipynb",
        "scenarios/*.toml",
        "crates/*/src/**/*.rs",
        "python/headgate/**/*.py",
    ):
        for path in sorted(ROOT.glob(pattern)):
            if (name := str(path.relative_to(ROOT))) not in EXEMPT:
                yield name, _prose(path)


def _prose(path: Path) -> str:
    """A file's text. Comment marks at the start of a line go, so that a phrase may run on to the next line."""
    if path == CONTRIBUTING:
        return path.read_text().replace(_section(path.read_text()), "")
    if path.suffix == ".ipynb":
        return "\n".join("".join(cell["source"]) for cell in json.loads(path.read_text())["cells"])
    return re.sub(r"^\s*(//[/!]?|#:?)\s?", "", path.read_text(), flags=re.MULTILINE)


def helps() -> Iterator[tuple[str, str]]:
    """Name and help of every command, with its arguments and options."""

    def walk(name: str, command: object) -> Iterator[tuple[str, str]]:
        context = typer.Context(command, info_name=name)  # type: ignore[arg-type]
        yield name, command.get_help(context)  # type: ignore[attr-defined]
        for inner, below in getattr(command, "commands", {}).items():
            yield from walk(f"{name} {inner}", below)

    yield from walk("headgate", typer.main.get_command(app))


@pytest.mark.parametrize("phrase", phrases())
def test_a_planted_phrase_is_found(phrase: str) -> None:
    assert phrase in violations(f"Shows that {phrase.replace(' ', chr(10), 1)} stands here.")


def test_files_use_the_words_of_the_glossary() -> None:
    used_words = {name: used for name, text in sources() if (used := violations(text))}
    assert not used_words, "\n".join(f"{name}: {', '.join(used)}" for name, used in used_words.items())


def test_help_uses_the_words_of_the_glossary() -> None:
    used_words = {name: used for name, text in helps() if (used := violations(text))}
    assert not used_words


def test_every_key_with_an_old_name_is_listed() -> None:
    schema = "".join(path.read_text() for path in (ROOT / "crates/scenario/src/schema").glob("*.rs"))
    old = re.findall(r'\balso "(\w+)"', schema)
    assert old
    assert not [name for name in old if f"`{name}`" not in GLOSSARY.read_text()]

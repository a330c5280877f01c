"""Terms of the glossary in the text of a page: links to their meanings, which a script also shows as tooltips."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from typing import NamedTuple

from headgate.analysis.metrics.catalogue import FLOWS, LINK
from headgate.report.sections import PageTable

#: Names of so few letters are found only as they are written: p is a probability, P is not.
_SHORT = 2


class GlossaryTerm(NamedTuple):
    """A term: the names under which it is found, and its meaning."""

    names: tuple[str, ...]
    meaning: str

    @property
    def anchor(self) -> str:
        """The identifier of its meaning on the page."""
        return "term-" + (re.sub(r"\W+", "-", self.names[0]).strip("-") or "margin").lower()


class Explainer:
    """Marks terms in text, each once per section, and remembers them for the glossary at the end of the page."""

    def __init__(self) -> None:
        self._marked: set[GlossaryTerm] = set()
        self._used: set[GlossaryTerm] = set()

    def section(self) -> str:
        """Begins a section, in which each term is marked again."""
        self._marked.clear()
        return ""

    def __call__(self, text: str) -> str:
        """The text as HTML in which terms are links."""
        from markupsafe import Markup, escape  # part of Jinja2, which commands without a page do not load

        parts, end = [], 0
        for match in _pattern().finditer(text):
            term = _by_name()[_key(match["name"])]
            if term not in self._marked:
                self._marked.add(term)
                self._used.add(term)
                link = Markup('<a class="term" href="#{}">{}</a>').format(term.anchor, match[0])
                parts += [escape(text[end : match.start()]), link]
                end = match.end()
        return Markup("").join([*parts, escape(text[end:])])

    def table(self, table: PageTable) -> PageTable:
        """A table whose caption and titles are explained."""
        self.section()
        return table._replace(caption=self(table.caption), head=[self(title) for title in table.head])

    def used(self) -> list[GlossaryTerm]:
        """The terms that were marked, sorted by name."""
        return sorted(self._used, key=lambda term: term.names[0].lower())


#: The measures of the tables with their meanings, from the catalogue.
MEASURES = [(each.title, each.meaning) for each in (*LINK[:-1], *FLOWS) if each.title]


@cache
def terms() -> tuple[GlossaryTerm, ...]:
    """The terms of docs/reference/glossary.md, which `make docs` copies into the package."""
    entries = json.loads(resources.files(__package__).joinpath("glossary.json").read_text("utf-8"))
    return tuple(GlossaryTerm(tuple(entry["names"]), entry["meaning"]) for entry in entries)


def _key(name: str) -> str:
    return name if len(name) <= _SHORT else name.lower()


@cache
def _by_name() -> dict[str, GlossaryTerm]:
    return {_key(name): term for term in terms() for name in term.names}


@cache
def _pattern() -> re.Pattern[str]:
    """Finds every name, the longest first, also in the plural."""
    names = sorted(_by_name(), key=len, reverse=True)
    found = "|".join(re.escape(name) if len(name) <= _SHORT else f"(?i:{re.escape(name)})" for name in names)
    return re.compile(rf"(?<!\w)(?P<name>{found})s?(?!\w)")

"""BibTeX of a discipline: the publications that define it, the discipline as implemented here, and Headgate."""

import re
from importlib import resources
from typing import NamedTuple

from headgate import _core
from headgate.errors import UsageError

#: An entry of `papers.bib`: it ends at the first brace that begins a line.
_ENTRY = re.compile(r"^@\w+\{(?P<key>[^,]+),\n.*?^\}\n", re.MULTILINE | re.DOTALL)
_DEFINES = re.compile(r"  defines = \{(?P<names>[^}]*)\},\n")
#: Characters that LaTeX needs escaped.
_SPECIAL = re.compile(r"([%&#_$])")


class Publication(NamedTuple):
    """A publication: its BibTeX key and entry, and the disciplines that it defines."""

    key: str
    entry: str
    defines: tuple[str, ...]


def publications() -> list[Publication]:
    """All publications of `papers.bib`."""
    text = resources.files(__package__).joinpath("papers.bib").read_text(encoding="utf-8")
    found = []
    for match in _ENTRY.finditer(text):
        names = _DEFINES.search(match[0])
        defines = tuple(names["names"].split(", ")) if names else ()
        found.append(Publication(match["key"], _DEFINES.sub("", match[0]), defines))
    return found


def bibtex(spec: str = "") -> str:
    """The BibTeX entries for a discipline such as `sfb` or `sfb:bins=46`; only Headgate's without one.

    Raises `UsageError` for an unknown discipline.
    """
    if not spec:
        return software()
    name, _, settings = spec.partition(":")
    try:
        discipline = _core.discipline(name)
    except LookupError as error:
        raise UsageError(str(error)) from None
    mine = [each for each in publications() if discipline.name in each.defines]
    return "\n".join([*(each.entry for each in mine), implementation(discipline, settings, mine), software()])


def implementation(discipline: _core.Discipline, settings: str, defined_in: list[Publication]) -> str:
    """The entry of a discipline in this version of Headgate, with its settings and a reference to its publications."""
    keys = ", ".join(f"\\cite{{{each.key}}}" for each in defined_in)
    used = _escaped(settings.replace(",", ", ")) or "default parameters"
    return _entry(
        "misc",
        f"headgate-{discipline.name}",
        title=f"{{{_escaped(discipline.display_name)}}} as implemented in {{Headgate}}",
        howpublished=f"Headgate {_core.VERSION}, discipline {_escaped(discipline.name)}, {used}",
        note=f"After {keys}",
    )


def software() -> str:
    """The entry of this version of Headgate."""
    return _entry(
        "software",
        "headgate",
        author="{The Headgate maintainers}",
        title="{Headgate}: active queue management in simulation and on real packets",
        version=_core.VERSION,
    )


def _entry(kind: str, key: str, **fields: str) -> str:
    return "".join([f"@{kind}{{{key},\n", *(f"  {name} = {{{value}}},\n" for name, value in fields.items()), "}\n"])


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)

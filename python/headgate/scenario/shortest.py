"""The text of a scenario without keys that have their default values, about as a user would write it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from headgate import _core
from headgate.scenario import Scenario

#: The values of keys that have no default. No scenario has them, so no such key is taken for a default.
_REQUIRED = """
name = "defaults"
duration = "7654321ms"
qdiscs = ["droptail"]
[link]
rate = "7654321bit/s"
delay = "7654321ns"
limit = "7654321p"
"""
_PROFILES = ("rfc", "ns2", "linux")
#: With more lines than this, no line is tried alone: each attempt reads the scenario again.
_MOST_TRIED = 120

#: The lines of a scenario, by section: the heading, then one line per key.
_Sections = list[list[str]]


def shortest(scenario: Scenario) -> str:
    """TOML text that gives an equal scenario, without keys that have their default values."""
    whole = scenario.to_toml()
    if scenario.prototypes:
        return whole

    def same(sections: _Sections) -> bool:
        return _canonical(sections, scenario) == whole

    full = _sections(whole)
    short = [_without_defaults(section) for section in full]
    _restore(short, full, scenario)
    if not same(short):
        return whole
    if sum(map(len, short)) <= _MOST_TRIED:
        _drop_single_lines(short, same)
    return "\n".join("".join(f"{line}\n" for line in section if line) for section in short if any(section))


def _sections(text: str) -> _Sections:
    """The sections of a text in canonical form. The first has the keys before any heading."""
    sections: _Sections = [[""]]
    for line in filter(None, text.splitlines()):
        if line.startswith("["):
            sections.append([line])
        else:
            sections[-1].append(line)
    return sections


def _canonical(sections: _Sections, scenario: Scenario) -> str:
    """The canonical form of the scenario with these lines; empty if they are not one."""
    text = "".join(f"{line}\n" for section in sections for line in section)
    inputs = scenario.inputs

    def read(path: str) -> bytes:
        if path not in inputs:
            raise FileNotFoundError(path)
        return inputs[path]

    try:
        return _core.Scenario(text, scenario.name, files=read).to_toml()
    except _core.ScenarioError:
        return ""


def _without_defaults(section: list[str]) -> list[str]:
    """A section without the lines of its defaults, under the profile that leaves the fewest lines."""
    heading, *lines = section
    flows = heading in ("[[tcp]]", "[[udp]]")
    candidates = []
    for profile in _PROFILES if flows else _PROFILES[:1]:
        kept = [line for line in lines if line not in _defaults(heading, profile)]
        named = [f'profile = "{profile}"'] if profile != _PROFILES[0] else []
        candidates.append([heading, *named, *kept])
    return min(candidates, key=len)


@cache
def _defaults(heading: str, profile: str) -> frozenset[str]:
    """The lines of a section in which no key is given."""
    flows = f'[[tcp]]\nprofile = "{profile}"\n[[udp]]\nprofile = "{profile}"\nrate = "7654321bit/s"\n'
    text = _core.Scenario(_REQUIRED + flows, "defaults").to_toml()
    heading = heading.replace("[[link]]", "[link]")
    return frozenset(line for section in _sections(text) if section[0] == heading for line in section[1:])


def _restore(short: _Sections, full: _Sections, scenario: Scenario) -> None:
    """Puts back lines whose defaults depend on other keys."""
    read = _sections(_canonical(short, scenario))
    if [section[0] for section in read] != [section[0] for section in full]:
        return
    for kept, got, wanted in zip(short, read, full, strict=True):
        kept += [line for line in wanted[1:] if line not in got and line not in kept]


def _drop_single_lines(short: _Sections, same: Callable[[_Sections], bool]) -> None:
    """Drops each line, and heading, without which the scenario is the same."""
    for section in short:
        for line in section[:0:-1]:
            place = section.index(line)
            del section[place]
            if not same(short):
                section.insert(place, line)
        heading = section[:1]
        if section == heading and not section[0].startswith("[["):
            section.clear()
            if not same(short):
                section[:] = heading

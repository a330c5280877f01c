"""The settings a discipline ran with: those written in the scenario over its preset over its defaults."""

from typing import NamedTuple

from headgate import _core


class Setting(NamedTuple):
    """One parameter and the value it had."""

    name: str
    value: str
    meaning: str
    by_hand: bool


class About(NamedTuple):
    """What the registry says of a discipline, and how it was set."""

    summary: str
    citation: str
    settings: list[Setting]


def of(qdisc: str) -> About:
    """The settings of a discipline in canonical text, such as `sfb:bins=46,levels=1`."""
    name, _, written = qdisc.partition(":")
    entry = _core.discipline(name)
    given = dict(pair.split("=", 1) for pair in written.split(",") if pair)
    preset: dict[str, str] = {}
    if "preset" in given:
        preset = dict(next(each.settings for each in entry.presets if each.name == given["preset"]))
    found = []
    for parameter in entry.parameters:
        value = given.get(parameter.name, preset.get(parameter.name, parameter.default))
        if parameter.name == "limit" and parameter.name not in given:
            value = "as the link's"
        found.append(Setting(parameter.name, value, parameter.doc, parameter.name in given))
    return About(entry.summary, entry.citation, found)

"""Parses and writes the text of a discipline, such as `sfb:bins=46,boxtime=12ms`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from headgate import _core
from headgate._core import ScenarioError
from headgate.errors import UsageError, did_you_mean, warn_renamed
from headgate.qdiscs.values import same
from headgate.scenario import Scenario


class QdiscSpec(NamedTuple):
    """A discipline with its given settings, by the parameters' main names."""

    discipline: _core.Discipline
    settings: dict[str, str]

    @classmethod
    def of(cls, text: str) -> QdiscSpec:
        """The discipline that `text` names; `UsageError` for an unknown name. Values are not checked here."""
        name, _, written = text.partition(":")
        try:
            discipline = _core.discipline(name.strip())
        except LookupError as error:
            raise UsageError(str(error)) from None
        settings = {}
        for setting in filter(str.strip, _split_settings(written)):
            key, _, value = setting.partition("=")
            key = key.strip()
            if key in discipline.fixed:
                continue
            known = None if key == "preset" else parameter(discipline, key)
            settings[known.name if known else key] = current_value(known, key, value.strip())
        return cls(discipline, settings)

    def __str__(self) -> str:
        written = ",".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.discipline.name}:{written}" if written else self.discipline.name

    def value(self, name: str) -> str:
        """The value of a parameter from its setting, its preset or its default."""
        preset = self.settings.get("preset", self.discipline.presets[0].name)
        return self.settings.get(name) or dict(self.discipline.values(preset))[name]

    def with_settings(self, changes: Mapping[str, str]) -> QdiscSpec:
        """A copy with changed settings. A setting that equals the present value is not written."""
        known = {each.name: each for each in self.discipline.parameters}
        new = {name: value for name, value in changes.items() if not same(known[name], value, self.value(name))}
        return self._replace(settings={**self.settings, **new})


def current_value(known: _core.Parameter | None, name: str, value: str) -> str:
    """The value of a parameter that is written under one of its names: the reciprocal for a name such as `linterm_`.

    Raises `UsageError` for a value without a reciprocal.
    """
    if known is None or name not in known.inverse:
        return value
    try:
        return repr(1 / float(value))
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"`{name}` is {value!r}, expected a number above 0: it is 1/`{known.name}`") from None


def parameter(discipline: _core.Discipline, name: str) -> _core.Parameter:
    """A parameter by its name or one of its other names; `UsageError` with the nearest if there is none."""
    known = discipline.parameters
    for each in known:
        if name == each.name or name in each.also or name in each.inverse:
            return each
        if name in each.renamed_from:
            warn_renamed(f"the parameter `{name}` of {discipline.name} is called `{each.name}` now")
            return each
    names = [each.name for each in known]
    near = did_you_mean(name, [*names, *(other for each in known for other in (*each.also, *each.inverse))])
    raise UsageError(f"{discipline.name} has no parameter {name!r}{near} Parameters: {', '.join(names)}")


def refusal(scenario: Scenario, spec: str) -> str:
    """The reason why a scenario cannot use this discipline; empty if it can."""
    try:
        scenario.changed(qdiscs=[spec])
    except ScenarioError as error:
        return error.message
    return ""


def _split_settings(written: str) -> Iterator[str]:
    """The settings between commas. Commas within brackets belong to an inner discipline."""
    depth, start = 0, 0
    for place, letter in enumerate(written):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            yield written[start:place]
            start = place + 1
    yield written[start:]

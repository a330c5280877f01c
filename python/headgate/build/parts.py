"""The parts of a scenario: groups of flows, links and classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self, Unpack

from headgate.build import keys
from headgate.build.quantities import Rate
from headgate.build.values import current_names, section, toml
from headgate.errors import UsageError


class ScenarioPart:
    """One section of a scenario with its given keys. Immutable."""

    HEADING: ClassVar[str]
    KEYS: ClassVar[type]

    def __init__(self, **given: Any) -> None:
        current = self._current(given)
        self._given = {name: value for name, value in current.items() if value is not None}
        self._section = section(f"{self.HEADING}()", current, self.KEYS)

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """The part of a table of a scenario file."""
        return cls(**{f"{name}_" if name == "from" else name: value for name, value in table.items()})

    @property
    def section(self) -> Mapping[str, Any]:
        """Its keys and values as in a file."""
        return dict(self._section)

    def __getitem__(self, key: str) -> Any:
        """The value of a key as in a file; `KeyError` if it was not given."""
        return self._section[key]

    def replace(self, **changed: Any) -> Self:
        """A copy with some keys changed; None removes a key."""
        return type(self)(**{**self._given, **self._current(changed)})

    def to_toml(self) -> str:
        """The section as TOML."""
        lines = [f"[[{self.HEADING}]]", *(f"{name} = {toml(value)}" for name, value in self._section.items())]
        return "\n".join(lines) + "\n"

    def _current(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return current_names(f"{self.HEADING}()", given, keys.OLD_NAMES.get(self.KEYS.__name__, {}))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, ScenarioPart) and self._section == other._section

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def __repr__(self) -> str:
        return f"{self.HEADING}({', '.join(f'{name}={value!r}' for name, value in self._given.items())})"


class FlowsPart(ScenarioPart):
    """A group of flows: `tcp(...)` or `udp(...)`."""


class TcpPart(FlowsPart):
    """TCP flows."""

    HEADING = "tcp"
    KEYS = keys.TcpKeys


class UdpPart(FlowsPart):
    """UDP flows."""

    HEADING = "udp"
    KEYS = keys.UdpKeys


class LinkPart(ScenarioPart):
    """A link between two nodes."""

    HEADING = "link"
    KEYS = keys.LinkKeys


class ClassPart(ScenarioPart):
    """A class of flows."""

    HEADING = "class"
    KEYS = keys.ClassKeys

    def __repr__(self) -> str:
        return super().__repr__().replace("class(", "class_(", 1)


def tcp(flows: int | None = None, /, **given: Unpack[keys.TcpKeys]) -> TcpPart:
    """A group of TCP flows, `tcp(9, recovery="newreno", rtt="32ms")`: keywords are the keys of `[[tcp]]`.

    Times are texts or seconds, rates texts or bit/s, sizes texts or bytes. Raises `UsageError` for an unknown keyword.
    Values are checked when a scenario is built.
    """
    return TcpPart(**_with({"flows": flows}, given))


def udp(rate: Rate | None = None, /, **given: Unpack[keys.UdpKeys]) -> UdpPart:
    """A group of UDP flows, `udp("5Mbit/s")`: keywords are the keys of `[[udp]]`, values as in `tcp`."""
    return UdpPart(**_with({"rate": rate}, given))


def link(from_: str | None = None, to: str | None = None, /, **given: Unpack[keys.LinkKeys]) -> LinkPart:
    """A link of a network, `link("A", "B", rate="10Mbit/s", delay="5ms", limit="100p")`: the keys of `[[link]]`."""
    return LinkPart(**_with({"from_": from_, "to": to}, given))


def class_(name: str | None = None, /, **given: Unpack[keys.ClassKeys]) -> ClassPart:
    """A class of flows, `class_("voice", dscp="EF", weight=3)`: the keys of `[[class]]`."""
    return ClassPart(**_with({"name": name}, given))


def _with(first: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """All keywords, with the positional arguments `first`."""
    positional = {name: value for name, value in first.items() if value is not None}
    for name in positional:
        if name in given:
            raise UsageError(f"{name.removesuffix('_')} is given twice: {positional[name]!r} and {given[name]!r}")
    return positional | dict(given)

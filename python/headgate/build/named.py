"""Disciplines and sources of traffic by name, with their parameters as text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NamedChoice:
    """A name of the registry, and parameters with their values as text."""

    name: str
    settings: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        settings = ",".join(f"{key}={value}" for key, value in self.settings)
        return f"{self.name}:{settings}" if settings else self.name


class Qdisc(NamedChoice):
    """A discipline with its parameters; as text, `sfb:bins=23`."""


class Traffic(NamedChoice):
    """A source of traffic with its parameters; as text, `web:pages=3`."""

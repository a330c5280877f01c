"""Disciplines and traffic sources with parameters as keywords, from the registry."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from headgate import _core
from headgate.build.named import NamedChoice, Qdisc, Traffic
from headgate.build.values import amount, current_names
from headgate.errors import UsageError, did_you_mean

#: The unit of a number by the kind of its parameter; other kinds have none.
UNITS = {
    "time": "s",
    "rate": "bit/s",
    "time or distribution": "s",
    "bytes": "B",
    "size or distribution": "B",
    "size or distribution, or endless": "B",
    "packets or bytes": "p",
    "packets, bytes or share of the limit": "p",
}


_N = TypeVar("_N", bound=NamedChoice)


def qdisc(name: str, **settings: Any) -> Qdisc:
    """The discipline called `name`, such as `qdisc("sfb", bins=23, boxtime="50ms")`.

    Keywords are the discipline's parameters (`headgate show sfb`) or `preset`. Numbers are in seconds, bit/s, bytes, or
    packets of a limit, depending on the parameter. Inner disciplines are `Qdisc`s, texts, or lists of them. Raises
    `UsageError` for an unknown name or keyword. Values are checked when a scenario is built.
    """
    return _named(Qdisc, _found(_core.discipline, name), settings)


def traffic(name: str, **settings: Any) -> Traffic:
    """The source called `name`, such as `traffic("exp", on="1s", off="1s")`, with keywords as in `qdisc`."""
    known = {source.name: source for source in _core.sources()}
    if name not in known:
        raise UsageError(f"no source is called {name!r}{did_you_mean(name, known)}")
    return _named(Traffic, known[name], settings)


def _found(find: Callable[[str], _core.Discipline], name: str) -> _core.Discipline:
    try:
        return find(name)
    except LookupError as error:
        raise UsageError(str(error.args[0])) from None


def _named(kind: type[_N], entry: _core.Discipline | _core.Source, settings: dict[str, Any]) -> _N:
    kinds = {"preset": "words"} | dict.fromkeys(entry.fixed, "on or off")
    for parameter in entry.parameters:
        settings = current_names(entry.name, settings, dict.fromkeys(parameter.renamed_from, parameter.name))
        names = [parameter.name, *parameter.also, *parameter.inverse]
        kinds |= dict.fromkeys(names, parameter.kind.removesuffix(", or auto"))
    for name in settings:
        if name not in kinds:
            raise UsageError(
                f"{entry.name} has no parameter {name!r}{did_you_mean(name, kinds)} It has: {', '.join(kinds)}"
            )
    given = [(name, value) for name, value in settings.items() if value is not None]
    return kind(entry.name, tuple((name, _text(name, value, UNITS.get(kinds[name]))) for name, value in given))


def _text(name: str, value: Any, unit: str | None) -> str:
    """A value as text for the registry."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (int, float)):
        return amount(name, value, unit or "")
    if isinstance(value, NamedChoice):
        return f"[{value}]" if value.settings else value.name
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{'; '.join(str(each) for each in value)}]"
    return str(value)

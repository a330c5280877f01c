"""Scenarios in code. They are written as TOML and parsed, so all checks are in one place."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from headgate import _core
from headgate.build import keys
from headgate.build.parts import ClassPart, FlowsPart, LinkPart, ScenarioPart
from headgate.build.values import section, toml
from headgate.prototype.discipline import AnyQdisc, with_prototypes

#: Defaults of keys that a file must have.
NAMES = {"Dumbbell": "dumbbell", "Network": "network"}
DURATION = "30s"

#: Reads a file that a scenario names.
Files = Callable[[str], bytes]


def dumbbell(
    *,
    flows: FlowsPart | Iterable[FlowsPart],
    qdiscs: Iterable[AnyQdisc],
    classes: Iterable[ClassPart],
    files: Files,
    **given: Any,
) -> _core.Scenario:
    """The compiled scenario of a `Dumbbell`, with its keywords."""
    whole = section("Dumbbell()", given, keys.DumbbellKeys)
    of_link = keys.BothDirections.__annotations__.keys()
    top = {name: value for name, value in whole.items() if name not in of_link}
    only = {name: value for name, value in whole.items() if name in of_link}
    return _built("Dumbbell", top | {"link": only}, (), _groups(flows), classes, qdiscs, files)


def network(
    *,
    links: Iterable[LinkPart],
    flows: FlowsPart | Iterable[FlowsPart],
    qdiscs: Iterable[AnyQdisc],
    classes: Iterable[ClassPart] = (),
    files: Files,
    **given: Any,
) -> _core.Scenario:
    """The compiled scenario of a `Network`, with its keywords."""
    top = section("Network()", given, keys.TopKeys)
    return _built("Network", top, list(links), _groups(flows), classes, qdiscs, files)


def _groups(flows: FlowsPart | Iterable[FlowsPart]) -> list[FlowsPart]:
    return [flows] if isinstance(flows, FlowsPart) else list(flows)


def _built(
    maker: str,
    top: Mapping[str, Any],
    links: Sequence[LinkPart],
    flows: Sequence[FlowsPart],
    classes: Iterable[ClassPart],
    qdiscs: Iterable[AnyQdisc],
    files: Files,
) -> _core.Scenario:
    """The compiled scenario of these parts."""
    classes, given = list(classes), list(qdiscs)
    # If all are written in Python, a placeholder from the registry lets the rest be read.
    names = [str(each) for each in given if not isinstance(each, type)]
    names = names if names or not given else ["droptail"]
    head = {"name": NAMES[maker], "duration": DURATION, "qdiscs": names, **top}
    lines = [f"{name} = {toml(value)}\n" for name, value in head.items()]
    text = "".join([*lines, *(part.to_toml() for part in [*links, *flows, *classes])])
    try:
        return with_prototypes(_core.Scenario(text, f"{maker}(...)", files=files), given)
    except _core.ScenarioError as error:
        raise _in_terms_of_arguments(error, maker, {"link": links, "class": classes}, flows) from None


def _in_terms_of_arguments(
    error: _core.ScenarioError, maker: str, parts: Mapping[str, Sequence[ScenarioPart]], flows: Sequence[FlowsPart]
) -> _core.ScenarioError:
    """The error with the wrong argument in place of a line of the generated TOML."""
    argument, where = _argument(error.key, parts, flows)
    message = error.message
    if error.key:
        message = message.replace(f"`{error.key}`", f"`{argument}`", 1)
    known = f"\n  = {error.help}" if error.help else ""
    shown = f" {where}" if where else ""
    explained = _core.ScenarioError(f"error: {message}\n --> {maker}(...): {argument or 'its arguments'}{shown}{known}")
    explained.message, explained.help, explained.key, explained.file = message, error.help, error.key, error.file
    explained.line, explained.column, explained.change, explained.argument = None, None, None, argument
    return explained


def _argument(key: str, parts: Mapping[str, Sequence[ScenarioPart]], flows: Sequence[FlowsPart]) -> tuple[str, str]:
    """The argument of a key of the document, as in `flows[1].cc`, and the part that it belongs to."""
    match = re.fullmatch(r"(tcp|udp|link|class)\[(\d+)\](.*)", key)
    if match is None:
        return key.removeprefix("link."), ""
    kind, number, rest = match[1], int(match[2]), match[3]
    if kind in ("tcp", "udp"):
        number = [index for index, group in enumerate(flows) if kind == group.HEADING][number]
        return f"flows[{number}]{rest}", f"of {flows[number]!r}"
    name = {"link": "links", "class": "classes"}[kind]
    return f"{name}[{number}]{rest}", f"of {parts[kind][number]!r}"

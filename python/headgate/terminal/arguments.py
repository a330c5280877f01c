"""Converts the words of a command line, in place of pydantic, which takes longer to load than most commands run."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

import typer

from headgate.terminal.printable import printable

#: The names of the option for help.
HELP = ["-h", "--help"]


def without_pydantic(command: Any) -> None:
    """Sets the conversions of a command's arguments and options, and of the commands in a group."""
    for inner in getattr(command, "commands", {}).values():
        without_pydantic(inner)
    # The command makes its option for help when a context first asks for it, and keeps it.
    for parameter in command.get_params(typer.Context(command, help_option_names=HELP)):
        # Versions of typer that convert without pydantic have no such attribute.
        if hasattr(parameter, "_runtime_param"):
            described = parameter.type_descriptor
            if (convert := conversion(described.annotation)) is not None:
                parameter._runtime_param = Argument(convert, described.parameter_info)


class Argument(NamedTuple):
    """The conversion of one argument or option; `declared` is its `typer.Argument` or `typer.Option`."""

    convert: Callable[[Any], Any]
    declared: Any

    def coerce(self, given: Any, param: Any, ctx: Any) -> Any:
        """The value of the words `given`; `typer.BadParameter` says what was expected."""
        several = param.multiple or param.nargs == -1
        if given is None:
            return () if several else None
        try:
            return [self._value(word) for word in given] if several else self._value(given)
        except ValueError as error:
            raise typer.BadParameter(printable(str(error)), ctx=ctx, param=param) from None

    def _value(self, word: Any) -> Any:
        """The value of one word; `ValueError` if it is out of the declared range."""
        value, least, most = self.convert(word), self.declared.min, self.declared.max
        if least is not None and value < least:
            raise ValueError(f"expected at least {least}, found {word}")
        if most is not None and value > most:
            raise ValueError(f"expected at most {most}, found {word}")
        return value


def conversion(annotation: Any) -> Callable[[Any], Any] | None:
    """The function that converts a word for this annotation (`Path`, `list[str]`); None if there is none."""
    if get_origin(annotation) is list:
        return conversion(get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return lambda word: _choice(annotation, word)
    conversions: dict[Any, Callable[[Any], Any]] = {str: str, Path: Path, bool: bool, int: _whole, float: _number}
    return conversions.get(annotation)


def _choice(kind: type[Enum], word: Any) -> Enum:
    values = [each.value for each in kind]
    if word not in values:
        raise ValueError(f"expected {', '.join(values)}, found {word!r}")
    return kind(word)


def _whole(word: Any) -> int:
    try:
        return int(str(word).removesuffix(".0"))
    except ValueError:
        raise ValueError(f"expected a whole number, found {word!r}") from None


def _number(word: Any) -> float:
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"expected a number, found {word!r}") from None

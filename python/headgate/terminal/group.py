"""The group of all commands. A command's module is imported when the command is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from headgate.terminal.arguments import without_pydantic
from headgate.terminal.loading import Loading

#: Options of each `typer.Typer`: plain text, and Python's own tracebacks.
COMMAND_OPTIONS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
}


class Entry(NamedTuple):
    """A command: its function as `module:name`, the first sentence of its help, and typer's settings for it."""

    function: str
    sentence: str
    settings: Mapping[str, bool] = {}

    def build(self, name: str) -> Any:
        """The command for typer, or the group of commands."""
        module, _, attribute = self.function.partition(":")
        with Loading():
            function = getattr(import_module(module), attribute)
        holder = typer.Typer(**COMMAND_OPTIONS)
        if isinstance(function, typer.Typer):
            holder.add_typer(function, name=name)
        else:
            holder.command(name, context_settings=dict(self.settings))(function)
        command = typer.main.get_group(holder).commands[name]
        without_pydantic(command)
        return command


class _BuiltCommands(Mapping[str, Any]):
    """Commands by name, each built at its first use."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = self._entries[name].build(name)
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class Commands(TyperGroup):
    """A group of commands that are declared by `entries`, in the order of the help."""

    entries: ClassVar[Mapping[str, Entry]]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        without_pydantic(self)
        self.commands: Any = _BuiltCommands(self.entries)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names of the commands, in the order of the help."""
        return list(self.entries)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Lists the commands with their first sentences, without importing their modules."""
        named = [TyperCommand(name, help=entry.sentence) for name, entry in self.entries.items()]
        TyperGroup(name=self.name, commands=named).format_commands(ctx, formatter)

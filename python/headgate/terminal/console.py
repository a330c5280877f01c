"""Consoles for output, and errors as one message with an exit code."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TextIO, TypeVar

import typer
from typer.core import TyperGroup

from headgate._core import ScenarioError
from headgate.errors import HeadgateError

if TYPE_CHECKING:
    from rich.console import Console

#: Line width where output goes to a file or a pipe.
WIDTH = 120

BAD_INPUT = 2
INTERRUPTED = 130

P = ParamSpec("P")
R = TypeVar("R")


def console(*, stderr: bool = False) -> Console:
    """A console on stdout or stderr."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else WIDTH, highlight=False, soft_wrap=False)


class Commands(TyperGroup):
    """The command group. Its errors about values say what was expected and what was found."""

    def invoke(self, ctx: Any) -> Any:
        """Runs a command. In typer's errors about values, our words replace pydantic's."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = bad_value(error.__cause__) or error.message
            raise


def bad_value(cause: BaseException | None) -> str:
    """The message for an invalid option or argument, from pydantic's error; empty for any other error."""
    if not isinstance(cause, ValueError) or not hasattr(cause, "errors"):
        return ""
    detail = cause.errors()[0]
    if choices := re.fullmatch(r"Value error, '.*' is not one of (.*)\.", detail["msg"]):
        words = choices[1].replace("'", "")
        return f"expected {words}, found {detail['input']!r}"
    limits = {"greater_than_equal": ("ge", "at least"), "less_than_equal": ("le", "at most")}
    if detail["type"] in limits:
        key, words = limits[detail["type"]]
        return f"expected {words} {detail['ctx'][key]}, found {detail['input']}"
    kinds = {"int_parsing": "a whole number", "int_from_float": "a whole number", "float_parsing": "a number"}
    return f"expected {kinds[detail['type']]}, found {detail['input']!r}" if detail["type"] in kinds else ""


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Prints an old name's warning as one message. Other warnings are for programmers and keep Python's form."""
    shown = f"warning: {message}" if issubclass(category, FutureWarning) else ""
    text = shown or warnings.formatwarning(message, category, filename, lineno, line).rstrip()
    typer.echo(text, file=file, err=True)


def with_error_messages(command: Callable[P, R]) -> Callable[P, R]:
    """Turns errors meant for people into one message on stderr and an exit code (docs/reference/cli.md)."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return command(*args, **kwargs)
        except ScenarioError as error:
            message, code = str(error), BAD_INPUT
        except HeadgateError as error:
            message, code = f"error: {error}", error.exit_code
        except KeyboardInterrupt:
            message, code = "error: stopped", INTERRUPTED
        typer.echo(message, err=True)
        raise typer.Exit(code)

    return wrapped

"""Consoles for output, and errors as one message with an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import typer

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


def explained(command: Callable[P, R]) -> Callable[P, R]:
    """Turns errors meant for people into one message on stderr and an exit code (docs/reference/cli.md)."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
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

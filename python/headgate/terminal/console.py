"""Consoles for output, and errors as one message with an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TextIO, TypeVar

import typer

from headgate.errors import HeadgateError, ResultError
from headgate.terminal import stopping
from headgate.terminal.loading import Loading
from headgate.terminal.printable import escaped, printable

if TYPE_CHECKING:
    from rich.console import Console

#: Line width where output goes to a file or a pipe, unless the environment has `COLUMNS`.
WIDTH = 120

BAD_INPUT = 2
INTERRUPTED = 130

P = ParamSpec("P")
R = TypeVar("R")


def console(*, stderr: bool = False) -> Console:
    """A console on stdout or stderr."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else _piped_width(), highlight=False, soft_wrap=False)


def _piped_width() -> int:
    """The line width of a file or a pipe."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else WIDTH


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
        with Loading():
            from headgate._core import LiveError, ScenarioError
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return command(*args, **kwargs)
        except ScenarioError as error:
            message, code = escaped(str(error)), BAD_INPUT  # it quotes a part already
        except HeadgateError as error:
            message, code = printable(f"error: {error}", (args, kwargs)), error.exit_code
        except LiveError as error:
            message, code = printable(f"error: {error}", (args, kwargs)), HeadgateError.exit_code
        except KeyboardInterrupt:
            message, code = "error: stopped", INTERRUPTED
        except BrokenPipeError:
            raise  # the reader of our output has ended, such as `head`; typer ends quietly
        except OSError as error:
            message, code = printable(storage_failure(error), (args, kwargs)), ResultError.exit_code
        except Exception:
            if not stopping.received():
                raise
            message, code = "error: stopped", INTERRUPTED
        with suppress(OSError):  # standard error may be full too
            typer.echo(message, err=True)
        # Errors that follow a signal have its code: output fails if the terminal was closed.
        raise typer.Exit(stopping.exit_code(code))

    return wrapped


def storage_failure(error: OSError) -> str:
    """The message for a file, or our own output, that cannot be read or written."""
    try:
        sys.stdout.flush()
    except OSError:
        # Python would try again at its end, and print a traceback.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # Writes that fail, also those of the output, know no name.
    place = f" {error.filename}" if error.filename else ""
    return f"error: cannot read or write{place}: {error.strerror or error}"

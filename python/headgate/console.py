"""How the command line speaks: consoles, the progress bar, and errors as one message with an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from headgate._core import ScenarioError
from headgate.errors import HeadgateError
from headgate.runner import Watcher

#: Where output goes to a file or a pipe, its lines are this wide.
WIDTH = 120

BAD_INPUT = 2
INTERRUPTED = 130

P = ParamSpec("P")
R = TypeVar("R")


def console(*, stderr: bool = False) -> Console:
    """A console on stdout or stderr."""
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


class Bar(Watcher):
    """A progress bar on stderr, by simulated time, with an estimate; says what was finished before."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task = TaskID(0)

    def begin(self, total: int, cached: int, seconds: float) -> None:
        """Shows the bar, if anyone watches and there is anything to do."""
        out = console(stderr=True)
        if cached:
            out.print(f"{cached} of {total} points were already done")
        if total == cached or not out.is_terminal:
            return
        parts = (TextColumn("{task.fields[points]}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
        clocks = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(compact=True))
        self._progress = Progress(*parts, *clocks, console=out, transient=True)
        self._left = total - cached
        self._task = self._progress.add_task("", total=seconds, points=self._points(0))
        self._progress.start()

    def tick(self, finished: int, seconds: float) -> None:
        """Moves the bar."""
        if self._progress is not None:
            self._progress.update(self._task, completed=seconds, points=self._points(finished))

    def end(self) -> None:
        """Takes the bar away."""
        if self._progress is not None:
            self._progress.stop()

    def _points(self, finished: int) -> str:
        return f"{finished} of {self._left} points"

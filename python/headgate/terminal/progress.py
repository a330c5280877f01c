"""The progress bar of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.execution.runner import Watcher
from headgate.terminal.console import console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar(Watcher):
    """A progress bar on stderr by simulated time, with the time left. Reports how many runs are reused."""

    def __init__(self, title: str = "") -> None:
        self._title = f"{title}  " if title else ""
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def tell(self, sentence: str) -> None:
        """Prints the sentence on stderr."""
        console(stderr=True).print(f"{self._title}{sentence}", soft_wrap=True)

    def begin(self, total: int, cached: int, seconds: float) -> None:
        """Shows the bar if stderr is a terminal and a run is missing."""
        out = console(stderr=True)
        if cached:
            runs = f"All {total} runs" if cached == total else f"{cached} of {total} runs"
            finished = "The run is" if total == 1 else f"{runs} are"
            out.print(f"{self._title}{finished} finished and reused")
        if total == cached or not out.is_terminal:
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        parts = (TextColumn("{task.fields[runs]}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
        clocks = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(compact=True))
        self._progress = Progress(*parts, *clocks, console=out, transient=True)
        self._left = total - cached
        self._task = self._progress.add_task("", total=seconds, runs=self._count(0))
        self._progress.start()

    def tick(self, finished: int, seconds: float) -> None:
        """Moves the bar."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=seconds, runs=self._count(finished))

    def end(self) -> None:
        """Removes the bar."""
        if self._progress is not None:
            self._progress.stop()

    def _count(self, finished: int) -> str:
        return f"{self._title}{finished} of {self._left} runs"

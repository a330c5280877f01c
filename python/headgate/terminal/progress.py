"""The progress bar of a run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from headgate import style
from headgate.execution.runner import Watcher
from headgate.terminal.console import console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


#: Runs that last longer than this, in seconds, are announced with an estimate.
_LONG_S = 10.0
#: Seconds of running from which the estimate is made.
_TRIAL_S = 0.5


class Bar(Watcher):
    """A progress bar on stderr by simulated time, with the time left. Reports how many runs are reused.

    Also without a terminal, a sentence says how long the runs will take if it is over 10 s. It is an estimate from the
    first half second.
    """

    def __init__(self, title: str = "") -> None:
        self._title = f"{title}  " if title else ""
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._began: float | None = None
        self._total_s = 0.0

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
        if total == cached:
            return
        self._began, self._total_s = time.monotonic(), seconds
        if not out.is_terminal:
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
        if self._began is not None and (elapsed := time.monotonic() - self._began) >= _TRIAL_S and seconds > 0:
            self._began = None
            if (whole := elapsed * self._total_s / seconds) > _LONG_S:
                self.tell(f"This takes about {style.duration(whole)}")
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=seconds, runs=self._count(finished))

    def end(self) -> None:
        """Removes the bar."""
        if self._progress is not None:
            self._progress.stop()

    def _count(self, finished: int) -> str:
        return f"{self._title}{finished} of {self._left} runs"

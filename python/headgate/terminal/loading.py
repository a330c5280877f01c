"""Ctrl-C while modules are imported."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # as in `headgate`

if TYPE_CHECKING:
    from types import FrameType


class Loading:
    """A context in which Ctrl-C ends the process at once. Use it where nothing needs cleaning up.

    KeyboardInterrupt does not suffice: it is raised inside the module being imported, and some modules swallow it. If
    SIGINT has another handler, such as SIG_IGN in a background job, it keeps it.
    """

    def __enter__(self) -> None:
        self._ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._ours:
            signal.signal(signal.SIGINT, _stop)

    def __exit__(self, *_error: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _stop(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"error: stopped\n")
    os._exit(130)

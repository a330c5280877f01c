"""Ctrl-C while modules are being loaded, which takes its time."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # as in `headgate`

if TYPE_CHECKING:
    from types import FrameType


class Loading:
    """Within it Ctrl-C ends the process at once: for where nothing has begun that would want tidying up.

    An exception would do less: it comes up inside whatever module is being imported, and not all let it pass. Where
    Ctrl-C does not raise one, it stays as it is: ignored, as in the background of a script, or another program's.
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

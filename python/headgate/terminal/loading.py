"""Ctrl-C and other signals that stop a command, while modules are imported."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from headgate.terminal.stopping import SIGNALED, STOPS, is_ours, is_repetition

TYPE_CHECKING = False  # as in `headgate`

if TYPE_CHECKING:
    from types import FrameType


class Loading:
    """A context in which such a signal ends the process at once. Use it where nothing needs cleaning up.

    KeyboardInterrupt does not suffice: it is raised inside the module being imported, and some modules swallow it. If
    a signal has another handler, such as SIG_IGN in a background job, it keeps it.
    """

    def __enter__(self) -> None:
        self._before = {number: signal.getsignal(number) for number in (signal.SIGINT, *STOPS) if is_ours(number)}
        for number in self._before:
            signal.signal(number, _stop)

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def _stop(number: int, _frame: FrameType | None) -> None:
    if is_repetition(number):
        return
    with suppress(OSError):  # the terminal may be gone
        os.write(2, b"error: stopped\n")
    os._exit(SIGNALED + number)

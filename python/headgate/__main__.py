"""Where the command begins: `headgate`, and `python -m headgate`."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # as in `headgate`

if TYPE_CHECKING:
    from types import FrameType


def main() -> None:
    """The entry point. Ctrl-C ends it without a traceback while it is still being loaded, which takes its time."""
    # In the background of a script the shell has SIGINT ignored, and so it stays.
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, _stop)
    from headgate import cli

    if heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Ends the process at once: nothing is begun that would want tidying up.

    An exception would do less: it comes up inside whatever module is being imported, and not all let it pass.
    """
    os.write(2, b"error: stopped\n")
    os._exit(130)


if __name__ == "__main__":
    main()

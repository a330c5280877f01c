"""Runs a command on one core, which a second process keeps busy: `python3 .ci/one_core.py COMMAND...`."""

import os
import signal
import subprocess
import sys

#: Spins until its parent has ended, however that ended.
SPIN = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    for _ in range(1_000_000): pass"


def main() -> int:
    """Returns the command's exit status, as a shell counts it."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    words = [sys.executable, "-c", SPIN, str(os.getpid())]
    spinning = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        status = subprocess.run(sys.argv[1:], check=False).returncode
    finally:
        spinning.kill()
        spinning.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())

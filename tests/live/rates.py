"""Rates on real packets, which other processes on the machine can only lower."""

import time
from collections.abc import Callable
from pathlib import Path

TRIES = 3

#: How far the rate falls at most, as a share, while some process always waits for a processor. Seen: 0.03 with twelve
#: busy processes on two processors.
SLOWED = 0.2

#: The kernel's account of the time in which some process waited for a processor (pressure stall information).
PRESSURE = Path("/proc/pressure/cpu")


def waited_s() -> float:
    """Seconds since the start in which some process waited for a processor; 0 where the kernel keeps no account."""
    if not PRESSURE.exists():
        return 0.0
    return int(PRESSURE.read_text("ascii").partition("total=")[2].split()[0]) / 1e6


def best(measure: Callable[[], float], least: float) -> float:
    """The first of a few measured rates that is at least `least`; without one, the greatest.

    A rate below `least` counts as `least` if the time in which processes waited for a processor explains the rest.
    """
    greatest = 0.0
    for _ in range(TRIES):
        began, waited = time.monotonic(), waited_s()
        rate = measure()
        busy = (waited_s() - waited) / (time.monotonic() - began)
        greatest = max(greatest, rate, min(least, rate / (1 - SLOWED * busy)))
        if greatest >= least:
            break
    return greatest

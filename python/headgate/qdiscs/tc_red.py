"""RED's weight in tc: a power of 2, which tc derives from the option `burst`."""

import math
from bisect import bisect_left

#: The largest burst, which tc keeps in 32 bits.
MAX_BURST = 2**32


def burst_for(wq: float, minth: float) -> tuple[int, float]:
    """The smallest burst for which tc's weight is nearest to `wq`, and this weight; `minth` and burst are in packets.

    tc takes the least W for which burst + 1 - minth <= (1 - (1 - 2^-W)^burst) / 2^-W (iproute2, tc/tc_red.c), and the
    weight 2^-W: W grows with the burst.
    """
    logs = range(1, 25)
    log = min(logs, key=lambda each: abs(2.0**-each / wq - 1))
    return _first_burst(log, minth), 2.0**-log


def weight_of(burst: int, minth: float) -> float | None:
    """The weight that tc derives from a burst; None if it finds none. `minth` and burst are in packets."""
    weights = (2.0**-log for log in range(1, 32))
    return next((weight for weight in weights if _fits(burst, weight, minth)), None)


def _first_burst(log: int, least: float) -> int:
    """The least burst for which tc chooses W = `log`."""
    low = max(1, math.ceil(least))
    if log == 1:
        return low
    weight = 2.0 ** -(log - 1)
    return bisect_left(range(MAX_BURST), True, lo=low, key=lambda burst: not _fits(burst, weight, least))


def _fits(burst: int, weight: float, least: float) -> bool:
    return burst + 1 - least <= (1 - (1 - weight) ** burst) / weight

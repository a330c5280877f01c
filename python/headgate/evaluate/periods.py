"""Measures over parts of a run's time: periods of goodput (RFC 7928, section 2.7), and phases (section 8.2)."""

import math

import numpy as np
import numpy.typing as npt

from headgate.analysis.distributions import quantile
from headgate.analysis.runs import Array, Run
from headgate.evaluate.network import PERIOD_S, RTT_MS
from headgate.evaluate.section import GraphedPart
from headgate.experiment.measures import RunFunction, measure

#: Tolerance for rounded times: an interval that ends with its phase belongs to this phase.
_SLACK = 1e-6


@measure
def goodput_over_periods(run: Run, part: float) -> float:
    """The quantile `part` of the goodput of all flows together, over periods after the warm-up, in Mbit/s.

    Of flows in both directions of a link, it is that of the bottleneck's direction.
    """
    time_s, bps = run.sharing_series("goodput_bps")
    number = _number(time_s, run.warmup_s, PERIOD_S)
    sums = np.bincount(number[number >= 0], bps[number >= 0])
    intervals = PERIOD_S / float(time_s.min())  # the first interval begins at 0
    return quantile(sums / intervals, part) / 1e6


def _number(time_s: Array, begin_s: float, length_s: float) -> npt.NDArray[np.int64]:
    """The number of each interval's period or phase; number 0 begins at `begin_s`. An interval's time is its end."""
    return np.ceil((time_s - begin_s) / length_s - _SLACK).astype(np.int64) - 1


class Phase:
    """A phase of several that follow each other in turn after the warm-up, such as number 0 of 2.

    The case's value `phase` is the length of a phase in seconds. With `skip_first`, its first occurrence does not
    count.
    """

    def __init__(self, number: int, of: int, *, skip_first: bool = False) -> None:
        self.number = number
        self.of = of
        self.first = of if skip_first else 0

    def inside(self, run: Run, time_s: Array) -> npt.NDArray[np.bool_]:
        """Whether intervals that end at these times lie in it."""
        number = _number(time_s, run.warmup_s, float(str(run.case["phase"])))
        inside: npt.NDArray[np.bool_] = (number >= self.first) & (number % self.of == self.number)
        return inside

    def mean(self, run: Run, metric: str) -> float:
        """The mean of a metric of the bottleneck."""
        time_s, value = run.series(metric)
        return float(value[self.inside(run, time_s)].mean())

    def used_percent(self) -> RunFunction:
        """Percentage of the bottleneck's capacity that was used."""
        return lambda run: 100 * self.mean(run, "utilization")

    def delay_ms(self, rate_bps: float) -> RunFunction:
        """The mean queueing delay at a link of this rate, by Little's law: queued bytes over bytes per second."""

        def delay(run: Run) -> float:
            waiting, busy = self.mean(run, "queue_bytes"), self.mean(run, "utilization")
            return waiting * 8e3 / (rate_bps * busy) if busy else math.nan

        return delay

    def goodput_mbps(self, run: Run) -> float:
        """Goodput of all flows together, in Mbit/s, counted half a round trip later, when receivers have the data."""
        time_s, bps = run.sharing_series("goodput_bps")
        inside = self.inside(run, time_s - RTT_MS / 2e3)
        return float(bps[inside].sum()) / len(np.unique(time_s[inside])) / 1e6

    def part(self, name: str, title: str, rate_bps: float) -> GraphedPart:
        """The phase as a part with a graph of its own."""
        return GraphedPart(name, title, self.delay_ms(rate_bps), self.goodput_mbps)

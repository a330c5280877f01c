"""The packets of each flow in the bottleneck's queue, rebuilt from its events (`record.events = "all"`)."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headgate.analysis import data
from headgate.analysis.runs import Array, Run
from headgate.experiment.measures import RunMeasure, measure

#: The weight of the average queue in the papers' figures, which is RED's (Floyd and Jacobson 1993).
WEIGHT = 0.002

#: Number of values that `ewma` computes at once. With 5000, (1 - WEIGHT)^-5000 is 2e4, so rounding costs few digits.
CHUNK = 5000


class QueueLength(NamedTuple):
    """Number of packets of some flows in the queue after each event of any flow. `arrived` is true for arrivals."""

    time_s: Array
    packets: Array
    arrived: npt.NDArray[np.bool_]

    def mean(self, begin_s: float, end_s: float) -> float:
        """The mean over the time from `begin_s` to `end_s`."""
        lasts = np.diff(np.clip(np.append(self.time_s, end_s), begin_s, end_s))
        return float((self.packets * lasts).sum() / (end_s - begin_s))

    def average(self, weight: float = WEIGHT) -> tuple[Array, Array]:
        """Times of arrivals, and RED's exponentially weighted average of the queue that each arrival finds."""
        before = np.append(0.0, self.packets)[:-1]
        return self.time_s[self.arrived], ewma(before[self.arrived], weight)


def queue(run: Run, group: str | None = None, kind: str | None = None) -> QueueLength:
    """The queue of all flows, of one group or of one kind, over the whole run."""
    time_s, flow, change, arrived = _changes(run)
    mine = np.zeros(int(flow.max(initial=0)) + 1, dtype=bool)
    wanted = run.flows("flow", group, kind).astype(np.int64)
    mine[wanted[wanted < len(mine)]] = True
    return QueueLength(time_s, np.cumsum(np.where(mine[flow], change, 0)).astype(np.float64), arrived)


@measure
def packets(run: Run, group: str | None = None, kind: str | None = None) -> float:
    """Mean number of the flows' packets in the queue over time. Packets dropped from the queue count until then."""
    return queue(run, group, kind).mean(run.warmup_s, run.warmup_s + run.seconds)


def share(group: str | None = None, kind: str | None = None) -> RunMeasure:
    """The flows' share of the packets in the queue, averaged over time; NaN if the queue was always empty."""
    return packets(group, kind) / packets()


@measure
def greatest_average(run: Run, group: str | None = None, kind: str | None = None) -> float:
    """The maximum of the exponentially weighted average of the flows' packets in the queue."""
    time_s, average = queue(run, group, kind).average()
    return float(average[time_s >= run.warmup_s].max(initial=0.0))


@measure
def share_of_time(run: Run, most: float) -> float:
    """The share of the time, 0 to 1, in which the queue has at most `most` packets."""
    whole = queue(run)
    low = whole._replace(packets=(whole.packets <= most).astype(np.float64))
    return low.mean(run.warmup_s, run.warmup_s + run.seconds)


@measure
def emptied_after(run: Run, begin_s: float) -> float:
    """Seconds from `begin_s` until the queue is first empty; NaN if it never is."""
    whole = queue(run)
    empty = whole.time_s[(whole.time_s > begin_s) & (whole.packets == 0)]
    return float(empty[0] - begin_s) if len(empty) else float("nan")


def ewma(values: Array, weight: float) -> Array:
    """The exponentially weighted average after each value; it starts at 0."""
    keep = 1.0 - weight
    averages = np.empty(len(values))
    last = 0.0
    for begin in range(0, len(values), CHUNK):
        part = values[begin : begin + CHUNK]
        # y_n = keep^n (y_0 + weight sum of x_k keep^-k)
        powers = keep ** np.arange(1, len(part) + 1)
        averages[begin : begin + CHUNK] = powers * (last + weight * np.cumsum(part / powers))
        last = float(averages[begin + len(part) - 1])
    return averages


@lru_cache(maxsize=1)
def _changes(run: Run) -> tuple[Array, npt.NDArray[np.int64], npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
    """The bottleneck's events: time, flow, change of the queue's length, and whether it is an arrival.

    A packet dropped on arrival has two events: arrival and drop. The flow of an event is that of its packet.
    """
    table = data.bottleneck(run.result, run.table("events"))
    kinds = table.column("event").combine_chunks()
    words, codes = kinds.dictionary.to_pylist(), kinds.indices.to_numpy()
    changes = np.array([{"arrived": 1, "sent": -1, "dropped": -1}.get(word, 0) for word in words], dtype=np.int8)
    arrivals = np.array([word == "arrived" for word in words])
    flow = table.column("flow").to_numpy().astype(np.int64)
    return data.values(table, "time_ns") / 1e9, flow, changes[codes], arrivals[codes]

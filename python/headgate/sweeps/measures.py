"""The measures of each run in the table of a sweep's runs."""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.analysis.columns import ColumnArrays
from headgate.analysis.metrics.views import jain
from headgate.scenario import Scenario
from headgate.scenario.queues import sharing
from headgate.sweeps.receipt import Measures

Array = npt.NDArray[np.float64]

#: The measures of a run: those of the first compared link, and those of all flows together. Goodput of flows in both
#: directions of a link is that of the bottleneck's direction.
RUN_MEASURES = (
    "utilization",
    "queue_delay_ms_mean",
    "queue_delay_ms_p50",
    "queue_delay_ms_p95",
    "queue_delay_ms_p99",
    "drop_rate",
    "mark_rate",
    "goodput_bps",
    "jain",
)

#: The measures that are columns of `links`, and the counts of packets there.
_OF_LINK = RUN_MEASURES[:5]
_COUNTS = ("arrived", "dropped", "marked")
#: The columns of `flows` that the other measures need.
_OF_FLOWS = ("goodput_bps", "fair_share_bps")


class TableOfRuns(NamedTuple):
    """A table of several runs, one after the other, and the number of rows of each."""

    rows: pa.Table
    counts: Sequence[int]

    @property
    def slices(self) -> Iterator[slice]:
        """The rows of each run."""
        ends = accumulate(self.counts)
        return (slice(end - count, end) for count, end in zip(self.counts, ends, strict=True))


def measures(scenarios: Sequence[Scenario], links: TableOfRuns, flows: TableOfRuns) -> list[Measures]:
    """The measures of each run.

    A column is converted once for all runs: with short runs, a conversion for each takes longer than the simulation.
    """
    at_links, at_flows = ColumnArrays(links.rows), ColumnArrays(flows.rows)
    names = list(zip(at_links.words("link"), at_links.words("direction"), strict=True))
    rows = [names.index(scenario.bottleneck, run.start, run.stop)
            for scenario, run in zip(scenarios, links.slices, strict=True)]  # fmt: skip
    link = {name: at_links[name][rows] for name in (*_OF_LINK, *_COUNTS)}
    arrived = np.where(link["arrived"] > 0, link["arrived"], np.nan)
    goodput = at_flows["goodput_bps"]
    columns = {name: link[name] for name in _OF_LINK} | {
        "drop_rate": link["dropped"] / arrived,
        "mark_rate": link["marked"] / arrived,
        "goodput_bps": np.array([*map(_sum_of_sharing, scenarios, (goodput[run] for run in flows.slices))]),
        "jain": np.concatenate(list(_fairness(scenarios, at_flows, flows))),
    }
    known = {name: [each if math.isfinite(each) else None for each in columns[name].tolist()] for name in RUN_MEASURES}
    return [dict(zip(known, each, strict=True)) for each in zip(*known.values(), strict=True)]


def _sum_of_sharing(scenario: Scenario, rates: Array) -> float:
    """The rates of the flows that share the bottleneck's direction together."""
    groups = scenario.groups
    kept = sharing(scenario, groups)
    if len(kept) < len(groups):
        rates = rates[np.repeat([group in kept for group in groups], [group.flows for group in groups])]
    return math.fsum(rates.tolist())


def _fairness(scenarios: Sequence[Scenario], columns: ColumnArrays, flows: TableOfRuns) -> Iterator[Array]:
    """Jain's index of each run. Runs in turn with the same groups are computed together, if flows are the unit."""

    def alike(run: tuple[int, Scenario, slice]) -> object:
        number, scenario, _ = run
        return scenario.groups if scenario.fair_units[0].name == "flow" else number

    runs = zip(range(len(scenarios)), scenarios, flows.slices, strict=True)
    for _, same in groupby(runs, key=alike):
        together = list(same)
        _, scenario, first = together[0]
        whole = slice(first.start, together[-1][2].stop)
        values = {name: columns[name][whole].reshape(len(together), -1) for name in _OF_FLOWS}
        yield jain(values, scenario.groups, unit=scenario.fair_units[0])

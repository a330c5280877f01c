"""One run of an experiment: the input of its measures."""

from collections.abc import Mapping
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.analysis import data
from headgate.files.result_tables import ResultTables
from headgate.scenario import RunKey
from headgate.scenario.queues import sharing

Array = npt.NDArray[np.float64]


class Run:
    """One discipline with one seed in one case of an experiment; `case` has the values that vary."""

    def __init__(self, result: ResultTables, key: RunKey, label: str, case: Mapping[str, object]) -> None:
        self.result = result
        self.key = key
        self.label = label
        self.case = case

    @classmethod
    def of_qdisc(cls, result: ResultTables, qdisc: str, label: str, case: Mapping[str, object]) -> list[Self]:
        """The runs of one discipline of a result, one per seed."""
        return [cls(result, run, label, case) for run in result.scenario.runs if run.qdisc == qdisc]

    @property
    def seconds(self) -> float:
        """The measured time: the duration less the warm-up."""
        return self.result.scenario.duration_s - self.result.scenario.warmup_s

    @property
    def warmup_s(self) -> float:
        """The time at the start of the run that is not measured."""
        return self.result.scenario.warmup_s

    @property
    def rate_bps(self) -> float:
        """The bottleneck's rate."""
        return self.result.scenario.rate_bps

    def table(self, name: str) -> pa.Table:
        """The rows of a table for this run (docs/reference/tables.md)."""
        return self.result.run(name, self.key)

    def flows(self, column: str, group: str | None = None, kind: str | None = None) -> Array:
        """A column of the table `flows`, in the flows' order. `group` or `kind` (`tcp`, `udp`) selects flows."""
        table = self._flows
        if group is not None:
            if group not in {each.name for each in self.result.scenario.groups}:
                raise KeyError(f"the scenario has no group {group!r}")
            table = data.rows(table, group=group)
        if kind is not None:
            table = data.rows(table, kind=kind)
        return data.values(table, column)

    def sharing(self, column: str, group: str | None = None, kind: str | None = None) -> Array:
        """The same of flows that share the link: of flows both ways, those of the bottleneck's direction.

        Rates of opposite directions are never added.
        """
        groups = self.result.scenario.groups
        chosen = [each for each in groups if group in (None, each.name) and kind in (None, each.kind)]
        kept = sharing(self.result.scenario, chosen)
        mine = np.repeat([each in kept for each in chosen], [each.flows for each in chosen])
        values: Array = self.flows(column, group, kind)[mine]
        return values

    def link(self, column: str, direction: str | None = None, name: str | None = None) -> float:
        """A column of the table `links`, by default for the bottleneck and its direction."""
        bottleneck = self.result.scenario.bottleneck
        row = data.rows(self.table("links"), link=name or bottleneck[0], direction=direction or bottleneck[1])
        return float(data.values(row, column)[0])

    def series(self, metric: str, group: str | None = None) -> tuple[Array, Array]:
        """The times in seconds and the values of a metric of `intervals`, warm-up included."""
        table = self._intervals
        rows = data.rows(table, metric=metric)
        if group is not None:
            rows = data.rows(rows, group=group)
        elif rows.num_rows and rows.column("link").null_count == 0:
            rows = data.bottleneck(self.result, rows)
        return data.values(rows, "time_s"), data.values(rows, "value")

    def sharing_series(self, metric: str) -> tuple[Array, Array]:
        """The same of each group that shares the link in the bottleneck's direction."""
        names = [group.name for group in sharing(self.result.scenario, self.result.scenario.groups)]
        rows = data.rows(self._intervals, metric=metric)
        rows = rows.filter(pc.is_in(rows["group"], value_set=pa.array(names)))
        return data.values(rows, "time_s"), data.values(rows, "value")

    def drops(self, *reasons: str, group: str | None = None) -> tuple[Array, Array]:
        """Dropped packets: the time of each in seconds, and the number of its flow; warm-up included.

        Without `reasons`, drops for any reason. The scenario must record events (at least `drops`).
        """
        events = data.rows(self.table("events"), event="dropped")
        if reasons:
            events = events.filter(pc.is_in(events["reason"], value_set=pa.array(reasons)))
        time, flow = data.values(events, "time_ns") / 1e9, data.values(events, "flow")
        mine = np.isin(flow, self.flows("flow", group))
        return time[mine], flow[mine]

    @cached_property
    def _flows(self) -> pa.Table:
        return self.table("flows")

    @cached_property
    def _intervals(self) -> pa.Table:
        return self.table("intervals")

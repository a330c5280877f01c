"""The subjects of measures: groups of flows, or a link, under one discipline, with one value per seed."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from headgate.analysis.columns import ColumnArrays
from headgate.analysis.distributions import BinnedValues, by_seed
from headgate.analysis.links import LinkDirection
from headgate.analysis.metrics.rows import Array, FlowRows, ResultRows
from headgate.files.result_tables import ResultTables
from headgate.scenario import Group
from headgate.scenario.fair import FairUnit
from headgate.scenario.queues import queue_of, sharing


class LinkView:
    """A direction of a link under one discipline. A column of `links` has one value per seed."""

    def __init__(self, result: ResultTables, qdisc: str, direction: LinkDirection) -> None:
        self._result, self._qdisc, self._direction = result, qdisc, direction
        self._rows = ResultRows(
            direction.of(ColumnArrays.of(result, "links").where(qdisc=qdisc)), len(result.scenario.seeds)
        )

    def __getitem__(self, column: str) -> Array:
        values: Array = self._rows[column][:, 0]
        return values

    def windows(self, metric: str) -> list[Array]:
        """A metric over time after the warm-up, one series for each seed."""
        rows = self._direction.of(ColumnArrays.of(self._result, "intervals").where(qdisc=self._qdisc, metric=metric))
        return windows(rows, self._result)


class FlowsView:
    """Groups of flows taken together."""

    def __init__(
        self, result: ResultTables, qdisc: str, groups: Sequence[Group], table: FlowRows | None = None
    ) -> None:
        self.result = result
        self.qdisc = qdisc
        self.groups = groups
        self._rows = table or FlowRows(result, qdisc)
        self.columns = [
            number
            for group, columns_of_group in columns_by_group(result.scenario.groups)
            if group in groups
            for number in range(columns_of_group.start, columns_of_group.stop)
        ]
        self._selected: slice | list[int] = self.columns

    @classmethod
    def each(cls, result: ResultTables, qdisc: str) -> Iterator[Self]:
        """Every group of the scenario by itself."""
        table = FlowRows(result, qdisc)
        for group, columns_of_group in columns_by_group(result.scenario.groups):
            view = cls(result, qdisc, [group], table)
            view._selected = columns_of_group
            yield view

    def of(self, groups: Sequence[Group]) -> "FlowsView":
        """Some of the scenario's groups under the same discipline."""
        return FlowsView(self.result, self.qdisc, groups, self._rows)

    def by(self, unit: FairUnit) -> "FlowsView":
        """The same groups with the fair shares by another unit."""
        return FlowsView(self.result, self.qdisc, self.groups, FlowRows(self.result, self.qdisc, unit))

    @property
    def unit(self) -> FairUnit:
        """The unit of the fair shares."""
        return self._rows.unit

    @property
    def units(self) -> int:
        """The number of units among these flows."""
        return len(self.columns) if self.unit.name == "flow" else len(set(self.unit.of_flows[self.columns].tolist()))

    @property
    def seeds(self) -> list[int]:
        """The seeds."""
        return self.result.scenario.seeds

    def __getitem__(self, column: str) -> Array:
        """A column of the table `flows`: a row for each seed, a column for each flow."""
        return self._rows[column][:, self._selected]

    def total(self, column: str) -> Array:
        """The sum over flows. A flow without a value, as without a fair share, adds nothing.

        Rates of opposite directions of a link are not added (`queues.sharing`).
        """
        summed = self._sharing if column in RATES else self
        whole: Array = np.nansum(summed[column], axis=1)
        return whole

    @property
    def _sharing(self) -> "FlowsView":
        groups = sharing(self.result.scenario, self.groups)
        return self if len(groups) == len(self.groups) else self.of(groups)

    def reasons(self) -> Iterator[str]:
        """The columns of drops by reason that are above 0 for some flow of the result."""
        return (name for name in self._rows.columns("dropped_") if np.nansum(self._rows[name]) > 0)

    def jain(self) -> Array:
        """Jain's index over the units of the fair shares."""
        return jain(self._rows, self.result.scenario.groups, self._selected, self.unit)

    def rows(self, table: ColumnArrays) -> ColumnArrays:
        """The rows of these groups and this discipline, in a table with a row per group."""
        return _of(table.where(qdisc=self.qdisc), self.groups)

    def windows(self, metric: str) -> list[Array]:
        """A metric over time after the warm-up, summed over groups as in `total`, one series for each seed."""
        summed = self._sharing if metric in RATES else self
        return windows(summed.rows(ColumnArrays.of(self.result, "intervals").where(metric=metric)), self.result)

    def histograms(self, table: str, measure: str) -> list[BinnedValues]:
        """The histogram of a distribution for each seed. Queueing delays and losses are those at each group's queue."""
        if measure == "one_way_delay":
            return by_seed(self._tables[table].where(measure=measure), VALUES[table], self.seeds)
        rows = ColumnArrays.joined(
            _of(self._tables[table], [group]).where(measure=measure, link=queue.link, direction=queue.direction)
            for group in self.groups
            for queue in [queue_of(self.result.scenario, group)]
        )
        return by_seed(rows, VALUES[table], self.seeds)

    def one_way_delays(self) -> list[list[BinnedValues]]:
        """The histograms of one-way delay, by group and seed."""
        delays = self._tables["delays"].where(measure="one_way_delay")
        return [by_seed(_of(delays, [group]), "delay_ms", self.seeds) for group in self.groups]

    @cached_property
    def _tables(self) -> dict[str, ColumnArrays]:
        return {name: self.rows(ColumnArrays.of(self.result, name)) for name in VALUES}


#: The columns of `flows` that are rates of a link's capacity.
RATES = ("goodput_bps", "throughput_bps", "fair_share_bps")

#: The tables of distributions, each with the name of its column of values.
VALUES = {"delays": "delay_ms", "losses": "value"}


def over_time(rows: ColumnArrays) -> tuple[Array, Array]:
    """The times of rows of one seed, and the sum of the values at each."""
    times, index = np.unique(rows["time_s"], return_inverse=True)
    return times, np.bincount(index, weights=rows["value"], minlength=len(times)).astype(np.float64)


def windows(rows: ColumnArrays, result: ResultTables) -> list[Array]:
    """The values of rows after the warm-up, summed at each time, one series for each seed."""
    rows = rows.only(rows["time_s"] > result.scenario.warmup_s)
    return [over_time(rows.of_seed(seed))[1] for seed in result.scenario.seeds]


def columns_by_group(groups: Sequence[Group]) -> Iterator[tuple[Group, slice]]:
    """Each group with the columns of its flows."""
    first = 0
    for group in groups:
        yield group, slice(first, first + group.flows)
        first += group.flows


def _of(table: ColumnArrays, groups: Sequence[Group]) -> ColumnArrays:
    """The rows of `groups`, in a table with a row per group."""
    if "kind" not in table.names:
        return ColumnArrays.joined(table.where(group=name) for name in dict.fromkeys(group.name for group in groups))
    return ColumnArrays.joined(table.where(group=group.name, kind=group.kind) for group in groups)


def jain(
    flows: FlowRows | Mapping[str, Array],
    groups: Sequence[Group],
    selected: list[int] | slice = slice(None),
    unit: FairUnit | None = None,
) -> Array:
    """Jain's index of goodput over fair share, for units with a fair share above 0: 1 if all values are equal.

    Brief flows do not count, since their goodput is limited by the data they had to send. `selected` are columns. The
    goodputs and fair shares of the flows of a unit are added; without `unit`, each flow is one.
    """
    goodput, fair = flows["goodput_bps"][:, selected], flows["fair_share_bps"][:, selected]
    lasting = np.repeat([not group.brief for group in groups], [group.flows for group in groups])[selected]
    due = (fair > 0) & lasting
    if unit is not None and unit.name != "flow":
        goodput, fair = (sums(np.where(due, each, 0.0), unit.of_flows[selected]) for each in (goodput, fair))
        due = fair > 0
    return jains_index(np.divide(goodput, fair, out=np.zeros_like(goodput), where=due), due)


def jains_index(shares: Array, due: npt.NDArray[np.bool_]) -> Array:
    """Jain's index of each row of `shares`, over the values that are `due`; the others must be 0."""
    return ratio(shares.sum(axis=1) ** 2, due.sum(axis=1) * (shares**2).sum(axis=1))


def sums(values: Array, unit_of_flow: npt.NDArray[np.int64]) -> Array:
    """The sum over the flows of each unit: a row for each seed, a column for each unit."""
    _, units = np.unique(unit_of_flow, return_inverse=True)
    return np.array([np.bincount(units, weights=row) for row in values])


def ratio(part: Array, whole: Array) -> Array:
    """`part / whole`; NaN where `whole` is 0."""
    share: Array = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole != 0)
    return share


def known_mean(values: Array) -> Array:
    """The mean of each row over its finite values; NaN if it has none."""
    known = np.isfinite(values)
    return ratio(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1))

"""The rows of one discipline in a table, as arrays."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.analysis.columns import ColumnArrays
from headgate.files.result_tables import ResultTables
from headgate.scenario import Scenario
from headgate.scenario.fair import FairUnit

Array = npt.NDArray[np.float64]


class ResultRows:
    """The rows of one discipline as arrays: a row for each seed, a column for each flow, or one for the link."""

    def __init__(self, table: ColumnArrays, seeds: int) -> None:
        self._table = table
        self._seeds = seeds
        self._read: dict[str, Array] = {}

    def __getitem__(self, column: str) -> Array:
        if column not in self._read:
            self._read[column] = self._table[column].reshape(self._seeds, -1)
        return self._read[column]

    def columns(self, prefix: str) -> Iterator[str]:
        """The columns whose names begin with `prefix`."""
        return (name for name in self._table.names if name.startswith(prefix))


class FlowRows(ResultRows):
    """The flows under one discipline. `fair_share_bps` are the fair shares by `unit`, 0 for a flow without one."""

    def __init__(self, result: ResultTables, qdisc: str, unit: FairUnit | None = None) -> None:
        super().__init__(ColumnArrays.of(result, "flows").where(qdisc=qdisc), len(result.scenario.seeds))
        self.unit = unit or result.scenario.fair_units[0]

    def __getitem__(self, column: str) -> Array:
        if column == "fair_share_bps" and column not in self._read:
            self._read[column] = self.unit.shares(super().__getitem__(column))
        return super().__getitem__(column)


def by_unit(scenario: Scenario, flows: pa.Table) -> pa.Table:
    """The rows of `flows` of one run with the fair shares by the scenario's unit."""
    unit = scenario.fair_units[0]
    if unit.name == "flow":
        return flows
    (shares,) = unit.shares(flows.column("fair_share_bps").to_numpy()[np.newaxis])
    return flows.set_column(flows.column_names.index("fair_share_bps"), "fair_share_bps", pa.array(shares))

"""The rows of one discipline in a table, as arrays."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from headgate.analysis.columns import ColumnArrays
from headgate.files.result_tables import ResultTables
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
        of_tables = result.scenario.fair_units[0]
        self.unit = unit or of_tables
        self._is_of_tables = self.unit.name == of_tables.name

    def __getitem__(self, column: str) -> Array:
        if column == "fair_share_bps" and column not in self._read:
            self._read[column] = np.nan_to_num(self._shares())
        return super().__getitem__(column)

    def _shares(self) -> Array:
        if self._is_of_tables:
            return super().__getitem__("fair_share_bps")
        return self.unit.shares(super().__getitem__("active_from_ns"), super().__getitem__("active_until_ns"))

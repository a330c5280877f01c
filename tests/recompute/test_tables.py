"""Every column of every table is what plain Python computes from the packets of the captures.

The definitions that these tests state:

- Goodput counts each segment's data once, in order or not, without padding, when it arrives at the receiver: behind
  the last link's medium and the receiver's access link. The window begins with the end of the warm-up and ends before
  the end of the run. Rows of groups over time count the same arrivals, interval by interval. `startup_ms` is the time
  to the first of them.
- Nothing happens at or after the end of the run: `startup_ms` and `end_ns` are then null.
- Jain's index counts the same data, but when its packet leaves its last queue. Slots begin with the window and count if
  they end with the run or before. The index is exact. A fair share is the flow's mean share in the slot.
- One-way delay is that of every data packet that arrives in the window, duplicates included.
- `fair_share_bps` is the mean over the window of the flow's max-min share of the links' mean rates, among the flows
  active at each moment, or among their hosts. It is 0 while the flow is not active, null if it never is. A transfer
  wants as much as TCP takes, as long as it lasts. `active_from_ns` and `active_until_ns` are the flow's start, and the
  stop of its group or the acknowledgement of its last data.
- Utilization is bits sent over bits that the link could have carried; 0 if it could carry none.
- `reordered` counts arrivals at the receiver after a packet of the flow that was sent later (RFC 4737).
- A single TCP flow has loss events too. N of loss synchronization is the number of TCP flows with arrivals since the
  warm-up.
"""

from collections.abc import Callable
from typing import Any

import pytest

from headgate import _core
from tests.recompute import scenarios
from tests.recompute.comparing import Comparison, Row, is_listed
from tests.recompute.conftest import Recorded
from tests.recompute.not_recomputed import NOT_RECOMPUTED
from tests.recompute.tables import COMPARISONS
from tests.recompute.test_senders import compare_traces

Records = Callable[[str], Recorded]

ALL_TABLES = {**COMPARISONS, "traces": compare_traces}


def columns_of(name: str) -> set[str]:
    """Columns of a table by the schema. A result has those of its own reasons only, and all of them are compared."""
    (columns,) = (columns for table, _, columns in _core.tables() if table == name)
    names = {column[0] for column in columns}
    return {"qdisc", "seed"} | {column for column in names if not column.startswith(("dropped_", "marked_"))}


@pytest.mark.parametrize("table", COMPARISONS)
@pytest.mark.parametrize("name", scenarios.ALL)
def test_a_table_is_what_plain_python_computes_from_the_captures(name: str, table: str, recorded: Records):
    comparison = Comparison(table)
    COMPARISONS[table](comparison, recorded(name))
    assert not comparison.differences, f"\n{comparison}"


def test_there_are_thirteen_scenarios():
    assert len(scenarios.ALL) == 13


def test_every_table_of_the_schema_is_compared():
    assert ALL_TABLES.keys() == {name for name, _, _ in _core.tables()}


@pytest.mark.parametrize("table", ALL_TABLES)
def test_every_column_is_compared_or_listed_with_a_reason(table: str, recorded: Records):
    """In the schema and in a result, which has columns of the scenario's reasons."""
    record, comparison = recorded("window" if table == "traces" else "transfers"), Comparison(table)
    ALL_TABLES[table](comparison, record)
    columns = columns_of(table) | set(record.result.run(table, record.run).column_names)
    listed = {column for column in columns if is_listed(table, column)}
    assert columns - listed - comparison.columns == set()
    assert listed & comparison.columns == set()


def test_every_listed_column_exists():
    for table, column in NOT_RECOMPUTED:
        assert "*" in column or column in columns_of(table), (table, column)


class Altered(Recorded):
    """A run with two values of a table changed: the least and the greatest of a column."""

    def __init__(self, original: Recorded, column: str) -> None:
        self.__dict__.update(vars(original))
        self.column = column

    def table(self, name: str) -> list[Row]:
        """The rows of a printed table, of which two are changed."""
        rows = super().table(name)
        in_order = sorted((row for row in rows if row[self.column] is not None), key=lambda row: row[self.column])
        for row in {0: in_order[0], len(in_order) - 1: in_order[-1]}.values():
            row[self.column] = other(row[self.column])
        return rows


def other(value: Any) -> Any:
    """Another value of the same type: 2 % more, as all columns are compared closer than that."""
    if isinstance(value, str):
        return value + "x"
    return not value if isinstance(value, bool) else value * 1.02 or 1.0 if isinstance(value, float) else value + 1


def differences(table: str, record: Recorded) -> object:
    """What a comparison finds. A key without its recomputed row may end it early."""
    comparison = Comparison(table)
    try:
        ALL_TABLES[table](comparison, record)
    except (KeyError, StopIteration, AssertionError) as error:
        return type(error)
    return comparison.differences


@pytest.mark.parametrize("table", ALL_TABLES)
def test_a_change_of_any_column_is_noticed(table: str, recorded: Records):
    record = recorded("transfers" if table == "transfers" else "marks")
    rows, plain = record.table(table), differences(table, record)
    columns = {column for column in rows[0] if not is_listed(table, column)}
    for column in {column for column in columns if any(row[column] is not None for row in rows)}:
        assert differences(table, Altered(record, column)) != plain, column

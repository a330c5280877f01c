"""Comparison of a printed table with the recomputed one: every row, every column, and what differs."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from tests.recompute.not_recomputed import NOT_RECOMPUTED

Row = dict[str, Any]
Key = tuple[Any, ...]
#: By how much a column of a row may differ.
Slack = Callable[[Key, str], float]

#: Floats agree to rounding: both sides add the same numbers in another order.
ROUNDING = 1e-9
#: The middle of a histogram's bin is off by at most so much (docs/reference/tables.md).
BIN = 0.008
#: Columns that the product takes from a histogram.
BINNED = tuple(f"queue_delay_ms_{part}" for part in ("min", "p50", "p95", "p99", "max"))
#: A tap shows a packet up to so much later than it arrived: packets that meet there wait for each other. Milliseconds.
TAP_MS = 0.05


def nothing(key: Key, column: str) -> float:  # noqa: ARG001
    """No slack."""
    return 0.0


def is_listed(table: str, column: str) -> bool:
    """Whether a column is listed as not recomputed."""
    return any(
        name == table and (column == pattern or (pattern.endswith("*") and column.startswith(pattern[:-1])))
        for name, pattern in NOT_RECOMPUTED
    )


def agree(column: str, printed: Any, recomputed: Any, slack: float = 0.0) -> bool:
    """Whether two values agree; `slack` is absolute."""
    if not isinstance(printed, float) or not isinstance(recomputed, int | float):
        return bool(printed == recomputed)
    relative = BIN if column in BINNED else ROUNDING
    return math.isclose(printed, recomputed, rel_tol=relative, abs_tol=slack)


class Comparison:
    """Differences between a printed and a recomputed table."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.differences: dict[str, list[str]] = defaultdict(list)
        #: Columns compared so far: a test asks whether any is missing.
        self.columns: set[str] = set()

    def rows(self, printed: dict[Key, Row], recomputed: dict[Key, Row], slack: Slack = nothing) -> None:
        """Compares rows by their keys. A reason without a recomputed drop or mark has none."""
        self.check("rows without recomputed ones", sorted(printed.keys() - recomputed.keys(), key=str), [])
        self.check("recomputed rows without printed ones", sorted(recomputed.keys() - printed.keys(), key=str), [])
        for key in printed.keys() & recomputed.keys():
            for column, value in printed[key].items():
                if is_listed(self.table, column):
                    continue
                self.columns.add(column)
                counts_reason = column.startswith(("dropped_", "marked_"))
                expected = recomputed[key].get(column, 0 if counts_reason else f"no value of {column}")
                if not agree(column, value, expected, slack(key, column)):
                    self.add(column, key, value, expected)

    def lists(self, column: str, key: Key, printed: list[float], recomputed: list[float], slack: list[float]) -> None:
        """Compares two ascending lists, value by value; `slack` is that of each recomputed value."""
        self.columns |= {column, "count"}
        if len(printed) != len(recomputed):
            self.add("count", key, len(printed), len(recomputed))
            return
        for place, (value, expected, most) in enumerate(zip(printed, recomputed, slack, strict=True)):
            if abs(value - expected) > most:
                self.add(column, (*key, f"number {place} of {len(printed)}"), value, expected)

    def check(self, column: str, printed: Any, recomputed: Any) -> None:
        """Compares two values as they are."""
        self.columns.add(column)
        if printed != recomputed:
            self.add(column, (), printed, recomputed)

    def add(self, column: str, key: Key, printed: Any, recomputed: Any) -> None:
        """Adds a difference."""
        place = ", ".join(str(part) for part in key if part is not None)
        self.differences[column].append(f"{place}: printed {printed}, recomputed {recomputed}")

    def __str__(self) -> str:
        return "\n".join(shown(self.table, self.differences))


def shown(table: str, differences: dict[str, list[str]], most: int = 4) -> Iterable[str]:
    """The first differences of each column."""
    for column, lines in sorted(differences.items()):
        yield f"{table}.{column}: {len(lines)} differ"
        yield from (f"    {line}" for line in lines[:most])

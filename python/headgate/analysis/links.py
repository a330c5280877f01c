"""Where disciplines are compared: one link in a dumbbell, several in a chain, and how to say which one is meant."""

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from headgate.analysis import data
from headgate.files.result_tables import ResultTables


class LinkDirection(NamedTuple):
    """A link in one direction (`forward`, `reverse`)."""

    link: str
    direction: str

    @property
    def label(self) -> str:
        """What a reader calls it: `A-B`, or `A-B reverse`."""
        return self.link if self.direction == "forward" else f"{self.link} {self.direction}"

    def of(self, table: pa.Table) -> pa.Table:
        """The rows of a table by link that are of this one."""
        return data.rows(table, link=self.link, direction=self.direction)


def compared(result: ResultTables) -> list[LinkDirection]:
    """Every place where disciplines are compared, in the scenario's order: the first is `scenario.bottleneck`."""
    table = result.links
    table = table.filter(pc.fill_null(table["compared"], False))
    rows = zip(table["link"].to_pylist(), table["direction"].to_pylist(), strict=True)
    return list(dict.fromkeys(LinkDirection(*row) for row in rows)) or [LinkDirection(*result.scenario.bottleneck)]


def first(result: ResultTables) -> str:
    """The label of the link that figures of one link are of; empty where there is no other."""
    found = compared(result)
    return found[0].label if len(found) > 1 else ""


def note(result: ResultTables) -> str:
    """A sentence for the foot of a figure that shows one link; empty where there is no other."""
    found = compared(result)
    return f" Link {found[0].label}, the first of {len(found)} that are compared." if len(found) > 1 else ""

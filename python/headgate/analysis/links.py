"""The links at which disciplines are compared: one in a dumbbell, several in a chain."""

from typing import NamedTuple

from headgate.analysis.columns import ColumnArrays
from headgate.files.result_tables import ResultTables


class LinkDirection(NamedTuple):
    """A link in one direction (`forward`, `reverse`)."""

    link: str
    direction: str

    @property
    def label(self) -> str:
        """The name in tables and figures: `A-B`, or `A-B reverse`."""
        return self.link if self.direction == "forward" else f"{self.link} {self.direction}"

    def of(self, table: ColumnArrays) -> ColumnArrays:
        """The rows of this link and direction, in a table with a row for each link."""
        return table.where(link=self.link, direction=self.direction)


def compared(result: ResultTables) -> list[LinkDirection]:
    """Every compared link, in the scenario's order. The first is `scenario.bottleneck`."""
    links = ColumnArrays.of(result, "links")
    links = links.only(links["compared"] == 1)
    rows = zip(links.words("link"), links.words("direction"), strict=True)
    names = dict.fromkeys(LinkDirection(link, direction) for link, direction in rows if link and direction)
    return list(names) or [LinkDirection(*result.scenario.bottleneck)]


def first(result: ResultTables) -> str:
    """The label of the first compared link; empty if it is the only one."""
    links = compared(result)
    return links[0].label if len(links) > 1 else ""


def note(result: ResultTables) -> str:
    """A note for a figure of one link; empty if it is the only compared link."""
    links = compared(result)
    return f" Link {links[0].label}, the first of {len(links)} that are compared." if len(links) > 1 else ""

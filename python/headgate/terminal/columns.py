"""The columns of the result table: what they measure, their digits, and which values are shown to be best."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self

from headgate import style
from headgate.analysis import spread
from headgate.analysis.division import sensitive
from headgate.analysis.links import LinkDirection
from headgate.analysis.pairs import ComparedPairs
from headgate.analysis.repeats import repeats
from headgate.analysis.spread import Estimate, estimate
from headgate.analysis.summary import Traffic, by_traffic, summarize, traffic
from headgate.files.result_tables import ResultTables
from headgate.results import Result
from headgate.scenario import Group, Role, Scenario

KINDS = {"tcp": "TCP", "udp": "UDP"}

#: The most groups whose delay has a column.
_MOST_GROUPS = 3


class DisciplineRow(NamedTuple):
    """One discipline: its entry of the summary, and the totals of its TCP and UDP flows in each direction."""

    entry: dict[str, Any]
    traffic: dict[str, dict[str, Any]]


class ResultColumn(NamedTuple):
    """One column: its title, its value in a row, the factor and most decimals of its numbers.

    Less of `cost` is better; columns without a cost have no best value. On a narrow terminal, columns with the lowest
    `priority` are left out first.
    """

    title: str
    estimate: Callable[[DisciplineRow], Estimate]
    scale: float
    digits: int
    cost: Callable[[float], float] | None = None
    priority: int = 5

    def show(self, measured: Estimate) -> style.Measured:
        """The mean and its margin of error, whose digits follow from the margin, as far as the column has decimals."""
        mean = measured["mean"]
        if mean is None:
            return style.Measured(style.MISSING, "")
        mean, half = mean * self.scale, spread.half(measured) * self.scale
        several = measured["high"] is not None
        places = style.decimals_of(mean, half) if several else None
        if places is None:
            places = self.digits - (abs(mean) >= 99.95 and self.digits > 0)
        places = min(places, self.digits)
        margin = f"{half:.{places}f}"
        if half > 0 and not margin.strip("0."):
            margin = f"<{10**-places:.{places}f}"
        return style.Measured(f"{mean:.{places}f}", (margin if half > 0 else "0") if several else "")

    def costs(self, rows: Iterable[DisciplineRow]) -> dict[str, list[float]]:
        """The cost of each seed by discipline; empty without a cost."""
        cost = self.cost
        if cost is None:
            return {}
        return {
            row.entry["qdisc"]: [math.nan if value is None else cost(value) for value in self.estimate(row)["per_seed"]]
            for row in rows
        }


class TableStars(NamedTuple):
    """The cells of a table that have a star, by the number of the column and the discipline."""

    starred: set[tuple[int, str]]

    @classmethod
    def of(
        cls, result: ResultTables, listed: Sequence[ResultColumn], blocks: Sequence[Sequence[DisciplineRow]]
    ) -> list[Self]:
        """The stars of each of a table's blocks of rows: `ComparedPairs.starred`.

        All pairs in all blocks and columns are one family of tests, also those of columns that do not fit.
        """
        costs = {
            f"{block} {number}": column.costs(rows)
            for block, rows in enumerate(blocks)
            for number, column in enumerate(listed)
        }
        pairs = ComparedPairs(costs, repeats(result))
        return [
            cls({(number, qdisc) for number in range(len(listed)) for qdisc in pairs.starred(f"{block} {number}")})
            for block in range(len(blocks))
        ]


def rows(result: Result) -> list[DisciplineRow]:
    """One row for each discipline."""
    return [DisciplineRow(entry, parts) for entry, parts in zip(summarize(result), by_traffic(result), strict=True)]


def by_link(rows: list[DisciplineRow]) -> list[tuple[LinkDirection, list[DisciplineRow]]]:
    """For each compared link, a row for each discipline with the values of that link."""
    directions = [LinkDirection(link["link"], link["direction"]) for link in rows[0].entry["links"]]
    return [
        (
            direction,
            [
                DisciplineRow({**row.entry, "bottleneck": row.entry["links"][number]["figures"]}, row.traffic)
                for row in rows
            ],
        )
        for number, direction in enumerate(directions)
    ]


def several(rows: list[DisciplineRow]) -> bool:
    """Whether disciplines are compared at more than one link."""
    return any(len(row.entry["links"]) > 1 for row in rows)


def columns(scenario: Scenario, rows: list[DisciplineRow]) -> list[ResultColumn]:
    """The columns of the table: UDP only if there are UDP flows, mark rates only if packets were marked.

    If several links are compared, columns about one link are left to `link_columns`.
    """
    parts = traffic(scenario)
    alone = not several(rows)
    marking = [part for part in parts if any(row.traffic[part.name]["mark_rate"]["mean"] for row in rows)]
    groups = delayed(scenario)
    # A delay is that of the group's own queue if the scenario has one in each direction.
    own = alone or len(scenario.ways) > 1
    return [
        *(column for part in parts for column in _goodput(part)),
        *(column for part in parts for column in _frames(part, rows)),
        *(_group_delay(scenario, group) for group in groups if own),
        *(_jain(scenario, number) for number in range(len(scenario.fair_units))),
        *([_utilization()] if alone else []),
        *(_rate(part, "drop_rate", "drop %", best=part.kind == "tcp") for part in parts),
        *(_rate(part, "mark_rate", "mark %", best=False) for part in marking),
        *(_delay(rows, part, pooled=bool(groups)) for part in (("p95",) if groups else ("p50", "p95", "p99")) if alone),
    ]


def _jain(scenario: Scenario, number: int) -> ResultColumn:
    """Jain's index by a unit of the scenario, which the title names unless flows are the only one."""
    unit = scenario.fair_units[number].name
    plain = unit == "flow" and len(scenario.fair_units) == 1

    def index(row: DisciplineRow) -> Estimate:
        of_unit: Estimate = row.entry["fairness"][number]["jain"]
        return of_unit

    return ResultColumn("Jain's\nindex" if plain else f"Jain's\nby {unit}", index, 1, 3, lambda value: -value, 6)


def delayed(scenario: Scenario) -> list[Group]:
    """The groups whose delay has a column of its own: those that need short delays, else those beside a flood.

    An unresponsive flow's own queue hides the others' in the delay of all packets.
    """
    groups = sensitive(scenario)
    if not groups and any(group.role == Role.UNRESPONSIVE for group in scenario.groups):
        groups = [group for group in scenario.groups if group.role == Role.RESPONSIVE]
    return groups[:_MOST_GROUPS]


def link_columns(rows: list[DisciplineRow]) -> list[ResultColumn]:
    """The columns about one link. The mark rate is left out if no packet was marked."""
    marks = any(link["figures"]["marked"]["mean"] for row in rows for link in row.entry["links"])
    return [
        _utilization(),
        ResultColumn("drop %", lambda row: _share_of_arrivals(row, "dropped"), 100, 2, lambda value: value),
        *([ResultColumn("mark %", lambda row: _share_of_arrivals(row, "marked"), 100, 2)] if marks else []),
        ResultColumn("queue\npackets", lambda row: row.entry["bottleneck"]["queue_packets_mean"], 1, 1),
        *(_delay(rows, part) for part in ("p50", "p95", "p99")),
    ]


def _share_of_arrivals(row: DisciplineRow, what: str) -> Estimate:
    """The share of arriving packets that were dropped or marked at a link."""
    counted, arrived = (row.entry["bottleneck"][name]["per_seed"] for name in (what, "arrived"))
    return estimate(part / whole if whole else None for part, whole in zip(counted, arrived, strict=True))


def _utilization() -> ResultColumn:
    return ResultColumn(
        "link\nuse %", lambda row: row.entry["bottleneck"]["utilization"], 100, 1, lambda value: -value, 4
    )


def _goodput(part: Traffic) -> list[ResultColumn]:
    unit, scale = style.unit_of(part.rate_bps)
    rate = ResultColumn(_titled(part, unit), lambda row: row.traffic[part.name]["goodput_bps"], 1 / scale, 2, None, 9)

    def share(row: DisciplineRow) -> Estimate:
        share_of_fair: Estimate = row.traffic[part.name]["share_of_fair"]
        return share_of_fair

    if part.kind == "tcp":
        of_fair = ResultColumn(_titled(part, "% of\nfair"), share, 100, 1, lambda value: -value, 3)
        return [rate._replace(cost=lambda value: -value), of_fair]
    return [rate, ResultColumn(_titled(part, "times\nfair"), share, 1, 2, lambda value: abs(value - 1), 7)]


def _frames(part: Traffic, rows: list[DisciplineRow]) -> list[ResultColumn]:
    """Late frames and freezes, if there are calls."""
    if all(row.traffic[part.name]["late_frame_rate"]["mean"] is None for row in rows):
        return []
    late = ResultColumn("frames\nlate %", lambda row: row.traffic[part.name]["late_frame_rate"], 100, 1, lambda v: v, 9)
    freezes = ResultColumn(
        "freezes\na min", lambda row: row.traffic[part.name]["freezes_per_minute"], 1, 2, lambda value: value, 8
    )
    return [late, freezes]


def _titled(part: Traffic, what: str) -> str:
    """`TCP` and a unit on the next line, below the direction if the scenario has both."""
    between = " " if "\n" in what else "\n"
    return f"{f'{part.direction}{chr(10)}' if part.direction else ''}{KINDS[part.kind]}{between}{what}"


def _rate(part: Traffic, name: str, title: str, *, best: bool) -> ResultColumn:
    least = (lambda value: value) if best else None
    digits = 2 if part.kind == "tcp" else 1
    return ResultColumn(_titled(part, title), lambda row: row.traffic[part.name][name], 100, digits, least, 2)


def _group_delay(scenario: Scenario, group: Group) -> ResultColumn:
    number = scenario.groups.index(group)

    def p95(row: DisciplineRow) -> Estimate:
        delay: Estimate = row.entry["groups"][number]["queue_delay_ms"]["p95"]
        return delay

    return ResultColumn(f"{style.fold(group.name, 9, 1)}\np95 ms", p95, 1, 1, lambda value: value, 8)


def _delay(rows: list[DisciplineRow], part: str, *, pooled: bool = False) -> ResultColumn:
    """A percentile of the queueing delay of all packets; `pooled` if groups have delays of their own.

    In ms; in us if all delays are below 1 ms, as in data centers.
    """
    longest = [link["figures"]["queue_delay_ms"]["p99"]["mean"] for row in rows for link in row.entry["links"]]
    unit, scale = ("us", 1000) if all(delay is not None and 0 < delay < 1 for delay in longest) else ("ms", 1)
    title = f"all {part}\n{unit}" if pooled else f"{part}\n{unit}"
    priority = {"p50": 1, "p95": 8, "p99": 1}[part] if not pooled else 1
    return ResultColumn(
        title, lambda row: row.entry["bottleneck"]["queue_delay_ms"][part], scale, 1, lambda value: value, priority
    )

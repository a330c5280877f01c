"""The result table in the terminal: a row for each discipline, best values marked."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from rich.console import Group
from rich.table import Table
from rich.text import Text

from headgate import scenario as scenarios
from headgate import style
from headgate.analysis.links import LinkDirection, first
from headgate.analysis.spread import Estimate, estimate
from headgate.analysis.summary import by_kind, summarize
from headgate.results import Result
from headgate.scenario import RunWorld, Scenario
from headgate.terminal import layout

#: Marks the best value of a column, for terminals without color.
BEST = "*"

KINDS = {"tcp": "TCP", "udp": "UDP"}


class DisciplineRow(NamedTuple):
    """One discipline: its entry of the summary, and the totals of its TCP and UDP flows."""

    entry: dict[str, Any]
    kinds: dict[str, dict[str, Any]]


class ResultColumn(NamedTuple):
    """One column: its title, its value in a row, the factor and digits of its numbers, and which value is best."""

    title: str
    estimate: Callable[[DisciplineRow], Estimate]
    scale: float
    digits: int
    best: Callable[[float], float] | None = None

    def show(self, value: float) -> str:
        """A mean or a margin of error as printed; from 100 on with one digit less."""
        scaled = value * self.scale
        return f"{scaled:.{self.digits - (abs(scaled) >= 99.95 and self.digits > 0)}f}"


def rows(result: Result) -> list[DisciplineRow]:
    """One row for each discipline."""
    return [DisciplineRow(entry, kinds) for entry, kinds in zip(summarize(result), by_kind(result), strict=True)]


def table(result: Result, rows: list[DisciplineRow]) -> Group:
    """The table of a result, below a line about the scenario. It fits 120 columns."""
    listed = columns(result.scenario, rows)
    drawn = _table("discipline", listed, caption=_caption(result.scenario, alone=not several(rows)))
    _add_rows(drawn, listed, [(_name(row.entry["qdisc"]), row) for row in rows])
    return Group(Text(_title(result), style="italic"), drawn)


def by_link(rows: list[DisciplineRow]) -> list[tuple[LinkDirection, list[DisciplineRow]]]:
    """For each compared link, a row for each discipline with the values of that link."""
    directions = [LinkDirection(link["link"], link["direction"]) for link in rows[0].entry["links"]]
    return [
        (
            direction,
            [
                DisciplineRow({**row.entry, "bottleneck": row.entry["links"][number]["figures"]}, row.kinds)
                for row in rows
            ],
        )
        for number, direction in enumerate(directions)
    ]


def links(rows: list[DisciplineRow]) -> Table:
    """A section for each compared link, with a row for each discipline and the best values marked."""
    listed = link_columns(rows)
    drawn = _table("link, discipline", listed, title="link by link")
    for direction, rows_ in by_link(rows):
        drawn.add_row(Text(direction.label, style="bold italic"))
        _add_rows(drawn, listed, [(Text("  ") + Text(row.entry["qdisc"]), row) for row in rows_])
        drawn.add_section()
    return drawn


def _table(first: str, listed: Iterable[ResultColumn], **options: Any) -> Table:
    numbers = layout.number_columns(*(column.title for column in listed))
    return layout.table([*layout.text_columns(first, vertical="top"), *numbers], **options)


def _add_rows(drawn: Table, listed: list[ResultColumn], named: list[tuple[Text, DisciplineRow]]) -> None:
    best = [best_shown(column, [row for _, row in named]) for column in listed]
    for name, row in named:
        drawn.add_row(name, *(_cell(column, row, shown) for column, shown in zip(listed, best, strict=True)))


def link_columns(rows: list[DisciplineRow]) -> list[ResultColumn]:
    """The columns about one link. The mark rate is left out if no packet was marked."""
    marks = any(link["figures"]["marked"]["mean"] for row in rows for link in row.entry["links"])
    return [
        _utilization(),
        ResultColumn("drop %", lambda row: _share_of_arrivals(row, "dropped"), 100, 2, lambda mean: mean),
        *([ResultColumn("mark %", lambda row: _share_of_arrivals(row, "marked"), 100, 2)] if marks else []),
        ResultColumn("queue\npackets", lambda row: row.entry["bottleneck"]["queue_packets_mean"], 1, 1),
        *(_delay(part) for part in ("p50", "p95", "p99")),
    ]


def _share_of_arrivals(row: DisciplineRow, what: str) -> Estimate:
    """The share of arriving packets that were dropped or marked at a link."""
    counted, arrived = (row.entry["bottleneck"][name]["per_seed"] for name in (what, "arrived"))
    return estimate(part / whole if whole else None for part, whole in zip(counted, arrived, strict=True))


def columns(scenario: Scenario, rows: list[DisciplineRow]) -> list[ResultColumn]:
    """The columns of the table: UDP only if there are UDP flows, mark rates only if packets were marked.

    If several links are compared, columns about one link are left to `links`.
    """
    kinds = [kind for kind in KINDS if any(group.kind == kind for group in scenario.groups)]
    alone = not several(rows)
    marking = [kind for kind in kinds if any(row.kinds[kind]["mark_rate"]["mean"] for row in rows)]
    return [
        *(column for kind in kinds for column in _goodput(kind, scenario.rate_bps)),
        ResultColumn("Jain's\nindex", lambda row: row.entry["jain"], 1, 3, lambda mean: -mean),
        *([_utilization()] if alone else []),
        *(_rate(kind, "drop_rate", "drop %", best=kind == "tcp") for kind in kinds),
        *(_rate(kind, "mark_rate", "mark %", best=False) for kind in marking),
        *(_delay(part) for part in ("p50", "p95", "p99") if alone),
    ]


def several(rows: list[DisciplineRow]) -> bool:
    """Whether disciplines are compared at more than one link."""
    return any(len(row.entry["links"]) > 1 for row in rows)


def _utilization() -> ResultColumn:
    return ResultColumn("link\nuse %", lambda row: row.entry["bottleneck"]["utilization"], 100, 1, lambda mean: -mean)


def _goodput(kind: str, rate_bps: float) -> list[ResultColumn]:
    unit, scale = style.unit_of(rate_bps)
    rate = ResultColumn(f"{KINDS[kind]}\n{unit}", lambda row: row.kinds[kind]["goodput_bps"], 1 / scale, 2)

    def share(row: DisciplineRow) -> Estimate:
        share_of_fair: Estimate = row.kinds[kind]["share_of_fair"]
        return share_of_fair

    if kind == "tcp":
        return [rate._replace(best=lambda mean: -mean), ResultColumn("% of\nfair", share, 100, 1, lambda mean: -mean)]
    return [rate, ResultColumn("times\nfair", share, 1, 2, lambda mean: abs(mean - 1))]


def _rate(kind: str, name: str, title: str, *, best: bool) -> ResultColumn:
    least = (lambda mean: mean) if best else None
    return ResultColumn(
        f"{KINDS[kind]}\n{title}", lambda row: row.kinds[kind][name], 100, 2 if kind == "tcp" else 1, least
    )


def _delay(part: str) -> ResultColumn:
    return ResultColumn(
        f"{part}\nms", lambda row: row.entry["bottleneck"]["queue_delay_ms"][part], 1, 1, lambda mean: mean
    )


def best_shown(column: ResultColumn, rows: list[DisciplineRow]) -> str | None:
    """The best value of a column as printed; None if all are equal."""
    means = [mean for row in rows if (mean := column.estimate(row)["mean"]) is not None]
    shown = {column.show(mean) for mean in means}
    return None if column.best is None or len(shown) < 2 else column.show(min(means, key=column.best))


def _cell(column: ResultColumn, row: DisciplineRow, best: str | None) -> Text:
    """The mean, and below it the margin of error if there are several seeds."""
    estimate = column.estimate(row)
    mean, high = estimate["mean"], estimate["high"]
    if mean is None or high is None:
        return Text("-", style="dim")
    shown = column.show(mean)
    cell = Text(f"{shown}{BEST}", style="bold green") if shown == best else Text(f"{shown} ")
    if len(estimate["per_seed"]) > 1:
        cell.append(f"\n±{column.show(high - mean)} ", style="not bold dim default")
    return cell


def _name(qdisc: str) -> Text:
    """A discipline's name, with its settings on short lines below."""
    name, _, settings = qdisc.partition(":")
    lines = [""]
    for setting in filter(None, settings.split(",")):
        joined = f"{lines[-1]},{setting}" if lines[-1] else setting
        lines = [*lines[:-1], joined] if len(joined) <= 16 else [*lines, setting]
    return Text(name, style="bold").append("".join(f"\n{line}" for line in lines if line), style="not bold dim")


def _title(result: Result) -> str:
    scenario, link = result.scenario, first(result)
    flows = " and ".join(filter(None, (_flows(kind, scenario.groups) for kind in KINDS)))
    worlds = {RunWorld.LIVE: " on real packets", RunWorld.KERNEL: " on real packets, in the kernel's queue"}
    world = worlds.get(scenario.world, "")
    time = f"{scenario.duration_s:g} s{world}, the first {scenario.warmup_s:g} s excluded"
    return f"{scenario.name}: {flows} on {style.rate(scenario.rate_bps)}{f' ({link})' if link else ''}; {time}"


def _flows(kind: str, groups: list[scenarios.Group]) -> str:
    """The flows of one kind: `9 TCP flows`, `5 UDP flows (4 of 300 kbit/s, 1 of 9.6 Mbit/s)`; empty without flows."""
    mine = [group for group in groups if group.kind == kind]
    count = sum(group.flows for group in mine)
    rates = [f"{group.flows} of {style.rate(group.rate_bps)}" for group in mine if group.rate_bps is not None]
    flows = f"{count} {KINDS[kind]} flow{'' if count == 1 else 's'}" if count else ""
    return f"{flows} ({', '.join(rates)})" if rates else flows


def _caption(scenario: Scenario, *, alone: bool) -> str:
    seeds = len(scenario.seeds)
    spread = "one seed" if seeds == 1 else f"mean of {seeds} seeds, ± margin of error (95 %)"
    delays = "; p50, p95, p99: queueing delay percentiles" if alone else ""
    return f"{spread}{delays}; {BEST} best of the column"

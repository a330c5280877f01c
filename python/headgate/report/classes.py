"""Figures of merit for TCP and for flows that do not slow down, each class taken together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from headgate.plot import data
from headgate.spread import Figure, figure

if TYPE_CHECKING:
    from headgate.results import Result

Rows = Mapping[str, data.Array]

TCP, UNRESPONSIVE = "tcp", "udp"
_COUNTS = ("arrived", "dropped", "marked", "goodput_bps", "fair_share_bps")


class ClassFigures(NamedTuple):
    """What one class of flows got with one discipline; each a mean over seeds with its 95 % interval."""

    goodput_bps: Figure
    share_of_fair: Figure
    loss_rate: Figure
    mark_rate: Figure


def kinds(result: Result) -> list[str]:
    """The classes the scenario has, TCP first."""
    present = {kind for _, kind, _, _ in result.scenario.groups}
    return [kind for kind in (TCP, UNRESPONSIVE) if kind in present]


def of_class(result: Result, qdisc: str, kind: str) -> ClassFigures:
    """The figures of all flows of `kind` together: totals are formed seed by seed, then averaged."""
    return ClassFigures(
        goodput_bps=_each_seed(result, qdisc, kind, lambda total: total["goodput_bps"]),
        share_of_fair=_each_seed(result, qdisc, kind, _ratio("goodput_bps", "fair_share_bps")),
        loss_rate=_each_seed(result, qdisc, kind, _ratio("dropped", "arrived")),
        mark_rate=_each_seed(result, qdisc, kind, _ratio("marked", "arrived")),
    )


def _ratio(above: str, below: str) -> Callable[[Mapping[str, float]], float | None]:
    return lambda total: total[above] / total[below] if total[below] > 0 else None


def _each_seed(result: Result, qdisc: str, kind: str, value: Callable[[Mapping[str, float]], float | None]) -> Figure:
    table = data.rows(result.flows, qdisc=qdisc, kind=kind)
    seed = data.values(table, "seed")
    columns = {name: data.values(table, name) for name in _COUNTS}
    totals = [{name: float(column[seed == one].sum()) for name, column in columns.items()} for one in np.unique(seed)]
    return figure(value(total) for total in totals)


def by_reason(result: Result, qdisc: str, kind: str) -> dict[str, float]:
    """Packets dropped and marked, by column (`dropped_early`), as the mean over seeds; zeros are left out."""
    table = data.rows(result.flows, qdisc=qdisc, kind=kind)
    seeds = len(np.unique(data.values(table, "seed"))) or 1
    columns = [name for name in table.column_names if name.startswith(("dropped_", "marked_"))]
    means = {name: float(data.values(table, name).sum()) / seeds for name in columns}
    return {name: mean for name, mean in means.items() if mean > 0}
